# SPDX-License-Identifier: BSD-2-Clause
"""plot_test.py FOLDER: FOLDER/plot.py draws the results beside it, and one file of each kind twice the same. Ends with 77
without matplotlib."""

import json
import pathlib
import subprocess
import sys
import tempfile

LARGEST = 200_000  # bytes; pictures lie in the repository


# A run of oclspkt-bench-krylov: one operation, and products by ours and by a peer, one of which failed.
ROOFLINE = {
    "provenance": {"device": "card"},
    "operations": [{"operation": "dot", "library": "ours", "mix": "read", "words": 2, "flops": 2, "rows": 1000,
                    "precision": "double", "seconds": [1e-6], "bytes_per_second": 1.6e10}],
    "products": [{"matrix": "fem", "format": "sell", "library": "ours", "precision": "double", "entries": 100,
                  "compulsory_bytes": 1400, "own_bytes": 1500, "seconds": [1e-6], "read_bytes_per_second": 2e10},
                 {"matrix": "fem", "format": "CSR_ALG1", "library": "cuSPARSE", "precision": "double", "entries": 100,
                  "compulsory_bytes": 1400, "seconds": [2e-6], "read_bytes_per_second": 2e10},
                 {"matrix": "fem", "format": "CSR_ALG2", "library": "cuSPARSE", "precision": "double", "entries": 100,
                  "compulsory_bytes": 1400, "failed": "row 1"}],
}


PAPER = {"accuracy": ["accuracy"], "combinations": ["combinations"], "solves": ["solves", "joules"], "roofline": ["roofline"]}


def draw(scripts, folder, results=None):
    """The pictures by name."""
    result = subprocess.run([sys.executable, scripts / "plot.py", results or scripts / "results", folder], check=False)
    if result.returncode != 0:
        sys.exit(result.returncode)
    return {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("*.svg")}


def one_of_each_kind(results, folder):
    """Link the first file of each kind of results, and all results that are drawn as one picture."""
    for kind in ("sweep.json", "lines-float.json", "gpu/*.json", "gpu/krylov/*.json", "paper/*.json", "balance"):
        path = min(results.glob(kind))
        link = pathlib.Path(folder) / path.relative_to(results)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path.resolve())
    return pathlib.Path(folder)


def main():
    scripts = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two, tempfile.TemporaryDirectory() as some:
        pictures, again = draw(scripts, one), draw(scripts, two, one_of_each_kind(scripts / "results", some))
    subjects = ["lines", "sweep"]
    for path in (scripts / "results" / "gpu").glob("*.json"):
        subjects += [f"gpu-{path.stem}-lines", f"gpu-{path.stem}-systems"]
    subjects += [f"krylov-{path.stem}" for path in (scripts / "results" / "gpu" / "krylov").glob("*.json")]
    expected = [f"performance-{what}-{scalar}.svg" for what in subjects for scalar in ("double", "float")]
    for path in (scripts / "results" / "paper").glob("*.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        expected += [f"evaluation-{path.stem}-{figure}.svg" for section, figures in PAPER.items() if run.get(section)
                     for figure in figures]
    assert sorted(pictures) == sorted([*expected, "performance-shared.svg"]), sorted(pictures)
    assert "performance-shared.svg" in again and len(again) > 10, sorted(again)
    for name, text in again.items():
        assert text == pictures[name], f"{name} differs from run to run"
    for name, text in pictures.items():
        assert len(text) <= LARGEST, f"{name} has {len(text)} bytes"
        assert "stream" in text or name == "performance-shared.svg" or name.startswith("evaluation"), name
    for name in ("truncated-halo, OpenCL", "exact-factored, host", "LAPACK gtsv", "Thomas stored"):
        assert name in pictures["performance-sweep-double.svg"], name
    assert "(model)" in pictures["evaluation-h200-solves.svg"] and "<pattern" in pictures["evaluation-h200-solves.svg"], \
        "what a model gives is hatched"
    assert "with a board, by the model" in pictures["evaluation-h200-combinations.svg"], "sets with a board stand apart"
    for name in ("h200-and-16-cores", "two-h100", "nvidia,portable"):
        assert name in pictures["performance-shared.svg"], name
    assert "truncated-halo, host" not in pictures["performance-sweep-double.svg"], "the host has no such method"
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "gpu" / "krylov"
        results.mkdir(parents=True)
        (results / "card.json").write_text(json.dumps(ROOFLINE), encoding="utf-8")
        rooflines = draw(scripts, folder, folder)
    assert list(rooflines) == ["performance-krylov-card-double.svg"], list(rooflines)
    for word in ("stream of reads", "dot", "fem, sell", "fem, CSR_ALG1, cuSPARSE"):
        assert f">{word}<" in rooflines["performance-krylov-card-double.svg"], word
    assert "CSR_ALG2" not in rooflines["performance-krylov-card-double.svg"], "what failed has no time"


main()
