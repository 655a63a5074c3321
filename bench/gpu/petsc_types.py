# SPDX-License-Identifier: BSD-2-Clause
"""Hold -oclspkt_types against PETSc's CUDA types and against its ranks on the host, all of one PETSc, in one go.

    petsc_types.py BUILD FILE [--ranks N] [--cards N] [--quick] [--examples FOLDER] [--only WORDS]

BUILD: where petsc.sh built the plugin and its programs; FILE: what the results go to (JSON); --ranks: of the host (all
cores); --cards: of this machine, a rank each in `weak`; --quick: small grids, to try the script; --examples: where ex2 and
ex45 of PETSc's KSP tutorials were built; --only: of iterations, cg, small, host, counts, heat, line, apply, examples, weak,
joined by commas. PETSc without CUDA leaves its types out.
Ends with 1 if a program failed.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

CUDA = "-dm_vec_type cuda -dm_mat_type aijcusparse -use_gpu_aware_mpi 0"
METHODS = "cg,gmres,bcgs,chebyshev,chebyshev-no-norm"
COUNTS = re.compile(r"oclspkt types: (.*?), (\d+) launches, (\d+) waits, (\d+) bytes up, (\d+) down")
SOLVE = re.compile(r"first solve (\S+) s, median of \d+ solves (\S+) s")
APPLY = re.compile(r"^PCApply: (\S+) ms", re.M)
LOGGED = re.compile(r"^KSPSolve +1 \S+ (\S+)", re.M)


class Runner:
    """Runs programs of PETSc and keeps what they told."""

    def __init__(self, build, quick):
        self.build, self.quick = pathlib.Path(build), quick
        self.types = f"-dll_append {self.build}/lib/liboclspkt.so -oclspkt_types -oclspkt_types_view"
        self.plugin = f"-dll_append {self.build}/lib/liboclspkt.so"
        self.results, self.failed, self.device = [], 0, ""

    def run(self, what, types, program, options, ranks=1):
        """@return what the program printed; "" if it failed, which is told and counted"""
        where = {"opencl": self.types, "cuda": CUDA, "plugin": self.plugin, "host": ""}[types]
        start = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
        path = program if "/" in program else f"{self.build}/{program}"
        command = [*start, path, *options.split(), *where.split()]
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        if done.returncode:
            self.failed += 1
            print(f"FAILED {' '.join(command)}\n{done.stdout[-500:]}\n{done.stderr[:1500]}", flush=True)
            return ""
        record = {"what": what, "types": types, "ranks": ranks, "program": pathlib.Path(path).name, "options": options.replace(self.plugin, "").strip(),
                  "wall_s": round(seconds, 3),
                  "told": [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]}
        if found := COUNTS.search(done.stdout):
            self.device = found[1]
            record["counts"] = dict(zip(("launches", "waits", "bytes_up", "bytes_down"), map(int, found.groups()[1:])))
        if found := SOLVE.search(done.stdout):
            record["first_s"], record["median_s"] = float(found[1]), float(found[2])
        if found := APPLY.search(done.stdout):
            record["apply_ms"] = float(found[1])
        if found := LOGGED.search(done.stdout):
            record["solve_s"] = float(found[1])
        self.results.append(record)
        print(f"{seconds:7.2f} s  {what}, {types}, {ranks} ranks: {options}", flush=True)
        return done.stdout


def iterations(r, devices, _):
    large = f"-points {20 if r.quick else 200} -methods {METHODS} -repeats 5"
    for _ in range(2):
        for types in devices:
            r.run("iterations 3-D", types, "petsc_krylov", large)


def cg(r, devices, _):
    """Conjugate gradients whose scalars stay on the device, beside KSPCG: 1e4, 1e6 and 1e7 rows."""
    for points in (100, 200) if r.quick else (100, 1000, 3162):
        for _ in range(2):
            for types in devices:
                r.run("iterations CG", types, "petsc_krylov", f"-dimensions 2 -points {points} -lambda 1000 -repeats 11 "
                      f"-methods {'cg,cgdevice' if types == 'opencl' else 'cg'}")


def small(r, devices, _):
    for points in (110, 200 if r.quick else 1000):
        for _ in range(2):
            for types in [*devices, *(["host"] if points == 110 else [])]:
                r.run("iterations 2-D", types, "petsc_krylov",
                      f"-dimensions 2 -points {points} -lambda 1000 -methods {METHODS} -repeats 11")


def host(r, _, ranks):
    points = 20 if r.quick else 200
    r.run("iterations 3-D", "host", "petsc_krylov", f"-points {points} -short 10 -long 40 -repeats 3", ranks)
    r.run("iterations 3-D", "host", "petsc_krylov", f"-points {points} -short 2 -long 8 -repeats 3")


def counts(r, *_):
    """Two lengths of each method, whose counts differ by 2 * 60 iterations."""
    asked = [(method, pc) for method in ("cg", "gmres", "bcgs") for pc in ("none", "jacobi", "oclspkt")]
    asked += [("cgdevice", pc) for pc in ("none", "jacobi", "oclspkt")] + [("chebyshev", "jacobi"), ("chebyshev-no-norm", "jacobi")]
    with concurrent.futures.ThreadPoolExecutor(max_workers=1 if r.quick else 8) as pool:
        for method, pc in asked:
            for length in (60, 120):
                pool.submit(r.run, f"counts {method} {pc}", "opencl", "petsc_krylov",
                            f"-dimensions 2 -points {200 if r.quick else 1000} -lambda 1000 -methods {method} -pc_type {pc} "
                            f"-short 0 -long {length} -repeats 1")


def heat(r, devices, ranks):
    points = 20 if r.quick else 256
    for types in devices:
        r.run("heat", types, "petsc_krylov", f"-points {points} -lambda 1 -steps 100")
    r.run("heat", "host", "petsc_krylov", f"-points {points} -lambda 1 -steps 100", ranks)
    for steps in (2, 5):  # of 100, which differ by nothing but steps
        r.run("heat", "host", "petsc_krylov", f"-points {points} -lambda 1 -steps {steps}")


def line(r, *_):
    rows = 100000 if r.quick else 50000000
    for method, batch in (("preonly", 10), ("cg", 3)):
        for types in ("plugin", "opencl"):
            r.run(f"line {method}", types, "petsc_solve",
                  f"-n {rows} -ksp_type {method} -ksp_max_it 1 -pc_type oclspkt -pc_oclspkt_devices gpu -batch {batch}")


def apply(r, devices, _):
    for types in devices:
        extra = f"{r.plugin} " if types == "cuda" else ""
        r.run("apply", types, "petsc_apply", f"{extra}-grid {20 if r.quick else 256} -pc_type oclspkt -pc_oclspkt_lines x,y,z "
              "-pc_oclspkt_combine additive -pc_oclspkt_devices gpu")


def examples(r, devices, _):
    if not r.examples:
        return
    cases = [("ex2", "-m 110 -n 110 -vec_type {0} -mat_type {1}", m) for m in ("cg", "gmres", "bcgs")]
    cases += [("ex45", "-da_grid_x 200 -da_grid_y 200 -da_grid_z 200", "cg")]
    for program, options, method in cases:
        for types in devices:
            filled = options.format(*(("cuda", "aijcusparse") if types == "cuda" else ("standard", "aij")))
            for length in (60, 1260):
                r.run(f"example {method}", types, f"{r.examples}/{program}",
                      f"{filled} -ksp_type {method} -pc_type jacobi -ksp_rtol 1e-300 -ksp_max_it {length} -log_view")


def weak(r, devices, _):
    """As many unknowns for each rank, which has a card: slabs of the grid along z."""
    points = 20 if r.quick else 256
    for types in devices * 2:  # one run of four ranks may be a tenth slower than the next
        ranks = 1
        while ranks <= r.cards:
            r.run("weak", types, "petsc_krylov",
                  f"-points {points} -da_grid_z {ranks * points} -da_processors_x 1 -da_processors_y 1 "
                  f"-da_processors_z {ranks} -repeats 7", ranks)
            ranks *= 2


PARTS = {f.__name__: f for f in (iterations, cg, small, host, counts, heat, line, apply, examples, weak)}


def first_line(*command):
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0]


def provenance(r, arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    cpu = re.search(r"model name\s*: (.*)", info)
    caches = {level: int(first_line("getconf", name) or 0) for level, name in (
        ("L1d", "LEVEL1_DCACHE_SIZE"), ("L2", "LEVEL2_CACHE_SIZE"), ("L3", "LEVEL3_CACHE_SIZE"))}
    wide = {"avx512f": "avx512", "avx2": "avx2", "avx": "avx"}
    return {"commit": os.environ.get("OCLSPKT_COMMIT") or first_line("git", "-C", str(root), "rev-parse", "HEAD"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "cpu": cpu[1] if cpu else "", "architecture": os.uname().machine,
            "instruction_set": next((name for flag, name in wide.items() if f" {flag} " in info), "baseline"),
            "caches": caches, "cores": os.cpu_count(), "threads": os.cpu_count(), "device": r.device,
            "driver": first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
            "petsc": first_line("pkg-config", "--modversion", "PETSc"), "ranks": arguments.ranks, "cards": arguments.cards,
            "command": "bench/gpu/petsc.sh FOLDER --types FILE"}


def write(path, origin, results):
    """A line for each record."""
    lines = ",\n".join(f"    {json.dumps(record)}" for record in results)
    head = json.dumps(origin, indent=2).replace("\n", "\n  ")
    pathlib.Path(path).write_text(f'{{\n  "provenance": {head},\n  "results": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("file")
    parser.add_argument("--ranks", type=int, default=os.cpu_count())
    parser.add_argument("--cards", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--examples")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--cuda", action="store_true", help="this PETSc has CUDA")
    arguments = parser.parse_args()
    r = Runner(arguments.build, arguments.quick)
    r.examples, r.cards = arguments.examples, arguments.cards
    for part in arguments.only.split(","):
        PARTS[part](r, ["opencl", *(["cuda"] if arguments.cuda else [])], arguments.ranks)
        write(arguments.file, provenance(r, arguments), r.results)
    return 1 if r.failed else 0


if __name__ == "__main__":
    sys.exit(main())
