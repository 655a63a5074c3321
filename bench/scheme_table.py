# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page which schemes are the best anywhere, by what oclspkt-bench-schemes measured.

    scheme_table.py RESULTS PAGE [--check]
    scheme_table.py RESULTS --wins SCHEME

RESULTS: the folder with a file for each machine, MACHINE.json, or several, MACHINE-ANYTHING.json; PAGE: Markdown with
the lines <!-- begin schemes --> and <!-- end schemes -->; what stands between them is replaced. --check writes nothing
and ends with 1 if the page is not what it would write. --wins prints where a scheme is the best, by how much.

A case costs set-up / N + apply, with the set-up of a solver that had other numbers before, for N applies a set-up. A
scheme stays if for some case and N, on some machine, the next best other one costs 15 % more, or if it alone holds.
"""

import json
import pathlib
import re
import sys

APPLIES = (1, 10, 100)
GAIN = 1.15
ANSWERED = ("timed", "slow")
# Holds for every matrix, and is what the others are there to spare.
ALWAYS = "host-pivot"
NOT_MADE = "Not measured yet.\n"
# Names in older results: {recorded: today's}.
RENAMED = {"lanes-walk": "lanes-tiles"}


def table(heading, rows):
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def load(folder):
    """{machine: [document]}, of which each has some of the cases."""
    machines = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        machines.setdefault(path.stem.partition("-")[0], []).append(document)
    return machines


def case_name(case):
    size = f"{case['size']:.2g}".replace("e+0", "e")
    return f"{case['family']}, {case['layout']}, {size}, {case['scalar']}"


def name_today(scheme):
    return RENAMED.get(scheme, scheme)


def costs(case, applies):
    """{scheme: seconds of an apply with its share of the set-up}, of those that gave an answer."""
    found = {}
    for record in case["schemes"]:
        if record["outcome"] in ANSWERED:
            cost = record["later_set_up_seconds"] / applies + record["apply_seconds"]
            scheme = name_today(record["scheme"])
            found[scheme] = min(cost, found.get(scheme, cost))
    return found


def wins(documents):
    """(scheme, gain over the next best, that one, case, N) for every case and N with a next best."""
    for case in (case for document in documents for case in document["results"]):
        for applies in APPLIES:
            ranked = sorted((cost, scheme) for scheme, cost in costs(case, applies).items())
            if len(ranked) > 1:
                yield ranked[0][1], ranked[1][0] / ranked[0][0], ranked[1][1], case_name(case), applies


def alone(documents):
    """{scheme: cases where no other one holds, host-pivot apart}."""
    found = {}
    for case in (case for document in documents for case in document["results"]):
        holding = set(costs(case, 1))
        others = holding - {ALWAYS} or holding
        if len(others) == 1:
            found.setdefault(others.pop(), []).append(case_name(case))
    return found


def machine_cell(scheme, documents):
    """What a machine says of a scheme, and whether it stays for that."""
    answered = sum(scheme in costs(case, 1) for document in documents for case in document["results"])
    if answered == 0:
        return "-", False
    best = sorted((gain, case, applies, other)
                  for name, gain, other, case, applies in wins(documents) if name == scheme)
    only = alone(documents).get(scheme, [])
    words = [f"holds in {answered} cases"]
    if best:
        gain, case, applies, other = best[-1]
        clear = sum(g >= GAIN for g, *_ in best)
        words.append(f"best {len(best)} times, {clear} by 15 %; "
                     f"at most {gain:.2f} over {other} ({case}, N = {applies})")
    else:
        words.append("never the best")
    if only:
        words.append(f"alone in {len(only)} ({only[0]})")
    return "; ".join(words), bool(only) or (bool(best) and best[-1][0] >= GAIN)


def provenance(machines):
    rows = []
    for name, documents in machines.items():
        for document in documents:
            p = document["provenance"]
            left = f"{len(document['results'])} cases" + (
                f", {len(document['left_out'])} left out" if document["left_out"] else "")
            rows.append([name, f"{p['device']} ({p['driver'] or p['platform'] or 'no device'})",
                         f"{p['cpu']}, {p['threads']} threads", p["vectors"], left, p["commit"][:12],
                         f"`{p['command']}`"])
    return table(["machine", "device (driver)", "processor", "vectors on", "cases", "commit", "command"], rows)


def page_text(machines):
    if not machines:
        return NOT_MADE
    known = list(dict.fromkeys(name_today(s) for documents in machines.values() for d in documents for s in d["all_schemes"]))
    rows = []
    for scheme in known:
        cells = [machine_cell(scheme, documents) for documents in machines.values()]
        measured = any(cell != "-" for cell, _ in cells)
        stays = "yes" if any(keep for _, keep in cells) else "no" if measured else "not measured"
        rows.append([scheme, *[cell for cell, _ in cells], stays])
    return table(["scheme", *machines, "stays"], rows) + "\n" + provenance(machines)


def print_wins(folder, scheme):
    for machine, documents in load(folder).items():
        for name, gain, other, case, applies in sorted(wins(documents), key=lambda w: -w[1]):
            if name == scheme:
                print(f"{machine}: {gain:.2f} over {other}, {case}, N = {applies}")


def put_between(page, name, made, check):
    """Put text between the lines that carry a name. @return 1 if there are none, or `check` finds other text"""
    path = pathlib.Path(page)
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.S)
    if len(pattern.findall(text)) != 1:
        print(f"{page} needs one pair of lines <!-- begin {name} --> and <!-- end {name} -->", file=sys.stderr)
        return 1
    new = pattern.sub(lambda match: match.group(1) + made + match.group(2), text)
    if check:
        if new != text:
            print(f"{page} is not made of the recorded results: write its tables anew", file=sys.stderr)
        return int(new != text)
    path.write_text(new, encoding="utf-8")
    return 0


def main(folder, page, *options):
    if page == "--wins":
        print_wins(folder, *options)
        return 0
    return put_between(page, "schemes", page_text(load(folder)), "--check" in options)


if __name__ == "__main__":
    if len(sys.argv) < 3 or (sys.argv[2] == "--wins") != (len(sys.argv) == 4 and sys.argv[3] != "--check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
