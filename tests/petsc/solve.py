# SPDX-License-Identifier: BSD-2-Clause
"""A petsc4py program that knows nothing of the plugin: a heat-like tridiagonal system with the solver of the options."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (petsc4py wants to see the arguments first)

n = PETSc.Options().getInt("n", 1000)
A = PETSc.Mat().createAIJ([n, n], nnz=3, comm=PETSc.COMM_SELF)
for i in range(n):
    A[i, i] = 2.5 + (i % 7) / 7
    if i > 0:
        A[i, i - 1] = -1
    if i < n - 1:
        A[i, i + 1] = -1.25
A.assemble()
x, b = A.createVecs()
b.setArray([(i * 37 % 101) / 101 for i in range(n)])
ksp = PETSc.KSP().create(PETSc.COMM_SELF)
ksp.setOperators(A)
ksp.setFromOptions()
ksp.solve(b, x)
