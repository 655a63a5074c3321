# SPDX-License-Identifier: BSD-2-Clause
"""What oclspkt-bench wrote with --json, for plot.py and tables.py."""

import json
import pathlib


def load(folder, name):
    """The document FOLDER/NAME.json, or None if it was not made."""
    path = pathlib.Path(folder) / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


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
    turned = f", {record['variant']}" if record["variant"] else ""
    return f"cuSPARSE {record['method']}{turned}"


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
