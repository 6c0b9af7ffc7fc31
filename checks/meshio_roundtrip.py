#!/usr/bin/env python3
"""Reads the files of `cargo run -p splashdown-geometry --example write_samples -- FOLDER` with meshio, an independent reader, and compares
them with what was written.

Usage: meshio_roundtrip.py FOLDER. Needs the Python packages meshio and numpy. Exit code 0 when every file agrees.
"""

import json
import sys
from pathlib import Path

import meshio
import numpy as np


def count(mesh, kind):
    return sum(len(block.data) for block in mesh.cells if block.type == kind)


def tetrahedra_volume(mesh):
    total = 0.0
    for block in mesh.cells:
        if block.type == "tetra":
            a, b, c, d = (mesh.points[block.data[:, i]] for i in range(4))
            total += float(np.sum(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a))) / 6
    return total


def hexahedra_are_right_handed(mesh):
    for block in mesh.cells:
        if block.type == "hexahedron":
            x = [mesh.points[block.data[:, i]] for i in range(8)]
            # In the order of VTK and Gmsh corners 1, 3 and 4 are the neighbours of corner 0 along x, y and z.
            if np.any(np.einsum("ij,ij->i", np.cross(x[1] - x[0], x[3] - x[0]), x[4] - x[0]) <= 0):
                return False
    return True


def problems(folder, expected):
    mesh = meshio.read(folder / expected["file"])
    single = expected["file"].endswith("binary.stl")
    found = []
    for kind, name in [("triangle", "triangles"), ("tetra", "tetrahedra"), ("hexahedron", "hexahedra")]:
        if count(mesh, kind) != expected[name]:
            found.append(f"{count(mesh, kind)} {name}, expected {expected[name]}")
    # meshio keeps the corners of STL triangles apart unless they are equal, as we do.
    if len(mesh.points) != expected["points"]:
        found.append(f"{len(mesh.points)} points, expected {expected['points']}")
    tolerance = 1e-4 if single else 1e-9
    if not np.allclose(np.sum(mesh.points, axis=0), expected["sum"], rtol=tolerance, atol=tolerance):
        found.append(f"points sum to {np.sum(mesh.points, axis=0)}, expected {expected['sum']}")
    if abs(tetrahedra_volume(mesh) - expected["volume"]) > 1e-12:
        found.append(f"volume {tetrahedra_volume(mesh)}, expected {expected['volume']}")
    if not hexahedra_are_right_handed(mesh):
        found.append("hexahedra are not right-handed")
    if expected["groups"] and expected["file"].endswith(".msh"):
        tagged = sum(int(np.count_nonzero(tags)) for tags in mesh.cell_data.get("gmsh:physical", []))
        if tagged != expected["groups"]:
            found.append(f"{tagged} elements in physical groups, expected {expected['groups']}")
        if set(mesh.field_data) != {"core", "shell"}:
            found.append(f"physical names {sorted(mesh.field_data)}, expected core and shell")
    return found


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    failed = 0
    for expected in json.loads((folder / "expected.json").read_text()):
        found = problems(folder, expected)
        failed += bool(found)
        print(f"{'FAIL' if found else 'ok':4} {expected['file']}" + "".join(f"\n     {problem}" for problem in found))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
