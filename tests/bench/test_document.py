"""docs/benchmarks.md says what docs/benchmarks.json holds, and losses are named."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

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

    def test_losses_are_named(self):
        def row(name, us, depth):
            return {"workload": f"engines/pile100/{name}", "engine": name, "us": us,
                    "penetration": depth}

        data = {"machine": "m", "compiler": "c", "growth": [], "release": [],
                "rows": [row("tabi", 200, 1e-4), row("bullet", 100, 1e-5), row("mujoco", 900, 1e-3)]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "numbers.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(data, file)
            text = self.tables(path)
        self.assertIn("| pile of 100 | bullet | 1x | 0.5x (missed) |  | 1.0e-04 (deeper) |", text)
        self.assertIn("| pile of 100 | mujoco | 4x | 4.5x |  | 1.0e-04 |", text)


if __name__ == "__main__":
    unittest.main()
