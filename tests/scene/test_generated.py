"""Files that tools write are what the tools write: nobody has changed one by hand."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Generated(unittest.TestCase):
    def compare(self, tool, inside, least):
        """Runs a tool in an empty folder; `inside` is where its files lie in the tree."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", tool), folder], check=True)
            count = 0
            for path, _, names in os.walk(folder):
                for name in names:
                    made = os.path.join(path, name)
                    kept = os.path.join(ROOT, inside, os.path.relpath(made, folder))
                    self.assertTrue(read(made) == read(kept), f"run tools/{tool}: {kept} differs")
                    count += 1
        self.assertGreaterEqual(count, least)

    def test_scenes(self):
        self.compare("make_scenes.py", "scenes", 5)

    def test_ground(self):
        self.compare("make_ground.py", "scenes", 3)

    def test_parallel_ankles(self):
        self.compare("make_parallel.py", "", 4)

    def test_bipeds(self):
        self.compare("make_bipeds.py", "", 3)

    def test_humanoids(self):
        self.compare("make_humanoids.py", "", 4)


if __name__ == "__main__":
    unittest.main()
