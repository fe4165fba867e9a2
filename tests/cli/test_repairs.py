"""Repairs, --strict, and how warnings and notes are shown."""

import os
import subprocess
import sys

from command import FolderCase, HERE, TABI, data, main, scene

# three impossible things on lines 4, 9 and 13, and an element that tabi ignores
BROKEN = """<robot name='r'>
<link name='trunk'>
<inertial><mass value='2'/>
<inertia ixx='0.015' iyy='0.079' izz='0.097'/></inertial>
<collision><geometry><box size='0.5 0.4 0.3'/></geometry></collision>
</link>
<link name='arm'>
<inertial><origin xyz='0 0 0.6'/><mass value='1'/>
<inertia ixx='0.02' iyy='0.02' izz='-0.001'/></inertial>
<collision><origin xyz='0 0 0.6'/><geometry><box size='0.1 0.1 0.4'/></geometry></collision>
</link>
<joint name='elbow' type='revolute'><parent link='trunk'/><child link='arm'/>
<limit lower='1' upper='-1' effort='10' velocity='5'/></joint>
<gazebo><plugin name='p'/></gazebo>
</robot>
"""

SCENE = """robots:
  - {name: robot, model: broken.urdf}
duration: 0.002
"""


class Repairs(FolderCase):
    def setUp(self):
        super().setUp()
        self.robot = self.file("broken.urdf", BROKEN)
        self.scene = self.file("broken.yaml", SCENE)

    def check_listed(self, repairs, path):
        self.assertEqual([r["item"] for r in repairs], ["link 'trunk'", "link 'arm'", "joint 'elbow'"])
        self.assertEqual([r["line"] for r in repairs], [4, 9, 13])
        self.assertEqual([r["file"] for r in repairs], 3 * [path])
        self.assertIn("nearest moments", repairs[0]["what"])
        self.assertEqual(repairs[2]["what"], "swapped")
        # (C - A - B)/sqrt(3) of sqrt(A^2 + B^2 + C^2)
        self.assertAlmostEqual(repairs[0]["size"], 0.003 / 3 ** 0.5 / 0.1260, delta=1e-5)
        self.assertTrue(0.03 < repairs[1]["size"] < 0.04)

    def test_listed_in_json(self):
        for command in ("info", "check"):
            r = self.json(command, self.robot, "--json", code=0 if command == "info" else 5)
            self.check_listed(r["repairs"], self.robot)
            self.assertEqual({w["severity"] for w in r["warnings"]}, {"warning", "note"})

    def test_repaired_inertia(self):
        links = {l["name"]: l for l in self.json("info", self.robot, "--json")["links"]}
        self.assertAlmostEqual(links["trunk"]["inertia"][2], 0.096, delta=1e-6)
        joints = {j["name"]: j for j in self.json("info", self.robot, "--json")["joints"]}
        self.assertEqual((joints["elbow"]["lower"], joints["elbow"]["upper"]), (-1, 1))

    def test_strict_refuses(self):
        for command in ("info", "dynamics"):
            self.error(command, self.robot, "--strict", line=4, path=self.robot,
                       says="link 'trunk': inertia violates A+B>=C (0.015+0.079<0.097)")
        self.error("run", self.scene, "--strict", line=4, path=self.robot, says="A+B>=C")
        self.error("compare", self.scene, "--strict", line=4, path=self.robot, says="A+B>=C")
        self.error("view", self.scene, "--strict", line=4, path=self.robot, says="A+B>=C")

    def test_strict_check_lists_all(self):
        out, _ = self.tabi("check", self.robot, "--strict", code=5)
        errors = [line for line in out.splitlines() if ": error: " in line]
        self.assertEqual(len(errors), 3, out)
        self.assertIn("3 errors, ", out.splitlines()[-1])
        self.assertIn("(3 repairs)", out.splitlines()[-1])
        self.assertFalse(self.json("check", self.robot, "--strict", "--json", code=5)["ok"])

    def test_repairs_alone_pass(self):
        swapped = self.file("swapped.urdf", BROKEN.replace("izz='0.097'", "izz='0.09'")
                            .replace("izz='-0.001'", "izz='0.02'"))
        out, _ = self.tabi("check", swapped)
        self.assertIn("1 warning", out)
        self.assertIn("(1 repair)", out)
        self.tabi("check", swapped, "--strict", code=5)

    def test_notes_are_folded(self):
        for args in (("run", self.scene), ("dynamics", self.robot), ("info", self.robot)):
            _, err = self.tabi(*args)
            self.assertEqual(err.count(": warning: "), 3, err)
            self.assertNotIn(": note: ", err)
            self.assertIn("tabi: 1 note; --verbose shows it\n", err)
            _, err = self.tabi(*args, "--verbose")
            self.assertEqual(err.count(": warning: "), 3, err)
            self.assertIn(": note: <plugin> is ignored", err)
            self.assertNotIn("--verbose", err)
            self.assertEqual(self.tabi(*args, "--quiet")[1], "")

    def test_check_shows_notes(self):
        out, err = self.tabi("check", self.robot, code=5)
        self.assertIn(": note: <plugin> is ignored", out)
        self.assertEqual(err, "")

    def test_run_json(self):
        r = self.json("run", self.scene, "--json")
        self.check_listed(r["repairs"], self.robot)
        self.assertEqual([w["severity"] for w in r["warnings"]].count("warning"), 3)
        r = self.json("compare", self.scene, "--contact", "cone,exact", "--json")
        self.check_listed(r["repairs"], self.robot)

    def test_check_scene(self):
        r = self.json("check", self.scene, "--json", code=5)
        self.check_listed(r["repairs"], self.robot)
        out, _ = self.tabi("check", scene("stack"))
        self.assertTrue(out.endswith("stack.yaml: no findings\n"), out)

    def test_check_tells_what_came_before_an_error(self):
        both = self.file("both.urdf", BROKEN.replace("type='revolute'", "type='hinge'"))
        _, err = self.tabi("check", both, code=3)
        self.assertEqual(err.count(": warning: "), 2, err)
        self.assertEqual(err.count(": error: "), 1, err)

    def table(self):
        tool = os.path.join(HERE, "..", "..", "tools", "robots.py")
        return subprocess.run([sys.executable, tool, self.folder, "--tabi", TABI],
                              stdout=subprocess.PIPE, timeout=240)

    def test_table_of_robots(self):
        done = self.table()
        self.assertEqual(done.returncode, 0)
        rows = done.stdout.decode().splitlines()
        self.assertTrue(rows[2].startswith("| broken.urdf | 7 | 3 | 2 inertia (at most 0.035), "
                                           "1 swapped | plugin | "), rows)
        self.assertEqual(rows[-1], "1 of 1 load.")
        self.file("worse.urdf", BROKEN.replace("mass value='2'", "mass value='-2'"))
        done = self.table()
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not load: ", done.stdout.decode())

    def test_contradiction(self):
        _, err = self.tabi("info", data("walker.urdf"), "--quiet", "--verbose", code=2)
        self.assertIn("--verbose and --quiet contradict each other", err)


if __name__ == "__main__":
    main()
