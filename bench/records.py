# SPDX-License-Identifier: BSD-2-Clause
"""What oclspkt-bench wrote with --json, for plot.py, tables.py and krylov_table.py."""

import json
import pathlib


# The host solves by stored factors instead; older records still have its figures.
NOT_ON_THE_HOST = ("truncated-halo", "truncated-streamed", "exact-twopass")


def is_shown(record):
    """Whether the library still has that method where the record ran it."""
    return (record.get("solver") != "oclspkt" or record.get("device") != "host"
            or record.get("method") not in NOT_ON_THE_HOST)


def load(folder, name):
    """The document FOLDER/NAME.json without what is_shown() no longer, or None if it was not made."""
    path = pathlib.Path(folder) / f"{name}.json"
    if not path.exists():
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    if "results" in document:
        document["results"] = [r for r in document["results"] if is_shown(r)]
    return document


def label(record):
    """Who solved, in words that are the same at every size."""
    solver, method, variant = record["solver"], record["method"], record["variant"]
    if solver == "stream":
        return "stream" if record["device"] == "host" else "stream, OpenCL"
    if solver == "oclspkt":
        name = "auto" if variant == "auto" else method
        if variant not in ("auto", "default"):
            name += f" ({variant})"
        return f"{name}, {'host' if record['device'] == 'host' else 'OpenCL'}"
    return {"lapack": "LAPACK", "mkl": "MKL", "thomas": "Thomas"}.get(solver, solver) + f" {variant}"


def device_label(record):
    """Who solved on a card: ours by what was asked for, peers by the routine."""
    if record["solver"] == "oclspkt":
        return record["variant"]
    transposed = f", {record['variant']}" if record["variant"] else ""
    return f"cuSPARSE {record['method']}{transposed}"


def place(record):
    """Where the lines of a record lie: x for lines end to end, else the axis of a grid."""
    return "x" if record["lines"] == "end to end" else record["lines"][:1]


def short_matrix(record):
    """Without the seed."""
    return record["matrix"].partition(", seed")[0]


def timed(records):
    """Those whose answer was right."""
    return [r for r in records if r["seconds"] is not None]


def by_label(records):
    """{label: {rows: record}}, labels in the order of the file. Of several at a size the first counts."""
    series = {}
    for record in timed(records):
        series.setdefault(label(record), {}).setdefault(record["rows"], record)
    return series


def best_read(document, precision):
    """Bytes a second of the fastest stream that only reads, in a run of oclspkt-bench-krylov."""
    operations = [r["bytes_per_second"] for r in document["operations"]
                  if r["precision"] == precision and r["mix"] == "read"]
    streams = [r["read_bytes_per_second"] for r in document["products"]
               if r["precision"] == precision and "seconds" in r]
    return max(operations + streams, default=None)
