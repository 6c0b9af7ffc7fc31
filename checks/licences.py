"""Checks the licence of every dependency against the allow list in deny.toml.

The same rule as `cargo deny check licenses`, for machines where building cargo-deny would take longer than all other checks.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def allowed_by(expression: str, allow: set[str]) -> bool:
    """Evaluates an SPDX expression: identifiers in `allow` are true; `/` is the old way to write OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    position = 0

    def peek() -> str | None:
        return tokens[position] if position < len(tokens) else None

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1]

    def atom() -> bool:
        if peek() == "(":
            take()
            value = either()
            if peek() != ")":
                raise ValueError(f"unbalanced licence expression: {expression}")
            take()
            return value
        licence = take()
        if peek() == "WITH":
            take()
            return f"{licence} WITH {take()}" in allow
        return licence in allow

    def both() -> bool:
        value = atom()
        while peek() == "AND":
            take()
            value = atom() and value
        return value

    def either() -> bool:
        value = both()
        while peek() == "OR":
            take()
            value = both() or value
        return value

    value = either()
    if position != len(tokens):
        raise ValueError(f"cannot read the licence expression: {expression}")
    return value


def main() -> int:
    allow = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    assert allowed_by("MIT OR (GPL-3.0 AND Zlib)", {"MIT"}) and not allowed_by("MIT AND GPL-3.0", {"MIT"})
    metadata = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout
    )
    refused = 0
    for package in metadata["packages"]:
        where = f"{package['name']} {package['version']}"
        source = package["source"]
        if source is not None and not source.startswith("registry+"):
            print(f"{where}: comes from {source}, not from the registry", file=sys.stderr)
            refused += 1
        licence = package["license"]
        if licence is None or not allowed_by(licence, allow):
            print(f"{where}: licence {licence!r} is not on the allow list of deny.toml", file=sys.stderr)
            refused += 1
    count = len(metadata["packages"])
    print(f"licences of {count} packages: {count - refused} fine, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
