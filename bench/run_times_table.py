# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page how applies by CUDA compare with those by OpenCL on one card, by what oclspkt-bench-gpu measured.

    run_times_table.py FOLDER PAGE [--check]

FOLDER: with opencl.json and cuda.json of the same cases; PAGE: Markdown with the lines <!-- begin run-times --> and
<!-- end run-times -->; what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what
it would write.
"""

import json
import pathlib
import re
import statistics
import sys

BEGIN, END = "<!-- begin run-times -->\n", "<!-- end run-times -->"


def case(record):
    return tuple(record[k] for k in ("matrix", "rows", "scalar", "lines", "line_length", "bands", "variant"))


def pairs(folder):
    """[(by OpenCL, by CUDA)] of the cases that both have."""
    documents = [json.loads((pathlib.Path(folder) / f"{name}.json").read_text(encoding="utf-8")) for name in ("opencl", "cuda")]
    by_case = {case(r): r for r in documents[1]["results"]}
    both = [(r, by_case[case(r)]) for r in documents[0]["results"] if case(r) in by_case]
    return [(a, b) for a, b in both if a["shape"] == b["shape"]], documents[1]["provenance"]["device"]


def rows_of(both):
    groups = {}
    for a, b in both:
        groups.setdefault((a["rows"], a["scalar"]), []).append((a, b))
    for (rows, scalar), group in sorted(groups.items()):
        batches = [a["batch_seconds"] / b["batch_seconds"] for a, b in group]
        calls = [a["call_seconds"] / b["call_seconds"] for a, b in group]
        same = sum(a["backward_error_eps"] == b["backward_error_eps"] for a, b in group)
        yield (f"{rows:.3g}".replace("e+0", "e"), scalar, str(len(group)), str(same), f"{statistics.median(batches):.2f}",
               f"{min(batches):.2f}", f"{statistics.median(calls):.2f}")


def text(folder):
    both, device = pairs(folder)
    heading = ("rows", "scalar", "cases", "same backward error", "an apply among many: median", "worst", "call and wait: median")
    lines = [heading, ["---"] * len(heading), *rows_of(both)]
    return f"{device}; time by OpenCL over time by CUDA:\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(folder, page, check=None):
    path = pathlib.Path(page)
    old = path.read_text(encoding="utf-8")
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + text(folder) + END, old, flags=re.DOTALL)
    if BEGIN not in old:
        sys.exit(f"{page} has no place for the table")
    if check is None:
        path.write_text(new, encoding="utf-8")
        return 0
    return int(new != old)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
