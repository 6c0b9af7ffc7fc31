#!/usr/bin/env python3
"""Reads OpenVDB files back with OpenVDB itself and compares every voxel with the VTK export of the same frames.

Two programs that do not share an interpreter take part, so there are two steps:
    vdb_readback.py dump VTK_FOLDER FILE.npz       with the Python that has VTK
    vdb_readback.py compare FILE.npz VDB_FOLDER    with the Python that has pyopenvdb (Debian: python3-openvdb)
"""

import sys
from pathlib import Path

import numpy as np


def dump(folder, out):
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    arrays = {}
    for path in sorted(Path(folder).glob("*.vti")):
        reader = vtk.vtkXMLImageDataReader()
        reader.SetFileName(str(path))
        reader.Update()
        image = reader.GetOutput()
        shape = [max(n - 1, 1) for n in image.GetDimensions()]
        frame = path.stem.split("-")[-1]
        spacing = image.GetSpacing()
        origin = image.GetOrigin()
        flat = image.GetDimensions()[2] == 1
        centre = [origin[k] + (0 if flat and k == 2 else 0.5 * spacing[0]) for k in range(3)]
        arrays[f"{frame}|place"] = np.array([*centre, spacing[0], *shape])
        data = image.GetCellData()
        for index in range(data.GetNumberOfArrays()):
            values = vtk_to_numpy(data.GetArray(index))
            # x is fastest in VTK.
            arrays[f"{frame}|{data.GetArrayName(index)}"] = values.reshape([*shape[::-1], -1]).transpose(2, 1, 0, 3)
    assert arrays, f"no grids in {folder}"
    np.savez(out, **arrays)


def compare(file, folder):
    import pyopenvdb as vdb

    known = np.load(file)
    frames = sorted({key.split("|")[0] for key in known.files})
    compared = 0
    for frame in frames:
        place = known[f"{frame}|place"]
        shape = tuple(int(n) for n in place[4:])
        path = Path(folder) / f"frame-{frame}.vdb"
        grids = {grid.name: grid for grid in vdb.readAll(str(path))[0]}
        for key in (key for key in known.files if key.startswith(f"{frame}|") and not key.endswith("|place")):
            name = key.split("|")[1]
            grid = grids["density" if name == "smoke" else name.replace(" ", "_")]
            first = grid.transform.indexToWorld((0, 0, 0))
            assert np.allclose(first, place[:3], atol=1e-9), (first, place[:3])
            assert np.allclose(grid.transform.voxelSize(), place[3])
            wanted = known[key].astype(np.float32)
            vector = wanted.shape[-1] > 1
            found = np.zeros([*shape, 3] if vector else shape, np.float32)
            grid.copyToArray(found, ijk=(0, 0, 0))
            if vector:
                difference = np.abs(found[..., : wanted.shape[-1]] - wanted).max()
            else:
                wanted = wanted[..., 0]
                if name.startswith("distance to "):
                    assert grid.gridClass == "level set", grid.gridClass
                    band = grid.background
                    assert np.isclose(band, 3 * place[3]), band
                    wanted = wanted.clip(-band, band)
                    active = int((np.abs(wanted) < band).sum())
                    assert grid.activeVoxelCount() == active, (grid.activeVoxelCount(), active)
                if name == "smoke":
                    assert grid.gridClass == "fog volume", grid.gridClass
                    assert grid.activeVoxelCount() == int((wanted != 0).sum())
                difference = np.abs(found - wanted).max()
            assert difference <= 1e-6 * max(np.abs(wanted).max(), 1e-30), f"{path} {name}: {difference}"
            compared += 1
    print(f"{compared} grids of {len(frames)} frames are the same in OpenVDB and VTK")


if __name__ == "__main__":
    {"dump": dump, "compare": compare}[sys.argv[1]](*sys.argv[2:])
