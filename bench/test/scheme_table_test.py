# SPDX-License-Identifier: BSD-2-Clause
"""scheme_table.py: who wins, by how much, who holds alone, and what a page becomes."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import scheme_table


def record(scheme, set_up, apply, outcome="timed"):
    times = {} if set_up is None else {"first_set_up_seconds": 2 * set_up, "later_set_up_seconds": set_up,
                                       "apply_seconds": apply}
    return {"scheme": scheme, "where": "device", "outcome": outcome, "method": "exact", **times}


def case(family, *schemes):
    return {"family": family, "layout": "one", "size": 1000000, "scalar": "float", "schemes": list(schemes)}


DOCUMENT = {
    "provenance": {"commit": "0123456789abcdef", "device": "card", "driver": "1", "platform": "p", "cpu": "cpu",
                   "threads": 2, "vectors": "device", "command": "oclspkt-bench-schemes FILE"},
    "all_schemes": ["quick", "thrifty", "third", "only", "unseen", "host-pivot"],
    "results": [case("a", record("quick", 10, 1), record("thrifty", 1, 4), record("third", 10, 1.1)),
                case("b", record("only", 1, 1), record("quick", None, None, "refused"), record("host-pivot", 9, 9))],
    "left_out": ["c"],
}


class SchemeTable(unittest.TestCase):
    def test_a_set_up_is_shared_by_its_applies(self):
        found = {(scheme, applies): (round(gain, 3), other)
                 for scheme, gain, other, name, applies in scheme_table.wins([DOCUMENT]) if name.startswith("a, ")}
        self.assertEqual(found, {("thrifty", 1): (2.2, "quick"), ("quick", 10): (1.05, "third"),
                                 ("quick", 100): (1.091, "third")})

    def test_a_scheme_holds_alone_beside_pivoting(self):
        self.assertEqual(scheme_table.alone([DOCUMENT]), {"only": ["b, one, 1e6, float"]})

    def test_the_best_of_several_records_of_a_scheme_counts(self):
        twice = case("a", record("quick", 1, 5), record("quick", 1, 3, "slow"))
        self.assertEqual(scheme_table.costs(twice, 1), {"quick": 4})

    def test_a_page_says_who_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            page = root / "page.md"
            page.write_text("x\n<!-- begin schemes -->\nold\n<!-- end schemes -->\ny\n", encoding="utf-8")
            self.assertEqual(scheme_table.main(root, page), 0)
            self.assertIn(scheme_table.NOT_MADE, page.read_text(encoding="utf-8"))
            (root / "card-1.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
            self.assertEqual(scheme_table.main(root, page, "--check"), 1)
            self.assertEqual(scheme_table.main(root, page), 0)
            self.assertEqual(scheme_table.main(root, page, "--check"), 0)
            lines = page.read_text(encoding="utf-8").splitlines()
            stays = {line.split(" | ")[0].strip("| "): line.split(" | ")[-1].strip("| ") for line in lines
                     if line.count("|") == 4}
            self.assertEqual((lines[0], lines[-1]), ("x", "y"))
            self.assertEqual([stays[s] for s in DOCUMENT["all_schemes"]],
                             ["no", "yes", "no", "yes", "not measured", "no"])

    def test_a_page_without_the_lines_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("nothing\n", encoding="utf-8")
            self.assertEqual(scheme_table.main(folder, page), 1)


if __name__ == "__main__":
    unittest.main()
