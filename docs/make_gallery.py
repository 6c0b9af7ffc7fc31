#!/usr/bin/env python3
"""Makes docs/gallery.md: every shipped scene with a picture, one line, its command and the time it took.

    python3 docs/make_gallery.py --splashdown target/release/splashdown [--seconds 60] [--scenes NAME ...] [--runs FOLDER]

Runs each scene for at most --seconds (a scene that takes longer is shown as far as it came, and the page says so), draws one frame with
`splashdown render` and keeps it as a small JPEG. Runs are kept in --runs and used again; remove the folder to run anew. The pictures are also
the thumbnails of the viewer's start page (crates/view/src/thumbnails.rs is written, too), and six of them the picture of the README. Needs the Python package pillow.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "gallery"
SIZE = (320, 180)
MOST_BYTES = 30_000
# Where in the run the picture is taken, from 0 to 1, and how `render` is told to look; two thirds and the usual side for others.
MOMENT = {"quickstart": 0.35, "quickstart-2d": 0.35, "fountain": 0.3, "box-stack": 0.55, "tumbling-box": 0.3, "plucked-string": 0.1, "card-house": 0.2, "incline": 0.5,
          "pouring": 0.4, "drop-in-pool": 0.3, "dam-break": 0.3, "smoke-ring": 0.45, "smoke-sphere": 0.6}
LOOK = {
    "hexahedral-beam": ["--zoom", "0.9"],
    "pouring": ["--from", "0.4,0.6,1"],
    "soft-pile": ["--from", "0.4,1.2,0.8"],
    "smoke-ring": ["--zoom", "1.5"],
    "smoke-sphere": ["--zoom", "1.7"],
    "pile-1000": ["--zoom", "1.2"],
    "pile-10000": ["--zoom", "1.2"],
}
# The six of the README.
FRONT = ["dam-break", "broken-table", "cloth-on-ball", "ragdolls", "twisted-bar", "smoke-sphere"]
# Scenes that would take many minutes: run with cells twice as large, which the page says.
COARSE = {
    "smoke-ring": ["fluid.cell=0.04", "fluid.cells=[40, 22, 22]"],
    "smoke-sphere": ["fluid.cell=0.04", "fluid.cells=[24, 40, 24]"],
    "drop-in-pool": ["fluid.cells=[24, 24, 24]", "fluid.cell=0.04"],
    "dam-break": ["fluid.cell=0.05", "fluid.cells=[32, 16, 12]"],
    "karman-street": ["fluid.cells=[128, 40]", "fluid.cell=0.05"],
}


def command(program, *words, **options):
    return subprocess.run([program, *words], check=True, text=True, capture_output=True, **options).stdout


def run_scene(program, name, folder, seconds):
    """Runs a scene, for at most so long; a second SIGINT is never needed, because a run stops after its step."""
    if (folder / "run.json").exists():
        return
    changes = [word for change in COARSE.get(name, []) for word in ("--set", change)]
    process = subprocess.Popen([program, "run", name, "--quiet", "--out", str(folder), *changes], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(3 * seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def draw(program, name, folder):
    """Draws one frame as a JPEG of at most MOST_BYTES."""
    frames = sorted((folder / "frames").glob("frame-*.spf"))
    info = json.loads((folder / "run.json").read_text())
    moment = MOMENT.get(name, 0.66) if info["status"] == "finished" else 1.0
    index = int(frames[min(round(moment * (len(frames) - 1)), len(frames) - 1)].stem.split("-")[1])
    with tempfile.TemporaryDirectory() as temporary:
        png = Path(temporary) / "picture.png"
        size = ["--width", str(2 * SIZE[0]), "--height", str(2 * SIZE[1])]
        command(program, "render", str(folder), "--frames", str(index), "--out", str(png), "--quiet", *size, *LOOK.get(name, []))
        picture = Image.open(png).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    out = PICTURES / f"{name}.jpg"
    for quality in range(88, 30, -6):
        picture.save(out, "JPEG", quality=quality, optimize=True, progressive=True)
        if out.stat().st_size <= MOST_BYTES:
            break


def known_times():
    """What the page says now of how long each scene took; kept for scenes that are not run this time."""
    page = ROOT / "docs" / "gallery.md"
    rows = [line.split(" | ") for line in page.read_text().splitlines()] if page.exists() else []
    return {row[1].split("**")[1]: row[3].removesuffix(" |") for row in rows if len(row) == 4 and "**" in row[1]}


def page(scenes, runs):
    known = known_times()
    lines = [
        "# Gallery",
        "",
        "Every scene that ships with the program, each run by one command. Made by `python3 docs/make_gallery.py`; pictures by `splashdown render`.",
        "`splashdown view` shows the same pictures and runs the scenes from the browser.",
        "",
        "Times are of one run on a shared machine of two cores with the optimised development build: an order of magnitude, not a benchmark.",
        "",
        "| | scene | command | computed |",
        "|---|---|---|---|",
    ]
    for scene in scenes:
        name = scene["name"]
        info_file = runs / name / "run.json"
        picture = f"![{name}](gallery/{name}.jpg)" if (PICTURES / f"{name}.jpg").exists() else "no picture: too slow to make one here"
        took = known.get(name, "not run")
        if info_file.exists():
            info = json.loads(info_file.read_text())
            seconds = sum(session.get("seconds", 0) for session in info["sessions"])
            took = f"{seconds:.3g} s" if info["status"] == "finished" else f"the first {info['time']:.3g} s in {seconds:.3g} s"
            took += ", with cells twice as large" if name in COARSE else ""
        lines.append(f"| {picture} | **{name}** ({scene['dimension']}D)<br>{scene['summary']} | `splashdown run {name}` | {took} |")
    (ROOT / "docs" / "gallery.md").write_text("\n".join(lines) + "\n")


def front():
    """The picture at the top of the README: six scenes side by side."""
    tiles = [PICTURES / f"{name}.jpg" for name in FRONT]
    if not all(tile.exists() for tile in tiles):
        return
    sheet = Image.new("RGB", (3 * SIZE[0], 2 * SIZE[1]))
    for place, tile in enumerate(tiles):
        sheet.paste(Image.open(tile), (SIZE[0] * (place % 3), SIZE[1] * (place // 3)))
    sheet.save(ROOT / "docs" / "front.jpg", "JPEG", quality=88, optimize=True, progressive=True)


def thumbnails(scenes):
    names = [scene["name"] for scene in scenes if (PICTURES / f"{scene['name']}.jpg").exists()]
    entries = "\n".join(f'    ("{name}", include_bytes!("../../../docs/gallery/{name}.jpg")),' for name in names)
    (ROOT / "crates/view/src/thumbnails.rs").write_text(
        "//! Pictures of the shipped scenes. Written by `docs/make_gallery.py`.\n\n"
        "/// The picture of a shipped scene (JPEG), if there is one.\n"
        "pub(crate) fn of(scene: &str) -> Option<&'static [u8]> {\n"
        "    PICTURES.iter().find(|(name, _)| *name == scene).map(|(_, bytes)| *bytes)\n}\n\n"
        f"const PICTURES: [(&str, &[u8]); {len(names)}] = [\n{entries}\n];\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splashdown", default=str(ROOT / "target/release/splashdown"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--scenes", nargs="*")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "gallery")
    parser.add_argument("--only-run", action="store_true", help="run the scenes, draw later")
    given = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    given.runs.mkdir(parents=True, exist_ok=True)
    scenes = json.loads(command(given.splashdown, "list", "--json"))
    for scene in scenes:
        name = scene["name"]
        if given.scenes and name not in given.scenes:
            continue
        run_scene(given.splashdown, name, given.runs / name, given.seconds)
        if not given.only_run and any((given.runs / name / "frames").glob("frame-*.spf")):
            draw(given.splashdown, name, given.runs / name)
        print(name, flush=True)
    if not given.only_run:
        page(scenes, given.runs)
        thumbnails(scenes)
        front()


if __name__ == "__main__":
    main()
