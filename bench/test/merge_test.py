# SPDX-License-Identifier: BSD-2-Clause
"""merge_test.py FOLDER: FOLDER/gpu/merge.py, on files that are written here."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)) / "gpu" / "merge.py"


def document(solver, **other):
    provenance = {"commit": "0123", "device": "a card", "cpu": "a processor", "build_type": "Release",
                  "command": f"{solver} FILE", "platform": solver, "driver": "1", "date": "today"}
    return {"provenance": provenance | other, "results": [{"solver": solver, "rows": 10}, {"solver": solver}]}


class Merge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.merged = self.folder / "merged.json"

    def merge(self, *documents):
        """Run the script; None stands for a file that is not there."""
        parts = [self.folder / f"{i}.json" for i in range(len(documents))]
        for part, content in zip(parts, documents):
            if content:
                part.write_text(json.dumps(content), encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, self.merged, *parts], capture_output=True, text=True, check=False)

    def test_keeps_one_provenance_and_all_records(self):
        self.assertEqual(self.merge(document("ours"), document("peers")).returncode, 0)
        merged = json.loads(self.merged.read_text(encoding="utf-8"))
        self.assertEqual([r["solver"] for r in merged["results"]], ["ours", "ours", "peers", "peers"])
        self.assertEqual(merged["provenance"]["platform"], "ours")
        self.assertEqual(merged["provenance"]["peers"],
                         [{"command": "peers FILE", "platform": "peers", "driver": "1", "date": "today"}])

    def test_a_record_takes_a_line(self):
        self.merge(document("ours"))
        self.assertIn('\n{"solver": "ours", "rows": 10},\n', self.merged.read_text(encoding="utf-8"))

    def test_goes_without_peers_that_did_not_run(self):
        self.assertEqual(self.merge(document("ours"), None).returncode, 0)
        self.assertNotIn("peers", json.loads(self.merged.read_text(encoding="utf-8"))["provenance"])

    def test_refuses_files_of_different_runs(self):
        for key in ("commit", "device"):
            run = self.merge(document("ours"), document("peers", **{key: "another"}))
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"{key} is", run.stderr)
            self.assertFalse(self.merged.exists())

    def test_goes_without_peers_that_ended_early(self):
        (self.folder / "1.json").touch()
        self.assertEqual(self.merge(document("ours"), None).returncode, 0)

    def test_needs_a_file(self):
        run = self.merge(None, None)
        self.assertEqual(run.returncode, 1)
        self.assertIn("none of these holds results", run.stderr)


if __name__ == "__main__":
    unittest.main()
