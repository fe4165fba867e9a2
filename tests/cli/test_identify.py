"""tabi identify: a recording of tabi run gives its parameters back; table, JSON and page."""

import json
import os

from command import FolderCase, main

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


class Identify(FolderCase):
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
