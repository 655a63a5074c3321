# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page which choices of method differ between two states of the library, and what both take.

    choice_table.py RESULTS PAGE [--check]

RESULTS: the folder with before-MACHINE.json and after-MACHINE.json, or several, MACHINE-ANYTHING, which
`oclspkt-bench-schemes --chosen` wrote; PAGE: Markdown with the lines <!-- begin choices --> and <!-- end choices -->;
what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what it would write.

A choice costs a later set-up divided by N, plus an apply, where N applies follow a set-up.
"""

import json
import pathlib
import statistics
import sys

import scheme_table


def load(folder, state):
    """{machine: {(case, N): record}}"""
    machines = {}
    for path in sorted(pathlib.Path(folder).glob(f"{state}-*.json")):
        machine = path.stem.removeprefix(f"{state}-").partition("-")[0]
        for case in json.loads(path.read_text(encoding="utf-8"))["results"]:
            for record in case["chosen"]:
                key = scheme_table.case_name(case), record["applies"]
                machines.setdefault(machine, {})[key] = record
    return machines


def cost(record):
    return record["later_set_up_seconds"] / record["applies"] + record["apply_seconds"]


def words(record):
    shape = f", {record['shape']}" if record["shape"] else ""
    where = " on the host" if record["where"] == "host" else ""
    return record["method"] + shape + where


def compare(machine, before, after):
    """A line about choices that stayed, and the rows of those that did not, the greatest gain first."""
    same, rows = [], []
    for key in before.keys() & after.keys():
        old, new = before[key], after[key]
        ratio = cost(new) / cost(old)
        if words(old) == words(new):
            same.append(ratio)
        else:
            cells = [machine, key[0], str(key[1]), words(old), f"{cost(old):.3g}", words(new), f"{cost(new):.3g}"]
            rows.append((ratio, [*cells, f"{ratio:.2f}"]))
    ratios = [ratio for ratio, _ in rows] or [1]
    line = (
        f"- {machine}: {len(same)} choices are the same, in a median of {statistics.median(same):.2f} of the time; "
        f"{len(rows)} changed, in a median of {statistics.median(ratios):.2f}, at least {min(ratios):.2f} and at most "
        f"{max(ratios):.2f}.\n"
    )
    return line, [cells for _, cells in sorted(rows)]


def page(folder):
    before, after = load(folder, "before"), load(folder, "after")
    lines, rows = [], []
    for machine in sorted(before.keys() & after.keys()):
        line, changed = compare(machine, before[machine], after[machine])
        lines.append(line)
        rows += changed
    heading = ["machine", "case", "N", "before", "s", "after", "s", "after / before"]
    return "".join(lines) + "\n" + scheme_table.table(heading, rows)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(scheme_table.put_between(sys.argv[2], "choices", page(sys.argv[1]), len(sys.argv) == 4))
