# SPDX-License-Identifier: BSD-2-Clause
"""Run a PETSc program twice, once with the plugin and once with PETSc's own LU (or --reference), and compare what they
computed.

    foreign.py --plugin LIB --solution ksp|snes|ts|tao|monitor|own [options] -- PROGRAM [ARGUMENTS]

With --answers, what the plugin computes is also compared with what PETSc 3.18 computed with LU, or with --reference, on one
rank: answers.json holds some entries of these vectors. OCLSPKT_WRITE_ANSWERS=1 in the environment writes them anew.

The program is unmodified: everything happens through PETSc's options. Exit codes: 0 equal, 1 not, 77 skipped because the
machine has no device of the kind asked for.
"""

import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
# What the view says of plans of the schemes for FPGAs.
SHAPES = {
    "fpga-spkjac": r"truncated-streamed, one work-item, blocks of \d+ rows from both cuts, solved twice",
    "fpga-tdma": r"exact-factored, one work-item, blocks of \d+ rows, ",
    "fpga-batch": r"exact-factored, one work-item, \d+ lines in turn",
}
VEC_FILE_CLASSID = 1211214


def read_vector(path):
    """The entries of a Vec in PETSc's binary format: big endian, sizes of 32 or 64 bits as PETSc's indices have."""
    with open(path, "rb") as stream:
        content = stream.read()
    sizes = ">qq" if content[:4] == bytes(4) else ">ii"
    begin = struct.calcsize(sizes)
    classid, rows = struct.unpack(sizes, content[:begin])
    if classid != VEC_FILE_CLASSID or rows == 0:
        sys.exit(f"{path} holds no vector (class {classid}, {rows} rows)")
    behind = content[begin + 8 * rows :]
    if behind and not behind.startswith(content[:begin]):  # no end and no other vector: numbers are complex
        parts = struct.unpack(f">{2 * rows}d", content[begin : begin + 16 * rows])
        return tuple(complex(*pair) for pair in zip(parts[::2], parts[1::2]))
    return struct.unpack(f">{rows}d", content[begin : begin + 8 * rows])


def monitored(output):
    """Norms that a monitor printed for the final solution, for programs whose vector cannot be written."""
    norms = [float(x) for x in re.findall(r"KSP Solution norm (\S+)", output)]
    residuals = [float(x) for x in re.findall(r"\|\|r\(i\)\|\|/\|\|b\|\| (\S+)", output)]
    if not norms or not residuals:
        sys.exit("the monitors printed nothing:\n" + output)
    if not residuals[-1] <= 1e-10:
        sys.exit(f"the true residual is {residuals[-1]}")
    return (norms[-1],)


def run(options, extra, folder):
    solution = os.path.join(folder, "solution.bin")
    if options.solution == "own":
        view = []
    elif options.solution == "monitor":
        view = ["-ksp_monitor_solution", "ascii", "-ksp_monitor_true_residual"]
    else:
        # A bare name: Tao also opens a file with the whole word, colon included, as its name.
        view = [f"-{options.solution}_view_solution", "binary:solution.bin"]
    launcher = [options.mpiexec, "-n", str(options.ranks)] if options.ranks > 1 else []
    command = launcher + options.command + extra + view + ["-ksp_converged_reason", "-ksp_view", "-options_left"]
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        if options.device and f"'{options.device}'" in done.stdout and "Invalid argument" in done.stdout:
            sys.exit(SKIPPED)
        sys.exit(f"exit code {done.returncode}")
    if options.solution == "own":
        return done.stdout, ()
    return done.stdout, monitored(done.stdout) if options.solution == "monitor" else read_vector(solution)


def check_schemes(options, output):
    """Every direction of every view is solved on an FPGA by one of the schemes named, and each of them is seen."""
    solved = re.findall(r"^ *method: (.*)\n *device: .*? \((.*?)[,)]", output, re.MULTILINE)
    if len(solved) != len(re.findall(r"^ *method: ", output, re.MULTILINE)) or not solved:
        sys.exit("the view does not tell who solves:\n" + output)
    seen = set()
    for method, device in solved:
        found = [name for name in options.scheme if re.match(SHAPES[name], method)]
        if len(found) != 1 or not re.fullmatch("(emulated )?fpga", device):
            sys.exit(f"'{method}' on '{device}' is none of {options.scheme} on an FPGA")
        seen.update(found)
    if "other ranks: " in output:
        sys.exit("another rank is solved in another way:\n" + output)
    if seen != set(options.scheme):
        sys.exit(f"of {options.scheme} only {sorted(seen)} solve in\n{output}")


def check_output(options, output):
    if not re.search(r"type: oclspkt", output):
        sys.exit("-ksp_view does not say oclspkt:\n" + output)
    left = [name for name in re.findall(r"Option left: name:(\S+)", output) if re.search(r"oclspkt|pc_type|dll_", name)]
    if left:
        sys.exit(f"options were left over: {left}")
    if options.scheme:
        check_schemes(options, output)
    for pattern in options.expect:
        if not re.search(pattern, output):
            sys.exit(f"no match of {pattern!r} in\n{output}")
    counts = [int(n) for n in re.findall(r"Linear \S*\s*solve converged due to \S+ iterations (\d+)", output)]
    if not counts:
        sys.exit("no linear solve converged:\n" + output)
    if options.one_iteration and max(counts) > 1:
        sys.exit(f"GMRES took {max(counts)} iterations where the preconditioner is exact")
    if options.iterations and not abs(max(counts) - options.iterations) <= 1:  # other BLAS libraries round differently
        sys.exit(f"it took {max(counts)} iterations instead of {options.iterations}, on any number of ranks")


def difference(x, y):
    """Largest difference relative to the largest entry; NaN and unequal lengths lose."""
    if len(x) != len(y):
        sys.exit(f"{len(x)} entries against {len(y)}")
    scale = max(abs(v) for v in y) or 1.0
    worst = 0.0
    for a, b in zip(x, y):
        if not abs(a - b) <= scale:
            sys.exit(f"{a} against {b}")
        worst = max(worst, abs(a - b) / scale)
    return worst


def summary(x):
    """What stands for a vector in the file of answers: its length, its norm, and entries spread over it."""
    norm = math.sqrt(sum(abs(v) ** 2 for v in x))
    places = sorted({round(i * (len(x) - 1) / 8) for i in range(9)})
    return {"rows": len(x), "norm": norm, "entries": {str(i): x[i] for i in places}}


def compare_with_answers(options, solution, reference):
    """The answer of PETSc 3.18, whatever PETSc this is."""
    with open(options.answers, encoding="utf-8") as stream:
        answers = json.load(stream)
    key = options.answer
    if os.environ.get("OCLSPKT_WRITE_ANSWERS"):
        if options.ranks == 1 and not options.device:
            answers[key] = summary(reference)
            with open(options.answers, "w", encoding="utf-8") as stream:
                json.dump(dict(sorted(answers.items())), stream, indent=1)
                stream.write("\n")
        return
    if key not in answers:
        sys.exit(f"{options.answers} has no answer of {key}: run this test on one rank with OCLSPKT_WRITE_ANSWERS=1 and PETSc 3.18")
    known, found = answers[key], summary(solution)
    if known["rows"] != found["rows"]:
        sys.exit(f"{found['rows']} rows, PETSc 3.18 had {known['rows']}")
    scale = max(max(map(abs, known["entries"].values())), known["norm"] / math.sqrt(known["rows"]))
    worst = abs(found["norm"] - known["norm"]) / known["norm"]
    for place, value in known["entries"].items():
        worst = max(worst, abs(found["entries"][place] - value) / scale)
    print(f"largest difference from PETSc 3.18 {worst:.1e} of {options.answer_tolerance:.1e}")
    if not worst <= options.answer_tolerance:
        sys.exit(f"PETSc 3.18 computed another answer: {known} against {found}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--solution", required=True, choices=["ksp", "snes", "ts", "tao", "monitor", "own"],
                        help="how it is written; `own`: the program checks its answer by itself")
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--answers", help="file with the answers of PETSc 3.18")
    parser.add_argument("--answer", help="the name of this one")
    parser.add_argument("--answer-tolerance", type=float, default=1e-8)
    parser.add_argument("--prefix", default="", help="of the preconditioner, e.g. sub_")
    parser.add_argument("--outer", default="", help="options of the program for both runs")
    parser.add_argument("--device", default="", help="-pc_oclspkt_devices; the view must name a device of this type")
    parser.add_argument("--expect", action="append", default=[], help="what the output must match")
    parser.add_argument("--scheme", action="append", default=[], choices=SHAPES, help="of the device, see SHAPES")
    parser.add_argument("--one-iteration", action="store_true")
    parser.add_argument("--iterations", type=int, help="of the longest linear solve, to within one")
    parser.add_argument("--inner", default="", help="options of the plugin, for its run only")
    parser.add_argument("--reference", help="-pc_type of the other run, by default lu, on several ranks LU of one")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    if not options.reference:  # PETSc itself factors matrices of one rank only
        options.reference = "lu" if options.ranks == 1 or options.prefix else "redundant"
    plugin = ["-dll_append", options.plugin, f"-{options.prefix}pc_type", "oclspkt"] + options.inner.split()
    if options.device:
        plugin += [f"-{options.prefix}pc_oclspkt_devices", options.device]
        options.expect.append(rf"device: .*\((emulated )?{options.device}\b")
    with tempfile.TemporaryDirectory() as folder:
        output, solution = run(options, options.outer.split() + plugin, folder)
        if options.solution == "own":
            return check_output(options, output)
        _, reference = run(options, options.outer.split() + [f"-{options.prefix}pc_type", options.reference], folder)
    check_output(options, output)
    worst = difference(solution, reference)
    print(f"largest difference {worst:.1e} of {options.tolerance:.1e}")
    if not worst <= options.tolerance:
        sys.exit("the answers differ")
    if options.answers:
        compare_with_answers(options, solution, reference)


main()
