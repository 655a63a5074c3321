# SPDX-License-Identifier: BSD-2-Clause
"""Merge what oclspkt-bench-gpu and its peers measured in one run.

    merge.py MERGED OURS [PEERS ...]

One document with the provenance of OURS, and under "peers" what the others add to it; a record a line. Files that are
missing or empty, as a program leaves them that ends early, are left out. Ends with 1 where two files are not of the same commit and device, or none is there.
"""

import json
import pathlib
import sys

SAME = ("commit", "device", "cpu", "build_type")  # of all files of a run
OWN = ("command", "platform", "driver", "date")  # that peers keep


def merge(documents):
    """One document of several, the first of which gives the provenance."""
    merged = {"provenance": dict(documents[0]["provenance"]), "results": list(documents[0]["results"])}
    peers = []
    for other in documents[1:]:
        for key in SAME:
            ours, theirs = merged["provenance"][key], other["provenance"][key]
            if ours != theirs:
                raise ValueError(f"these are not files of one run: {key} is '{ours}' and '{theirs}'")
        peers.append({key: other["provenance"][key] for key in OWN})
        merged["results"] += other["results"]
    if peers:
        merged["provenance"]["peers"] = peers
    return merged


def text(document):
    """As JSON whose records take a line each, as the programs write it."""
    records = ",\n".join(json.dumps(record) for record in document["results"])
    return f'{{\n"provenance": {json.dumps(document["provenance"])},\n"results": [\n{records}\n]\n}}\n'


def main(merged, *parts):
    paths = [path for path in map(pathlib.Path, parts) if path.exists() and path.stat().st_size > 0]
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    if not documents:
        print(f"merge.py: none of these holds results: {', '.join(parts)}", file=sys.stderr)
        return 1
    try:
        pathlib.Path(merged).write_text(text(merge(documents)), encoding="utf-8")
    except ValueError as error:
        print(f"merge.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
