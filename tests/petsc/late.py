# SPDX-License-Identifier: BSD-2-Clause
"""Leave solvers to the end of the interpreter, after PetscFinalize(): destroyed by hand, and not at all."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (options are read when it is imported)


def solved(devices):
    rows = 5000
    matrix = PETSc.Mat().createAIJ([rows, rows], nnz=3, comm=PETSc.COMM_SELF)
    for i in range(rows):
        for j, value in ((i - 1, -1), (i, 4), (i + 1, -2)):
            if 0 <= j < rows:
                matrix[i, j] = value
    matrix.assemble()
    x, b = matrix.createVecs()
    x.set(1.5)
    matrix.mult(x, b)
    PETSc.Options()["pc_oclspkt_devices"] = devices
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(matrix)
    ksp.setType("preonly")
    ksp.getPC().setType("oclspkt")
    ksp.setFromOptions()
    y = b.duplicate()
    ksp.solve(b, y)
    if not (y - x).norm(PETSc.NormType.NORM_INFINITY) < 1e-12:
        sys.exit(f"wrong on {devices}")
    return ksp


kept = [solved("host"), solved("portable"), solved("portable")]
PETSc._finalize()
del kept[1]
print("ends with solvers alive")
