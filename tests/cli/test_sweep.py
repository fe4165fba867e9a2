"""tabi sweep: a study killed and resumed, in shards, replayed and repeated; its table, JSON and CSV."""

import csv
import os
import signal
import sqlite3
import subprocess
import time

from command import FolderCase, TABI, main

SCENE = """
timestep: 1e-3
duration: 0.5
contact: {friction: 0.5}
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.1]}, xyz: [0, 0, 0.05], lin: [1, 0, 0]}
"""

STUDY = """
scene: slide.yaml
runs: %d
sampling: %s
parameters:
  friction: {set: contact.friction, uniform: [0.1, 0.9]}
  speed: {set: bodies.box.lin, choices: ["[1, 0, 0]", "[2, 0, 0]"]}
measures:
  distance: {signal: box.x, statistic: last}
  stopped: {when: "box.vx < 0.001"}
"""

ROWS = "select id, seed, status, hash, engine, version, p_friction, p_speed, m_distance, m_stopped from runs order by id"


class Sweep(FolderCase):
    def study(self, runs=30, sampling="random"):
        self.file("slide.yaml", SCENE)
        return self.file("study.yaml", STUDY % (runs, sampling))

    def fails(self, code, says, *args):
        self.assertIn(says, self.tabi(*args, code=code)[1])

    def rows(self, name):
        with sqlite3.connect(self.file(name)) as base:
            return base.execute(ROWS).fetchall()

    def test_rows_are_coulombs(self):
        study = self.study()
        page = self.file("a.html")
        r = self.json("sweep", study, "--out", self.file("a.sqlite"), "--csv", self.file("a.csv"), "--report", page,
                      "--json")
        self.assertEqual((r["runs"], r["planned"], r["failed"]), (30, 30, 0))
        for row in self.rows("a.sqlite"):
            friction, speed = row[6], float(row[7][1])
            moving = min(0.5, speed / (friction * 9.81))
            way = speed * moving - friction * 9.81 * moving * moving / 2
            self.assertAlmostEqual(row[8], way, delta=2e-3)
            self.assertEqual(row[9] is None, speed / (friction * 9.81) > 0.5)
        distance = r["measures"]["distance"]
        self.assertLess(distance["low"], distance["mean"])
        self.assertEqual(set(distance["effects"]), {"friction", "speed"})
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("<h2>"), 2)
        worst = "a.run%d.html" % distance["max_run"]
        self.assertIn("href='%s'" % worst, text)
        self.assertGreater(os.path.getsize(self.file(worst)), 100000)
        with open(self.file("a.csv"), encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), 30)
        self.assertEqual(float(table[7]["m_distance"]), self.rows("a.sqlite")[7][8])

    def test_engine(self):
        self.tabi("sweep", self.study(2), "--out", self.file("e.sqlite"), "--engine", "world")
        self.assertEqual({row[4] for row in self.rows("e.sqlite")}, {"world"})
        self.fails(2, "in lanes", "sweep", self.study(2), "--out", self.file("f.sqlite"), "--engine", "batch")

    def test_torque_and_energy(self):
        self.file("arm.xml", """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
            <geom type="sphere" size="0.1" mass="2" pos="1 0 0"/></body></worldbody></mujoco>""")
        self.file("arm.yaml", """
duration: 0.6
gravity: [0, 0, -9.81]
robots: [{name: arm, model: arm.xml, controller: {type: pd, kp: 5000, kd: 400}}]
""")
        study = self.file("torque.yaml", """
scene: arm.yaml
runs: 3
parameters: {gravity: {set: gravity.2, uniform: [-10, -5]}}
measures:
  torque: peak_torque
  gain: energy_gain
  least: {signal: arm/j.effort, statistic: min}
""")
        self.tabi("sweep", study, "--out", self.file("t.sqlite"))
        with sqlite3.connect(self.file("t.sqlite")) as base:
            for gravity, torque, gain, least in base.execute("select p_gravity, m_torque, m_gain, m_least from runs"):
                self.assertEqual(torque, -least)
                self.assertTrue(-2 * gravity < torque < -2.2 * gravity)  # it overshoots by 5 %
                self.assertLess(gain, 1e-9)

    def test_until_fall(self):
        self.file("pole.xml", """<mujoco><worldbody><body pos="0 0 0.5"><freejoint/>
            <geom type="box" size="0.02 0.02 0.5" mass="2"/></body></worldbody></mujoco>""")
        self.file("pole.yaml", """
duration: 3
bodies: [{name: floor, fixed: true, shape: {plane: {}}}]
robots: [{name: pole, model: pole.xml, ang: [0, 0.5, 0]}]
""")
        text = """
scene: pole.yaml
runs: 2
parameters: {speed: {set: robots.pole.ang.1, uniform: [0.5, 1]}}
measures: {fell: fell, fall_time: fall_time, end: {when: "time > 2.9"}}
"""
        found = []
        for name, more in (("whole", ""), ("short", "until: fall\n")):
            self.tabi("sweep", self.file(name + ".yaml", text + more), "--out", self.file(name + ".sqlite"))
            with sqlite3.connect(self.file(name + ".sqlite")) as base:
                found.append(base.execute("select m_fell, m_fall_time, m_end from runs order by id").fetchall())
        for whole, short in zip(*found):
            self.assertEqual((whole[0], short[0]), (1, 1))
            self.assertAlmostEqual(whole[1], short[1], delta=0.0101)
            self.assertIsNotNone(whole[2])
            self.assertIsNone(short[2])

    def test_killed_and_resumed(self):
        study = self.study(400)
        self.tabi("sweep", study, "--out", self.file("whole.sqlite"))
        for turn in range(4):
            more = ["--resume"] if turn else []
            with subprocess.Popen([TABI, "sweep", study, "--out", self.file("part.sqlite"), *more],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(0.1 + 0.03 * turn)
                process.send_signal(signal.SIGKILL)
        self.tabi("sweep", study, "--out", self.file("part.sqlite"), "--resume")
        self.assertEqual(self.rows("part.sqlite"), self.rows("whole.sqlite"))

    def test_shards_replay_repeat(self):
        study = self.study(20, "latin")
        parts = []
        for i in range(3):
            parts.append(self.file("part%d.sqlite" % i))
            self.tabi("sweep", study, "--shard", "%d/3" % (i + 1), "--out", parts[-1], "--jobs", "1")
        self.tabi("sweep", "--merge", self.file("all.sqlite"), *reversed(parts))
        self.tabi("sweep", study, "--out", self.file("one.sqlite"))
        self.assertEqual(self.rows("all.sqlite"), self.rows("one.sqlite"))
        log = self.file("run.tabi")
        said, _ = self.tabi("sweep", self.file("all.sqlite"), "--replay", "7", "--log", log)
        self.assertIn(self.rows("all.sqlite")[7][3], said)
        self.assertTrue(os.path.getsize(log) > 1000)
        said, _ = self.tabi("sweep", "--repeat", self.file("one.sqlite"))
        self.assertNotIn("changed", said)

    def test_mistakes(self):
        study = self.study(4)
        out = self.file("r.sqlite")
        self.tabi("sweep", study, "--out", out)
        self.fails(2, "--resume", "sweep", study, "--out", out)
        self.fails(2, "I from 1 to N", "sweep", study, "--shard", "3/2")
        self.fails(2, "no run 4", "sweep", out, "--replay", "4")
        self.fails(3, "no file of results", "sweep", "--merge", self.file("m.sqlite"), study)
        with open(self.file("slide.yaml"), "a", encoding="utf-8") as scene:
            scene.write("# changed\n")
        self.fails(3, "another study", "sweep", study, "--out", out, "--resume")


if __name__ == "__main__":
    main()
