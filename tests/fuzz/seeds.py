# SPDX-License-Identifier: BSD-2-Clause
"""Inputs that fuzzing begins with: one of each kind, and what has been found before.

    seeds.py bands|options|petsc FOLDER
"""

import itertools
import os
import sys

# What bands_fuzzer.cpp takes, byte by byte: take_options(), take_lines(), take_bands().
SCALARS = (0, 1)
DEVICES = (0, 1, 4)  # host, model, auto and model
METHODS = (0, 5, 7, 9, 11, 13, 15)  # auto and those that can be named
LINES = {"one": bytes((0, 90)), "long": bytes((0, 230)), "equal": bytes((3, 20, 9)),
         "unequal": bytes((4, 4, 3, 0, 17, 64)), "strided": bytes((5, 12, 4, 2, 0, 0)), "gaps": bytes((5, 7, 3, 1, 1, 2))}
ROWS = {"poisson": bytes((0, 0, 3, 4, 3, 0)), "zero diagonal": bytes((0, 0, 2, 0, 2, 0)),
        "edges": bytes((0, 1, 27, 26, 28, 29, 33, 30, 0)), "d 1": bytes((1, 0, 0, 7, 1, 0)),
        "row sums 0": bytes((1, 1, 0, 7, 2, 0)), "uniform": bytes((1, 2, 0, 7, 3, 0)), "sparse": bytes((1, 3, 0, 7, 4, 0)),
        "rows": bytes((1, 4, 6, 7, 5, 0)), "columns": bytes((1, 5, 6, 7, 6, 0)), "bits": bytes((1, 6, 0, 7, 7, 0))}

# What has been found in the solver's dealings with lines and devices, with growth, and at the ends of the range.
FOUND = {
    # exact-twopass: the NaN of one line spread to lines that were apart already, which were then solved as the identity
    "a-line-taken-out-twice": "006670676166706761000000686f706b7439427265616b646f776e45",
    # double, random rows, d 0.003: truncated-halo, which was named, is off by 845 eps and did not say so
    "growth-named": "000005000001033b09010200070300000100",
    # double, rows (-2, 0.5, 0), (-0.5, -0.5, 0): couplings to the top row grow in exact-twopass, which was off by 133 eps
    "growth-auto": "0004000000010314fdfefb27070500060700",
    # truncated-halo and truncated-streamed, which were named, off by 102 and 1430 eps, and did not say so: no growth counted
    "growth-named-halo": "00000500000103140901020100000b07030000",
    "growth-named-streamed": "010007000001032f14098e8e8e8e8e01030007040000010007000001032f14098e8e8e8e8e",
    # float: a row from 1e-30 to 9e15, which no scaling keeps in range, is refused although LAPACK solves it
    "too-wide-a-row": "0104110500000103140900011b1a1c1d211e00000100",
    # float: rows that span 1e65, scaled by powers of two, lost entries, and with them the answer
    "too-wide-for-scaling": "010400000001031b030000030009000005000900000505450104200001042000000104000000000300",
    # float: rows of 1e20 and 3, scaled, made a pivot of 1e-40, which is 0
    "pivot-below-range": "174500000000000000000000fd0000000100616c6c6f03140900e8130000fd0314090400000001000701000206008700000900",
    # float: LAPACK's solution comes within a factor of 5 of the largest number, that of other orders passes it
    "near-overflow": "010105000101034e376f636c73706b7439656172426b646f14094001401b1a1c1d211e00000100",
}


def bands():
    for name, content in FOUND.items():
        yield name, bytes.fromhex(content)
    for scalar, device, method, (lines, set_of), (kind, rows) in itertools.product(
            SCALARS, DEVICES, METHODS, LINES.items(), ROWS.items()):
        # Every kind of rows and of lines with every method, and with every device and scalar, is enough.
        if (scalar, device) != (0, 0) and lines != ("one", "equal", "gaps")[(len(kind) + method) % 3]:
            continue
        if lines == "long" and method not in (0, 7):
            continue
        options = bytes((device, method, 0, 0, 1))
        yield (f"{scalar}-{device}-{method}-{lines}-{kind}".replace(" ", "-"),
               bytes((scalar,)) + options + set_of + rows + bytes((0,)) + bytes((1, 0)))


def options():
    yield "minus-zero", bytes.fromhex("a00400000000000000800000e4")  # a timeout of -0 was shown as a change
    devices = bytes((3, 1, 0, 20, 1, 33, 2))
    for number, language in enumerate(("auto", "all", "host", "cpu,gpu", " host , 1", "h200", "0,cpu", ",", "", "tpu", "2,", "cpu:2", "host:4")):
        yield f"language-{number}", b"\x02" + devices + language.encode()
        yield f"language-without-devices-{number}", b"\x02\x00" + language.encode()
    for member in range(8):
        yield f"member-{member}", bytes((0, 1 << member)) + bytes(10)
    for kind in range(5):
        yield f"lines-{kind}", bytes((1, kind, 3, 4, 5, 6, 1, 1))


def petsc():
    # By place in option_table().
    words = {0: ("auto", "matrix", "x,y", "given", "x,x"), 1: ("additive", "symmetric"), 2: ("split",),
             3: ("host", "model", "all", "nothing"), 4: ("auto", "exact", "truncated-halo", "frontal"), 5: ("default",),
             6: ("same", "narrow"), 7: ("1e-5", "-1", "nan"), 8: ("16", "3e9", "0.5"), 9: ("6000000000",), 10: ("inf", "1"),
             11: ("quiet", "error"), 12: ("pin", "fail"), 13: ("copy",), 14: ("0", "-1", "-2")}
    for place, values in words.items():
        for value in values:
            yield f"option-{place}-{value}", bytes((1, place)) + value.encode()


def main():
    target, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, content in {"bands": bands, "options": options, "petsc": petsc}[target]():
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(content)


main()
