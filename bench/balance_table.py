# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page what processors that share a system take.

    balance_table.py RESULTS PAGE [--check]

RESULTS: the folder of files that `oclspkt-bench balance` and `oclspkt-bench-attainable` wrote; PAGE: Markdown with the
lines <!-- begin balance --> and <!-- end balance -->; what stands between them is replaced. --check writes nothing and
ends with 1 if the page is not what it would write.
"""

import json
import pathlib
import statistics
import sys

BEGIN, END = "<!-- begin balance -->\n", "<!-- end balance -->\n"


def shares(record):
    if not record["shares"]:
        return record["device"] + " alone"
    return ", ".join(f"{100 * s['rows'] / record['rows']:.0f} % {s['device']}" for s in record["shares"])


def balance_table(results):
    lines = [
        "| rows | processors | an apply, ms | against the best alone | share of the sum | set-up and an apply, ms |"
        " against the best alone | who solves |\n",
        "|--:|---|--:|--:|--:|--:|--:|---|\n",
    ]
    for r in results:
        one_shot = "| "
        if r["one shot seconds"]:
            one_shot = f"{1e3 * statistics.median(r['one shot seconds']):.4g} | {r['one shot against best single']:.2f}"
        lines.append(
            f"| {r['rows']:.0e} | {r['devices']} | {1e3 * statistics.median(r['seconds']):.4g} |"
            f" {r['against best single']:.2f} | {r['share of the sum']:.2f} | {one_shot} | {shares(r)} |\n"
        )
    return lines


def attainable_lines(document):
    lines = []
    for mode in ("resident", "one shot"):
        rates = document[mode]
        best = max(rates, key=lambda r: r["rows per second"])
        alone = max(r["rows per second"] for r in rates if r["share of the card"] in (0, 1))
        card = next(r["rows per second"] for r in rates if r["share of the card"] == 1)
        lines.append(
            f"- {mode}: {best['rows per second'] / 1e9:.2f} Grows/s with {100 * best['share of the card']:.0f} % on the card,"
            f" {best['rows per second'] / alone:.2f} of the better one alone ({alone / 1e9:.2f}); the card alone"
            f" {card / 1e9:.2f}\n"
        )
    if rates := [r["rows per second"] for r in document.get("cards", [])]:
        lines.append(
            f"- copies of all cards, resident: {', '.join(f'{rate / 1e9:.2f}' for rate in rates)} Grows/s with 1 to {len(rates)}"
            f" cards, {rates[-1] / rates[0]:.2f} of one\n"
        )
    return lines


def page_part(folder):
    parts = []
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        provenance = document["provenance"]
        parts.append(
            f"\n### {path.stem}\n\n{provenance['cpu']}, {provenance['cores']} cores, commit {provenance['commit'][:7]}, `{provenance['command']}`\n\n"
        )
        parts += balance_table(document["results"]) if "results" in document else attainable_lines(document)
    return "".join(parts) + "\n"


def main(arguments):
    check = "--check" in arguments
    folder, page = [a for a in arguments if a != "--check"]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made = before + BEGIN + page_part(folder) + END + after
    if check:
        if made != text:
            print(f"{page} is not what balance_table.py makes of {folder}")
        return int(made != text)
    pathlib.Path(page).write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
