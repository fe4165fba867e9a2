"""tabi sweep: a study killed and resumed, in shards, replayed and repeated; its table, JSON and CSV."""

import csv
import os
import signal
import sqlite3
import subprocess
import tempfile
import time

from command import MODELS, FolderCase, TABI, main, scene

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
        self.assertIn(">[1, 0, 0]</text>", text)  # choices by their texts
        worst = "a.run%d.html" % distance["max_run"]
        self.assertIn("href='%s'" % worst, text)
        self.assertGreater(os.path.getsize(self.file(worst)), 100000)
        with open(self.file("a.csv"), encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), 30)
        self.assertEqual((table[7]["engine"], table[7]["version"]), self.rows("a.sqlite")[7][4:6])
        self.assertEqual(float(table[7]["m_distance"]), self.rows("a.sqlite")[7][8])

    def pushes(self, extra="", ground="{friction: 0.7}", **lines):
        """A study of a humanoid that stands and is pushed, with some of its lines replaced."""
        with open(scene("stand"), encoding="utf-8") as file:
            text = file.read().replace("../models", MODELS).replace("duration: 10", "duration: 0.4")
        text = text.replace("ground: {friction: 0.7}", "ground: " + ground)
        self.file("pushed.yaml", text + "forces: [{body: robot/chest, impulse: [0, 0, 0], from: 0.1, to: 0.2}]\n")
        study = {"x": "{set: forces.0.impulse.0, uniform: [-60, 60]}",
                 "mass": "{set: robots.robot.links.chest.mass, normal: [14, 1]}",
                 "gain": "{set: robots.robot.controller.kp, uniform: [1500, 3000]}",
                 "low": "{signal: com.z, statistic: min}"} | lines
        return self.file("pushes.yaml", f"scene: pushed.yaml\nruns: 40\n{extra}parameters:\n  x: {study['x']}\n"
                         f"  mass: {study['mass']}\n  gain: {study['gain']}\n"
                         f"measures:\n  fell: fell\n  low: {study['low']}\n")

    def lane_rows(self, name, *more):
        out = self.file(name)
        self.tabi("sweep", self.file("pushes.yaml"), "--out", out, *more)
        with sqlite3.connect(out) as base:
            return base.execute("select id, status, hash, engine, m_fell, m_low from runs order by id").fetchall()

    def test_lanes(self):
        """Rows in lanes are those of worlds but for what they solve less far; they do not depend on who made them."""
        self.pushes()
        worlds, lanes = self.lane_rows("w.sqlite"), self.lane_rows("l.sqlite", "--engine", "batch")
        self.assertEqual({row[3] for row in worlds} | {row[3] for row in lanes}, {"world", "batch"})
        for world, lane in zip(worlds, lanes):
            self.assertEqual(lane[3:5], ("batch", world[4]))
            self.assertAlmostEqual(lane[5], world[5], delta=2e-4)
        self.assertEqual(lanes, self.lane_rows("one.sqlite", "--engine", "batch", "--jobs", "1"))
        self.lane_rows("s1.sqlite", "--engine", "batch", "--shard", "1/3")
        part = self.lane_rows("s2.sqlite", "--engine", "batch", "--shard", "2/3")
        self.assertEqual(part, lanes[1::3])
        again = self.file("again.sqlite")
        self.tabi("sweep", "--repeat", self.file("l.sqlite"), "--out", again)
        with sqlite3.connect(again) as base:
            self.assertEqual(base.execute("select hash, engine from runs order by id").fetchall(),
                             [row[2:4] for row in lanes])
        log = self.file("run.tabi")
        self.assertIn(lanes[7][2], self.tabi("sweep", self.file("l.sqlite"), "--replay", "7", "--log", log)[0])
        self.tabi("export", log, "-o", self.file("run.csv"), "--signals", "com.z")
        with open(self.file("run.csv"), encoding="utf-8") as file:
            heights = [float(row["com.z"]) for row in csv.DictReader(file)]
        self.assertEqual((len(heights), min(heights)), (401, lanes[7][5]))

    def test_lanes_of_a_study(self):
        self.pushes("engine: batch\nuntil: fall\n")
        rows = self.lane_rows("a.sqlite", "--report", self.file("a.html"))
        self.assertEqual({row[3] for row in rows}, {"batch"})
        self.pushes(gain="{set: materials.ground.friction, uniform: [0.3, 1]}")
        worlds, lanes = self.lane_rows("f.sqlite"), self.lane_rows("g.sqlite", "--engine", "batch")
        self.assertLess(max(abs(x[5] - y[5]) for x, y in zip(worlds, lanes)), 2e-4)
        self.assertIn("       1\n", self.tabi("sweep", "--repeat", self.file("a.sqlite"), "--out", self.file("b.sqlite"))[0])

    def test_what_lanes_refuse(self):
        def refuses(says, *args, **lines):
            self.pushes(*args, **lines)
            with tempfile.TemporaryDirectory(dir=self.file("")) as folder:
                self.fails(3, says, "sweep", self.file("pushes.yaml"), "--out", folder + "/r.sqlite", "--engine", "batch")
        refuses("pushes.yaml:1: error: engine: batch: parameter 'gain' sets robots.robot.joints.l_knee.damping",
                gain="{set: robots.robot.joints.l_knee.damping, uniform: [0, 1]}")
        refuses("measure 'low' needs forces", low="zmp_margin")
        refuses("measure 'low' needs forces", low="{signal: robot/l_foot.fz, statistic: max}")
        refuses("measure 'low' needs forces", low="{signal: 'robot/l_foot.f*z', statistic: max}")
        refuses("change that of the ground alone", gain="{set: materials.sole.friction, uniform: [0.3, 1]}")
        refuses("static and kinetic friction of one", ground="{friction: 0.7, kinetic: 0.3}",
                gain="{set: materials.ground.friction, uniform: [0.3, 1]}")
        refuses("other links than in the first run", gain="{set: forces.0.body, choices: [robot/chest, robot/pelvis]}")
        refuses("locked elsewhere", gain="{set: robots.robot.posture.l_bush_pitch, uniform: [0, 0.1]}")
        self.file("slide.xml", """<mujoco><worldbody><body><joint name="lin" type="slide"/><geom size="0.1"/></body>
            </worldbody></mujoco>""")
        self.file("slide.yaml", "duration: 0.1\nrobots: [{name: r, model: slide.xml}]\n")
        study = self.file("joint.yaml", "scene: slide.yaml\nruns: 2\nmeasures: {fell: fell}\n"
                          "parameters: {d: {set: robots.r.joints.lin.damping, uniform: [0, 1]}}\n")
        self.fails(3, "sets robots.r.joints.lin.damping", "sweep", study, "--engine", "batch")
        self.fails(3, "take engine: world", "sweep", self.study(2), "--out", self.file("f.sqlite"), "--engine", "batch")
        self.fails(2, "world or batch", "sweep", self.study(2), "--engine", "lanes")
        self.pushes("engine: lanes\n")
        self.fails(3, "none of world, batch", "sweep", self.file("pushes.yaml"))

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

    def test_what_the_scene_refuses(self):
        """Runs whose parameters the scene refuses are rows, and the first tells why; a study whose first run it is ends."""
        lines = "scene: slide.yaml\nruns: 60\nparameters:\n  f: {set: contact.friction, normal: [0.3, 0.2]}\n"
        self.file("slide.yaml", SCENE)
        study = self.file("normal.yaml", lines + "measures: {x: {signal: box.x, statistic: last}}\n")
        out, err = self.tabi("sweep", study, "--out", self.file("n.sqlite"))
        with sqlite3.connect(self.file("n.sqlite")) as base:
            rows = base.execute("select id, status, p_f, m_x from runs order by id").fetchall()
        failed = [row[0] for row in rows if row[1] == "failed"]
        self.assertEqual(failed, [row[0] for row in rows if row[2] < 0])
        self.assertEqual(failed, [row[0] for row in rows if row[3] is None])
        self.assertTrue(0 < len(failed) < 30)
        self.assertIn("%d of them failed" % len(failed), out)
        self.assertIn("run %d failed: parameter 'f', contact.friction=-" % failed[0], err)
        self.assertIn("must be >= 0", self.tabi("sweep", self.file("n.sqlite"), "--replay", str(failed[0]))[0])
        wrong = self.file("wrong.yaml", lines.replace("contact.friction", "contact.frction") + "measures: {fell: fell}\n")
        self.fails(3, "wrong.yaml:4: error: parameter 'f', contact.frction=", "sweep", wrong)

    def test_lanes_refused(self):
        """In lanes such a run costs those beside it nothing."""
        self.pushes(mass="{set: robots.robot.links.chest.mass, choices: [-14, 14]}")
        rows = self.lane_rows("l.sqlite", "--engine", "batch")
        statuses = [row[1] for row in rows]
        self.assertEqual(set(statuses), {"ok", "failed"})
        self.assertEqual(statuses, [row[1] for row in self.lane_rows("w.sqlite")])
        self.tabi("sweep", self.file("l.sqlite"), "--replay", str(statuses.index("failed")))

    def test_two_at_once(self):
        study = self.study(300)
        args = ["sweep", study, "--out", self.file("two.sqlite"), "--jobs", "1", "--resume"]
        with subprocess.Popen([TABI, *args], stdout=subprocess.DEVNULL) as other:
            self.tabi(*args)
            self.assertEqual(other.wait(), 0)
        self.tabi("sweep", study, "--out", self.file("one.sqlite"))
        self.assertEqual(self.rows("two.sqlite"), self.rows("one.sqlite"))

    def test_a_robot_that_changes(self):
        """Runs of a robot whose file has changed do not join those of before; they are still told."""
        arm = "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='0.1' mass='%g' pos='1 0 0'/></body></worldbody></mujoco>"
        self.file("arm.xml", arm % 2)
        self.file("arm.yaml", "duration: 0.01\ngravity: [0, 0, -9.81]\nrobots: [{name: arm, model: arm.xml}]\n")
        study = self.file("arm_study.yaml", "scene: arm.yaml\nruns: 8\nparameters: {g: {set: gravity.2, uniform: [-9, -5]}}\n"
                          "measures: {e: energy}\n")
        out = self.file("arm.sqlite")
        self.tabi("sweep", study, "--out", out, "--shard", "1/2")
        self.file("arm.xml", arm % 3)
        self.fails(3, "files of the scene have changed", "sweep", study, "--out", out, "--resume")
        self.assertIn("4 of 8 runs", self.tabi("sweep", out)[0])
        self.assertIn("have changed", self.tabi("sweep", out, "--replay", "0", code=5)[1])
        self.file("arm.xml", arm % 2)
        self.tabi("sweep", study, "--out", out, "--resume")

    def test_results_are_shown(self):
        study = self.study(20)
        out = self.file("r.sqlite")
        first = self.json("sweep", study, "--out", out, "--json")
        self.assertEqual(os.listdir(os.path.dirname(out)).count("r.sqlite-wal"), 0)
        os.chmod(out, 0o444)
        shown = self.json("sweep", out, "--csv", self.file("r.csv"), "--json")
        self.assertEqual(shown["measures"], first["measures"])
        self.fails(2, "cannot write", "sweep", study, "--out", self.file("s.sqlite"), "--csv", self.file("no/r.csv"))
        self.assertFalse(os.path.exists(self.file("s.sqlite")))

    def test_another_version(self):
        """Rows of another version stay its own when merged; what changed is told with p-values."""
        study = self.study(40)
        old = self.file("old.sqlite")
        self.tabi("sweep", study, "--out", old)
        with sqlite3.connect(old) as base:
            base.execute("update runs set version = '0.0.1', m_distance = m_distance + 0.2")
        self.tabi("sweep", "--merge", self.file("m.sqlite"), old)
        self.assertEqual({row[5] for row in self.rows("m.sqlite")}, {"0.0.1"})
        r = self.json("sweep", "--repeat", old, "--json", code=5)["measures"]
        self.assertLess(r["distance"]["p"], 1e-3)
        self.assertAlmostEqual(r["distance"]["before"]["value"], r["distance"]["mean"] + 0.2, places=9)
        self.assertEqual(r["stopped"]["p"], 1)

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
