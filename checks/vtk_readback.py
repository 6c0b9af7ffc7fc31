#!/usr/bin/env python3
"""Opens every exported VTK file with VTK itself and compares it with what `splashdown info --json` says of the frames.

    checks/vtk_readback.py RUN VTK_FOLDER [--splashdown PROGRAM]

Also exports the run as PLY and OBJ to a temporary folder and reads those with VTK and meshio, and reads a grid written by the tests
(`--grid FILE.vti`) against the formula that filled it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import meshio
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

READERS = {
    ".vtp": vtk.vtkXMLPolyDataReader,
    ".vtu": vtk.vtkXMLUnstructuredGridReader,
    ".vti": vtk.vtkXMLImageDataReader,
}


class Problems(list):
    def expect(self, holds, message):
        if not holds:
            self.append(message)


def read_vtk(path):
    """The data set of a file; any complaint of VTK is an error."""
    reader = READERS[path.suffix]()
    complaints = []
    reader.AddObserver("ErrorEvent", lambda *_: complaints.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: complaints.append("warning"))
    reader.SetFileName(str(path))
    reader.Update()
    if complaints or reader.GetErrorCode():
        raise ValueError(f"{path}: VTK cannot read it")
    return reader.GetOutput()


def points_of(data):
    return vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else np.zeros((0, 3))


def arrays_of(attributes):
    return {attributes.GetArrayName(i): vtk_to_numpy(attributes.GetArray(i)) for i in range(attributes.GetNumberOfArrays())}


def info(program, path):
    return json.loads(subprocess.run([program, "info", "--json", str(path)], check=True, capture_output=True).stdout)


def check_part(part, dimension, time, path, problems):
    data = read_vtk(path)
    where = f"{path.name} ({part['name']})"
    stored_time = data.GetFieldData().GetArray("TimeValue")
    problems.expect(stored_time is not None and stored_time.GetValue(0) == time, f"{where}: time is not {time}")
    point_data, cell_data = arrays_of(data.GetPointData()), arrays_of(data.GetCellData())
    bodies = part["kind"] == "bodies"
    if bodies:
        problems.expect(data.GetNumberOfPoints() == part["surface_points"], f"{where}: number of points")
        problems.expect(data.GetNumberOfPolys() == part["surface_triangles"], f"{where}: number of triangles")
        points, owner = points_of(data), point_data["body"]
        for number, position in enumerate(part["positions"]):
            # The shapes that ship are symmetric about the centre of mass, so the box around a body has its centre there.
            own = points[owner == number]
            centre = 0.5 * (own.min(axis=0) + own.max(axis=0))
            away = np.abs(centre[:dimension] - position).max() / np.ptp(own, axis=0).max()
            problems.expect(away < 0.02, f"{where}: body {part['bodies'][number]} is off its place")
    elif part["kind"] != "grid":
        points = points_of(data)
        problems.expect(len(points) == part["points"], f"{where}: number of points")
        if "elements" in part:
            problems.expect(data.GetNumberOfCells() == part["elements"], f"{where}: number of cells")
        if part.get("bounds"):
            low, high = np.array(part["bounds"])
            problems.expect(np.array_equal(points.min(axis=0)[:dimension], low), f"{where}: lower bounds")
            problems.expect(np.array_equal(points.max(axis=0)[:dimension], high), f"{where}: upper bounds")
        if dimension == 2:
            problems.expect(not points[:, 2].any(), f"{where}: not in the plane z = 0")
    for attribute in part["attributes"]:
        name = attribute["name"]
        values = (cell_data if attribute["on"] == "cell" else point_data).get(name)
        if values is None:
            problems.append(f"{where}: no array {name}")
        elif not (bodies and name == "velocity") and attribute["range"]:
            # The velocity of a body is exported at its surface, where spin adds to it.
            shown = values.reshape(len(values), -1)[:, : attribute["components"]]
            problems.expect([shown.min(), shown.max()] == attribute["range"], f"{where}: range of {name}")


def check_series(program, run, folder, problems):
    collections = sorted(folder.glob("*.pvd"))
    if len(collections) != 1:
        raise ValueError(f"{folder}: expected one .pvd file, found {len(collections)}")
    listed = {}
    for entry in ElementTree.parse(collections[0]).getroot().iter("DataSet"):
        listed.setdefault(float(entry.get("timestep")), {})[entry.get("name")] = folder / entry.get("file")
    frames = sorted((run / "frames").glob("*.spf"))
    problems.expect(len(listed) == len(frames), f"{collections[0].name}: {len(listed)} times for {len(frames)} frames")
    files = 0
    for path in frames:
        frame = info(program, path)
        parts = listed.get(frame["time"], {})
        for part in frame["parts"]:
            if part["name"] not in parts:
                problems.append(f"{path.name}: {part['name']} is not in the collection")
                continue
            check_part(part, frame["dimension"], frame["time"], parts[part["name"]], problems)
            files += 1
    return files


def counts(frame):
    bodies = [part for part in frame["parts"] if part["kind"] == "bodies"]
    others = [part for part in frame["parts"] if part["kind"] in ("segments", "points", "triangles")]
    points = sum(part["surface_points"] for part in bodies) + sum(part["points"] for part in others)
    triangles = sum(part["surface_triangles"] for part in bodies)
    triangles += sum(part["elements"] for part in others if part["kind"] == "triangles")
    return points, triangles


def check_meshes(program, run, problems):
    """PLY by VTK, OBJ by meshio: number of points and triangles of the last frame, and the same coordinates in both."""
    last = sorted((run / "frames").glob("*.spf"))[-1]
    frame = info(program, last)
    if any(part["kind"] in ("tetrahedra", "hexahedra", "grid") for part in frame["parts"]):
        return
    points, triangles = counts(frame)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("ply", "obj"):
            subprocess.run(
                [program, "export", str(run), "--format", kind, "--frames", str(frame["frame"]), "--out", f"{folder}/{kind}"],
                check=True,
                capture_output=True,
            )
        (ply,) = Path(folder, "ply").iterdir()
        reader = vtk.vtkPLYReader()
        reader.SetFileName(str(ply))
        reader.Update()
        from_ply = reader.GetOutput()
        problems.expect(from_ply.GetNumberOfPoints() == points, f"{ply.name}: number of points")
        problems.expect(from_ply.GetNumberOfPolys() == triangles, f"{ply.name}: number of triangles")
        (obj,) = Path(folder, "obj").iterdir()
        from_obj = meshio.read(obj)
        problems.expect(len(from_obj.points) == points, f"{obj.name}: number of points")
        found = sum(len(cells.data) for cells in from_obj.cells if cells.type == "triangle")
        problems.expect(found == triangles, f"{obj.name}: number of triangles")
        if from_ply.GetNumberOfPoints() == len(from_obj.points) == points:
            # VTK keeps PLY coordinates in single precision.
            problems.expect(np.allclose(points_of(from_ply), from_obj.points, rtol=1e-6, atol=1e-6), "PLY and OBJ differ")


def check_grid(path, problems):
    """The grid that crates/scene/tests/vtk_grid.rs writes: density = x + 2 y + 4 z at cell centres, u = (x, 2 y, 3 z) on faces."""
    data = read_vtk(path)
    dims, origin, spacing = data.GetDimensions(), np.array(data.GetOrigin()), np.array(data.GetSpacing())
    axes = [origin[a] + spacing[a] * (np.arange(max(dims[a] - 1, 1)) + 0.5) for a in range(3)]
    if dims[2] == 1:
        axes[2] = np.array([origin[2]])
    z, y, x = (grid.ravel() for grid in np.meshgrid(axes[2], axes[1], axes[0], indexing="ij"))
    cell_data = arrays_of(data.GetCellData())
    problems.expect(data.GetNumberOfCells() == len(x), f"{path.name}: number of cells")
    problems.expect(np.allclose(cell_data["density"], x + 2 * y + 4 * z, atol=1e-12), f"{path.name}: density")
    expected = np.stack([x, 2 * y, 3 * z if dims[2] > 1 else 0 * z], axis=1)
    problems.expect(np.allclose(cell_data["velocity"], expected, atol=1e-12), f"{path.name}: velocity")
    height = vtk_to_numpy(data.GetPointData().GetArray("height"))
    where = np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())])
    problems.expect(np.allclose(height, where[:, 1], atol=1e-12), f"{path.name}: height")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("vtk", type=Path, nargs="?")
    parser.add_argument("--splashdown", default="splashdown")
    parser.add_argument("--grid", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    vtk.vtkObject.GlobalWarningDisplayOff()
    problems, files = Problems(), 0
    if arguments.run:
        files += check_series(arguments.splashdown, arguments.run, arguments.vtk, problems)
        check_meshes(arguments.splashdown, arguments.run, problems)
    for grid in arguments.grid:
        check_grid(grid, problems)
        files += 1
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    if problems or not files:
        print(f"{len(problems)} problems in {files} files", file=sys.stderr)
        sys.exit(1)
    print(f"{files} VTK files read back")


if __name__ == "__main__":
    main()
