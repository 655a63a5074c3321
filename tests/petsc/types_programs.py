# SPDX-License-Identifier: BSD-2-Clause
"""Run PETSc's own examples as they are and with -oclspkt_types, or other options, and compare what they print.

    types_programs.py [@FILE of options] PROGRAM...

A PROGRAM is a folder of examples, such as ksp/ksp/tutorials, or one of them, such as ksp/ksp/tutorials/ex2, which may be
followed by arguments of its own: "ksp/ksp/tutorials/ex2 -ksp_type gmres". Without arguments, the first test of each number
of ranks in the example's TEST block is run that needs nothing but PETSc. What is not valid on the host is poisoned.

Two outputs are the same if they are the same text; rounded if all text between their numbers is the same and two numbers
differ by at most 1e-6 of them, or by one unit of the last digit of three or more that are printed with a point, or are
both below 1e-9 in magnitude; else they differ. AMPLIFY lists examples that may differ by more. Lines may come in another
order on several ranks, which print when they like. Programs that fail without the types, or print something else from
run to run, do not count.

With --like, names of types may differ, and what differs is run with those options of PETSc's own, such as another type of
matrix, too. It is alike if it prints the same with one of them, or ends with the same code: that is no fault of ours.
"""

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"([-+]?\d+\.?\d*(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?)")
# What examples ask for that every PETSc has which the plugin is built for.
THERE = {"double", "define(PETSC_USE_LOG)", "defined(PETSC_USE_LOG)", "define(PETSC_USE_INFO)"}
# Examples whose methods amplify rounding: relative difference that is allowed, by name and ranks.
AMPLIFY = {
    "ksp/ksp/tutorials/ex50 2": 1e-3,
    "snes/tutorials/ex15 1": 1e-4,
    "snes/tutorials/ex15 4": 1e-3,  # ngmres
    "snes/tutorials/ex33 1": 1e-3,  # residuals 1e8 times smaller than the first, as of the next
    "snes/tutorials/ex46 1": 1e-5,
    # Modified Gram-Schmidt instead of the classical one moves these as much.
    "ts/tutorials/ex2 2": 1e-3,
    "ts/tutorials/ex7 1": 0.3,
    "ts/tutorials/ex10 1": 1e-4,
    "ts/tutorials/ex12 1": 1e-2,
    "ts/tutorials/ex26 1": 1e-3,
    "ts/tutorials/ex26 4": 1e-3,
    # Other options of the compiler do: the steps are too long for the explicit method, and the third iterate is exact.
    "ts/tutorials/ex21 1": 3,
    "ts/tutorials/ex74 1": 0.3,
}
ROUNDING, NOTHING = 1e-6, 1e-9
REFUSED = "which vectors on a device do not see"  # PCGASM and TAOPDIPM, see docs/types.md
GOOD = ("same", "rounded")


def can_run(requires):
    return all(word.startswith("!") or word in THERE for word in requires.split())


def tests_of(text):
    """Ranks and arguments of the tests of an example."""
    block = re.search(r"/\*TEST(.*?)TEST\*/", text, re.DOTALL)
    if not block:
        return {}
    build = re.search(r"^\s*build:(.*?)(?=^\s*(?:test|testset):)", block[1], re.DOTALL | re.MULTILINE)
    if build and not can_run(" ".join(re.findall(r"requires:(.*)", build[1]))):
        return {}
    found = {}
    for test in re.split(r"\n\s*test:", block[1])[1:]:
        test = re.split(r"\n\s*(?:testset|build):", test)[0]
        entry = dict(re.findall(r"^\s*(nsize|args|requires):(.*)$", test, re.MULTILINE))
        arguments, ranks = entry.get("args", "").strip(), entry.get("nsize", "1").strip()
        if not can_run(entry.get("requires", "")) or "TODO" in test or re.search(r"\{\{|\$|\\", arguments):
            continue
        if ranks.isdigit() and int(ranks) <= 4:
            found.setdefault(int(ranks), arguments)
    return found


def executable(options, name):
    """The path of a compiled example; None if it does not compile here."""
    source = os.path.join(options.examples, name + ".c")
    program = os.path.join(options.folder, name.replace("/", "_"))
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        os.makedirs(options.folder, exist_ok=True)
        command = [*shlex.split(options.compile), "-w", source, "-o", program, *shlex.split(options.link)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=os.path.dirname(source))
        if done.returncode != 0:
            return None
    return program


def run(options, command):
    """Exit code and output; the code of a program that hangs is that of timeout(1)."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=options.seconds,
                                  env={**os.environ, **dict(word.split("=", 1) for word in options.env)})
        except subprocess.TimeoutExpired:
            return 124, []
    return done.returncode, done.stdout.decode(errors="replace").splitlines()


def last_digit(printed):
    """What one unit of the last digit is worth; nothing where too few digits are printed."""
    mantissa, _, exponent = printed.lower().partition("e")
    if "." not in mantissa or len(mantissa.strip("+-").replace(".", "").lstrip("0")) < 3:
        return 0
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def same_numbers(one, other, tolerance):
    a, b = float(one), float(other)
    if re.fullmatch(r"[-+]?\d+", one) or re.fullmatch(r"[-+]?\d+", other):
        tolerance = min(tolerance, ROUNDING)  # counts are no results of rounding
    if abs(a - b) <= tolerance * max(abs(a), abs(b)) or (abs(a) < NOTHING and abs(b) < NOTHING):
        return True
    return abs(a - b) <= 1.01 * max(last_digit(one), last_digit(other))


def same_but_for_rounding(lines, others, tolerance):
    if len(lines) != len(others):
        return False
    for line, other in zip(lines, others):
        parts, counterparts = NUMBER.split(line), NUMBER.split(other)
        if len(parts) != len(counterparts):
            return False
        for place, (part, counterpart) in enumerate(zip(parts, counterparts)):
            if place % 2 == 0 and part.split() != counterpart.split():
                return False
            if place % 2 == 1 and not same_numbers(part, counterpart, tolerance):
                return False
    return True


def without_names(lines):
    """Output without the names of types that options choose."""
    return [re.sub(r"\btype(: ?|=)(opencl|seq|mpi)\b", r"type\1vector", re.sub(r"aij(opencl|perm)\b", "aij", line)) for line in lines]


def compare(plain, dressed, tolerance):
    if plain == dressed or sorted(plain) == sorted(dressed):
        return "same"
    if any(same_but_for_rounding(order(plain), order(dressed), tolerance) for order in (list, sorted)):
        return "rounded"
    return "differs"


def outcome_of(options, command, plain, tolerance):
    """What comes of a run beside the plain one, and what it prints."""
    code, output = run(options, command)
    if options.like:
        plain, output = without_names(plain), without_names(output)
    return compare(plain, output, tolerance) if code == 0 else f"ends with {code}", output


def examine(options, name, ranks, arguments):
    program = executable(options, name)
    if program is None:
        return "does not compile here"
    command = [options.mpiexec, "-n", str(ranks), program, *shlex.split(arguments), "-nox", "-options_left", "no"]
    code, plain = run(options, command)
    if code != 0:
        return "does not run here"
    types = [*shlex.split(options.types), "-oclspkt_types_device", options.device, "-oclspkt_types_least", "1", "-oclspkt_types_poison"]
    tolerance = AMPLIFY.get(f"{name} {ranks}", ROUNDING)
    outcome, output = outcome_of(options, [*command, "-dll_append", options.plugin, *types], plain, tolerance)
    if outcome in GOOD:
        return outcome
    if any(REFUSED in line for line in output):
        return "refused here"
    again = (run(options, command) for _ in range(4))
    if any(code == 0 and compare(plain, lines, tolerance) not in GOOD for code, lines in again):
        return "differs from itself here"
    difference = list(difflib.unified_diff(plain, output, "without", "with the types", n=0, lineterm=""))
    print("\n".join(line[:160] for line in difference[: options.lines]))
    others = []
    for like in options.like:
        other, its_output = outcome_of(options, [*command, *shlex.split(like)], plain, tolerance)
        if other == outcome and (outcome != "differs" or compare(its_output, output, tolerance) in GOOD):
            return f"alike with {like}"
        others.append(f"; with {like} {other}")
    return outcome + "".join(others)


def programs(options):
    """Name, ranks and arguments of what is to be run."""
    for word in options.program:
        name, *arguments = word.split(maxsplit=1)
        folder = os.path.join(options.examples, name)
        if not os.path.isdir(folder):
            names = [name]
        else:
            names = [f"{name}/{file[:-2]}" for file in sorted(os.listdir(folder)) if re.fullmatch(r"ex\d+\w*\.c", file)]
        for one in names:
            with open(os.path.join(options.examples, one + ".c"), encoding="utf-8", errors="replace") as stream:
                tests = tests_of(stream.read())
            if arguments:
                tests = {ranks: arguments[0] for ranks in options.ranks or [1]}
            for ranks, of_test in sorted(tests.items()):
                if not options.ranks or ranks in options.ranks:
                    yield one, ranks, of_test


def main():
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--examples", required=True, help="PETSc's src folder")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--compile", required=True, help="compiler and its options")
    parser.add_argument("--link", required=True, help="libraries")
    parser.add_argument("--folder", required=True, help="for the compiled examples")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--device", default="Portable", help="-oclspkt_types_device")
    parser.add_argument("--types", default="-oclspkt_types", help="options that put vectors and matrices on the device")
    parser.add_argument("--like", action="append", default=[],
                        help="options of PETSc's own that a program may differ by in the same way")
    parser.add_argument("--seconds", type=int, default=60, help="when to end a program")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE")
    parser.add_argument("--ranks", type=int, action="append", help="these numbers of ranks only")
    parser.add_argument("--lines", type=int, default=12, help="how many lines of a difference to print")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()

    counts, wrong = {}, []
    for name, ranks, arguments in programs(options):
        outcome = examine(options, name, ranks, arguments)
        if outcome not in GOOD and not outcome.startswith("alike") and not outcome.endswith("here"):
            wrong.append(f"{name} on {ranks} ranks {outcome}")
            outcome = "differs"
        counts[outcome] = counts.get(outcome, 0) + 1
        print(f"{outcome}: {name} on {ranks} ranks {arguments}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    if not counts.get("same", 0) + counts.get("rounded", 0):
        sys.exit("nothing was compared")
    if wrong:
        sys.exit("\n".join(wrong))


main()
