"""Runs as one file: the same replay by `tabi run --html` and by `tabi view LOG --html`; two logs in one
file; interrupted and failed runs are written up to their end; what cannot be written is told before
the run and with its path."""

import base64
import json
import os
import re
import signal
import struct
import subprocess
import tempfile
import time

from command import TABI, Case, main

BOXES = """name: boxes
timestep: 2e-3
duration: 1
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}, rpy: [0, 0.1, 0]}
  - {name: low, mass: 2, shape: {box: [0.2, 0.3, 0.2]}, xyz: [0, 0, 0.12]}
  - {name: high, mass: 1, shape: {sphere: 0.1}, xyz: [0.03, 0, 0.4], ang: [1, 2, 0]}
"""
LIMIT = "  - {name: two, mass: 1, shape: {box: [1, 1, 1]}, xyz: [0, 0, 3]}\ncontact: {max_contacts: 5}\n"


def runs_of(path):
    """Descriptions and replays of a page."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    found = re.findall(r'id="tabi-(scene|replay)-(\d+)">(.*?)</script>', page, re.DOTALL)
    runs = {}
    for kind, number, text in found:
        value = json.loads(text) if kind == "scene" else base64.b64decode(text, validate=True)
        runs.setdefault(int(number), {})[kind] = value
    return [runs[i] for i in sorted(runs)]


def times_of(replay):
    times, at = [], 0
    while at < len(replay):
        magic, size, seconds = struct.unpack_from("<IId", replay, at)
        assert magic == 0x69626174
        times.append(seconds)
        at += size
    return times


class Html(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.scene = self.write("boxes.yaml", BOXES)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_run_and_log_give_the_same_replay(self):
        run, log, page, both = map(self.path, ("a.html", "a.tabi", "b.html", "c.html"))
        plain, _ = self.tabi("run", self.scene, "--json")
        replayed, _ = self.tabi("run", self.scene, "--json", "--html", run, "--log", log)
        self.assertEqual(json.loads(plain)["state_hash"], json.loads(replayed)["state_hash"])
        self.tabi("view", log, "--html", page)
        (a,), (b,) = runs_of(run), runs_of(page)
        self.assertEqual(a["replay"], b["replay"])
        self.assertEqual(len(times_of(a["replay"])), 61)
        self.assertEqual(a["scene"]["title"], "boxes")
        self.assertEqual([link["name"] for link in a["scene"]["links"]], ["floor", "low", "high"])
        other = self.path("other.tabi")
        self.tabi("run", self.scene, "--set", "bodies.low.mass=5", "--log", other)
        self.tabi("view", log, other, "--html", both)
        first, second = runs_of(both)
        self.assertEqual(first["replay"], a["replay"])
        self.assertNotEqual(second["replay"], a["replay"])
        self.assertEqual(sorted(n for n in os.listdir(self.folder.name) if "part" in n), [])

    def test_failed_runs_are_written(self):
        scene = self.write("limit.yaml", BOXES + LIMIT)
        page = self.path("limit.html")
        self.tabi("run", scene, "--html", page, code=4)
        (run,) = runs_of(page)
        times = times_of(run["replay"])
        self.assertGreater(len(times), 5)
        self.assertLess(times[-1], 0.99)

    def test_interrupted_runs_are_written(self):
        page, log = self.path("long.html"), self.path("long.tabi")
        process = subprocess.Popen([TABI, "run", self.scene, "--time", "100000", "--html", page,
                                    "--log", log], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        # the log grows: it steps
        while not os.path.exists(log) or os.path.getsize(log) < 100000:
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        (run,) = runs_of(page)
        self.assertGreater(times_of(run["replay"])[-1], 0)

    def test_failures_name_the_file(self):
        missing = self.path("nowhere/a.html")
        out, err = self.tabi("run", self.scene, "--time", "100000", "--html", missing, code=1)
        self.assertEqual(out, "")
        self.assertIn(f"{missing}:1: error: cannot open: No such file", err)
        # before the years that this would take
        _, err = self.tabi("view", self.scene, "--set", "duration=1e9", "--html", missing, code=1)
        self.assertIn(f"{missing}:1: error: cannot open: No such file", err)
        for command in ("run", "view"):
            _, err = self.tabi(command, self.scene, "--html", "/dev/full", code=1)
            self.assertIn("/dev/full:1: error: cannot write: No space", err)


if __name__ == "__main__":
    main()
