# SPDX-License-Identifier: BSD-2-Clause
"""Write what oclspkt-bench measured into the tables of a page.

    tables.py RESULTS PAGE [--check]

RESULTS: the folder with sweep.json, ...; PAGE: Markdown with pairs of lines <!-- begin NAME --> and <!-- end NAME -->;
what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what it would write.
"""

import pathlib
import re
import subprocess
import sys

import records

NOT_MADE = "Not measured yet.\n"
# What the results time: a change of it makes them old. Vectors and sparse matrices, and shares of several processors,
# are timed by others (krylov_table.py, balance_table.py), words of errors by nobody.
TIMED = ("kernels", "tuning", "plugin/balance", "plugin/core", "plugin/ocl", "plugin/solver",
         *(f":(exclude){path}" for path in ("kernels/common/vector_*", "kernels/common/wide.clh", "kernels/common/product*",
                                            "plugin/core/space.hpp", "plugin/core/sparse_*", "plugin/balance/profile_store.*",
                                            "plugin/balance/shares.*", "plugin/solver/share*", "plugin/solver/sharing.*",
                                            "plugin/solver/pieces.*",
                                            "plugin/ocl/error_name.*", "plugin/ocl/space*", "plugin/ocl/sparse.*",
                                            "plugin/ocl/sums.cpp")))


def table(heading, rows):
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def seconds(value):
    """With a unit and three digits."""
    if value is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def count(rows):
    """1000000 as 1e6, 270000000 as 2.7e8, others as they are."""
    text = f"{rows:.2g}".replace("e+0", "e").replace("e+", "e")
    return text if rows >= 1000 and float(text) == rows else str(rows)


def short_commit(commit):
    return commit[:12] + ("-dirty" if commit.endswith("-dirty") else "")


def provenance(results):
    """Where the figures of each file come from."""
    rows = []
    for path in sorted(pathlib.Path(results).glob("**/*.json")):
        name = path.relative_to(results)
        if name.parts[0] in ("schemes", "paper"):  # docs/schemes.md and docs/evaluation.md have them
            continue
        p = records.load(results, name.with_suffix(""))["provenance"]
        cache = ", ".join(f"{level} {size // 1024} KiB" for level, size in p["caches"].items())
        card = f"{p['device']} ({p['driver']}); " if name.parts[0] == "gpu" else ""
        rows.append([name, f"{card}{p['cpu']}, {p['cores']} cores, {p['instruction_set']}, {cache}", p["threads"],
                     short_commit(p["commit"]), f"`{p['command']}`"])
    return table(["file", "processor", "threads", "commit", "command"], [[str(c) for c in r] for r in rows])


def sweep(document, scalar):
    """Time of one solve: everybody against every size."""
    series = records.by_label([r for r in document["results"] if r["scalar"] == scalar])
    sizes = sorted({rows for points in series.values() for rows in points})
    body = []
    for name, points in series.items():
        body.append([name] + [seconds(points[n]["seconds"] if n in points else None) for n in sizes])
    return table(["rows"] + [count(n) for n in sizes], body)


def small(document, scalar):
    """The fastest of ours at each size against a loop that anyone can write, Thomas with stored factors."""
    series = records.by_label([r for r in document["results"] if r["scalar"] == scalar])
    body = []
    for rows, thomas in sorted(series.get("Thomas stored", {}).items()):
        ours = [(points[rows]["seconds"], name) for name, points in series.items()
                if rows in points and points[rows]["solver"] == "oclspkt"]
        if ours:
            fastest, name = min(ours)
            body.append([count(rows), name, seconds(fastest), seconds(thomas["seconds"]),
                         f"{fastest / thomas['seconds']:.2f}"])
    return table(["rows", "fastest of ours", "an apply", "Thomas stored", "ours over Thomas"], body)


def solve(document):
    """One size: time, share of the stream, error."""
    body = []
    for r in document["results"]:
        if r["seconds"] is None:
            body.append([records.label(r), "-", "-", "-", f"{r['outcome']}: {r['note']}"])
            continue
        share = "-" if r["share_of_stream"] is None else f"{r['share_of_stream']:.2f}"
        body.append([records.label(r), seconds(r["seconds"]), f"{r['rows_per_second'] / 1e6:.0f}", share,
                     f"error {r['error']:.1e}"])
    rows = count(document["results"][0]["rows"])
    caption = f"{rows} rows, {document['results'][0]['scalar']}, matrix {document['provenance']['matrix']}:\n\n"
    return caption + table(["solver", "a solve", "Mrows/s", "of stream", ""], body)


def lines(document):
    body = []
    for r in records.timed(document["results"]):
        if r["solver"] != "stream":
            body.append([r["lines"], r["bands"], r["method"], "host" if r["device"] == "host" else "OpenCL",
                         seconds(r["seconds"]), f"{r['rows_per_second'] / 1e6:.0f}", f"{r['share_of_stream']:.2f}"])
    ratios = [[r["lines"], r["bands"], r["ratio"], f"{r['value']:.2f}"] for r in document["ratios"]]
    return (table(["lines", "bands", "method", "where", "an apply", "Mrows/s", "of stream"], body) + "\n"
            + table(["lines", "bands", "ratio of times", "median"], ratios))


def petsc(document):
    body = []
    for r in document["results"]:
        body.append([f"{r['lines']}, {count(r['rows'])} rows", r["solver"], r["method"] or "-",
                     seconds(r["first_setup_seconds"]), seconds(r["setup_seconds"]), seconds(r["seconds"]),
                     seconds(r["step_seconds"])])
    ratios = [[f"{r['lines']}, {count(r['rows'])} rows", r["ratio"], f"{r['value']:.2f}"] for r in document["ratios"]]
    return (table(["lines", "solver", "method", "first set-up", "set-up", "solve", "both"], body) + "\n"
            + table(["lines", "ratio of times", "median"], ratios))


def adi(document):
    body = []
    for r in document["results"]:
        for c in r["contestants"]:
            body.append([f"{r['lambda']:g}", c["solver"], seconds(c["seconds"]), str(c["iterations"]),
                         f"{c['error']:.1e}"])
    size, steps = document["size"], document["steps"]
    return f"{size}^3 points, {steps} steps:\n\n" + table(["lambda", "solver", "steps", "iterations", "error"], body)


def rate(record, share):
    """Billions of rows a second, and a share; a dash where there is no time."""
    return f"{record['rows_per_second'] / 1e9:.3g} ({record[share]:.2f})" if record and record["seconds"] else "-"


def worst_error(points):
    errors = [r["backward_error_eps"] for r in points if r["seconds"] is not None]
    return f"{max(errors):.1f}" if errors else "-"


def untimed(results):
    """Who has no time, and why; nothing if everybody has."""
    lines = {}
    for r in results:
        if r["seconds"] is None:
            size = f"lines of {r['line_length']}, {records.place(r)}" if r["lines"] else count(r["rows"])
            lines.setdefault(f"{records.device_label(r)}, {r['outcome']}: {r['note']}", []).append(
                f"{records.short_matrix(r)} ({size})")
    return "".join(f"\n- {why} — {'; '.join(where)}" for why, where in lines.items()) + ("\n" if lines else "")


def gpu_systems(results):
    """One system on a card: `auto` and peers against every size."""
    own = [r for r in results if not r["lines"] and (r["variant"] == "auto" or r["solver"] != "oclspkt")]
    sizes = sorted({r["rows"] for r in own})
    series = {}
    for r in own:
        series.setdefault((records.short_matrix(r), records.device_label(r)), {})[r["rows"]] = r
    body = []
    for (matrix, who), points in series.items():
        largest = points[max(points)]
        method = largest["method"] if who == "auto" else ""
        body.append([matrix, who, *(rate(points.get(n), "share_of_stream") for n in sizes), method,
                     worst_error(points.values())])
    return table(["matrix", "solver", *map(count, sizes), "method at the last", "error, eps"], body) + untimed(own)


def gpu_methods(results):
    """The methods by name, at the size at which they were timed."""
    own = [r for r in results if r["solver"] == "oclspkt" and not r["lines"]]
    sizes = {r["rows"] for r in own if r["variant"] != "auto"}
    if not sizes:
        return NOT_MADE
    body = [[records.short_matrix(r), r["variant"], r["method"], rate(r, "share_of_stream"), f"{r['words_per_row']:.3g}",
             f"{r['backward_error_eps']:.1f}", r["shape"]]
            for r in own if r["rows"] in sizes and r["seconds"] is not None]
    asked = [r for r in own if r["variant"] != "auto"]
    return (table(["matrix", "asked for", "method", "Grows/s", "words", "error, eps", "shape"], body) + untimed(asked))


def gpu_lines(results):
    """Many lines on a card: everybody against every length."""
    own = [r for r in results if r["lines"]]
    lengths = sorted({r["line_length"] for r in own})
    series = {}
    for r in own:
        who = (records.short_matrix(r), r["bands"], records.place(r), records.device_label(r))
        series.setdefault(who, {})[r["line_length"]] = r
    body = []
    for (matrix, bands, place, who), points in series.items():
        method = points[max(points)]["method"] if who == "auto" else ""
        body.append([matrix, bands, place, who, *(rate(points.get(n), "share_of_own_stream") for n in lengths), method,
                     worst_error(points.values())])
    head = ["matrix", "bands", "axis", "solver", *map(str, lengths), "method at the last", "error, eps"]
    return table(head, body) + untimed(own)


def gpu_from_host(results):
    """What an apply takes from the call to its end: vectors on the card, and on the host."""
    own = [r for r in records.timed(results) if r["end_to_end_seconds"] is not None and not r["lines"]
           and r["variant"] == "auto"]
    first = own[0]["matrix"] if own else ""
    return table(["rows", "kernels", "vectors on the card", "on the host", "Mrows/s"],
                 [[count(r["rows"]), seconds(r["seconds"]),
                   seconds(r["call_seconds"]) if r.get("call_seconds") is not None else "-",
                   seconds(r["end_to_end_seconds"]), f"{r['rows'] / r['end_to_end_seconds'] / 1e6:.0f}"]
                  for r in own if r["matrix"] == first])


def number(value):
    return "-" if value is None else f"{value:.3g}"


def attack(cells, what):
    """Judged answers: a line a family, or a line a scheme and device."""
    families = what == "families"
    body = []
    for c in cells:
        if (c["scheme"] != "all") == families or c["scheme"] == "refused":
            continue
        who = [c["family"]] if families else [c["scheme"].replace(" of  lines x  rows", "").strip(" ,"), c["device"]]
        body.append([*who, str(c["systems"]), str(c["answers"]), str(c["told"]), str(c["failed"]), str(c["exceeded"]),
                     number(c["least_margin"]), number(c["median_margin"]),
                     f"{100 * c['forward_behind'] / max(1, c['answers']):.2f}"])
    return table([*(["family"] if families else ["scheme", "device"]), "systems", "answers", "above 100 eps and told",
                  "not told", "above the bound", "bound over error, least", "median", "forward, %"], body)


def before_and_after(results, document):
    """Speed and set-up of the same systems by another commit: ratios of times."""
    others = {(r["matrix"], r["scalar"], r["rows"]): r for r in document["results"]}
    body = []
    for r in results:
        o = others[r["matrix"], r["scalar"], r["rows"]]
        body.append([records.short_matrix(r), r["scalar"], r["method"], o["method"],
                     f"{r['seconds'] / o['seconds']:.2f}", f"{o['setup_seconds'] / r['setup_seconds']:.2f}"])
    return table(["matrix", "scalar", "before", "after", "speed, after / before", "time of one set-up, after / before"],
                 body)


def rounding(results, what):
    """What bounds on rounding hold, and cost."""
    if what.startswith("attack "):
        document = records.load(results, "gpu/rounding/attack")
        return attack(document["cells"], what.split()[1]) if document else NOT_MADE
    if what == "set-ups":
        return set_ups(results)
    before, after = (records.load(results, f"gpu/rounding/long-{when}") for when in ("before", "after"))
    return before_and_after(before["results"], after) if before and after else NOT_MADE


SET_UP_PLACES = {"host": "host, 2 processors", "cpu2": "PoCL, 2 processors", "cpu16": "PoCL, 16 processors", "gpu": "GPU"}


def set_ups(results):
    """Times of a first and two later set-ups and of an apply: ratios to another commit."""
    body = []
    for place, words in SET_UP_PLACES.items():
        before, after = (records.load(results, f"gpu/rounding/set-ups-{place}-{when}") for when in ("before", "after"))
        if not before or not after:
            return NOT_MADE
        others = {(r["matrix"], r["scalar"], r["rows"]): r for r in after["results"]}
        for r in before["results"]:
            o = others[r["matrix"], r["scalar"], r["rows"]]
            keys = ("first_set_up_seconds", "later_set_up_seconds", "third_set_up_seconds", "apply_seconds")
            ratios = [f"{o[key] / r[key]:.2f}" for key in keys]
            methods = [" / ".join(dict.fromkeys((some["method"], some["later_method"]))) for some in (r, o)]
            body.append([words, count(r["rows"]), records.short_matrix(r), r["scalar"], *methods, *ratios])
    return table(["where", "rows", "matrix", "scalar", "before", "after", "first set-up", "second", "third", "apply"], body)


def gpu(document, what):
    makers = {"systems": gpu_systems, "methods": gpu_methods, "lines": gpu_lines, "from-host": gpu_from_host}
    table_name, scalar = what.split()
    return makers[table_name]([r for r in document["results"] if r["scalar"] == scalar])


def file_of(name):
    """The file that a table is made of, or the one that was written last where there are several."""
    if name == "small" or name.startswith("small "):
        return "sweep"
    if name.startswith("rounding "):
        what = name.split()[1]
        return "gpu/rounding/" + {"long": "long-after", "set-ups": "set-ups-host-after"}.get(what, what)
    return name.partition(" ")[0]


def age(results, name):
    """The heading of a table whose results are older than the last change of what they time; else nothing. Results
    of a commit that is not known here are old."""
    document = records.load(results, file_of(name))
    if not document:
        return ""
    commit = document["provenance"]["commit"].removesuffix("-dirty")
    repository = pathlib.Path(__file__).resolve().parent.parent
    changes = subprocess.run(["git", "-C", repository, "log", "-1", "--format=%h", f"{commit}..HEAD", "--", *TIMED],
                             capture_output=True, text=True, check=False)
    if changes.returncode == 0 and not changes.stdout:
        return ""
    day = document["provenance"].get("date", "")[:10]
    return f"**Older than today's code**: measured {day + ', ' if day else ''}at commit {commit[:12]}.\n\n"


def make(results, name):
    """The text of one table."""
    if name == "provenance":
        return provenance(results)
    if name.startswith("rounding "):
        return rounding(results, name.partition(" ")[2])
    if name.startswith("gpu/"):
        file, _, what = name.partition(" ")
        document = records.load(results, file)
        return gpu(document, what) if document else NOT_MADE
    file, _, scalar = name.partition(" ")
    makers = {"sweep": lambda d: sweep(d, scalar), "small": lambda d: small(d, scalar), "petsc": petsc, "adi": adi,
              "lines-double": lines, "lines-float": lines}
    document = records.load(results, "sweep" if file == "small" else file)
    return makers.get(file, solve)(document) if document else NOT_MADE


def fill(page, results):
    """The page with its tables made anew."""
    begun = page.count("<!-- begin ")
    pattern = re.compile(r"(<!-- begin ([^>]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
    page, filled = pattern.subn(lambda m: f"{m[1]}{age(results, m[2])}{make(results, m[2])}{m[3]}", page)
    if filled != begun:
        sys.exit("tables.py: a <!-- begin NAME --> has no <!-- end NAME -->")
    return page


def main(results, page, check=None):
    path = pathlib.Path(page)
    old = path.read_text(encoding="utf-8")
    new = fill(old, results)
    if check == "--check":
        if new != old:
            print(f"{page} is not what tables.py makes of {results}", file=sys.stderr)
        return int(new != old)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
