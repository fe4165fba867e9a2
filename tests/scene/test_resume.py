"""tabi run --log and --resume: a run taken up at any time ends as if it had not been interrupted,
whatever interrupted it; branches keep what was before; damaged and foreign logs are refused."""

import os
import random
import signal
import subprocess
import time

from command import TABI, FolderCase, main, scene

BOX = """\
name: a box slides
timestep: 1e-3
duration: 1.2
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}, rpy: [0, 0.1, 0]}
  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.15], lin: [1, 0.3, 0]}
"""


class Resume(FolderCase):
    def hash(self, *args):
        return self.json("run", *args, "--json")["state_hash"]

    def test_resumes_at_any_time(self):
        path, log = self.file("box.yaml", BOX), self.file("box.tabi")
        whole = self.hash(path)
        self.assertEqual(self.hash(path, "--log", log), whole)
        for at in ("0", "0.001", "0.4995", "0.75", "1.199"):
            result = self.json("run", "--resume", log, "--at", at, "--json")
            self.assertEqual(result["state_hash"], whole, at)
            self.assertEqual(result["time"], 1.2)
        # beyond the end, and through a second log
        longer = self.hash(path, "--time", "1.5")
        second = self.file("second.tabi")
        self.assertEqual(self.hash("--resume", log, "--time", "1.4", "--log", second),
                         self.hash(path, "--time", "1.4"))
        self.assertEqual(self.hash("--resume", second, "--time", "1.5"), longer)

    def test_resumes_what_moves_as_told(self):
        """a box on a belt whose speed comes from a table: positions and work go on alike"""
        self.file("belt.csv", "time,vx\n0,0\n0.5,1\n1,0.2\n")
        belt = BOX.replace("rpy: [0, 0.1, 0]", "xyz: [0, 0, -1]") + (
            "  - {name: belt, shape: {box: [4, 1, 0.1]}, xyz: [0, 0, -0.05],\n"
            "     motion: {table: belt.csv, in_place: true}}\n")
        path, log = self.file("belt.yaml", belt), self.file("belt.tabi")
        whole = self.json("run", path, "--log", log, "--json")
        for at in ("0", "0.25", "0.5", "1.1"):
            result = self.json("run", "--resume", log, "--at", at, "--json")
            self.assertEqual(result["state_hash"], whole["state_hash"], at)
        self.assertEqual(whole["bodies"]["belt"]["pos"], [0, 0, -0.05])

    def test_resumes_what_sleeps(self):
        """two boxes sleep until a ball falls on them"""
        stack = "name: a stack\nduration: 2.2\nsleep: true\nbodies:\n" + "".join(
            f"  - {{name: {name}, density: 500, shape: {shape}, xyz: {xyz}}}\n"
            for name, shape, xyz in (("a", "{box: [0.2, 0.2, 0.1]}", "[0, 0, 0.051]"),
                                     ("b", "{box: [0.2, 0.2, 0.1]}", "[0, 0, 0.153]"),
                                     ("ball", "{sphere: 0.05}", "[0.03, 0.02, 12]"))
        ) + "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
        path, log = self.file("stack.yaml", stack), self.file("stack.tabi")
        self.assertEqual(self.json("run", path, "--time", "1.2", "--json")["asleep"], 2)
        whole = self.json("run", path, "--log", log, "--json")
        for at in ("0.3", "0.9", "1.3", "1.6"):
            result = self.json("run", "--resume", log, "--at", at, "--json")
            self.assertEqual(result["state_hash"], whole["state_hash"], at)
            self.assertEqual(result["asleep"], whole["asleep"], at)

    def test_branches(self):
        """the same motion up to the time, another contact method or mass after it"""
        path, log = self.file("box.yaml", BOX), self.file("box.tabi")
        whole = self.hash(path, "--log", log)
        branch = ("--resume", log, "--at", "0.1")
        result = self.json("run", *branch, "--set", "contact.model=exact", "--json")
        self.assertEqual((result["contact"], result["time"]), ("exact", 1.2))
        self.assertNotEqual(result["state_hash"], whole)
        self.assertEqual(self.hash(*branch, "--contact", "exact"), result["state_hash"])
        self.assertEqual(self.hash(*branch, "--set", "contact.model=cone"), whole)
        heavy = self.json("run", *branch, "--set", "bodies.box.mass=3", "--json")
        self.assertAlmostEqual(heavy["bodies"]["box"]["pos"][0],
                               result["bodies"]["box"]["pos"][0], 2)

    def test_walks(self):
        """a stabiliser remembers, so the run is done again from its start; and it moves on into a
        branch"""
        log = self.file("walk.tabi")
        walk = [scene("walk_bush"), "--set", "log.every=20"]
        for key, value in (("steps", 1), ("stand_before", 0.1), ("stand_after", 0.1)):
            walk += ["--set", f"robots.robot.controller.{key}={value}"]
        self.hash(*walk, "--time", "0.1", "--log", log)
        whole = self.hash(*walk, "--time", "0.12")
        self.assertEqual(self.hash("--resume", log, "--at", "0.05", "--time", "0.12"), whole)
        branch = ("--resume", log, "--time", "0.12")
        self.assertEqual(self.hash(*branch, "--set", "contact.model=cone"),
                         whole)
        name = "robots.robot.controller.kp"
        self.error("run", *branch, "--set", name + "=1", line=1, says="whose controller has a state", path=log)

    def test_gait(self):
        log = self.file("gait.tabi")
        self.hash(scene("biped_walk"), "--time", "0.6", "--log", log)
        self.assertEqual(self.hash("--resume", log, "--at", "0.4", "--time", "0.7"),
                         self.hash(scene("biped_walk"), "--time", "0.7"))
        self.error("run", "--resume", log, "--time", "0.7", "--contact", "cone", line=1,
                   says="under gait only", path=log)

    # interruptions

    def start(self, log, *more):
        path = self.file("box.yaml", BOX)
        run = subprocess.Popen([TABI, "run", path, "--time", "1e5", "--log", log, *more],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        while not os.path.exists(log) or os.path.getsize(log) == 0:
            time.sleep(0.01)
        return run

    def check_left(self, log):
        """what is left is good: it goes on for some steps from its end and from its middle"""
        with self.subTest("resume"):
            _, err = self.tabi("run", "--resume", log, "--time", "1e-3", code=2)
            end = float(err.split("taken up at ")[1].split(" s")[0])
            result = self.json("run", "--resume", log, "--time", str(end + 0.05), "--json")
            self.assertAlmostEqual(result["time"], end + 0.05, 2)
            self.assertEqual(self.hash("--resume", log, "--at", str(max(end - 0.3, 0)), "--time",
                                       str(end + 0.05)), result["state_hash"])
        return end

    def test_killed(self):
        """kill -9 at some time leaves a log that is good up to its last flush"""
        chance = random.Random(1)
        for i in range(3):
            log = self.file(f"killed{i}.tabi")
            run = self.start(log)
            time.sleep(chance.uniform(0, 0.8))
            run.send_signal(signal.SIGKILL)
            run.wait()
            self.check_left(log)

    def test_signals(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            log = self.file(f"{code}.tabi")
            run = self.start(log)
            time.sleep(0.7)
            run.send_signal(number)
            self.assertEqual(run.wait(timeout=20), code)
            err = run.stderr.read().decode()
            self.assertIn("interrupted at ", err)
            self.assertIn(f"tabi run --resume {log}", err)
            at = float(err.split("interrupted at ")[1].split(" s")[0])
            self.assertAlmostEqual(self.check_left(log), at, 2)

    # refusals

    def test_full_disk(self):
        path = self.file("box.yaml", BOX)
        _, err = self.tabi("run", path, "--log", "/dev/full", code=1)
        self.assertIn("/dev/full:1: error: cannot write: No space left on device", err)
        self.assertEqual(err.count("\n"), 1, err)

    def test_damaged(self):
        path, log = self.file("box.yaml", BOX), self.file("box.tabi")
        self.hash(path, "--time", "0.1", "--log", log)
        with open(log, "rb") as f:
            data = bytearray(f.read())
        for at in (0, 9, 17, 100, len(data) // 2, len(data) - 1):
            data[at] ^= 4
            with open(log, "wb") as f:
                f.write(data)
            data[at] ^= 4
            self.error("run", "--resume", log, line=1, says="damaged", path=log)
        self.error("run", "--resume", path, line=1, says="no log of tabi", path=path)
        none = self.file("none.tabi")
        self.error("run", "--resume", none, line=1, says="cannot open", path=none)

    def test_usage(self):
        path, log = self.file("box.yaml", BOX), self.file("box.tabi")
        self.hash(path, "--time", "0.1", "--log", log)
        for says, *args in (("SCENE is missing",),
                            ("leave out SCENE", path, "--resume", log),
                            ("goes with --resume", path, "--at", "1"),
                            ("overwrite", "--resume", log, "--log", log),
                            ("outside the log", "--resume", log, "--at", "0.2"),
                            ("nothing is left", "--resume", log, "--time", "0.1"),
                            ("time step", "--resume", log, "--dt", "2e-3"),
                            ("needs a number", "--resume", log, "--at", "-1")):
            _, err = self.tabi("run", *args, code=2)
            self.assertIn(says, err)

    def test_other_model(self):
        """a robot that was changed since is not taken for the one of the log"""
        urdf = """<robot name="p"><link name="p"><inertial><mass value="%d"/>
<inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>"""
        self.file("p.urdf", urdf % 1)
        path, log = self.file("p.yaml", "robots: [{name: p, model: p.urdf}]"), self.file("p.tabi")
        self.hash(path, "--time", "0.1", "--log", log)
        self.file("p.urdf", urdf % 2)
        self.error("run", "--resume", log, line=1, says="not what they were", path=log)


if __name__ == "__main__":
    main()
