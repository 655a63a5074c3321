# SPDX-License-Identifier: BSD-2-Clause
"""The heat equation in two dimensions, implicit in time, in plain petsc4py: nothing here names oclspkt.

    u_t = u_xx + u_yy on the unit square, u = 0 on its edges, u(0) = sin(pi x) sin(pi y)

    python3 heat_source.py [-n points] [-steps count] [PETSc's options]

The steps run on a device with `-dll_append <prefix>/lib/liboclspkt.so -oclspkt_types`.
"""

import sys

import numpy as np
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402


def laplacian(n, h):
    """Minus the second differences along both axes, by rows of the grid."""
    place = np.arange(n * n, dtype=PETSc.IntType).reshape(n, n)
    rows, columns, values = [place.ravel()], [place.ravel()], [np.full(n * n, 4 / h**2)]
    for one, other in ((place[1:], place[:-1]), (place[:, 1:], place[:, :-1])):
        for row, column in ((one, other), (other, one)):
            rows.append(row.ravel())
            columns.append(column.ravel())
            values.append(np.full(row.size, -1 / h**2))
    rows, columns, values = (np.concatenate(parts) for parts in (rows, columns, values))
    order = np.lexsort((columns, rows))
    starts = np.searchsorted(rows[order], np.arange(n * n + 1)).astype(PETSc.IntType)
    return PETSc.Mat().createAIJ([n * n, n * n], csr=(starts, columns[order], values[order]), comm=PETSc.COMM_SELF)


def main():
    options = PETSc.Options()
    n, steps = options.getInt("n", 40), options.getInt("steps", 20)
    h, dt = 1 / (n + 1), 0.1 / steps
    A = laplacian(n, h)
    A.scale(dt)
    A.shift(1)
    u, b = A.createVecs()
    wave = np.sin(np.pi * h * np.arange(1, n + 1))
    u.setArray(np.outer(wave, wave).ravel())

    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(A)
    ksp.setType(PETSc.KSP.Type.CG)
    ksp.getPC().setType(PETSc.PC.Type.JACOBI)
    ksp.setTolerances(rtol=1e-12)
    ksp.setFromOptions()
    iterations = 0
    for _ in range(steps):
        u.copy(b)
        ksp.solve(b, u)
        iterations += ksp.getIterationNumber()

    # The wave is an eigenvector: each step divides it by the same number.
    exact = np.outer(wave, wave).ravel() / (1 + dt * 8 / h**2 * np.sin(np.pi * h / 2) ** 2) ** steps
    error = np.abs(u.getArray(readonly=True) - exact).max()
    print(f"{steps} steps on {n} x {n} points, {iterations} iterations, largest error {error:.3g} of {exact.max():.3g}")
    for thing in (ksp, u, b, A):
        thing.destroy()  # left to Python, they outlive what PETSc cleans up at its end
    if not error <= 1e-9 * exact.max():
        sys.exit("the steps are wrong")


main()
