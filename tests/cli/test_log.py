"""Logs from outside: 100 runs that are killed leave logs that can be read and go on; full and limited disks
are told; signals end a run with its last state in the log; a run under any contact method is done again from
its log bit for bit; the ledger of `tabi run` says what a box that slides has to say."""

import math
import os
import random
import resource
import signal
import subprocess
import time

from command import TABI, FolderCase, main, scene

SANITIZED = bool(os.environ.get("TABI_SANITIZE"))
# under sanitizers every start of the command takes long
KILLS, LATE_KILLS = (15, 1) if SANITIZED else (100, 3)
BOX = """\
name: a box slides
timestep: 1e-3
duration: 1.2
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}, rpy: [0, 0.9, 0]}
  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.15], lin: [1, 0.3, 0]}
"""


class Log(FolderCase):
    def hash(self, *args):
        return self.json("run", *args, "--json")["state_hash"]

    def end_of(self, log):
        """the time at which a log ends; opening it checks every byte.  0: before it has a step"""
        run = subprocess.run([TABI, "run", "--resume", log, "--time", "1e-6"], timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        err = run.stderr.decode()
        if run.returncode == 0 or "cut off before its first snapshot" in err:
            return 0
        self.assertEqual(run.returncode, 2, err)
        return float(err.split("taken up at ")[1].split(" s")[0])


def cpu(pid):
    """seconds of the processor that a process had"""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Killed(Log):
    def kill(self, log, least, wait, *more):
        """kill -9 some time after the log has so many bytes; seconds that the run worked after it
        last wrote"""
        path = self.file("box.yaml", BOX)
        run = subprocess.Popen([TABI, "run", path, "--time", "1e6", "--log", log, *more],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        size, began, written = 0, None, 0
        while began is None or time.monotonic() - began < wait:
            now = os.path.getsize(log) if os.path.exists(log) else 0
            if now > size:
                size, written = now, cpu(run.pid)
            if size > least and began is None:
                began = time.monotonic()
            self.assertIsNone(run.poll())
            time.sleep(2e-3)
        lost = cpu(run.pid) - written
        run.send_signal(signal.SIGKILL)
        self.assertEqual(run.wait(), -signal.SIGKILL)
        return lost

    def test_killed_at_random(self):
        """a light scene: what was written can be read, and the run goes on from it"""
        chance = random.Random(8)
        begun = 0
        for i in range(KILLS):
            log = self.file(f"{i}.tabi")
            self.kill(log, chance.uniform(0, 3e4), chance.uniform(0, 0.02), "--set", "log.every=50")
            end = self.end_of(log)
            begun += end > 0
            if i % 5 == 0 and end > 0:
                more = str(end + 0.01)
                self.assertEqual(self.hash("--resume", log, "--time", more),
                                 self.hash("--resume", log, "--at", str(max(0, end - 0.7)),
                                           "--time", more))
            os.remove(log)
        self.assertGreater(begun, 0.7 * KILLS)

    def test_killed_late(self):
        """steps so short that only the clock makes it write: less than a second is lost"""
        chance = random.Random(9)
        for i in range(LATE_KILLS):
            log = self.file(f"{i}.tabi")
            # after its first flush
            lost = self.kill(log, 1500, chance.uniform(0, 0.8), "--dt", "1e-6", "--set",
                             "log.every=1000")
            self.assertLess(lost, 1)
            self.assertGreater(self.end_of(log), 1e-3)

    def test_signals(self):
        """the last state is in the log, which is complete: nothing is lost at all"""
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            log = self.file(f"{code}.tabi")
            path = self.file("box.yaml", BOX)
            run = subprocess.Popen([TABI, "run", path, "--time", "1e6", "--log", log, "--set",
                                    "log.every=50"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while not os.path.exists(log) or os.path.getsize(log) < 100000:
                time.sleep(0.01)
            run.send_signal(number)
            out, err = run.communicate(timeout=20)
            self.assertEqual((run.returncode, out), (code, b""))
            at = err.decode().split("interrupted at ")[1].split(" s")[0]
            self.assertEqual(at, f"{self.end_of(log):g}")


class Full(Log):
    def limited(self, log, size, *more):
        """a run whose files may not become longer, as on a disk that is full"""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return subprocess.run([TABI, "run", self.file("box.yaml", BOX), "--log", log, *more],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              preexec_fn=limit)

    def test_short_writes(self):
        """part of a chunk is written and then no more: that is told, and what is left is good"""
        for size in (10, 500, 3000, 200000):
            log = self.file(f"{size}.tabi")
            run = self.limited(log, size)
            err = run.stderr.decode()
            self.assertEqual((run.returncode, run.stdout), (1, b""), err)
            self.assertEqual(err, f"{log}:1: error: cannot write: File too large\n")
            self.assertEqual(os.path.getsize(log), size)
        self.assertGreater(self.end_of(log), 0.1)
        self.assertEqual(self.hash("--resume", log, "--time", "1.2"),
                         self.hash(self.file("box.yaml")))

    def test_full_at_the_end(self):
        """the last chunk alone does not fit"""
        log = self.file("whole.tabi")
        self.hash(self.file("box.yaml", BOX), "--time", "0.1", "--log", log)
        size = os.path.getsize(log)
        run = self.limited(self.file("cut.tabi"), size - 1, "--time", "0.1")
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"cut.tabi:1: error: cannot write: File too large", run.stderr)
        self.assertEqual(run.stderr.count(b"\n"), 1)
        run = self.limited(self.file("fits.tabi"), size, "--time", "0.1")
        self.assertEqual(run.returncode, 0)


class Again(Log):
    def check(self, name, times, *more):
        """the hash at every time, from the log of the whole, is that of a run of its own"""
        log = self.file("again.tabi")
        whole = self.hash(name, *more, "--time", times[-1], "--log", log)
        for before, at in zip(("0",) + times, times):
            alone = self.hash(name, *more, "--time", at) if at != times[-1] else whole
            self.assertEqual(self.hash("--resume", log, "--at", before, "--time", at), alone,
                             (name, more, at))

    def test_methods(self):
        path = self.file("box.yaml", BOX)
        for method in ("cone", "lcp", "exact", "penalty", "impulse"):
            self.check(path, ("1", "2", "3"), "--contact", method)

    def test_gait(self):
        self.check(scene("biped_walk"), ("0.6", "0.7") if SANITIZED else ("1", "2", "3"))

    def test_walk(self):
        """with a stabiliser the run is done again from its start, whatever the time"""
        short = ["log.every=20"] + [f"robots.robot.controller.{key}" for key in
                                    ("steps=1", "stand_before=0.1", "stand_after=0.1")]
        more = [word for text in short for word in ("--set", text)]
        self.check(scene("walk_bush"), ("0.05", "0.1") if SANITIZED else ("1", "2"), *more)


class Ledger(Log):
    def test_box(self):
        """it slides down 10 degrees with friction 0.1 for a second: way, loss and times"""
        slope, friction, steps = 0.17, 0.1, 1000
        text = (f"timestep: 1e-3\nduration: 1\nmaterials: {{ice: {{friction: {friction}}}}}\nbodies:\n"
                f"  - {{name: slope, fixed: true, shape: {{plane: {{}}}}, rpy: [0, {slope}, 0], "
                "material: ice}\n"
                f"  - {{name: box, mass: 3, shape: {{box: [0.2, 0.2, 0.02]}}, material: ice,\n"
                f"     xyz: [{0.01 * math.sin(slope)}, 0, {0.01 * math.cos(slope)}], "
                f"rpy: [0, {slope}, 0]}}\n")
        path = self.file("slope.yaml", text)
        result = self.json("run", path, "--json")
        way = 9.81 * (math.sin(slope) - friction * math.cos(slope)) * 1e-6 * steps * (steps + 1) / 2
        self.assertEqual(list(result["ledger"]), ["box"])
        box = result["ledger"]["box"]
        self.assertEqual(set(box), {"contact", "slip", "slips", "distance", "energy", "impulse"})
        self.assertAlmostEqual(box["contact"], 1, 9)
        self.assertGreater(box["slip"], 0.997)
        self.assertEqual(box["slips"], 1)
        self.assertAlmostEqual(box["distance"] / way, 1, 4)
        self.assertAlmostEqual(box["energy"] / (friction * 3 * 9.81 * math.cos(slope) * way), 1, 4)
        out, _ = self.tabi("run", path)
        row = next(line for line in out.split("\n") if line.startswith("  box "))
        self.assertEqual(row.split()[1], "1.000")
        self.assertAlmostEqual(float(row.split()[3]), 1e3 * way, 1)

    def test_robot(self):
        """feet of a robot have intervals, which cover the time they touch"""
        ledger = self.json("run", scene("stand_humanoid20"), "--time", "0.1", "--json")["ledger"]
        self.assertEqual(set(ledger), {"robot/l_foot", "robot/r_foot"})
        for foot in ledger.values():
            self.assertEqual([i["status"] for i in foot["intervals"]], ["stick"])
            self.assertEqual(set(foot["intervals"][0]),
                             {"status", "start", "end", "distance", "energy", "impulse"})
            self.assertAlmostEqual(sum(i["end"] - i["start"] for i in foot["intervals"]),
                                   foot["contact"], 9)


if __name__ == "__main__":
    main()
