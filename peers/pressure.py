"""The benchmark scene PRESSURE with pyamg, for comparison with `splashdown bench pressure` in one go.

Run:  python3 peers/pressure.py [cells along an edge, 128]      (needs numpy, scipy, pyamg)

Fluid: cells of the unit cube with centre y < 0.75 outside a ball at (0.5, 0.4, 0.5) of radius 0.15; walls and ball closed, air above at zero pressure
in the centre of its cells. One thread, relative residual 1e-8, start from zero.
"""

import os
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pyamg
import scipy.sparse as sp
import scipy.sparse.linalg as spl


def system(n):
    """Matrix and right-hand side over the fluid cells."""
    h = 1.0 / n
    i, j, k = np.meshgrid(np.arange(n), np.arange(n), np.arange(n), indexing="ij")
    x, y, z = (i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h
    solid = (x - 0.5) ** 2 + (y - 0.4) ** 2 + (z - 0.5) ** 2 < 0.15**2
    fluid = (y < 0.75) & ~solid
    air = (y >= 0.75) & ~solid
    number = -np.ones((n, n, n), dtype=np.int64)
    count = int(fluid.sum())
    number[fluid] = np.arange(count)
    diagonal = np.zeros(count)
    rows, columns = [], []
    for axis in range(3):
        low = [slice(None)] * 3
        high = [slice(None)] * 3
        low[axis], high[axis] = slice(0, n - 1), slice(1, n)
        for own, other in ((tuple(low), tuple(high)), (tuple(high), tuple(low))):
            both = fluid[own] & fluid[other]
            rows.append(number[own][both])
            columns.append(number[other][both])
            np.add.at(diagonal, number[own][both], 1.0)
            np.add.at(diagonal, number[own][fluid[own] & air[other]], 1.0)
    r, c = np.concatenate(rows), np.concatenate(columns)
    matrix = sp.csr_matrix((-np.ones(len(r)), (r, c)), shape=(count, count)) + sp.diags(diagonal)
    noise = ((7919 * i + 104729 * j + 1299709 * k) % 1000) / 1000.0 - 0.5
    b = np.sin(2 * np.pi * x) * np.sin(4 * np.pi * y) * np.cos(6 * np.pi * z) + 0.3 * noise
    return (matrix / h**2).tocsr(), b[fluid]


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 128
    matrix, b = system(n)
    print(f"{n}^3: {matrix.shape[0]} unknowns, pyamg {pyamg.__version__}")
    for name, build in (
        ("smoothed aggregation", pyamg.smoothed_aggregation_solver),
        ("Ruge-Stueben", pyamg.ruge_stuben_solver),
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        hierarchy = build(matrix)
        setup = time.process_time() - cpu
        residuals = []
        solution = hierarchy.solve(b, tol=1e-8, accel="cg", maxiter=200, residuals=residuals)
        total_cpu, total_wall = time.process_time() - cpu, time.perf_counter() - wall
        left = np.linalg.norm(b - matrix @ solution) / np.linalg.norm(b)
        print(
            f"CG + {name}: set-up {setup:.2f} s CPU, all {total_cpu:.2f} s CPU, {total_wall:.2f} s wall, "
            f"{len(residuals) - 1} iterations, residual {left:.1e}"
        )


if __name__ == "__main__":
    main()
