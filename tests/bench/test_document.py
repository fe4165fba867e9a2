"""docs/benchmarks.md says what docs/benchmarks.json holds, and losses are named."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "tools", "benchmarks.py")
DOCUMENT = os.path.join(ROOT, "docs", "benchmarks.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Document(unittest.TestCase):
    def tables(self, numbers):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "benchmarks.md")
            shutil.copy(DOCUMENT, copy)
            subprocess.run([sys.executable, SCRIPT, "tables", numbers, copy], check=True)
            return read(copy)

    def test_document_is_that_of_its_numbers(self):
        numbers = os.path.join(ROOT, "docs", "benchmarks.json")
        self.assertEqual(self.tables(numbers), read(DOCUMENT),
                         "run tools/benchmarks.sh --tables")

    def numbers(self, folder):
        """Numbers of a few rows in a file."""
        def row(name, us, depth, **more):
            return {"workload": f"engines/{name}", "engine": name, "us": us, "penetration": depth,
                    **more}

        absent = {"workload": "engines/pile100/dart", "engine": "dart", "note": "left out: slow"}
        data = {"machine": "m", "compiler": "c", "growth": [], "release": [],
                "commands_native": {"walk": {"simulated": 10, "seconds": 0.125}},
                "newest": [row("pile100/tabi", 200, 1e-4), row("pile100/mujoco", 600, 1e-3)],
                "rows": [row("pile100/tabi", 200, 1e-4), row("pile100/bullet", 100, 1e-5),
                         row("pile100/mujoco", 900, 1e-5, deepest=1e-3), absent,
                         row("slope/tabi", 3, 0, error=1e-8),
                         {"workload": "contact/hullfeet/cone", "engine": "tabi", "us": 7,
                          "contacts": 8}]}
        path = os.path.join(folder, "numbers.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(data, file)
        return path

    def test_losses_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.tables(self.numbers(folder))
        self.assertIn("| pile of 100 | bullet | 1x | 0.5x (missed) |  |  | 1.0e-04 (deeper) | 1.0e-05 |", text)
        self.assertIn("| pile of 100 | mujoco | 4x | 4.5x |  | 3x | 1.0e-04 | 1.0e-03 |", text)
        self.assertIn("| cube on a slope: creep, m/s | at most 1e-09 | 1.0e-08 (missed) |", text)
        self.assertIn("times real time | at least 100 | 80 (missed) |", text)
        self.assertIn("| loading SR1, ms | at most 5 | not measured |", text)
        self.assertIn("| `contact/hullfeet` | 8 | 7 |", text)
        self.assertRegex(text, r"\| `pile100` \| dart \|[ |]*\| left out: slow \|")

    def test_chart_has_a_mark_for_each_number(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "chart.svg")
            script = os.path.join(ROOT, "tools", "benchmarks_chart.py")
            subprocess.run([sys.executable, script, self.numbers(folder), picture], check=True)
            shapes = [e.tag.split("}")[1] for e in xml.etree.ElementTree.parse(picture).iter()]
        # three times and three depths, and six marks that tell which is which
        self.assertEqual(shapes.count("circle") + shapes.count("polygon"), 3 + 3 + 6)


if __name__ == "__main__":
    unittest.main()
