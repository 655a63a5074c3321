# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page what PETSc's Krylov methods cost by -oclspkt_types, by what bench/gpu/petsc_types.py measured.

    types_table.py RESULTS PAGE [--check]

RESULTS: the folder with a file for each machine; PAGE: Markdown with the lines <!-- begin types --> and <!-- end types -->;
what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what it would write.
"""

import json
import pathlib
import re
import statistics
import sys


from scheme_table import put_between, table

KINDS = {"host": "host", "cuda": "PETSc's CUDA", "opencl": "`-oclspkt_types`"}


def figure(number):
    return "-" if number is None else f"{number:.4g}" if number < 1000 else f"{number:.0f}"


def times(slower, quicker):
    return f"{slower / quicker:.3g}" if slower and quicker else "-"


def number_after(word, record):
    return int(re.search(rf"-{word} (\d+)", record["options"])[1])


def iterations(results):
    """{(method, rows): {(kind, ranks): [us]}}"""
    found = {}
    for record in results:
        if record["what"].startswith("iterations"):
            for told in record["told"]:
                cell = found.setdefault((told["method"], told["rows"]), {})
                cell.setdefault((record["types"], record["ranks"]), []).extend(told["us_an_iteration"])
    return found


def iterations_table(results, ranks):
    rows, found = [], iterations(results)
    for (method, count), cells in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        if method == "cgdevice":  # it is held against KSPCG by other types
            cells = found.get(("cg", count), {}) | cells
        us = {key: statistics.median(values) for key, values in cells.items()}
        ours, cuda, one, many = (us.get(key) for key in (("opencl", 1), ("cuda", 1), ("host", 1), ("host", ranks)))
        rows.append([method, f"{count:.3g}".replace("e+0", "e"), *map(figure, (one, many, cuda, ours)), times(cuda, ours),
                     times(many, ours) if many else "-"])
    heading = ["us an iteration, Jacobi", "rows", "1 rank", f"{ranks} ranks", KINDS["cuda"], KINDS["opencl"],
               "times as quick as CUDA", f"as {ranks} ranks"]
    return table(heading, rows) if rows else ""


def counts_table(results):
    """Two lengths of each method: each run solves twice."""
    found = {}
    for record in results:
        if record["what"].startswith("counts"):
            found.setdefault(record["what"].removeprefix("counts "), {})[number_after("long", record)] = record["counts"]
    rows = []
    for what, lengths in sorted(found.items()):
        (short, few), (long, many) = sorted(lengths.items())
        rows.append(what.split() + [figure((many[key] - few[key]) / 2 / (long - short))
                                    for key in ("launches", "waits", "bytes_up", "bytes_down")])
    return table(["an iteration, 1e6 rows", "preconditioner", "launches", "waits", "bytes up", "bytes down"], rows) if rows else ""


def heat_table(results, ranks):
    """The whole run of each. One rank does some steps only: what is left is its time an iteration."""
    runs = [{**r, **r["told"][0]} for r in results if r["what"] == "heat"]
    whole = {(r["types"], r["ranks"]): r for r in runs if r["steps"] == 100}
    seconds = {key: r["wall_s"] for key, r in whole.items()}
    few = sorted((r for r in runs if r["steps"] < 100), key=lambda r: r["steps"])
    if len(few) == 2 and ("opencl", 1) in whole:
        rate = (few[1]["steps_s"] - few[0]["steps_s"]) / (few[1]["iterations"] - few[0]["iterations"])
        seconds["host", 1] = few[1]["wall_s"] + rate * (whole["opencl", 1]["iterations"] - few[1]["iterations"])
    rows = []
    for (kind, count), label in ((("host", 1), f"1 rank (from {few[1]['steps']} steps)" if len(few) == 2 else ""),
                                 (("host", ranks), f"{ranks} ranks"), (("cuda", 1), KINDS["cuda"]),
                                 (("opencl", 1), KINDS["opencl"])):
        if (kind, count) in seconds:
            rows.append([label, f"{seconds[kind, count]:.1f}",
                         f"{whole[kind, count]['steps_s']:.2f}" if (kind, count) in whole else "-",
                         times(seconds[kind, count], seconds.get(("opencl", 1)))])
    heading = ["heat equation, 1.7e7 points, 100 implicit steps of CG", "s, whole run", "s, steps", "times ours"]
    return table(heading, rows) if rows else ""


def weak_table(results):
    """As many unknowns for each card: what one takes over what several take is their efficiency."""
    measured = {}
    for r in results:
        if r["what"] == "weak":
            measured.setdefault((r["types"], r["ranks"]), []).extend(r["told"][0]["us_an_iteration"])
    us = {key: statistics.median(times) for key, times in measured.items()}
    rows = []
    for cards in sorted({ranks for _, ranks in us}):
        row = [str(cards)]
        for kind in ("cuda", "opencl"):
            alone, together = us.get((kind, 1)), us.get((kind, cards))
            row += [figure(together), f"{alone / together:.2f}" if alone and together else "-"]
        rows.append(row)
    heading = ["cards, a rank and 1.7e7 unknowns each, CG", "us an iteration, " + KINDS["cuda"], "efficiency",
               "us an iteration, " + KINDS["opencl"], "efficiency"]
    return table(heading, rows) if rows else ""


def solves_table(results):
    rows = []
    for method in ("preonly", "cg"):
        runs = {r["types"]: r for r in results if r["what"] == f"line {method}"}
        if len(runs) == 2:
            host, ours = runs["plugin"], runs["opencl"]
            rows.append([f"`{method}`", f"{number_after('n', ours):.3g}".replace("e+0", "e"),
                         *(figure(1e3 * r[key]) for key in ("first_s", "median_s") for r in (host, ours)),
                         times(host["first_s"], ours["first_s"]), times(host["median_s"], ours["median_s"])])
    heading = ["ms in KSPSolve, `-pc_type oclspkt` on the GPU", "rows", "first, vectors of the host", "first, ours", "later, vectors of the host",
               "later, ours", "times, first", "times, later"]
    return table(heading, rows) if rows else ""


def others_text(results):
    lines = []
    applies = {r["types"]: r["apply_ms"] for r in results if r["what"] == "apply"}
    if applies:
        lines.append("PCApply of lines along x, y and z, `additive`, on 256 x 256 x 256 points: " +
                     ", ".join(f"{KINDS[kind]} {figure(ms)} ms" for kind, ms in applies.items()) + ".")
    solves = {}
    for r in results:
        if r["what"].startswith("example"):
            key = r["program"], r["what"].split()[1]
            solves.setdefault(key, {}).setdefault(r["types"], {})[number_after("ksp_max_it", r)] = r["solve_s"]
    for (program, method), kinds in solves.items():
        us = {}
        for kind, lengths in kinds.items():
            (short, first), (long, second) = sorted(lengths.items())
            us[kind] = 1e6 * (second - first) / (long - short)
        lines.append(f"PETSc's `ksp/{program}`, {method}: " +
                     ", ".join(f"{KINDS[kind]} {figure(time)} us" for kind, time in us.items()) + " an iteration.")
    return "\n".join(lines) + "\n" if lines else ""


def run_text(document):
    p, results = document["provenance"], document["results"]
    cards = f"{p['cards']} x " if p.get("cards", 1) > 1 else ""
    head = (f"{cards}{p['device']} ({p['driver']}), {p['cpu']}, {p['threads']} threads; PETSc {p['petsc']}; {p['date'][:10]}, "
            f"commit {p['commit'][:12]}, `{p['command']}`\n")
    parts = [head, iterations_table(results, p["ranks"]), counts_table(results), heat_table(results, p["ranks"]),
             weak_table(results), solves_table(results), others_text(results)]
    return "\n".join(part for part in parts if part)


def page_text(folder):
    names = sorted(path.stem for path in pathlib.Path(folder).glob("*.json"))
    return "\n".join(run_text(json.loads((pathlib.Path(folder) / f"{name}.json").read_text(encoding="utf-8"))) for name in names) or "Not measured yet.\n"


def main(folder, page, *options):
    return put_between(page, "types", page_text(folder), "--check" in options)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
