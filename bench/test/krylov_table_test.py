# SPDX-License-Identifier: BSD-2-Clause
"""krylov_table.py: every share is of the stream of its own mix, peers are those of the same matrix, and what a page becomes."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import krylov_table


def operation(name, library, mix, words, rate, rows=1000000):
    return {"operation": name, "library": library, "mix": mix, "words": words, "flops": 2, "rows": rows, "precision": "double",
            "seconds": [9, words * 8e-9 * rows / rate, 1e-9], "bytes_per_second": 1e9 * rate}


def product(library, form, seconds, **more):
    return {"matrix": "fem", "format": form, "library": library, "precision": "double", "rows": 10, "entries": 100,
            "compulsory_bytes": 1400, "seconds": [1e-9 * seconds], "read_bytes_per_second": 1e12, **more}


OURS = {"own_bytes": 2800, "places_an_entry": 1.5, "form_seconds": 0.25, "up_seconds": 0.5, "chosen": True}
DOCUMENT = {
    "provenance": {"device": "card", "driver": "1", "platform": "p", "cpu": "cpu", "threads": 2, "commit": "0123456789abcdef",
                   "date": "2026-01-02T03:04:05Z", "command": "oclspkt-bench-krylov FILE"},
    "operations": [operation("set", "ours", "write", 1, 900), operation("memset", "run-time", "write", 1, 1000),
                   operation("copy", "ours", "copy", 2, 500), operation("scal", "ours", "copy", 2, 450),
                   operation("scal", "cuBLAS", "copy", 2, 600), operation("axpy", "ours", "triad", 3, 660),
                   operation("triad", "stream kernel", "triad", 3, 600), operation("axpy", "cuBLAS", "triad", 3, 550),
                   operation("maxpy 8", "ours", "other", 10, 700),
                   operation("norm2", "ours", "read", 1, 400), operation("nrm2", "cuBLAS", "read", 1, 800)],
    "products": [product("ours", "sell", 2, **OURS), product("cuSPARSE", "CSR_ALG1", 5), product("cuSPARSE", "CSR_ALG2", 3),
                 {**product("cuSPARSE", "sliced ELL", 0), "failed": "row 1"}],
    "cg": [{"matrix": "stencil5", "format": "dia", "precision": "double", "rows": 1e4, "seconds": [8e-5], "bytes": 4e7,
            "launches": 8, "waits": 3, "bytes_up": 0, "bytes_down": 40}],
}
del DOCUMENT["products"][-1]["seconds"]


def cells(text):
    return {line.split(" | ")[0].strip("| "): [cell.strip(" |") for cell in line.split(" | ")][1:]
            for line in text.splitlines()}


class KrylovTable(unittest.TestCase):
    def test_a_share_is_of_the_stream_of_the_same_mix(self):
        shares = {r["operation"]: krylov_table.yardstick(DOCUMENT, r) for r in DOCUMENT["operations"]
                  if r["library"] == "ours"}
        self.assertEqual(shares, {"set": 1e12, "copy": 5e11, "scal": 5e11, "axpy": 6e11, "maxpy 8": None, "norm2": 1e12})

    def test_without_memset_set_is_its_own_yardstick(self):
        document = {"operations": DOCUMENT["operations"][:1], "products": []}
        self.assertEqual(krylov_table.yardstick(document, document["operations"][0]), 9e11)

    def test_times_stand_beside_cublas(self):
        rows = cells(krylov_table.operations_table(DOCUMENT, "double"))
        self.assertEqual(rows["scal"], ["2", "35.6", "450", "0.90", "1.33"])
        self.assertEqual(rows["axpy"][-2:], ["1.10", "0.83"])
        self.assertEqual(rows["norm2"][-2:], ["0.40", "2.00"])
        self.assertEqual(rows["set"][-2:], ["0.90", "-"])

    def test_times_stand_beside_clblast_by_the_names_of_blas(self):
        peers = [operation("axpy", "CLBlast", "triad", 3, 330), operation("asum", "CLBlast", "read", 1, 200)]
        document = {**DOCUMENT, "operations": [r for r in DOCUMENT["operations"] if r["library"] != "cuBLAS"] + peers +
                    [operation("norm1", "ours", "read", 1, 800)]}
        text = krylov_table.operations_table(document, "double")
        rows = cells(text)
        self.assertEqual(rows["axpy"][-2:], ["1.10", "0.50"])
        self.assertEqual(rows["norm1"][-2:], ["0.80", "0.25"])
        self.assertEqual(rows["scal"][-1], "-")
        self.assertIn("time / CLBlast, 1e6 |", text)
        self.assertNotIn("cuBLAS", text)

    def test_products_are_held_against_the_best_peer(self):
        rows = [line for line in krylov_table.products_table(DOCUMENT, "double").splitlines() if "fem" in line]
        self.assertEqual(rows[0], "| fem | 10 | 100 | sell (chosen) | 0.0 | 0.70 | 1.40 | 1.50 | 0.75 | 1.50 |")
        self.assertEqual(len(rows), 3)

    def test_iterations_show_their_counts(self):
        self.assertEqual(cells(krylov_table.cg_table(DOCUMENT))["stencil5"],
                         ["1e4", "double", "dia", "80.0", "0.50", "8", "3", "0", "40"])

    def test_a_page_is_made_of_what_lies_in_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            page = root / "page.md"
            page.write_text("x\n<!-- begin krylov -->\nold\n<!-- end krylov -->\ny\n", encoding="utf-8")
            self.assertEqual(krylov_table.main(root, page), 0)
            self.assertIn(krylov_table.NOT_MADE, page.read_text(encoding="utf-8"))
            (root / "card.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
            self.assertEqual(krylov_table.main(root, page, "--check"), 1)
            self.assertEqual(krylov_table.main(root, page), 0)
            self.assertEqual(krylov_table.main(root, page, "--check"), 0)
            self.assertIn("(../performance-krylov-card-double.svg)", page.read_text(encoding="utf-8"))
            self.assertNotIn("float.svg", page.read_text(encoding="utf-8"))
            self.assertIn("card (1); cpu, 2 threads; 2026-01-02, commit 0123456789ab", page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
