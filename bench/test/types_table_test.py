# SPDX-License-Identifier: BSD-2-Clause
"""types_table.py: medians over all runs of a kind, counts an iteration of two lengths, and whole runs of what was not run whole."""

import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import types_table


def told(types, ranks, us, method="cg"):
    return {"what": "iterations 3-D", "types": types, "ranks": ranks, "options": "",
            "told": [{"method": method, "rows": 8000000, "us_an_iteration": us}]}


def heat(types, ranks, steps, iterations, wall, spent):
    return {"what": "heat", "types": types, "ranks": ranks, "wall_s": wall,
            "told": [{"steps": steps, "iterations": iterations, "steps_s": spent}]}


def counted(length, launches, down):
    return {"what": "counts cg jacobi", "options": f"-short 0 -long {length} -repeats 1",
            "counts": {"launches": launches, "waits": 3 * 2 * length + 7, "bytes_up": 64, "bytes_down": down}}


def cells(text, line):
    return [cell.strip() for cell in text.splitlines()[line].strip("|").split("|")]


class TypesTable(unittest.TestCase):
    def test_figures_are_medians_of_all_rounds(self):
        text = types_table.iterations_table([told("opencl", 1, [9, 400, 500]), told("opencl", 1, [450, 460, 9000]),
                                             told("cuda", 1, [910]), told("host", 4, [9100])], 4)
        self.assertEqual(cells(text, 2), ["cg", "8e6", "-", "9100", "910", "455", "2", "20"])

    def test_counts_are_differences_of_two_runs_that_solve_twice(self):
        text = types_table.counts_table([counted(120, 2000, 9000), counted(60, 1040, 4200)])
        self.assertEqual(cells(text, 2), ["cg", "jacobi", "8", "3", "0", "40"])

    def test_what_one_rank_did_not_run_is_estimated_by_its_iterations(self):
        text = types_table.heat_table([heat("opencl", 1, 100, 500, 10, 1), heat("host", 4, 100, 498, 60, 50),
                                       heat("host", 1, 2, 20, 7, 2), heat("host", 1, 5, 50, 10, 5)], 4)
        self.assertEqual(cells(text, 2), ["1 rank (from 5 steps)", "55.0", "-", "5.5"])  # 10 s and 450 iterations of 0.1 s
        self.assertEqual(cells(text, 3), ["4 ranks", "60.0", "50.00", "6"])

    def test_efficiency_is_what_one_card_takes_over_what_all_take(self):
        def on(types, cards, us):
            return {"what": "weak", "types": types, "ranks": cards, "told": [{"us_an_iteration": us}]}
        text = types_table.weak_table([on("opencl", 1, [900, 910, 5000]), on("opencl", 4, [1000, 1000, 1200]), on("cuda", 4, [1500])])
        self.assertEqual(cells(text, 2), ["1", "-", "-", "910", "1.00"])
        self.assertEqual(cells(text, 3), ["4", "1500", "-", "1000", "0.91"])

    def test_parts_that_were_not_run_are_left_out(self):
        for part in (types_table.counts_table([]), types_table.heat_table([], 4), types_table.weak_table([]),
                     types_table.solves_table([])):
            self.assertEqual(part, "")


if __name__ == "__main__":
    unittest.main()
