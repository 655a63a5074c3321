# SPDX-License-Identifier: BSD-2-Clause
"""tables_test.py FOLDER: the tables that FOLDER/tables.py makes, from results that are written here."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(SCRIPTS))
import records
import tables

PROVENANCE = {"cpu": "a processor", "cores": 2, "threads": 2, "instruction_set": "avx2", "caches": {"L2": 1048576},
              "commit": "0123456789abcdef-dirty", "command": "oclspkt-bench sweep", "matrix": "random, dominance 3"}


def record(solver, rows, seconds, **other):
    return {"solver": solver, "device": "host", "method": "exact", "variant": "serial", "scalar": "double",
            "rows": rows, "seconds": seconds, "rows_per_second": seconds and rows / seconds, "share_of_stream": 0.5,
            "error": 1e-16, "outcome": "timed" if seconds else "absent", "note": "" if seconds else "not there",
            **other}


def document(*results, **other):
    return {"provenance": PROVENANCE, "results": list(results), **other}


class Words(unittest.TestCase):
    def test_times_have_three_digits_and_a_unit(self):
        texts = {2.0: "2 s", 0.0123456: "12.3 ms", 4.5e-6: "4.5 us", 7e-9: "7 ns", None: "-"}
        for value, text in texts.items():
            self.assertEqual(tables.seconds(value), text)

    def test_round_counts_of_rows_are_powers(self):
        for rows, text in {10: "10", 1000: "1e3", 20000000: "2e7", 270000000: "2.7e8", 2097152: "2097152",
                           1500: "1.5e3"}.items():
            self.assertEqual(tables.count(rows), text)

    def test_labels_tell_place_and_choice_apart(self):
        ours = record("oclspkt", 10, 1.0, method="exact-twopass", variant="default")
        self.assertEqual(records.label(ours), "exact-twopass, host")
        self.assertEqual(records.label(ours | {"device": "a card"}), "exact-twopass, OpenCL")
        self.assertEqual(records.label(ours | {"variant": "auto"}), "auto, host")
        self.assertEqual(records.label(record("mkl", 10, 1.0, variant="dtsvb")), "MKL dtsvb")


class Tables(unittest.TestCase):
    def test_a_sweep_shows_everybody_at_every_size(self):
        text = tables.sweep(document(record("thomas", 10, 1e-6), record("thomas", 1000, 1e-3),
                                     record("lapack", 10, 2e-6, variant="gtsv"), record("mkl", 10, None),
                                     record("thomas", 10, 5e-6, scalar="float")), "double")
        self.assertEqual(text.splitlines(), ["| rows | 10 | 1e3 |", "| --- | --- | --- |",
                                             "| Thomas serial | 1 us | 1 ms |", "| LAPACK gtsv | 2 us | - |"])

    def test_the_fastest_of_ours_is_held_against_thomas(self):
        results = [record("thomas", 1000, 4e-6, variant="stored")]
        for method, time in (("pivot", 9e-6), ("exact-factored", 5e-6)):
            results.append(record("oclspkt", 1000, time, method=method, variant="default"))
        text = tables.small(document(*results), "double")
        self.assertEqual(text.splitlines()[2:], ["| 1e3 | exact-factored, host | 5 us | 4 us | 1.25 |"])
        self.assertEqual(len(tables.small(document(*results), "float").splitlines()), 2)

    def test_who_has_no_time_says_why(self):
        text = tables.solve(document(record("thomas", 10, 1e-6), record("mkl", 10, None)))
        self.assertIn("| MKL serial | - | - | - | absent: not there |", text)

    def test_a_commit_that_is_dirty_stays_so(self):
        self.assertEqual(tables.short_commit(PROVENANCE["commit"]), "0123456789ab-dirty")


def on_card(solver, rows, seconds, **other):
    """A record of the GPU benches."""
    return record(solver, rows, seconds, device="a card", scalar="float", matrix="random, dominance 3, seed 1",
                  lines="", line_length=0, bands="general", method="truncated-halo", words_per_row=5.0,
                  share_of_own_stream=0.75, stream_seconds=seconds, end_to_end_seconds=seconds and 2 * seconds,
                  backward_error_eps=0.5, shape="halo 16") | other


class Card(unittest.TestCase):
    def table(self, what, *results):
        return tables.gpu(document(*results), what).splitlines()

    def test_systems_show_auto_and_peers_at_every_size(self):
        text = self.table("systems float", on_card("oclspkt", 1000, 1e-6, variant="auto"),
                          on_card("oclspkt", 1000, 1e-6, variant="pivot"),
                          on_card("oclspkt", 100000, 1e-6, variant="auto"),
                          on_card("cusparse", 1000, 4e-6, variant="", method="gtsv2"))
        self.assertEqual(text, ["| matrix | solver | 1e3 | 1e5 | method at the last | error, eps |",
                                "| --- | --- | --- | --- | --- | --- |",
                                "| random, dominance 3 | auto | 1 (0.50) | 100 (0.50) | truncated-halo | 0.5 |",
                                "| random, dominance 3 | cuSPARSE gtsv2 | 0.25 (0.50) | - |  | 0.5 |"])

    def test_lines_are_told_apart_by_axis_and_shares_are_of_their_own_words(self):
        text = self.table("lines float",
                          on_card("oclspkt", 640, 1e-6, variant="auto", lines="end to end", line_length=64),
                          on_card("oclspkt", 640, 1e-6, variant="auto", lines="y of 5 x 64 x 2", line_length=64),
                          on_card("cusparse", 640, 1e-6, variant="transposed", method="gtsv2StridedBatch",
                                  lines="z of 5 x 2 x 64", line_length=64))
        self.assertEqual([line.split(" | ")[2:5] for line in text[2:]],
                         [["x", "auto", "0.64 (0.75)"], ["y", "auto", "0.64 (0.75)"],
                          ["z", "cuSPARSE gtsv2StridedBatch, transposed", "0.64 (0.75)"]])

    def test_methods_stand_beside_auto_at_their_size(self):
        text = self.table("methods float", on_card("oclspkt", 10, 1e-6, variant="auto"),
                          on_card("oclspkt", 1000, 1e-6, variant="auto"),
                          on_card("oclspkt", 1000, 2e-6, variant="exact-twopass", method="exact-twopass"))
        self.assertEqual([line.split(" | ")[1:4] for line in text[2:]],
                         [["auto", "truncated-halo", "1 (0.50)"], ["exact-twopass", "exact-twopass", "0.5 (0.50)"]])

    def test_methods_that_nobody_asked_for_have_no_table(self):
        self.assertEqual(self.table("methods float", on_card("oclspkt", 10, 1e-6, variant="auto")),
                         tables.NOT_MADE.splitlines())

    def test_who_has_no_time_says_why_once(self):
        text = self.table("systems float", on_card("oclspkt", 1000, None, variant="auto"),
                          on_card("oclspkt", 10, None, variant="auto"))
        self.assertEqual(text[3:], ["", "- auto, absent: not there — random, dominance 3 (1e3); random, dominance 3 (10)"])

    def test_vectors_on_the_host_have_their_own_time(self):
        text = self.table("from-host float", on_card("oclspkt", 1000, 1e-6, variant="auto"),
                          on_card("oclspkt", 2000, 1e-6, variant="auto", call_seconds=1.5e-6))
        self.assertEqual(text[2:], ["| 1e3 | 1 us | - | 2 us | 500 |", "| 2e3 | 1 us | 1.5 us | 2 us | 1000 |"])


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.results = pathlib.Path(self.folder.name)
        text = json.dumps(document(record("thomas", 10, 1e-6)))
        (self.results / "sweep.json").write_text(text, encoding="utf-8")
        self.page = self.results / "page.md"

    def run_script(self, text, *options):
        self.page.write_text(text, encoding="utf-8")
        command = [sys.executable, SCRIPTS / "tables.py", self.results, self.page, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_is_filled_between_its_marks_and_nowhere_else(self):
        page = "before\n<!-- begin sweep double -->\nold\n<!-- end sweep double -->\nbehind\n"
        self.assertEqual(self.run_script(page, "--check").returncode, 1)
        self.assertEqual(self.run_script(page).returncode, 0)
        filled = self.page.read_text(encoding="utf-8")
        self.assertIn("| Thomas serial | 1 us |", filled)
        self.assertTrue(filled.startswith("before\n") and filled.endswith("behind\n"))
        self.assertNotIn("old", filled)
        self.assertEqual(self.run_script(filled, "--check").returncode, 0)

    def test_says_what_was_not_measured(self):
        for name in ("petsc", "gpu/a-card lines float"):
            self.run_script(f"<!-- begin {name} -->\n<!-- end {name} -->\n")
            self.assertIn(tables.NOT_MADE, self.page.read_text(encoding="utf-8"))

    def test_figures_of_a_card_say_which(self):
        (self.results / "gpu").mkdir()
        card = document(on_card("oclspkt", 10, 1e-6, variant="auto"))
        card["provenance"] = PROVENANCE | {"device": "a card", "driver": "1.2"}
        (self.results / "gpu" / "card.json").write_text(json.dumps(card), encoding="utf-8")
        self.run_script("<!-- begin provenance -->\n<!-- end provenance -->\n")
        self.assertIn("| gpu/card.json | a card (1.2); a processor", self.page.read_text(encoding="utf-8"))

    def test_results_older_than_the_code_say_so_in_their_heading(self):
        def page_of(commit):
            text = document(record("thomas", 10, 1e-6))
            text["provenance"] = PROVENANCE | {"commit": commit, "date": "2026-11-23T10:00:00Z"}
            (self.results / "sweep.json").write_text(json.dumps(text), encoding="utf-8")
            self.run_script("<!-- begin sweep double -->\n<!-- end sweep double -->\n")
            return self.page.read_text(encoding="utf-8")

        unknown = "0123456789abcdef0123456789abcdef01234567"
        self.assertIn("**Older than today's code**: measured 2026-11-23, at commit 0123456789ab.\n\n| rows", page_of(unknown))
        now = subprocess.run(["git", "-C", SCRIPTS, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
        if now.returncode == 0:
            self.assertNotIn("Older", page_of(now.stdout.strip()))

    def test_a_mark_without_an_end_is_an_error(self):
        self.assertNotEqual(self.run_script("<!-- begin petsc -->\n").returncode, 0)


if __name__ == "__main__":
    unittest.main()
