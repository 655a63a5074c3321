# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page the figures and tables of the paper, by what oclspkt-bench paper measured.

    paper_table.py RESULTS PAGE [--check]

RESULTS: the folder with a file for each machine; PAGE: Markdown with the lines <!-- begin paper --> and <!-- end paper -->;
what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what it would write.
"""

import pathlib
import sys

import records
from scheme_table import put_between, table
from tables import count, seconds, short_commit

VERSION = 1
NOT_MADE = "Not measured yet.\n"
HOLDS, NOT_HERE, MODELLED, UNKNOWN = "holds", "does not hold here", "modelled", "-"


def load(folder):
    """All documents by name, those of this version."""
    documents = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        document = records.load(folder, path.stem)
        if document.get("version") != VERSION:
            sys.exit(f"paper_table.py: {path} has version {document.get('version')}, this script reads {VERSION}: measure it "
                     f"anew by `oclspkt-bench paper {path}`, or take the script of its commit")
        documents[path.stem] = document
    return documents


def timed(document, section, **wanted):
    return [r for r in document.get(section, []) if r.get("seconds") is not None
            and all(r.get(key) == value for key, value in wanted.items())]


def kernel_seconds(record):
    return record["seconds"] - (record.get("marshalling_seconds") or 0)


def fastest(rows, key=lambda r: r["seconds"]):
    return min(rows, key=key, default=None)


def millions(value):
    return "-" if value is None else f"{value / 1e6:.3g}"


def verdict(value, holds):
    return UNKNOWN if value is None else HOLDS if holds(value) else NOT_HERE


# Claims of the paper. Each gives what is seen in a document, as text, and whether it holds.

def order_of_kernels(d, key):
    """Who is fastest in the paper's form, and by how much."""
    best = {kind: fastest(timed(d, "solves", who="paper", kind=kind, scalar="float"), key) for kind in ("GPU", "FPGA", "CPU")}
    best = {kind: key(r) for kind, r in best.items() if r}
    order = sorted(best, key=best.get)
    text = ", ".join(f"{kind} {seconds(best[kind])}{' (model)' if kind == 'FPGA' else ''}" for kind in order)
    if "GPU" not in best:
        return (text + "; no GPU" if text else UNKNOWN), UNKNOWN
    return text, HOLDS if order == ["GPU", "FPGA", "CPU"] else NOT_HERE


def marshalling(d, kind):
    own = fastest(timed(d, "solves", who="paper", kind=kind, scalar="float"))
    if own is None:
        return "-", UNKNOWN
    share = own["marshalling_seconds"] / own["seconds"]
    return f"{100 * share:.0f} %", verdict(share, lambda s: s > 0.4)


def against(d, kind, peer, who, least):
    ours = fastest(timed(d, "solves", kind=kind, who=who, scalar="float"))
    others = [r for r in timed(d, "solves", who="peer", scalar="float") if r["solver"].startswith(peer)]
    if ours is None or not others:
        return "-", UNKNOWN
    ratio = fastest(others)["seconds"] / ours["seconds"]
    modelled = ours["source"] == "modelled"
    return f"{ratio:.3g}", MODELLED + (", " + HOLDS if ratio >= least else "") if modelled else verdict(ratio, lambda r: r >= least)


def board_against_thomas(d):
    board = fastest(timed(d, "solves", solver="spktrunc")), fastest(timed(d, "solves", solver="tdma"))
    if None in board:
        return "-", UNKNOWN
    return f"{board[1]['seconds'] / board[0]['seconds']:.2f}", MODELLED


def best_of(d, figure):
    """The set with the most of a figure at the largest size at which all were measured, beside the best single one."""
    own = timed(d, "combinations", scalar="float")
    own = [r for r in own if r["source"] == "measured"]
    own = [r for r in own if r.get(figure) is not None]
    if not own:
        return None, None
    sizes = {r["devices"]: len({other["rows"] for other in own if other["devices"] == r["devices"]}) for r in own}
    own = [r for r in own if sizes[r["devices"]] == max(sizes.values())]  # some are slow, and are measured at one size
    largest = max({r["rows"] for r in own}, key=lambda n: (sum(r["rows"] == n for r in own), n))
    own = [r for r in own if r["rows"] == largest]
    single = max((r for r in own if "+" not in r["kinds"]), key=lambda r: r[figure])
    return max(own, key=lambda r: r[figure]), single


def combination(d):
    best, single = best_of(d, "rows_per_second")
    if best is None:
        return "-", UNKNOWN
    gain = best["rows_per_second"] / single["rows_per_second"]
    text = f"{best['kinds']}, {millions(best['rows_per_second'])} Mrows/s, {gain:.2f} times the best alone"
    return text, verdict(gain, lambda g: g > 1.05)


def cheapest(d):
    best, _ = best_of(d, "rows_per_joule")
    board = fastest(timed(d, "solves", solver="spktrunc"))
    if best is None or board is None:
        return "-", UNKNOWN
    resident = max(timed(d, "solves", scalar="float"), key=lambda r: r["rows_per_joule"])
    text = (f"kernels: {resident['kind']} ({resident['who']}) {millions(resident['rows_per_joule'])} Mrows/J, board "
            f"{millions(board['rows_per_joule'])} (model); whole solves: {best['kinds']} {millions(best['rows_per_joule'])}")
    return text, MODELLED + ", " + HOLDS if resident["kind"] == "FPGA" else NOT_HERE


def dominance_like_thomas(d, who, device=None):
    """The least dominance from which on errors of floats are at most twice those of Thomas' algorithm."""
    errors = {}
    for r in d.get("accuracy", []):
        if r["scalar"] == "float" and "error" in r and (device is None or r["device"] == device or r["who"] == "Thomas"):
            key = r["who"] == who
            if key or r["who"] == "Thomas":
                errors.setdefault(r["dominance"], {}).setdefault(key, []).append(r["error"])
    reached = None
    for dominance in sorted(errors, reverse=True):
        both = errors[dominance]
        if True not in both or False not in both or max(both[True]) > 2 * min(both[False]):
            break
        reached = dominance
    return reached


def accuracy_claim(d, who):
    reached = dominance_like_thomas(d, who)
    if reached is None:
        return "-", UNKNOWN
    least = min(r["dominance"] for r in d["accuracy"])
    return ("every d from " if reached == least else "d from ") + f"{reached:g}", \
        HOLDS if who == "paper" and reached <= 2.8 else "better"


def order_of_model(d, figure):
    rows = d.get("paper", [])
    if not rows:
        return "-", UNKNOWN
    theirs = [r["kinds"] for r in sorted(rows, key=lambda r: -r["paper_" + figure])]
    ours = [r["kinds"] for r in sorted(rows, key=lambda r: -r[figure])]
    if theirs == ours:
        return "the same order", MODELLED + ", " + HOLDS
    moved = [a for a, b in zip(theirs, ours) if a != b]
    return f"the same but for {' and '.join(moved)}", MODELLED


CLAIMS = [
    ("Fig. 6: kernels alone, 256e6 rows", "GPU 78.4 ms, FPGA 200, CPU 376", lambda d: order_of_kernels(d, kernel_seconds)),
    ("Fig. 6: with marshalling", "GPU 152 ms, FPGA 200, CPU 927", lambda d: order_of_kernels(d, lambda r: r["seconds"])),
    ("Fig. 6: marshalling is half of a GPU's time", "48 %", lambda d: marshalling(d, "GPU")),
    ("Fig. 6: and more of a CPU's", "59 %", lambda d: marshalling(d, "CPU")),
    ("Fig. 7: its GPU form against cuSPARSE without pivoting (there: the library before it)", "1.1",
     lambda d: against(d, "GPU", "cuSPARSE gtsv2_nopivot", "paper", 1.1)),
    ("the same of ours", "", lambda d: against(d, "GPU", "cuSPARSE gtsv2_nopivot", "ours", 1.1)),
    ("Fig. 7: its CPU form against MKL dtsvb", "1.5", lambda d: against(d, "CPU", "mkl", "paper", 1.5)),
    ("the same of ours", "", lambda d: against(d, "CPU", "mkl", "ours", 1.5)),
    ("Fig. 7: its CPU form against serial Thomas", "3.5", lambda d: against(d, "CPU", "thomas", "paper", 3.5)),
    ("the same of ours", "", lambda d: against(d, "CPU", "thomas", "ours", 3.5)),
    ("Fig. 7: spktrunc against tdma on the board", "1.7", board_against_thomas),
    ("Fig. 8: several processors are faster than the best alone", "GPU + FPGA 691 Mrows/s, 1.38 times", combination),
    ("Fig. 9: floats are as right as Thomas', its form", "d from 2.8", lambda d: accuracy_claim(d, "paper")),
    ("the same of ours", "", lambda d: accuracy_claim(d, "ours")),
    ("Fig. 10, 11: the FPGA takes the fewest joules", "FPGA 28.6 Mrows/J, GPU 12.9, CPU 1.39", cheapest),
    ("Fig. 8, its machine by the model: order by rows a second", "7 sets", lambda d: order_of_model(d, "rows_per_second")),
    ("Fig. 11, the same: order by rows a joule", "7 sets", lambda d: order_of_model(d, "rows_per_joule")),
]


def claims(documents):
    body = []
    for text, theirs, claim in CLAIMS:
        cells = [": ".join(dict.fromkeys(claim(d))).replace("-: -", "-") for d in documents.values()]
        body.append([text, theirs, *cells])
    return table(["claim", "paper", *documents], body)


def machine(d):
    p = d["provenance"]
    body = [[r["component"], r["name"], str(r.get("cores") or ""), f"{r['memory'] / 2**30:.3g} GiB" if r.get("memory") else "",
             " ".join(filter(None, (r.get("platform"), r.get("driver"))))] for r in d["machine"]]
    return (f"Commit {short_commit(p['commit'])}, {p['date'][:10]}, {p['compiler']}, matrix {p['matrix']}, `{p['command']}`.\n\n"
            + table(["component", "what", "cores", "memory", "driver"], body))


WHO = {"paper": "the paper's form", "ours": "ours", "peer": ""}


def solves(d, scalar):
    body = []
    for r in d.get("solves", []):
        if r["scalar"] != scalar:
            continue
        who = " ".join(filter(None, (WHO[r["who"]], r["solver"] if r["who"] == "peer" else r.get("method", ""))))
        if r.get("seconds") is None:
            body.append([r["device"], who, f"{r['outcome']}: {r['note'].partition(':')[0][:80]}", "", "", "", "", "", ""])
            continue
        marshalled = r.get("marshalling_seconds")
        body.append([r["device"], who, seconds(r["seconds"]), seconds(marshalled) if marshalled else "-",
                     millions(r["rows_per_second"]), f"{r['error_eps']:.2g}" if "error_eps" in r else "-",
                     f"{r['joules']:.3g}", millions(r["rows_per_joule"]), r["source"]])
    return table([f"{scalar}, {count(d['provenance']['rows'])} rows", "solver", "a solve", "marshalling in it", "Mrows/s",
                  "error, eps", "joules", "Mrows/J", "source"], body) if body else ""


def combinations(d, scalar):
    """Measured sets, then those with a board, by the model; the fastest at the smallest size first."""
    return "\n".join(filter(None, (combinations_of(d, scalar, source) for source in ("measured", "modelled"))))


def combinations_of(d, scalar, source):
    own = timed(d, "combinations", scalar=scalar, source=source)
    sizes = sorted({r["rows"] for r in own})
    sets = {}
    for r in own:
        sets.setdefault(r["devices"], {})[r["rows"]] = r
    body = []
    for devices, points in sorted(sets.items(), key=lambda s: s[1][min(s[1])]["seconds"] / min(s[1])):
        last = points[max(points)]
        metered = [r for r in points.values() if r.get("rows_per_joule") is not None]
        body.append([devices, last["kinds"], *(millions(points[n]["rows_per_second"]) if n in points else "-" for n in sizes),
                     millions(last["rows"] / last["whole_seconds"]) if "whole_seconds" in last else "-",
                     ", ".join(f"{100 * s:.0f} %" for s in last["shares"]) or "-",
                     millions(metered[-1]["rows_per_joule"]) if metered else "-", source])
    words = "Mrows/s" if source == "measured" else "Mrows/s by the model of a board"
    return table([f"{scalar}, {words}", "", *map(count, sizes), "with set-up", "shares", "Mrows/J", "source"], body) if body else ""


def known(record, key, form="{:.3g}"):
    return "-" if record.get(key) is None else form.format(record[key])


def measured_joules(d):
    """Joules by the whole protocol, vectors in place; cuSPARSE beside ours of the same matrix and scalar."""
    own = [r for r in timed(d, "energy") if r["who"] != "balance"]
    ours = {(r["matrix"], r["scalar"]): r["joules"] / r["rows"] for r in own if r["who"] == "ours"}
    body = []
    for r in own:
        both = r.get("joules_by_counter"), r.get("joules_by_samples")
        differs = f"{100 * abs(both[0] / both[1] - 1):.2g} %" if None not in both else "-"
        best = ours.get((r["matrix"], r["scalar"]))
        body.append([f"{r['device']}, {r['solver']}", r["matrix"], r["scalar"], count(r["rows"]), seconds(r["seconds"]),
                     known(r, "watts"), *(millions(r["rows"] / j) if j else "-" for j in both), differs,
                     known(r, "energy_spread", "{:.1%}"), known(r, "idle_watts"),
                     f"{r['joules'] / r['rows'] / best:.3g}" if best else "-", r["energy"]])
    return table(["solver", "matrix", "scalar", "rows", "a solve", "W", "Mrows/J by the counter", "by samples", "apart", "spread",
                  "idle W", "joules over ours", "source"], body) if body else ""


def balanced_joules(d):
    own = timed(d, "energy", who="balance")
    body = [[r["device"], r["solver"], count(r["rows"]), seconds(r["seconds"]), f"{r['joules']:.3g}",
             ", ".join(f"{100 * s:.0f} %" for s in r["shares"]) or "one processor", known(r, "energy_spread", "{:.1%}"), r["energy"]]
            for r in own]
    return table(["float, vectors on the host", "balance", "rows", "a solve", "joules", "shares", "spread", "source"],
                 body) if body else ""


def bounds(d, device, scalar):
    """Peak operations and streamed bytes a second of a device."""
    found = {r["what"]: r for r in d.get("roofline", []) if r["device"] == device and r["scalar"] == scalar and "what" in r}
    if not {"peak", "stream"} <= found.keys():
        return None, None
    return found["peak"]["flops_per_second"], found["stream"]["bytes_per_second"]


def roofline_points(d):
    """Solvers, operations, products and iterations as (device, scalar, what, bytes, flops, record)."""
    word = {"float": 4, "double": 8}
    for section, text in (("solves", "dominance 3"), ("energy", "")):
        for r in timed(d, section):
            if r.get("flops_per_row"):
                what = f"{'the paper, ' if r['who'] == 'paper' else ''}{r['method']}, {r.get('matrix', text)}"
                yield (r["device"], r["scalar"], f"{what}, {count(r['rows'])} rows", r["words_per_row"] * word[r["scalar"]] * r["rows"],
                       r["flops_per_row"] * r["rows"], r)
    for r in timed(d, "roofline"):
        if r["what"] != "stream":
            yield r["device"], r["scalar"], r["what"], r["bytes"], r["flops"], r


def roofline(d):
    body = []
    for device, scalar, what, moved, flops, r in sorted(roofline_points(d), key=lambda p: p[:2]):
        peak, stream = bounds(d, device, scalar)
        if peak is None:
            continue
        limit = min(peak, stream * flops / moved) if flops else 0
        body.append([device, scalar, what, f"{flops / moved:.2g}", f"{moved / r['seconds'] / 1e9:.3g}",
                     f"{moved / r['seconds'] / stream:.2f}", f"{flops / r['seconds'] / 1e9:.3g}",
                     f"{100 * flops / r['seconds'] / peak:.2g} %", f"{flops / r['seconds'] / limit:.2f}" if limit else "-",
                     f"{r['joules']:.3g}" if r.get("joules") is not None else "-"])
    return table(["device", "scalar", "kernel", "operations a byte", "GB/s", "of the stream", "Gflop/s", "of the peak", "of the roof",
                  "joules"], body) if body else ""


def roofline_bounds(d):
    pairs = dict.fromkeys((r["device"], r["scalar"]) for r in d.get("roofline", []) if r.get("what") == "peak")
    body = [[device, scalar, f"{peak / 1e9:.3g}", f"{stream / 1e9:.3g}", f"{peak / stream:.3g}"]
            for device, scalar in pairs for peak, stream in [bounds(d, device, scalar)] if peak]
    return table(["device", "scalar", "peak, Gflop/s", "stream, GB/s", "operations a byte at the ridge"], body) if body else ""


def accuracy(d, scalar):
    series = {}
    for r in d.get("accuracy", []):
        if r["scalar"] == scalar:
            series.setdefault((r["who"], r["device"]), {})[r["dominance"]] = r
    dominances = sorted({r["dominance"] for points in series.values() for r in points.values()})
    body = [[who, device, *(f"{points[x]['error']:.1e}" if points.get(x, {}).get("error") is not None else "-" for x in dominances)]
            for (who, device), points in series.items()]
    return table([f"{scalar}, largest error", "d =", *(f"{x:g}" for x in dominances)], body) if body else ""


def operations(d):
    body = []
    for r in d.get("operations", []):
        name = r["scheme"] + (", staged" if r["staged"] else "") + (f", m_min {r['m_min']}" if r["m_min"] else "")
        counted, theirs = r["counted"], r["table1"]
        equal = counted == r["formula"] and r["counted_words"] == r["plan_words"]
        body.append([name, str(r["m"]), str(counted["add"]), str(counted["mul"]), str(counted["div"]), str(r["counted_words"]),
                     str(r["marshalled_words"]), "yes" if equal else "NO",
                     "{add}, {mul}, {div}; ".format(**theirs) + str(r["table1_words"]) if r["table1_words"] else "-"])
    return table(["scheme", "rows of a partition", "ADD", "MUL", "DIV", "words", "of them marshalling", "equal to the formulas",
                  "Table 1: ADD, MUL, DIV; words"], body) if body else ""


def model(d):
    body = [[r["kinds"], millions(r["paper_rows_per_second"]), millions(r["rows_per_second"]),
             millions(r["our_shares_rows_per_second"]), r["limit"], millions(r["paper_rows_per_joule"]), millions(r["rows_per_joule"])]
            for r in d.get("paper", [])]
    return table(["set", "Table 5, Mrows/s", "model, the paper's shares", "model, our shares", "limited by", "Table 5, Mrows/J",
                  "model"], body) if body else ""


def figures(d):
    """The pictures of a machine: those of the sections that its run had."""
    sections = {"solves": "solves", "combinations": "combinations", "accuracy": "accuracy", "joules": "solves"}
    return [figure for figure, section in sections.items() if d.get(section)] + (["roofline"] if roofline(d) else [])


def run_text(name, d):
    parts = [f"### {name}\n", machine(d)]
    parts += [part(d, scalar) for part in (solves, combinations, accuracy) for scalar in ("float", "double")]
    parts += [part(d) for part in (measured_joules, balanced_joules, roofline_bounds, roofline)]
    parts += [f"![{figure}](evaluation-{name}-{figure}.svg)\n" for figure in figures(d)]
    return "\n".join(part for part in parts if part)


def page_text(folder):
    documents = load(folder)
    if not documents:
        return NOT_MADE
    last = max((d for d in documents.values() if d.get("operations")), key=lambda d: d["provenance"]["date"], default={})
    parts = ["### The claims\n", claims(documents), "### Tables 1 to 3: operations and words of a partition\n", operations(last),
             "### The paper's machine by its model\n", model(last), *(run_text(*item) for item in documents.items())]
    return "\n".join(part for part in parts if part)


def main(folder, page, *options):
    return put_between(page, "paper", page_text(folder), "--check" in options)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
