# SPDX-License-Identifier: BSD-2-Clause
"""The heat equation in one dimension, implicit in time, every step solved by oclspkt from petsc4py.

    u_t = u_xx on (0,1), u(t,0) = u(t,1) = 0, u(0,x) = sin(pi x);   solution exp(-pi^2 t) sin(pi x)

    PYTHONPATH=<prefix>/lib/python python3 heat.py [-n rows] [-steps count] [-end time] [PETSc's options]
"""

import sys
from math import pi

import numpy as np
import petsc4py

petsc4py.init(sys.argv)
import oclspkt  # noqa: E402
from petsc4py import PETSc  # noqa: E402


def laplacian(n, h):
    """Second differences with zero boundary values."""
    rows = np.arange(n, dtype=PETSc.IntType)
    columns = np.stack([rows - 1, rows, rows + 1], axis=1)
    values = np.tile([1.0, -2.0, 1.0], (n, 1)) / h**2
    inside = (columns >= 0) & (columns < n)
    starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(PETSc.IntType)
    return PETSc.Mat().createAIJ([n, n], csr=(starts, columns[inside], values[inside]), comm=PETSc.COMM_SELF)


def solution(t, n, h):
    return np.exp(-(pi**2) * t) * np.sin(pi * h * np.arange(1, n + 1))


def discretisation_error(end, h, dt):
    """What second differences (too slow) and Crank-Nicolson (too fast) do to the lowest mode's decay, leading order."""
    return np.exp(-(pi**2) * end) * end * pi**4 * abs(h**2 - pi**2 * dt**2) / 12


def report(pc):
    """Which method and device oclspkt took; another PC may have been asked for by option."""
    if pc.getType() == oclspkt.TYPE:
        method, why = oclspkt.method_used(pc)
        device, device_type = oclspkt.device_used(pc)
        print(f"solved by {method} ({why})\non {device} ({device_type})")


def main():
    oclspkt.initialize()
    options = PETSc.Options()
    n, steps, end = options.getInt("n", 1000), options.getInt("steps", 100), options.getReal("end", 0.1)
    h, dt = 1 / (n + 1), end / steps

    A = laplacian(n, h)
    u, f = A.createVecs()
    u.setArray(solution(0, n, h))

    ts = PETSc.TS().create(PETSc.COMM_SELF)
    ts.setProblemType(PETSc.TS.ProblemType.LINEAR)
    ts.setType(PETSc.TS.Type.CN)
    ts.setRHSFunction(lambda ts, t, u, f: A.mult(u, f), f)
    J = A.duplicate(copy=True)  # TS shifts and scales its Jacobian in place
    ts.setRHSJacobian(lambda ts, t, u, J, P: A.copy(P), J, J)
    ts.setTimeStep(dt)
    ts.setMaxSteps(steps)
    ts.setMaxTime(end)
    ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
    pc = ts.getSNES().getKSP().getPC()
    pc.setType(oclspkt.TYPE)
    ts.setFromOptions()
    ts.solve(u)
    report(pc)

    error = np.abs(u.getArray() - solution(end, n, h)).max()
    expected = discretisation_error(end, h, dt)
    print(f"{n} rows, {steps} steps, {ts.getKSPIterations()} linear iterations")
    print(f"largest error against the analytic solution {error:.3g}, of which the discretisation explains {expected:.3g}")
    for thing in (pc, ts, J, A, f, u):
        thing.destroy()  # left to Python, they outlive what PETSc cleans up at its end
    if not abs(error - expected) <= 0.05 * expected:
        sys.exit("the error is not that of the discretisation")


main()
