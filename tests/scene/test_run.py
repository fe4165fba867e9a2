"""tabi run: the result, its JSON, settings, log, figure, and what is refused."""

import csv
import json
import os
import shutil
import unittest

from command import FolderCase, main, scene

KEYS = ["scene", "contact", "integrator", "dt", "steps", "time", "wall_seconds", "realtime_factor",
        "memory_bytes", "stages_us", "contacts_mean", "contacts_max", "penetration_max", "asleep", "iterations_mean", "fallbacks", "handed_over", "energy_limited",
        "unsettled",
        "residual_max", "connections", "energy", "state_hash", "fell", "gait", "ledger", "bodies",
        "sensors", "checks", "warnings", "repairs"]
BOX = """\
name: a box falls
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.3]}
log: {every: 10, signals: [box]}
"""
POLE = """\
<robot name="pole"><link name="pole">
  <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial>
  <collision><geometry><box size="0.2 0.2 1"/></geometry></collision>
</link></robot>
"""
TELESCOPE = """\
<robot name="telescope">
  <link name="foot">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><origin xyz="0 0 0.02"/><geometry><box size="0.3 0.3 0.04"/></geometry></collision>
  </link>
  <link name="body">
    <inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
  </link>
  <joint name="leg" type="prismatic">
    <parent link="foot"/><child link="body"/><origin xyz="0 0 0.8"/><axis xyz="0 0 1"/>
    <limit lower="-0.6" upper="0" effort="1" velocity="1"/>
  </joint>
</robot>
"""

# two bars; the second joint starts outside its limits
BAR = """<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 3'><joint name='j' axis='0 1 0' range='-1 1'/>
<geom type='box' size='0.5 0.02 0.02' pos='0.5 0 0' mass='1'/><body pos='1 0 0'><joint name='k' axis='0 1 0' range='0.3 1'/>
<geom type='box' size='0.1 0.02 0.02' pos='0.1 0 0' mass='1'/></body></body></worldbody></mujoco>"""


class Run(FolderCase):
    def refuse(self, text, line, says, *options):
        path = self.file("s.yaml", text)
        self.error("run", path, *options, line=line, says=says, path=path)

    # results

    def test_stats(self):
        """stages are told when asked for and change nothing; memory is always told"""
        args = ["run", scene("stand"), "--time", "0.02", "--json"]
        plain, timed = self.json(*args), self.json(*args, "--stats")
        self.assertIsNone(plain["stages_us"])
        self.assertEqual(plain["state_hash"], timed["state_hash"])
        self.assertGreater(plain["memory_bytes"], 10000)
        self.assertIn("control", timed["stages_us"])
        self.assertGreater(timed["stages_us"]["solve"], 0)
        self.assertGreater(timed["stages_us"]["kinematics"], 0)
        out, _ = self.tabi("run", scene("stand"), "--time", "0.02", "--stats")
        self.assertIn("memory", out)
        self.assertRegex(out, r"stage of a step +us per step")
        self.assertRegex(out, r"collision +[0-9.]+ +[0-9.]+")

    def test_patches(self):
        """a robot that walks slips on the patch that is slippery, as far as it is, and on no other ground"""
        def slip(friction):
            r = self.json("run", scene("studies/walk_patches"), "--time", "4", "--json",
                          "--set", f"materials.ice.friction={friction}")
            self.assertFalse(r["fell"])
            self.assertGreater(r["bodies"]["robot/pelvis"]["pos"][0], 0.8)  # the middle of the patch
            return sum(r["ledger"][f"robot/{side}_foot"]["distance"] for side in "lr")

        self.assertLess(slip(0.8), 1e-3)
        self.assertGreater(slip(0.05), 0.01)

    def test_published_variants(self):
        """three ways to name a published variant are one run, and not the run of the method"""
        for method in ["cone", "lcp", "penalty", "impulse"]:
            name = method + "-paper"
            text = BOX.replace("xyz", "rpy: [0.3, 0.2, 0], xyz")
            path = self.file("own.yaml", text)
            keys = {"named": f"{{model: {name}}}", "keyed": f"{{model: {method}, variant: paper}}"}
            runs = [self.json("run", path, "--contact", name, "--json")]
            for key, section in keys.items():
                path = self.file(f"{key}.yaml", text + f"contact: {section}\n")
                runs.append(self.json("run", path, "--json"))
                self.assertEqual(runs[-1]["contact"], name)
            self.assertEqual(len({run["state_hash"] for run in runs}), 1, name)
            own = self.json("run", path, "--contact", method, "--set", "contact.variant=block",
                            "--json")
            self.assertEqual(own["contact"], method)
            if method != "lcp":  # which differs from its variant in joints only
                self.assertNotEqual(own["state_hash"], runs[0]["state_hash"], name)

    def test_dense_storage(self):
        """dense storages choose the published variants of cone and lcp; others have none"""
        args = ["run", self.file("s.yaml", BOX), "--contact"]
        for method, storage in [("cone", "dense"), ("cone", "test-forces"), ("lcp", "dense"),
                                ("lcp", "test-forces")]:
            dense = ["--set", f"contact.storage={storage}", "--json"]
            plain = self.json(*args, method + "-paper", "--json")
            runs = [self.json(*args, name, *dense) for name in (method, method + "-paper")]
            for run in runs:
                self.assertEqual(run["contact"], method + "-paper")
                self.assertEqual(run["state_hash"], runs[0]["state_hash"])
                self.assertGreater(run["memory_bytes"], plain["memory_bytes"])
        for method in ["exact", "penalty", "impulse", "penalty-paper", "impulse-paper"]:
            _, err = self.tabi(*args, method, *dense, code=3)
            self.assertIn("has no storage: test-forces", err)
        _, err = self.tabi(*args, "cone", "--set", "contact.storage=sparse", code=3)
        self.assertIn("storage must be ports, dense or test-forces, not 'sparse'", err)

    def test_old_names(self):
        """`grip` works with a warning; of file and assignments the last counts"""
        says = "'grip' is now called 'tangential_stiffness'"
        box = scene("box_drop")
        hashes = {}
        for value in ["0", "1"]:
            new = self.json("run", box, "--set", f"contact.tangential_stiffness={value}", "--json")
            out, err = self.tabi("run", box, "--set", f"contact.grip={value}", "--json", "--set",
                                 "check.residual=1")
            old = json.loads(out)
            self.assertEqual(err.count("warning"), 1)
            self.assertIn(says, err)
            self.assertEqual(old["state_hash"], new["state_hash"])
            self.assertEqual(old["handed_over"], old["fallbacks"])
            hashes[value] = new["state_hash"]
        self.assertNotEqual(hashes["0"], hashes["1"])
        with open(box, encoding="utf-8") as f:
            path = self.file("old.yaml", f.read().replace("tangential_stiffness", "grip"))
        out, err = self.tabi("run", path, "--set", "contact.tangential_stiffness=1", "--json")
        self.assertIn(says, err)
        self.assertEqual(json.loads(out)["state_hash"], hashes["1"])
        last = ["--set", "contact.tangential_stiffness=0", "--set", "contact.grip=1"]
        self.assertEqual(self.json("run", path, *last, "--json")["state_hash"], hashes["1"])
        both = "contact={grip: 1, tangential_stiffness: 1}"
        _, err = self.tabi("run", box, "--set", both, code=3)
        self.assertIn("which is given too", err)

    def test_fallback(self):
        """the fallback solves what cone leaves of a heavy box on light ones, and is counted"""
        args = ["run", scene("stack"), "--time", "0.05", "--set", "bodies.box9.mass=1000"]
        over = ["--set", "contact.fallback=exact"]
        bare = ["--set", "contact.fallback=none"]
        self.assertEqual(self.json(*args, *bare, "--json")["fallbacks"], 0)
        self.assertGreater(self.json(*args, "--json")["fallbacks"], 0)
        result = self.json(*args, *over, "--json")
        self.assertGreater(result["fallbacks"], 0)
        self.assertEqual(result["handed_over"], result["fallbacks"])
        out, _ = self.tabi(*args, *over)
        self.assertIn("1 step by the fallback", out)
        self.assertNotIn("above the tolerance", out)

    def test_json(self):
        path = self.file("s.yaml", BOX)
        r = self.json("run", path, "--time", "1", "--json")
        self.assertEqual(list(r), KEYS)
        self.assertEqual(r["scene"], path)
        self.assertEqual((r["contact"], r["integrator"]), ("cone", "semi-implicit"))
        self.assertEqual((r["dt"], r["steps"], r["fell"]), (1e-3, 1000, False))
        self.assertAlmostEqual(r["time"], 1, 12)
        self.assertEqual(list(r["residual_max"]),
                         ["gap_m", "complementarity_mps", "cone_N", "dissipation_mps"])
        self.assertEqual(list(r["energy"]), ["start", "end", "max_gain", "contact_gain", "correction_work",
                                             "balance_taken", "balance_given"])
        self.assertRegex(r["state_hash"], "^[0-9a-f]{16}$")
        self.assertEqual(list(r["bodies"]), ["floor", "box"])
        self.assertEqual(list(r["bodies"]["box"]), ["pos", "quat", "lin", "ang"])
        self.assertAlmostEqual(r["bodies"]["box"]["pos"][2], 0.1, 4)
        self.assertAlmostEqual(r["energy"]["start"], 2 * 9.81 * 0.3, 12)
        self.assertLess(r["energy"]["max_gain"], 1e-9)
        self.assertEqual(r["contacts_max"], 4)
        self.assertLess(r["penetration_max"], 1e-3)

    def test_balance(self):
        """what the balance of energy took from a linkage and gave to it is printed"""
        run = ["run", scene("bricard"), "--time", "1", "--integrator", "semi-implicit"]
        r = self.json(*run, "--json")
        self.assertGreater(r["energy"]["balance_taken"] + r["energy"]["balance_given"], 1e-6)
        out, _ = self.tabi(*run)
        self.assertRegex(out, "balance  +[0-9.e-]+ J taken, [0-9.e-]+ J given")
        # a drop has none
        r = self.json("run", self.file("s.yaml", BOX), "--time", "0.1", "--json")
        self.assertEqual((r["energy"]["balance_taken"], r["energy"]["balance_given"]), (0, 0))

    def test_checks(self):
        """what a run should not have done is a warning, and with --check its exit code"""
        path = self.file("s.yaml", BOX)
        r = self.json("run", path, "--time", "1", "--check", "--json")
        bounds = {"penetration": 1e-3, "energy_gain": 1e-3, "residual": 1e-3}
        self.assertEqual(list(r["checks"]), ["penetration", "energy_gain", "residual", "ok",
                                             "bounds"])
        self.assertEqual((r["checks"]["ok"], r["checks"]["bounds"]), (True, bounds))
        self.assertEqual([w for w in r["warnings"] if w["severity"] != "note"], [])
        # springs give way by design
        r = self.json("run", path, "--contact", "penalty", "--check", "--json")
        self.assertIsNone(r["checks"]["bounds"]["penetration"])
        # a box that starts 47 mm inside the floor
        deep = ["run", path, "--time", "0.1", "--set", "bodies.box.xyz=[0, 0, 0.053]"]
        out, err = self.tabi(*deep, "--check", code=5)
        self.assertIn("penetration", out)
        self.assertIn("'box' and 'floor' overlapped by", err.replace("'floor' and 'box'",
                                                                     "'box' and 'floor'"))
        r = self.json(*deep, "--json")
        self.assertFalse(r["checks"]["ok"])
        self.assertGreater(r["checks"]["penetration"], 0.04)
        self.assertGreater(r["energy"]["correction_work"], 0.1)
        warning = r["warnings"][0]
        self.assertEqual((warning["severity"], warning["file"]), ("warning", path))
        self.assertIn("overlapped", warning["message"])
        loose = ["--set", "check={penetration: 0.05, energy_gain: 10}"]
        self.assertTrue(self.json(*deep, *loose, "--check", "--json")["checks"]["ok"])
        _, err = self.tabi("run", path, "--set", "check.depth=1", code=3)
        self.assertIn("check: unknown key 'depth'", err)

    def test_gain_names_the_joint_outside_its_limits(self):
        """what its limits push back is told by name; what starts at a limit is not"""
        self.file("bar.xml", BAR)
        text = "duration: 0.1\nrobots: [{name: r, model: bar.xml, controller: {type: pd, kp: 100, kd: 5}%s}]\n"
        r = self.json("run", self.file("s.yaml", text % ""), "--json")
        message = r["warnings"][0]["message"]
        self.assertIn("start joint 'r/k' within its limits, which push it back by 0.3 rad", message)
        self.assertGreater(r["energy"]["correction_work"], 0.5 * r["energy"]["max_gain"])
        r = self.json("run", self.file("s.yaml", text % ", posture: {k: 0.3}"), "--json")
        self.assertEqual(r["energy"]["correction_work"], 0)
        self.assertNotIn("within its limits", str(r["warnings"]))

    def test_gain_counts_from_the_lowest_energy(self):
        """an impact takes 20 J first; the box that is then lifted out of the floor gains all the
        same"""
        text = BOX.replace("[0, 0, 0.3]", "[0, 0, 0.053]").replace("log:", """\
  - {name: ball, mass: 10, shape: {sphere: 0.1}, xyz: [1, 0, 0.101], lin: [0, 0, -2]}
log:""")
        r = self.json("run", self.file("s.yaml", text), "--time", "0.3", "--json")
        self.assertLess(r["energy"]["end"], r["energy"]["start"] - 10)
        self.assertGreater(r["energy"]["max_gain"], 0.5)
        self.assertLess(r["energy"]["max_gain"], 2)

    def test_same_bits(self):
        args = ["run", scene("boxes_slope"), "--time", "0.5", "--json"]
        a, b = self.json(*args), self.json(*args)
        self.assertEqual(a["state_hash"], b["state_hash"])
        self.assertNotEqual(self.json(*args, "--dt", "2e-3")["state_hash"], a["state_hash"])

    def test_table(self):
        out, err = self.tabi("run", scene("stand"), "--time", "0.05")
        self.assertEqual(err, "")
        self.assertIn("standing humanoid: 0.05 s in 50 steps of 1 ms, cone, semi-implicit", out)
        self.assertIn("penetration", out)
        self.assertIn("fell          no", out)
        self.assertIn("robot/pelvis", out)

    def test_options(self):
        path = self.file("s.yaml", BOX)
        r = self.json("run", path, "--contact", "lcp", "--integrator", "midpoint", "--dt", "0.002",
                      "--time", "0.1", "--set", "bodies.box.xyz=[0, 0, 5]", "--set",
                      "gravity=[0,0,0]", "--json")
        self.assertEqual((r["contact"], r["integrator"], r["dt"], r["steps"]),
                         ("lcp", "midpoint", 0.002, 50))
        self.assertEqual(r["bodies"]["box"]["pos"], [0, 0, 5])

    def test_falls(self):
        self.file("pole.urdf", POLE)
        text = ("bodies: [{name: floor, fixed: true, shape: {plane: {}}}]\n"
                "robots: [{name: r, model: pole.urdf, xyz: [0, 0, 0.52], rpy: [0, %s, 0]}]\n")
        for tilt, fell in (("0.02", False), ("0.3", True)):
            path = self.file("s.yaml", text % tilt)
            self.assertEqual(self.json("run", path, "--json", "--time", "1.5")["fell"], fell)

    def test_falls_above_any_ground(self):
        """by the centre of mass above the ground: the root may be at the foot, the floor anywhere"""
        self.file("pole.urdf", POLE.replace("<collision>", '<collision><origin xyz="0 0 0.5"/>')
                  .replace("<inertial>", '<inertial><origin xyz="0 0 0.5"/>'))
        self.file("telescope.urdf", TELESCOPE)
        text = ("bodies: [{name: floor, fixed: true, shape: {plane: {}}, xyz: [0, 0, %g]}]\n"
                "robots: [{name: r, model: %s.urdf, xyz: [0, 0, %g]}]\n")
        for level in (0, -3, 7):
            # the pole comes down by 2 mm and stands; the telescope sinks into itself, upright
            for robot, fell in (("pole", False), ("telescope", True)):
                path = self.file("s.yaml", text % (level, robot, level + 0.002))
                self.assertEqual(self.json("run", path, "--json", "--time", "1.5")["fell"], fell)
        # off the edge of a stage, with nothing below
        path = self.file("s.yaml", "bodies: [{name: stage, fixed: true, shape: {box: [1, 1, 0.1]}, "
                         "xyz: [0, 0, -0.05]}]\nrobots: [{name: r, model: pole.urdf}]\n"
                         "gravity: [1, 0, -9.81]\ncontact: {friction: 0}\n")
        self.assertTrue(self.json("run", path, "--json", "--time", "2")["fell"])

    # files

    def test_csv(self):
        path, log = self.file("s.yaml", BOX), self.file("log.csv")
        self.tabi("run", path, "--time", "1", "--csv", log)
        with open(log) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), 100)
        self.assertEqual(list(rows[0])[:5], ["time", "kinetic", "potential", "spring", "work"])
        self.assertAlmostEqual(float(rows[0]["time"]), 0.01, 12)
        self.assertAlmostEqual(float(rows[-1]["time"]), 1, 12)
        self.assertAlmostEqual(float(rows[-1]["ground.fz"]), 2 * 9.81, 5)
        self.assertAlmostEqual(float(rows[-1]["box.fz"]), 2 * 9.81, 5)
        self.assertAlmostEqual(float(rows[-1]["box.z"]), 0.1, 4)
        self.assertTrue(all(len(row) == len(rows[0]) and None not in row for row in rows))

    def test_csv_of_a_robot(self):
        log = self.file("log.csv")
        self.tabi("run", scene("stand"), "--time", "0.02", "--csv", log)
        with open(log) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), 20)
        for name in ("robot.z", "robot.qw", "robot/l_foot.fz", "robot/l_knee.q", "robot/l_knee.v"):
            self.assertIn(name, rows[0])
        self.assertAlmostEqual(float(rows[0]["robot/l_knee.q"]), 0.8727, 3)

    def test_sensors(self):
        """a pole on the floor weighs what it weighs, in the log and in the result"""
        self.file("pole.urdf", POLE)
        path, log = self.file("s.yaml", """\
bodies: [{name: floor, fixed: true, shape: {plane: {}}}]
robots:
  - name: r
    model: pole.urdf
    xyz: [1, 0, 0.5]
    sensors:
      - {name: foot, type: contact, link: pole}
      - {name: imu, type: accelerometer, link: pole, range: 5}
      - {name: zmp, type: zmp}
"""), self.file("log.csv")
        result = self.json("run", path, "--time", "0.5", "--csv", log, "--json")
        self.assertEqual(list(result["sensors"]), ["r/foot", "r/imu", "r/zmp"])
        for value, wanted in zip(result["sensors"]["r/zmp"], [1, 0, 0, 9.81]):
            self.assertAlmostEqual(value, wanted, 3)
        with open(log) as f:
            row = list(csv.DictReader(f))[-1]
        self.assertEqual(list(row)[-9:], ["r/foot.on", "r/foot.f", "r/imu.ax", "r/imu.ay", "r/imu.az",
                                          "r/zmp.x", "r/zmp.y", "r/zmp.z", "r/zmp.f"])
        self.assertEqual((float(row["r/foot.on"]), float(row["r/imu.az"])), (1, 5))
        self.assertAlmostEqual(float(row["r/foot.f"]), 9.81, 6)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_plot(self):
        path, plot = self.file("s.yaml", BOX), self.file("it's a plot.svg")
        _, err = self.tabi("run", path, "--time", "0.5", "--plot", plot)
        self.assertEqual(err, "")
        with open(plot) as f:
            text = f.read()
        self.assertIn("<svg", text)
        self.assertIn("</svg>", text)
        self.assertIn("vertical force", text)

    def test_no_gnuplot(self):
        """the run and its log do not suffer from it"""
        path, plot, log = self.file("s.yaml", BOX), self.file("p.svg"), self.file("b.tabi")
        env = dict(os.environ, PATH=self.folder)
        out, err = self.tabi("run", path, "--plot", plot, "--log", log, "--time", "0.1", env=env)
        self.assertIn("p.svg:1: warning: not drawn", err)
        self.assertIn("gnuplot-nox", err)
        self.assertIn("a box falls: 0.1 s", out)
        self.assertFalse(os.path.exists(plot))
        self.tabi("run", "--resume", log, "--time", "0.2")

    def test_log_not_writable(self):
        path = self.file("s.yaml", BOX)
        _, err = self.tabi("run", path, "--csv", self.folder, code=1)
        self.assertIn("cannot open: Is a directory", err)

    # trouble

    def test_refused_yaml(self):
        self.refuse("a: &a [x]\nb: *a\n", 1, "anchors not allowed")
        self.refuse("name: !!python/object/apply:os.system [ls]\n", 1, "tags not allowed")
        self.refuse("timestep: 1e-3\nname: x\ntimestep: 1e-3\n", 3, "duplicate key 'timestep' (line 1)")
        self.refuse("contact:\n\tmodel: cone\n", 2, "tabs are not allowed")
        self.refuse("[" * 10000, 1, "depth")
        self.refuse("a:\n" + "- " * 10000 + "x\n", 2, "depth")
        self.refuse("", 1, "file is empty")
        self.refuse(b"\x89PNG\r\n\x1a\n", 1, "not a YAML text file")
        self.refuse("# " + "x" * (9 << 20), 1, "file is 10 MB, limit 8 MB")

    def test_refused_scenes(self):
        for step in ("0", "-1", "nan", "1e9"):
            self.refuse(f"name: x\ntimestep: {step}\n", 2, "timestep must be in [1e-7, 0.1]")
        self.refuse("gravty: [0, 0, 0]\n", 1, "unknown key 'gravty' (did you mean 'gravity'?)")
        self.refuse("connections: [{type: ball, a: x, b: y}]\n", 1,
                    "connection: no link is called 'x'")

    def test_missing_file(self):
        path = self.file("none.yaml")
        self.error("run", path, line=1, says="cannot open", path=path)

    def test_bad_set(self):
        path = self.file("s.yaml", BOX)
        self.error("run", path, "--set", "bodies.bix.mass=3", line=1, path="bodies.bix.mass=3",
                   says="nothing is called 'bix' in 'bodies' (did you mean 'box'?)")
        self.error("run", path, "--set", "bodies.box.mas=3", line=1, path="bodies.box.mas=3",
                   says="body 'box': unknown key 'mas' (did you mean 'mass'?)")
        self.error("run", path, "--set", "timestep=0", line=1, path="timestep=0",
                   says="timestep must be in [1e-7, 0.1]")

    def test_usage(self):
        path = self.file("s.yaml", BOX)
        for args, says in ((["run"], "SCENE is missing"),
                           (["run", path, "--contact", "kone"], "unknown contact method 'kone'"),
                           (["run", path, "--integrator", "x"], "unknown integrator 'x'"),
                           (["run", path, "--dt", "soon"], "--dt needs a number of seconds"),
                           (["run", path, "--time", "-1"], "--time needs a number of seconds"),
                           (["run", path, "--set", "x"], "--set needs path=value"),
                           (["run", path, "--json", "--json"], "--json is given twice")):
            _, err = self.tabi(*args, code=2)
            self.assertIn(says, err)

    def test_diverged(self):
        path = self.file("s.yaml", BOX)
        _, err = self.tabi("run", path, "--json", "--set", "bodies.box.mass=1e-3", "--set",
                           "forces=[{body: box, force: [1e18, 0, 0], from: 0.1}]", code=4)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(f"{path}:1: error: ", err)

    def test_capacity(self):
        path = self.file("s.yaml", BOX)
        _, err = self.tabi("run", path, "--set", "contact.max_contacts=1", code=4)
        self.assertIn(f"{path}:1: error: ", err)

    # physics that a user would try first

    def test_incline_holds(self):
        r = self.json("run", scene("incline"), "--time", "3", "--json")
        speed = max(abs(v) for v in r["bodies"]["box"]["lin"])
        self.assertLess(speed, 1e-9)

    def test_incline_slides(self):
        r = self.json("run", scene("incline"), "--time", "1", "--json", "--set",
                      "materials.wood.friction=0.3")
        x, _, z = r["bodies"]["box"]["lin"]
        self.assertAlmostEqual((x * x + z * z) ** 0.5, 2.356287, 6)


if __name__ == "__main__":
    main()
