"""tabi info: tree, numbers, JSON."""

import os
import shutil
import tempfile

from command import Case, MODELS, data, main


class Info(Case):
    def test_tree(self):
        out, err = self.tabi("info", data("walker.urdf"))
        self.assertEqual(err, "")
        tree = out.split("\n\n")[1].splitlines()
        self.assertEqual(tree, [
            "trunk (free base, 8 kg)",
            "└─ thigh (hip: revolute -85.94 to 28.65°, 2 kg)",
            "   └─ shin (knee: revolute 0 to 114.6°, 1 kg)",
            "      └─ toe (toe_mount: fixed)",
        ])
        self.assertIn("mass      11 kg", out)
        self.assertIn("DOF       8, 6 of the free base, in 3 moving bodies", out)
        self.assertIn("0.2 x 0.3 x 0.9 m", out)

    def test_package_path(self):
        robot = ("<robot name='r'><link name='a'><visual><geometry>"
                 "<mesh filename='package://hand/m.obj'/></geometry></visual></link></robot>")
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "robot", "r.urdf")
            more = os.path.join(folder, "more")
            os.makedirs(os.path.join(more, "hand"))
            os.makedirs(os.path.dirname(model))
            with open(model, "w", encoding="utf-8") as file:
                file.write(robot)
            with open(os.path.join(more, "hand", "m.obj"), "w", encoding="utf-8") as file:
                file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
            _, err = self.tabi("info", model)
            self.assertIn("mesh 'package://hand/m.obj' not found (looked in: ", err)
            for option in (["--package-path", "/no/such:" + more], ["--package-path=" + more]):
                _, err = self.tabi("info", model, *option)
                self.assertNotIn("mesh", err)
        self.assertIn("--package-path DIR[:DIR]", self.tabi("info", "--help")[0])

    def test_joints_of_one_body_share_a_line(self):
        out, _ = self.tabi("info", data("bodies.xml"))
        tree = out.split("\n\n")[1].splitlines()
        self.assertEqual(tree, [
            "robot (free base, 4 kg)",
            "└─ arm (shoulder: ball, 1 kg)",
            "   └─ hand (roll: continuous, pitch: revolute -40 to 40°, 0.3 kg)",
            "box (free base, 2 kg)",
        ])

    def test_json(self):
        r = self.json("info", data("walker.urdf"), "--json")
        self.assertEqual(r["base"], "free")
        self.assertEqual(r["dof"], 8)
        self.assertAlmostEqual(r["mass"], 11, 12)
        self.assertEqual([link["name"] for link in r["links"]], ["trunk", "thigh", "shin", "toe"])
        self.assertEqual(r["links"][2]["parent"], "thigh")
        self.assertEqual(r["links"][2]["joint"], "knee")
        self.assertEqual(r["counts"]["shapes"], 4)
        self.assertEqual(r["counts"]["colliding"], 3)
        self.assertAlmostEqual(r["extent"]["lower"][2], -0.65, 12)
        self.assertAlmostEqual(r["extent"]["upper"][2], 0.25, 12)
        self.assertEqual(r["warnings"], [])
        self.assertEqual(self.json("info", data("walker.urdf"), "--json", "--base", "fixed")["dof"], 2)

    def test_shipped_humanoid(self):
        path = os.path.join(MODELS, "humanoid36.urdf")
        r = self.json("info", path, "--json")
        self.assertEqual(r["dof"], 42)
        self.assertAlmostEqual(r["mass"], 58, 1)
        height = r["extent"]["upper"][2] - r["extent"]["lower"][2]
        self.assertAlmostEqual(height, 1.54, 1)

    def test_connections(self):
        path = os.path.join(MODELS, "humanoid36_parallel.urdf")
        beside = os.path.join(MODELS, "humanoid36_parallel.tabi.yaml")
        out, _ = self.tabi("info", path)
        self.assertEqual(out.splitlines()[1].split(), ["sidecar", beside])
        self.assertEqual(out.split("connections:\n")[1].splitlines(), [
            "  l_outer_rod (ball: l_outer_rod, l_ankle_plate)",
            "  l_inner_rod (ball: l_inner_rod, l_ankle_plate)",
            "  r_outer_rod (ball: r_outer_rod, r_ankle_plate)",
            "  r_inner_rod (ball: r_inner_rod, r_ankle_plate)",
        ])
        r = self.json("info", path, "--json")
        self.assertEqual(r["sidecar"], beside)
        self.assertEqual(r["connections"][3], {"name": "r_inner_rod", "type": "ball",
                                               "a": "r_inner_rod", "b": "r_ankle_plate",
                                               "line": 43})
        self.assertIsNone(self.json("info", data("walker.urdf"), "--json")["sidecar"])

    def test_sensors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "walker.urdf")
            shutil.copy(data("walker.urdf"), path)
            with open(os.path.join(folder, "walker.tabi.yaml"), "w") as f:
                f.write("sensors:\n  - {name: ft, type: force_torque, joint: toe_mount}\n"
                        "  - {name: imu, type: gyro, link: trunk}\n")
            out, _ = self.tabi("info", path)
            self.assertEqual(out.split("sensors:\n")[1].splitlines(), [
                "  ft (force_torque: toe_mount)",
                "  imu (gyro: trunk)",
            ])
            self.assertEqual(self.json("info", path, "--json")["sensors"], [
                {"name": "ft", "type": "force_torque", "joint": "toe_mount", "line": 2},
                {"name": "imu", "type": "gyro", "link": "trunk", "line": 3}])


if __name__ == "__main__":
    main()
