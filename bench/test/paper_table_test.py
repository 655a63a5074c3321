# SPDX-License-Identifier: BSD-2-Clause
"""paper_table_test.py FOLDER: what FOLDER/paper_table.py makes, from results that are written here."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import paper_table

PROVENANCE = {"commit": "0123456789abcdef", "date": "2026-11-27T00:00:00Z", "compiler": "GNU", "matrix": "random", "rows": 1000,
              "command": "oclspkt-bench-paper FILE"}


def solve(kind, who, time, marshalling=0, solver="oclspkt", source="measured", scalar="float"):
    return {"device": f"a {kind}", "kind": kind, "scalar": scalar, "rows": 1000, "who": who, "solver": solver, "method": "m",
            "seconds": time, "marshalling_seconds": marshalling, "rows_per_second": 1000 / time, "joules": 2 * time,
            "rows_per_joule": 500 / time, "source": source, "error_eps": 0.5}


def document(**sections):
    return {"version": paper_table.VERSION, "provenance": PROVENANCE, "machine": [], **sections}


class Claims(unittest.TestCase):
    def test_the_order_of_kernels_leaves_marshalling_out(self):
        d = document(solves=[solve("GPU", "paper", 5, 3), solve("CPU", "paper", 4, 3.5),
                             solve("FPGA", "paper", 3, source="modelled", solver="spktrunc")])
        text, said = paper_table.order_of_kernels(d, paper_table.kernel_seconds)
        self.assertEqual((text, said), ("CPU 500 ms, GPU 2 s, FPGA 3 s (model)", paper_table.NOT_HERE))
        d["solves"][1]["seconds"] = 9
        self.assertEqual(paper_table.order_of_kernels(d, paper_table.kernel_seconds)[1], paper_table.HOLDS)

    def test_a_peer_that_wins_is_shown(self):
        d = document(solves=[solve("CPU", "paper", 2), solve("CPU", "peer", 1, solver="mkl dtsvb"),
                             solve("CPU", "peer", 3, solver="mkl 2 threads")])
        self.assertEqual(paper_table.against(d, "CPU", "mkl", "paper", 1.5), ("0.5", paper_table.NOT_HERE))

    def test_what_was_not_measured_makes_no_claim(self):
        d = document(solves=[{**solve("CPU", "paper", 1), "seconds": None, "outcome": "failed", "note": "lost"}])
        for _, _, claim in paper_table.CLAIMS:
            self.assertIn(claim(d)[1], (paper_table.UNKNOWN,))

    def test_accuracy_is_reached_where_all_larger_dominances_reach_it(self):
        def record(who, dominance, error):
            return {"scalar": "float", "who": who, "device": "a", "dominance": dominance, "error": error}
        errors = {1.5: 1e-6, 2: 3e-7, 3: 1.5e-7, 4: 1e-7}
        d = document(accuracy=[record("Thomas", x, 1e-7) for x in errors] + [record("paper", x, e) for x, e in errors.items()])
        self.assertEqual(paper_table.dominance_like_thomas(d, "paper"), 3)
        self.assertIsNone(paper_table.dominance_like_thomas(d, "ours"))

    def test_counts_that_differ_are_told(self):
        r = {"scheme": "s", "m": 4, "m_min": 0, "staged": False, "counted": {"add": 1, "mul": 2, "div": 3}, "counted_words": 5,
             "marshalled_words": 0, "formula": {"add": 1, "mul": 2, "div": 3}, "plan_words": 5.0, "table1_words": 0,
             "table1": {"add": 0, "mul": 0, "div": 0}}
        self.assertIn("| yes |", paper_table.operations({"operations": [r]}))
        self.assertIn("| NO |", paper_table.operations({"operations": [r | {"plan_words": 6.0}]}))


class Combinations(unittest.TestCase):
    def test_sets_with_a_board_stand_apart_and_the_fastest_first(self):
        def record(devices, time, source="measured"):
            return {**solve(devices, "ours", time, source=source), "devices": devices, "kinds": devices, "shares": []}
        d = document(combinations=[record("slow", 4), record("fast", 2), record("fast + board", 1, "modelled")])
        lines = [line for line in paper_table.combinations(d, "float").splitlines() if line.startswith("|")]
        self.assertEqual([line.split("|")[1].strip() for line in lines if "---" not in line],
                         ["float, Mrows/s", "fast", "slow", "float, Mrows/s by the model of a board", "fast + board"])


class Joules(unittest.TestCase):
    def test_counter_samples_and_peers_stand_beside_each_other(self):
        def record(who, solver, joules, **more):
            return {"device": "a card", "who": who, "solver": solver, "matrix": "poisson", "scalar": "double", "rows": 1000,
                    "seconds": 0.5, "watts": 700.0, "joules": joules, "energy": "counter", **more}
        d = document(energy=[record("ours", "oclspkt", 10.0, joules_by_counter=10.0, joules_by_samples=9.8, energy_spread=0.015),
                             record("peer", "cuSPARSE gtsv2", 60.0)])
        text = paper_table.measured_joules(d)
        self.assertIn("| 0.0001 | 0.000102 | 2 % | 1.5% | - | 1 | counter |", text)
        self.assertIn("| - | - | - | - | - | 6 | counter |", text)


class Roofline(unittest.TestCase):
    def test_a_kernel_stands_below_its_roof(self):
        def record(what, **more):
            return {"device": "a card", "scalar": "float", "what": what, **more}
        d = document(roofline=[record("peak", flops_per_second=1e12), record("stream", bytes_per_second=1e11, seconds=1.0),
                               record("dot", bytes=8e9, flops=2e9, seconds=0.1)])
        self.assertIn("| 1e+03 | 100 | 10 |", paper_table.roofline_bounds(d))
        self.assertIn("| dot | 0.25 | 80 | 0.80 | 20 | 2 % | 0.80 | - |", paper_table.roofline(d))


class Files(unittest.TestCase):
    def test_those_of_another_version_are_refused_with_the_cure(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "old.json").write_text(json.dumps(document() | {"version": 0}), encoding="utf-8")
            with self.assertRaises(SystemExit) as refused:
                paper_table.load(folder)
        self.assertIn("old.json has version 0, this script reads 1: measure it anew", str(refused.exception))

    def test_the_page_is_checked(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            page, results = pathlib.Path(folder) / "page.md", pathlib.Path(folder) / "results"
            results.mkdir()
            (results / "a.json").write_text(json.dumps(document(solves=[solve("GPU", "ours", 1)])), encoding="utf-8")
            page.write_text("x\n<!-- begin paper -->\n<!-- end paper -->\n", encoding="utf-8")
            self.assertEqual(paper_table.main(results, page, "--check"), 1)
            self.assertEqual(paper_table.main(results, page), 0)
            self.assertEqual(paper_table.main(results, page, "--check"), 0)


if __name__ == "__main__":
    unittest.main()
