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

ARM = """
timestep: 1e-3
duration: 0.3
robots:
  - name: arm
    model: arm.xml
    sensors: [{name: gyro, type: gyro, link: link}, {name: ft, type: force_torque, joint: j}]
"""

ARM_FIT = """
scene: arm.yaml
parameters:
  damping: {set: robots.arm.joints.j.damping, log: [0.02, 2]}
  mass: {set: robots.arm.links.link.mass, uniform: [1, 4]}
data:
  - {file: arm.%s, signals: {%s}, sigma: 1e-3}
"""

# P1, Fig. 5 (docs/reproduction.md): let go tilted by 0.02 rad, the robot sways on the rubber of its feet
RUBBER = "{damping: 25, rotor_inertia: 0.014}"
SLIDE = "{damping: 1000, rotor_inertia: 0.1}"
SWAY = """
timestep: 1e-3
duration: 6
bodies: [{name: floor, fixed: true, shape: {plane: {}}}]
robots:
  - name: robot
    model: %s/models/humanoid36.urdf
    self_collision: false
    base: free
    xyz: [0.01319912, 0, 0.70429903]
    rpy: [0, 0.02, 0]
    posture: {l_bush_pitch: -0.02, r_bush_pitch: -0.02, l_bush_z: 0.00056898, r_bush_z: 0.00056898}
    joints: {%s}
    sensors: [{name: l_ft, type: force_torque, joint: l_ankle_roll}]
    lock: [%s]
    controller:
      type: pd
      kp: 0
      springs: {l_bush_z: 5e5, r_bush_z: 5e5, l_bush_pitch: 1000, r_bush_pitch: 1000, l_bush_roll: 1000,
                r_bush_roll: 1000}
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
        bushes = ", ".join("%s_bush_%s: %s" % (side, axis, SLIDE if axis == "z" else RUBBER) for side in "lr" for axis in
                           ("z", "pitch", "roll"))
        scene = self.file("sway.yaml", SWAY % (ROOT, bushes, ", ".join(rigid)))
        truth = [(SPRINGS, 1000), (DAMPERS, 25)]
        data = self.record(scene, truth, {"robot/l_ft.ty": 0.0569})  # 2 % of its amplitude
        for found, value in zip(self.fit(scene, truth, [(300, 3000), (5, 100)], data), (1000, 25)):
            self.assertAlmostEqual(found["value"] / value, 1, delta=0.01)
            self.assertTrue(found["low"] < value < found["high"])
            self.assertLess(found["error"] / value, 0.002)

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

    def arm(self):
        """A pendulum with sensors that is let go, as a log."""
        self.file("arm.xml", """<mujoco><worldbody><body name="link"><joint name="j" axis="0 1 0" damping="0.2"/>
            <geom type="sphere" size="0.1" mass="2" pos="1 0 0"/></body></worldbody></mujoco>""")
        self.tabi("run", self.file("arm.yaml", ARM), "--log", self.file("arm.tabi"))
        return self.file("arm.tabi")

    def test_mcap_and_hdf5(self):
        """Each number of an export is found, and what is fitted to it is what a CSV table gives."""
        log, found = self.arm(), {}
        tables = {"csv": {"arm/j.q": "", "arm/j.v": "", "arm/gyro.wy": "", "arm/ft.fx": "", "arm/ft.ty": ""},
                  "mcap": {"arm/j.q": "/joint_states:j.position", "arm/j.v": "/joint_states:j.velocity",
                           "arm/gyro.wy": "/arm/sensor/gyro:angular_velocity.y", "arm/ft.fx": "/arm/sensor/ft:force.x",
                           "arm/ft.ty": "/arm/sensor/ft:torque.y"},
                  "h5": {"arm/j.q": "q[0]", "arm/j.v": "v[0]", "arm/gyro.wy": "arm/gyro.wy", "arm/ft.fx": "",
                         "arm/ft.ty": "signals/arm/ft.ty"}}
        for kind, signals in tables.items():
            chosen = [word for name in signals for word in ("--signals", name)]
            self.tabi("export", log, "-o", self.file("arm." + kind), *chosen)
            lines = ", ".join("%s: '%s'" % pair for pair in signals.items())
            fit = self.file("fit.yaml", ARM_FIT % (kind, lines))
            found[kind] = self.json("identify", fit, "--json")["parameters"]
        for kind in tables:
            for name, value in (("damping", 0.2), ("mass", 2)):
                got, csv_got = found[kind][name], found["csv"][name]
                self.assertAlmostEqual(got["value"] / value, 1, delta=1e-4)
                self.assertAlmostEqual(got["value"], csv_got["value"], delta=1e-7)
                self.assertAlmostEqual(got["error"] / csv_got["error"], 1, delta=1e-4)

    def test_wrong_recordings(self):
        log = self.arm()
        self.tabi("export", log, "-o", self.file("arm.mcap"))
        self.tabi("export", log, "-o", self.file("arm.h5"))
        with open(self.file("arm.mcap"), "rb") as file:
            whole = file.read()

        def fails(kind, column, says):
            fit = self.file("fit.yaml", ARM_FIT % (kind, "arm/j.q: '%s'" % column))
            err = self.tabi("identify", fit, code=3)[1]
            self.assertIn(says, err)
            self.assertIn(": error: ", err)
        for column in ("/nothing", "/joint_states", "/joint_states:k.position", "/joint_states:j.colour", "/arm/sensor/gyro:w.x",
                       "/arm/sensor/ft:force.w", ":", "/arm/sensor/ft:force.xx"):
            fails("mcap", column, "no numbers are called '%s'" % column)
        for column in ("r", "q[1]", "q[-1]", "contacts/force", "signals", "[0]"):
            fails("h5", column, "no numbers are called")
        for name, content, says in (("cut", whole[:len(whole) // 2], "cut off"), ("text", b"time,j\n", "no MCAP file"),
                                    ("long", whole[:9] + b"\xff" * 8 + whole[17:], "cut off"), ("empty", b"", "no MCAP")):
            with open(self.file(name + ".mcap"), "wb") as file:
                file.write(content)
            fit = self.file("fit.yaml", ARM_FIT.replace("arm.%s", name + ".mcap%.0s") % ("", "arm/j.q: /joint_states:j.position"))
            self.assertIn(says, self.tabi("identify", fit, code=3)[1])
        with open(self.file("no.h5"), "wb") as file:
            file.write(whole)
        fit = self.file("fit.yaml", ARM_FIT.replace("arm.%s", "no.h5%.0s") % ("", "arm/j.q: q"))
        self.assertIn("HDF5", self.tabi("identify", fit, code=3)[1])
        for kind in ("mcap", "h5"):  # nobody writes to these
            os.mkfifo(self.file("pipe." + kind))
            fit = self.file("fit.yaml", ARM_FIT.replace("arm.%s", "pipe." + kind + "%.0s") % ("", "arm/j.q: q"))
            self.assertIn("pipe." + kind, self.tabi("identify", fit, code=3)[1])

    def test_mistakes(self):
        self.file("bush.yaml", SCENE)
        self.file("bush.csv", "time,mass.z\n0,1\n0.1,1\n0.5,1\n")
        fit = self.file("fit.yaml", FIT)
        self.error("identify", fit, line=7, says="longer duration", path=os.path.realpath(fit))
        bad = self.file("bad.yaml", FIT.replace("mass.z: mass.z", "mas.z: mass.z"))
        self.error("identify", bad, line=7, says="did you mean 'mass.z'", path=os.path.realpath(bad))
        bad = self.file("bad.yaml", FIT.replace("sigma: 1e-4", "sigma: 1e-4, set: [bodies.mas.mass=3]"))
        self.error("identify", bad, line=7, says="data: bodies.mas.mass=3: nothing is called", path=os.path.realpath(bad))


if __name__ == "__main__":
    main()
