# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page how applies by CUDA compare with those by OpenCL on one card, by what oclspkt-bench-gpu measured.

    run_times_table.py FOLDER PAGE [--check]

FOLDER: with runs of oclspkt-bench-gpu --enqueued, each in two files, NAME-opencl.json and NAME-cuda.json, where NAME begins
with "systems" or "lines", and cards.json of oclspkt-bench-cards. Of cases that stand in several runs the latest run counts.
PAGE: Markdown with the lines <!-- begin run-times --> and <!-- end run-times -->; what stands between them is replaced.
--check writes nothing and ends with 1 if the page is not what it would write.
"""

import json
import pathlib
import re
import statistics
import sys

BEGIN, END = "<!-- begin run-times -->\n", "<!-- end run-times -->"


def case(record):
    return tuple(record[k] for k in ("matrix", "rows", "scalar", "lines", "line_length", "bands", "variant"))


def document_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def timed(document):
    return [r for r in document["results"] if r["outcome"] == "timed"]


def pairs(folder, part):
    """[(by OpenCL, by CUDA)] of the timed cases that both have in one run and solve by the same plan, the latest of each."""
    runs = [(document_of(path), document_of(path.with_name(path.name.replace("-opencl", "-cuda"))))
            for path in folder.glob(f"{part}*-opencl.json")]
    latest = {}
    for opencl, cuda in sorted(runs, key=lambda run: run[0]["provenance"]["date"]):
        by_cuda = {case(r): r for r in timed(cuda)}
        for r in timed(opencl):
            if case(r) in by_cuda and r["shape"] == by_cuda[case(r)]["shape"]:
                latest[case(r)] = r, by_cuda[case(r)]
    return list(latest.values())


def table(heading, lines):
    return "".join(f"| {' | '.join(line)} |\n" for line in (heading, ["---"] * len(heading), *lines))


def run_times(folder):
    groups = {}
    for part in ("systems", "lines"):
        for a, b in pairs(folder, part):
            rows = f"{a['rows']:.1g}" if a["lines"] else f"{a['rows']:.3g}"
            label = rows.replace("e+0", "e") + (" in lines" if a["lines"] else "")
            groups.setdefault((part, a["rows"] if part == "systems" else 0, label, a["scalar"]), []).append((a, b))
    for (_, _, label, scalar), group in sorted(groups.items(), key=lambda item: (item[0][0] == "lines", item[0])):
        batches = [a["batch_seconds"] / b["batch_seconds"] for a, b in group]
        calls = [a["call_seconds"] / b["call_seconds"] for a, b in group]
        same = sum(a["backward_error_eps"] == b["backward_error_eps"] for a, b in group)
        yield (label, scalar, str(len(group)), str(same), f"{statistics.median(batches):.2f}", f"{min(batches):.2f}",
               str(sum(ratio < 0.95 for ratio in batches)), f"{statistics.median(calls):.2f}")


def cards(folder):
    for r in document_of(folder / "cards.json")["results"]:
        yield (r["lines"], r["matrix"].split(", seed")[0], str(r["cards"]), r["method"], f"{1e3 * r['seconds']:.3f}",
               f"{r['times_one_card']:.2f}", f"{r['backward_error_eps']:.2f}", f"{r['set_up_seconds']:.1f}")


def text(folder):
    heading = ("rows", "scalar", "cases", "same backward error", "an apply among many: median", "worst", "below 0.95",
               "call and wait: median")
    on_cards = ("2e8 rows, double", "matrix", "cards", "method", "ms an apply", "times one card", "error, eps", "set-up, s")
    return ("NVIDIA H200; time by OpenCL over time by CUDA:\n\n" + table(heading, run_times(folder)) +
            "\nLines cut among cards of one process, vectors on the cards (`oclspkt-bench-cards`):\n\n" +
            table(on_cards, cards(folder)))


def main(folder, page, check=None):
    path = pathlib.Path(page)
    old = path.read_text(encoding="utf-8")
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + text(pathlib.Path(folder)) + END, old, flags=re.DOTALL)
    if BEGIN not in old:
        sys.exit(f"{page} has no place for the table")
    if check is None:
        path.write_text(new, encoding="utf-8")
        return 0
    return int(new != old)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
