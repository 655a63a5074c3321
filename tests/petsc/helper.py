# SPDX-License-Identifier: BSD-2-Clause
"""The Python helper: every option goes in and comes out, results are right, and errors carry their text.

    helper.py [PATH_OF_THE_PLUGIN] [PETSc's options]
"""

import sys

import petsc4py

petsc4py.init(sys.argv)
import oclspkt  # noqa: E402
from oclspkt._functions import SETTINGS  # noqa: E402
from petsc4py import PETSc  # noqa: E402

# What is not the default.
NUMBERS = {"PetscReal": 0.25, "PetscInt": 48, "PetscInt64": 6_000_000_000, "PetscBool": True}
TEXTS = {"devices": "host", "balance": "even", "profile": "none", "fpga_binary": "boards:a.aocx", "fpga_banks": "spread", "rated_power": "gpu=700", "variant": "gpu", "directions": "x,y", "precision": "narrow"}


def check(condition, what):
    if not condition:
        sys.exit(what)


def raised(kind, text, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        check(text in str(error), f"{text!r} is not in {error}")
        return
    sys.exit(f"{function.__name__}{arguments} raised nothing")


def tridiagonal(n):
    """Rows -1 4 -1, and an entry of 0.5 in the corner, which is off the bands."""
    A = PETSc.Mat().createAIJ([n, n], nnz=4, comm=PETSc.COMM_SELF)
    for i in range(n):
        for j, value in ((i - 1, -1.0), (i, 4.0), (i + 1, -1.0)):
            if 0 <= j < n:
                A[i, j] = value
    A[0, n - 1] = 0.5
    A.assemble()
    return A


def check_settings(pc):
    for name, (_, (kind,), _) in SETTINGS.items():
        value = TEXTS.get(name, kind[-1] if isinstance(kind, tuple) else NUMBERS.get(kind))
        get, set_ = getattr(oclspkt, "get_" + name), getattr(oclspkt, "set_" + name)
        before = get(pc)
        check(before != value, f"{name}: {value!r} is the default, which shows nothing")
        set_(pc, value)
        check(get(pc) == value and type(get(pc)) is type(value), f"{name}: {get(pc)!r} came back for {value!r}")
        set_(pc, before)
        check(get(pc) == before, f"{name}: {get(pc)!r} came back for {before!r}")
        if isinstance(kind, tuple):
            raised(ValueError, kind[-1], set_, pc, "nonsense")


def check_errors(pc):
    raised(PETSc.Error, "PCSetUp()", oclspkt.method_used, pc)
    raised(PETSc.Error, "partition must be", oclspkt.set_partition, pc, -2)
    raised(ValueError, "PetscInt", oclspkt.set_partition, pc, 2 ** (8 * PETSc.IntType().itemsize))
    raised(TypeError, "", oclspkt.set_partition, pc, 2.5)
    raised(PETSc.Error, "null pointer", oclspkt.get_rtol, PETSc.PC())
    other = PETSc.PC().create(PETSc.COMM_SELF)
    other.setType("jacobi")
    oclspkt.set_rtol(other, 0.5)
    raised(PETSc.Error, "PCOCLSPKTGetRtol", oclspkt.get_rtol, other)
    other.destroy()


def check_results(pc):
    n = 500
    A = tridiagonal(n)
    pc.setOperators(A)
    oclspkt.set_devices(pc, "host")
    oclspkt.set_method(pc, "pivot")
    pc.setUp()
    method, why = oclspkt.method_used(pc)
    check(method == "pivot" and why, f"{method}, {why}")
    check(oclspkt.device_used(pc) == ("host", "host"), oclspkt.device_used(pc))
    check(oclspkt.ignored_entries(pc) == 1, oclspkt.ignored_entries(pc))
    check(oclspkt.directions_used(pc) == "matrix", oclspkt.directions_used(pc))
    for name in ("method_used", "device_used", "certificate", "ignored_entries"):
        one, all_ = getattr(oclspkt, "direction_" + name)(pc, "matrix"), getattr(oclspkt, name)(pc)
        check(one == all_, f"{name}: {one} for the only direction, {all_} for all")
    raised(PETSc.Error, "does not solve along 'y'", oclspkt.direction_method_used, pc, "y")
    raised(TypeError, "takes 1 arguments", oclspkt.direction_method_used, pc)
    oclspkt.set_method(pc, "truncated-halo")  # the host truncates nothing
    oclspkt.set_rtol(pc, 1e-3)
    oclspkt.set_partition(pc, 16)
    pc.setUp()
    certificate, rounding, tolerance = oclspkt.certificate(pc)
    check(certificate == 0 and tolerance == 1e-3, f"{certificate} {tolerance}")
    method, why = oclspkt.method_used(pc)
    check(method == "exact-factored" and "no more than truncated-halo" in why, f"{method}, {why}")
    check(0 < rounding <= 100, f"{rounding}")
    x, b = A.createVecs()
    b.setArray([4.0 - (i > 0) - (i < n - 1) for i in range(n)])
    pc.apply(b, x)
    error = max(abs(v - 1) for v in x.getArray())
    check(error <= 1e-14, f"error {error}")
    for thing in (x, b, A):
        thing.destroy()


path = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
if path:
    raised(RuntimeError, "oclspkt.initialize()", oclspkt.initialize, path + ".missing")
    raised(RuntimeError, "oclspkt.initialize()", oclspkt.initialize, path.replace("liboclspkt", "liboclspkt-cl"))
oclspkt.initialize(path)
oclspkt.initialize()
check(oclspkt._library._name.startswith("liboclspkt-petsc-"), f"{oclspkt._library._name} is not what PETSc loaded")
preconditioner = PETSc.PC().create(PETSc.COMM_SELF)
preconditioner.setType(oclspkt.TYPE)
check_settings(preconditioner)
check_errors(preconditioner)
check_results(preconditioner)
preconditioner.destroy()
