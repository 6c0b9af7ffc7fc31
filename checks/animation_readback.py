#!/usr/bin/env python3
"""Reads an animated glTF and a USD file of a run with independent readers (pygltflib, trimesh, usd-core) and compares positions with the frames
exported as PLY, read by VTK.

Usage: animation_readback.py --gltf FILE --usd FILE --ply FOLDER. Exit code 0 when everything agrees.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pygltflib
import trimesh
from pxr import Usd, UsdGeom
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOPLY import vtkPLYReader

TOLERANCE = 2e-5


def accessor(document, index):
    entry = document.accessors[index]
    view = document.bufferViews[entry.bufferView]
    components = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry.type]
    kind = {5126: np.float32, 5125: np.uint32}[entry.componentType]
    data = np.frombuffer(document.binary_blob(), kind, entry.count * components, view.byteOffset)
    return data.reshape(entry.count, components) if components > 1 else data


def rotate(quaternion, points):
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    axis = np.array([x, y, z])
    return points + 2 * np.cross(axis, np.cross(axis, points) + w * points)


def gltf_points(path, frame):
    """World positions of everything that is visible at a frame, by evaluating the animation at its time."""
    document = pygltflib.GLTF2().load(path)
    channels = {}
    times = set()
    for animation in document.animations or []:
        for channel in animation.channels:
            sampler = animation.samplers[channel.sampler]
            keys, values = accessor(document, sampler.input), accessor(document, sampler.output)
            assert np.all(np.diff(keys) > 0), "times are not ascending"
            channels[channel.target.node, channel.target.path] = (keys, values, sampler.interpolation)
            times.update(keys.tolist())
    at = sorted(times)[frame] if times else 0.0
    points = []
    for number, node in enumerate(document.nodes):

        def value(path, default):
            if (number, path) not in channels:
                return default
            keys, values, interpolation = channels[number, path]
            place = int(np.searchsorted(keys, at + 1e-7, side="right")) - 1
            if path == "weights":
                values = values.reshape(len(keys), -1)
            return values[max(place, 0)]

        if node.mesh is None or np.all(value("scale", np.ones(3)) == 0):
            continue
        mesh = document.meshes[node.mesh]
        base = accessor(document, mesh.primitives[0].attributes.POSITION).astype(float)
        weights = value("weights", None)
        if weights is not None:
            for weight, target in zip(weights, mesh.primitives[0].targets):
                if weight != 0:
                    base = base + weight * accessor(document, target["POSITION"] if isinstance(target, dict) else target.POSITION)
        rotation = np.array(value("rotation", node.rotation or [0, 0, 0, 1]), float)
        translation = np.array(value("translation", node.translation or [0, 0, 0]), float)
        points.append(rotate(rotation, base) + translation)
    return np.concatenate(points)


def ply_points(path):
    reader = vtkPLYReader()
    reader.SetFileName(str(path))
    reader.Update()
    return vtk_to_numpy(reader.GetOutput().GetPoints().GetData()).astype(float)


def usd_bounds(path, code):
    stage = Usd.Stage.Open(str(path))
    assert stage, "USD cannot open the file"
    cache = UsdGeom.BBoxCache(Usd.TimeCode(code), [UsdGeom.Tokens.default_])
    box = cache.ComputeWorldBound(stage.GetDefaultPrim()).ComputeAlignedRange()
    return np.array(box.GetMin()), np.array(box.GetMax())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gltf", required=True)
    parser.add_argument("--usd", required=True)
    parser.add_argument("--ply", required=True, type=Path)
    given = parser.parse_args()
    scene = trimesh.load(given.gltf)
    print(f"trimesh: {len(scene.geometry)} geometries, {len(scene.graph.nodes_geometry)} nodes with one")
    problems = 0
    files = sorted(given.ply.glob("frame-*.ply"))
    for frame in [0, len(files) // 2, len(files) - 1]:
        wanted = ply_points(files[frame])
        found = gltf_points(given.gltf, frame)
        size = np.ptp(wanted, axis=0).max()
        if len(found) != len(wanted):
            print(f"frame {frame}: glTF has {len(found)} points, the frame {len(wanted)}", file=sys.stderr)
            problems += 1
        for name, pick in [("lowest", np.min), ("highest", np.max), ("mean", np.mean)]:
            error = np.abs(pick(found, axis=0) - pick(wanted, axis=0)).max()
            if error > TOLERANCE * size:
                print(f"frame {frame}: {name} of the glTF points is off by {error}", file=sys.stderr)
                problems += 1
        low, high = usd_bounds(given.usd, int(files[frame].stem.split("-")[1]))
        # USD's balls are round, ours have 320 triangles; boxes and meshes are exact. Bounds of turned things are looser.
        if np.any(low > wanted.min(axis=0) + 1e-3 * size) or np.any(high < wanted.max(axis=0) - 1e-3 * size):
            print(f"frame {frame}: USD's bounds {low} {high} do not hold the points", file=sys.stderr)
            problems += 1
        if np.any(high - low > 1.8 * np.ptp(wanted, axis=0) + 1e-3 * size):
            print(f"frame {frame}: USD's bounds {low} {high} are far too large", file=sys.stderr)
            problems += 1
    print(f"{len(files)} frames: glTF and USD {'agree with the frames' if problems == 0 else 'differ'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
