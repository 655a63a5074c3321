# SPDX-License-Identifier: BSD-2-Clause
"""Write into a page what operations of Krylov methods cost on devices, by what oclspkt-bench-krylov measured.

    krylov_table.py RESULTS PAGE [--check]

RESULTS: the folder with a file for each run; PAGE: Markdown with the lines <!-- begin krylov --> and <!-- end krylov -->;
what stands between them is replaced. --check writes nothing and ends with 1 if the page is not what it would write.
"""

import pathlib
import statistics
import sys

import records
from scheme_table import put_between, table

NOT_MADE = "Not measured yet.\n"
BLAS = ("cuBLAS", "CLBlast")
PEERS = {"norm2": "nrm2", "norm1": "asum", "norm inf": "amax"}  # names of ours that BLAS has another one for


def seconds(record):
    return statistics.median(record["seconds"])


def count(number):
    return f"{number:.3g}".replace("e+0", "e")


def share(ratio):
    return "-" if ratio is None else f"{ratio:.2f}"


def yardstick(document, record):
    """Bytes a second of what has the same mix of reads and writes and is not ours; the run-time's copy is ours as well."""
    like = [r for r in document["operations"]
            if (r["precision"], r["rows"], r["mix"]) == (record["precision"], record["rows"], record["mix"])]
    if record["mix"] == "read":
        return records.best_read(document, record["precision"])
    if record["mix"] == "copy":
        like = [r for r in like if r["operation"] == "copy"]
    elif record["mix"] == "other":
        return None
    else:
        like = [r for r in like if r["library"] != "ours"] or [r for r in like if r["operation"] == "set"]
    return max((r["bytes_per_second"] for r in like), default=None)


def operations_table(document, precision):
    own = [r for r in document["operations"] if r["precision"] == precision]
    lengths = sorted({r["rows"] for r in own})
    found = {(r["library"], r["operation"], r["rows"]): r for r in own}
    peers = [peer for peer in BLAS if any(library == peer for library, *_ in found)]
    rows = []
    for name in dict.fromkeys(r["operation"] for r in own if r["library"] == "ours"):
        mine = [found["ours", name, n] for n in lengths]
        largest = mine[-1]
        base = yardstick(document, largest)
        row = [name, str(largest["words"]), *[f"{1e6 * seconds(r):.1f}" for r in mine],
               f"{1e-9 * largest['bytes_per_second']:.0f}", share(base and largest["bytes_per_second"] / base)]
        for peer in peers:
            theirs = [found.get((peer, PEERS.get(name, name), n)) for n in lengths]
            row += [share(seconds(m) / seconds(t) if t else None) for m, t in zip(mine, theirs)]
        rows.append(row)
    heading = [f"{precision}", "words", *[f"us, {count(n)}" for n in lengths], "GB/s", "share of its mix",
               *[f"time / {peer}, {count(n)}" for peer in peers for n in lengths]]
    return table(heading, rows) if rows else ""


def products_table(document, precision):
    own = [r for r in document["products"] if r["precision"] == precision and "seconds" in r]
    rate = records.best_read(document, precision)
    rows = []
    for r in own:
        peers = [seconds(p) for p in own if p["matrix"] == r["matrix"] and p["library"] == "cuSPARSE"]
        ours = r["library"] == "ours"
        rows.append([r["matrix"], count(r["rows"]), count(r["entries"]),
                     r["format"] + (" (chosen)" if r.get("chosen") else "") if ours else f"{r['library']} {r['format']}",
                     f"{1e6 * seconds(r):.1f}", share(r["compulsory_bytes"] / seconds(r) / rate),
                     share(r["own_bytes"] / seconds(r) / rate if ours else None),
                     share(r.get("places_an_entry")),
                     f"{r['form_seconds'] + r['up_seconds']:.2f}" if ours else "-",
                     share(min(peers) / seconds(r) if peers and ours else None)])
    heading = [precision, "rows", "entries", "format", "us", "share of CSR's bytes", "share of own bytes",
               "places an entry", "s to make", "times as quick as cuSPARSE's best"]
    return table(heading, rows) if rows else ""


def cg_table(document):
    rows = [[r["matrix"], count(r["rows"]), r["precision"], r["format"], f"{1e6 * seconds(r):.1f}",
             share(r["bytes"] / seconds(r) / rate if (rate := records.best_read(document, r["precision"])) else None),
             count(r["launches"]), count(r["waits"]), count(r["bytes_up"]), count(r["bytes_down"])]
            for r in document["cg"]]
    heading = ["CG, Jacobi", "rows", "precision", "format", "us an iteration", "share of the read stream", "launches",
               "waits", "bytes up", "bytes down"]
    return table(heading, rows) if rows else ""


def run_text(name, document):
    p = document["provenance"]
    parts = [f"{p['device']} ({p['driver'] or p['platform']}); {p['cpu']}, {p['threads']} threads; {p['date'][:10]}, "
             f"commit {p['commit'][:12]}, `{p['command']}`\n"]
    for precision in ("double", "float"):
        parts += [operations_table(document, precision), products_table(document, precision)]
        if parts[-2] + parts[-1]:
            parts.append(f"![{precision}](../performance-krylov-{name}-{precision}.svg)\n")
    parts.append(cg_table(document))
    return "\n".join(part for part in parts if part)


def page_text(folder):
    names = sorted(path.stem for path in pathlib.Path(folder).glob("*.json"))
    return "\n".join(run_text(name, records.load(folder, name)) for name in names) or NOT_MADE


def main(folder, page, *options):
    return put_between(page, "krylov", page_text(folder), "--check" in options)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
