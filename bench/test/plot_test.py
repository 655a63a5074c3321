# SPDX-License-Identifier: BSD-2-Clause
"""plot_test.py FOLDER: FOLDER/plot.py draws the results beside it, twice the same. Ends with 77 without matplotlib."""

import pathlib
import subprocess
import sys
import tempfile

LARGEST = 200_000  # bytes; pictures lie in the repository


def draw(scripts, folder):
    """The pictures by name."""
    result = subprocess.run([sys.executable, scripts / "plot.py", scripts / "results", folder], check=False)
    if result.returncode != 0:
        sys.exit(result.returncode)
    return {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("*.svg")}


def main():
    scripts = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        pictures, again = draw(scripts, one), draw(scripts, two)
    subjects = ["lines", "sweep"]
    for path in (scripts / "results" / "gpu").glob("*.json"):
        subjects += [f"gpu-{path.stem}-lines", f"gpu-{path.stem}-systems"]
    expected = [f"performance-{what}-{scalar}.svg" for what in subjects for scalar in ("double", "float")]
    assert sorted(pictures) == sorted([*expected, "performance-shared.svg"]), sorted(pictures)
    for name, text in pictures.items():
        assert text == again[name], f"{name} differs from run to run"
        assert len(text) <= LARGEST, f"{name} has {len(text)} bytes"
        assert "stream" in text or name == "performance-shared.svg", name
    for name in ("truncated-halo, OpenCL", "exact-factored, host", "LAPACK gtsv", "Thomas stored"):
        assert name in pictures["performance-sweep-double.svg"], name
    for name in ("h200-and-16-cores-locked", "two-h200-locked", "nvidia,portable"):
        assert name in pictures["performance-shared.svg"], name
    assert "truncated-halo, host" not in pictures["performance-sweep-double.svg"], "the host has no such method"


main()
