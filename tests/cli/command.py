"""Runs the command under test and looks at what it did."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
MODELS = os.path.join(HERE, "..", "..", "models")
SCENES = os.path.join(HERE, "..", "..", "scenes")
TABI = os.environ["TABI"]
EXTRA = os.environ.get("TABI_EXTRA_DATA", "")


def data(name):
    return os.path.join(DATA, name)


def scene(name):
    return os.path.join(SCENES, name + ".yaml")


class Case(unittest.TestCase):
    maxDiff = None

    def tabi(self, *args, stdin="", code=0, env=None):
        """Runs tabi, expects the exit code, returns (stdout, stderr)."""
        run = subprocess.run([TABI, *args], input=stdin.encode(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=240, env=env)
        out, err = run.stdout.decode(), run.stderr.decode(errors="replace")
        self.assertEqual(run.returncode, code, f"{args}\n{out[:2000]}\n{err[:2000]}")
        if code not in (0, 5):
            self.assertEqual(out, "", "an error leaves stdout empty")
            self.assertNotEqual(err, "")
        return out, err

    def json(self, *args, **keywords):
        out, _ = self.tabi(*args, **keywords)
        return json.loads(out, parse_constant=self.fail)

    def error(self, *args, line, says, stdin="", path=None):
        """Expects exit 3 and one line path:line: error: ... on stderr."""
        _, err = self.tabi(*args, stdin=stdin, code=3)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(f"{path or '<stdin>'}:{line}: error: ", err)
        self.assertIn(says, err)


class FolderCase(Case):
    """Each test has an empty folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, text=None):
        """The path of a file in the folder; with a text, which is written."""
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
        return path


def main():
    """Runs the tests; a skipped one is reported as ctest wants it."""
    result = unittest.main(exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.skipped else 0)
