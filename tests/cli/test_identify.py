"""tabi identify: a recording of tabi run gives its parameters back; table, JSON and page."""

import csv
import json
import os
import random
import re

from command import FolderCase, main

SANITIZED = bool(os.environ.get("TABI_SANITIZE"))  # many runs, which then take long
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

SCENE = """
timestep: 1e-3
duration: 0.4
gravity: [0, 0, 0]
log: {signals: [mass]}
bodies:
  - {name: anchor, fixed: true, shape: {sphere: 0.01}}
  - {name: mass, mass: 2, shape: {sphere: 0.01}, xyz: [0, 0, 1.1]}
connections:
  - {name: bush, type: spring, a: anchor, b: mass, at: [0, 0, 0], at_b: [0, 0, 0], stiffness: 500, damping: 6, rest: 1}
"""

FIT = """
scene: bush.yaml
parameters:
  stiffness: {set: connections.bush.stiffness, log: [100, 2000]}
  damping: {set: connections.bush.damping, uniform: [1, 50]}
data:
  - {file: bush.csv, signals: {mass.z: mass.z}, sigma: 1e-4}
"""

# P1, Fig. 5: let go tilted by 0.02 rad, the robot sways on the rubber of its feet
SWAY = """
timestep: 1e-3
duration: 1.5
bodies: [{name: floor, fixed: true, shape: {plane: {}}}]
robots:
  - name: robot
    model: %s/models/humanoid36.urdf
    self_collision: false
    base: free
    xyz: [0.013199120, 0, 0.704583514]
    rpy: [0, 0.02, 0]
    posture: {l_bush_pitch: -0.02, r_bush_pitch: -0.02, l_bush_z: 0.00028449, r_bush_z: 0.00028449}
    sensors: [{name: l_ft, type: force_torque, joint: l_ankle_roll}]
    lock: [%s]
    controller:
      type: pd
      kp: 0
      springs: {l_bush_z: 1e6, r_bush_z: 1e6, l_bush_pitch: 2500, r_bush_pitch: 2500, l_bush_roll: 2500,
                r_bush_roll: 2500}
"""

SPRINGS = ["robots.robot.controller.springs.%s_bush_pitch" % side for side in "lr"]
DAMPERS = ["robots.robot.joints.%s_bush_pitch.damping" % side for side in "lr"]
FRICTION = ["materials.sole.friction", "materials.ground.friction"]
MASS = ["robots.robot.links.chest.mass"]


class Identify(FolderCase):
    def record(self, scene, truth, noise):
        """A run with true values, and files with noise: {signal: its standard deviation}."""
        changes = [x for paths, value in truth for path in paths for x in ("--set", "%s=%g" % (path, value))]
        self.tabi("run", scene, "--log", self.file("true.tabi"), *changes)
        self.tabi("export", self.file("true.tabi"), "--signals", ",".join(noise), "-o", self.file("true.csv"))
        with open(self.file("true.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        draw = random.Random(7)
        text = ""
        for i, (signal, sigma) in enumerate(noise.items()):
            name = self.file("data%d.csv" % i, "time,measured\n" + "".join(
                "%s,%.9g\n" % (row["time"], float(row[signal]) + draw.gauss(0, sigma)) for row in rows))
            text += "  - {file: %s, signals: {%s: measured}, sigma: %g}\n" % (name, signal, sigma)
        return text

    def fit(self, scene, truth, bounds, data):
        text = "scene: %s\nparameters:\n" % scene
        for i, (paths, _) in enumerate(truth):
            text += "  p%d: {set: [%s], log: [%g, %g]}\n" % (i, ", ".join(paths), *bounds[i])
        found = self.json("identify", self.file("f.yaml", text + "data:\n" + data), "--json")
        self.assertEqual((found["converged"], found["not_identifiable"]), (True, []))
        return [found["parameters"]["p%d" % i] for i in range(len(truth))]

    def test_rubber_of_a_swaying_robot(self):
        if SANITIZED:
            return
        with open(os.path.join(ROOT, "models", "humanoid36.urdf"), encoding="utf-8") as file:
            joints = re.findall('<joint name="([^"]+)" type="(?:revolute|continuous|prismatic)"', file.read())
        rigid = [name for name in joints if "_bush_" not in name]
        scene = self.file("sway.yaml", SWAY % (ROOT, ", ".join(rigid)))
        truth = [(SPRINGS, 2500), (DAMPERS, 8)]
        data = self.record(scene, truth, {"robot/l_ft.ty": 0.09})  # 2 % of its amplitude
        stiffness, damping = self.fit(scene, truth, [(800, 8000), (1, 50)], data)
        self.assertAlmostEqual(stiffness["value"] / 2500, 1, delta=0.01)
        self.assertAlmostEqual(damping["value"] / 8, 1, delta=0.03)
        self.assertTrue(damping["low"] < 8 < damping["high"] and stiffness["low"] < 2500 < stiffness["high"])
        self.assertLess(damping["error"] / 8, 0.01)

    def test_friction_and_mass_from_a_walk(self):
        if SANITIZED:
            return
        with open(os.path.join(ROOT, "scenes", "studies", "walk_rubber.yaml"), encoding="utf-8") as file:
            text = file.read().replace("../../models", ROOT + "/models").replace("duration: 6", "duration: 5")
        scene = self.file("walk.yaml", text)
        truth = [(FRICTION, 0.12), (MASS, 15.5)]
        data = self.record(scene, truth, {"robot/pelvis.x": 1e-3, "robot/pelvis.y": 1e-3, "robot/l_ft.fz": 10,
                                          "robot/r_ft.fz": 10})
        friction, mass = self.fit(scene, truth, [(0.08, 0.25), (12, 20)], data)
        self.assertAlmostEqual(friction["value"] / 0.12, 1, delta=0.01)
        self.assertAlmostEqual(mass["value"] / 15.5, 1, delta=0.01)

    def test_recording_gives_parameters_back(self):
        scene = self.file("bush.yaml", SCENE)
        self.tabi("run", scene, "--csv", self.file("bush.csv"))
        fit = self.file("fit.yaml", FIT)
        r = self.json("identify", fit, "--out", self.file("o.json"), "--report", self.file("o.html"), "--json")
        for name, value in (("stiffness", 500), ("damping", 6)):
            found = r["parameters"][name]
            self.assertAlmostEqual(found["value"] / value, 1, delta=1e-4)
            self.assertTrue(found["low"] < value < found["high"], found)
        self.assertEqual((r["converged"], r["not_identifiable"]), (True, []))
        with open(self.file("o.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), r)
        self.assertGreater(os.path.getsize(self.file("o.html")), 10000)

    def test_mistakes(self):
        self.file("bush.yaml", SCENE)
        self.file("bush.csv", "time,mass.z\n0,1\n0.1,1\n0.5,1\n")
        fit = self.file("fit.yaml", FIT)
        self.error("identify", fit, line=7, says="longer duration", path=os.path.realpath(fit))
        bad = self.file("bad.yaml", FIT.replace("mass.z: mass.z", "mas.z: mass.z"))
        self.error("identify", bad, line=7, says="did you mean 'mass.z'", path=os.path.realpath(bad))


if __name__ == "__main__":
    main()
