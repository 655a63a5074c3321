# SPDX-License-Identifier: BSD-2-Clause
"""Arrays and views of vectors on a device that a program keeps: petsc4py gives them back when Python lets go of them."""

import sys

import numpy as np
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (options are read when it is imported)

ROWS = 20


def vector(value):
    v = PETSc.Vec().createSeq(ROWS, comm=PETSC_SELF)
    v.set(value)
    return v


def expect(what, seen, wanted):
    if not np.array_equal(np.asarray(seen, dtype=float), np.broadcast_to(wanted, np.shape(seen))):
        sys.exit(f"{what}: {seen}, not {wanted}")


def kept_array():
    v = vector(1)
    a = v.array
    v.scale(2)
    expect("an array that is kept after a product with 2", a, 2)
    a[:] = 7
    expect("the sum of what was written into it", v.sum(), 7 * ROWS)
    w = v.duplicate()
    v.copy(w)
    expect("a copy of it", w.array, 7)
    del a
    v.scale(2)
    expect("the vector, after it is given back", v.array, 14)


def array_of_a_vector_that_ends():
    v = vector(3)
    v.scale(2)
    a = v.array
    v.destroy()
    w = vector(1)
    expect("an array whose vector is destroyed", a, 6)
    a[:] = 0
    del a
    expect("another vector in its place", w.array, 1)


def placed_array():
    v = vector(4)
    v.scale(2)  # on the device only
    mine = np.full(ROWS, 5.0)
    v.placeArray(mine)
    expect("the sum of an array that is placed", v.sum(), 5 * ROWS)
    v.shift(1)
    v.resetArray()
    expect("the array that was placed", mine, 6)
    expect("the values of before", v.array, 8)


def kept_parts():
    v = vector(1)
    rows = PETSc.IS().createStride(5, first=10, step=1, comm=PETSC_SELF)
    part = v.getSubVector(rows)
    part.scale(3)
    expect("the sum of a vector with a part", v.sum(), ROWS + 10)
    v.scale(2)
    expect("a part of a vector", part.array, 6)
    a = part.array
    part.shift(1)
    expect("an array of a part", a, 7)
    a[:] = 0
    expect("the sum of a vector, a part of which is zero", v.sum(), 2 * (ROWS - 5))
    del a
    v.restoreSubVector(rows, part)
    expect("the sum after the part is given back", v.sum(), 2 * (ROWS - 5))


def nested():
    x, y = vector(1), vector(2)
    both = PETSc.Vec().createNest([x, y], comm=PETSC_SELF)
    both.scale(3)
    expect("the first of a nest", x.array, 3)
    y.shift(1)
    expect("the sum of a nest", both.sum(), ROWS * (3 + 7))
    other = both.duplicate()
    other.set(1)
    both.axpy(2, other)
    expect("the second of a nest", y.array, 9)
    expect("the norm of a nest", both.norm(PETSc.NormType.NORM_INFINITY), 9)
    for v in (other, both, x, y):
        v.destroy()


def swapped_and_waxpy():
    x, y, z = vector(1), vector(2), vector(0)
    a, b = x.array, z.array
    x.swap(y)
    expect("an array that is kept over an exchange", a, 2)
    z.waxpy(3, x, y)
    expect("an array that is kept of a result", b, 3 * 2 + 1)
    b[:] = a
    expect("a product with what was written", z.dot(y), 2 * ROWS)


def read_only():
    v = vector(2)
    v.scale(2)
    a = v.getArray(readonly=True)
    expect("an array to be read", a, 4)
    del a
    v.scale(2)
    expect("another one", v.getArray(readonly=True), 8)


def products():
    n = ROWS
    A = PETSc.Mat().createAIJ([n, n], nnz=1, comm=PETSC_SELF)
    for i in range(n):
        A[i, n - 1 - i] = 1
    A.assemble()
    x, y = A.createVecs()
    x.array[:] = np.arange(n)
    a = y.array
    A.mult(x, y)
    expect("an array that is kept of a product", a, np.arange(n)[::-1])
    a[:] = 1
    A.multTranspose(y, x)
    expect("the sum of a product with what was written", x.sum(), n)
    for thing in (A, x):
        thing.destroy()


PETSC_SELF = PETSc.COMM_SELF
for case in (kept_array, array_of_a_vector_that_ends, placed_array, kept_parts, nested, swapped_and_waxpy, read_only, products):
    case()
alive = vector(1)
kept = alive.array  # until the interpreter ends
alive.scale(2)
expect("the array that stays", kept, 2)
print("all arrays are right")
