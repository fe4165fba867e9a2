"""tabi try: a robot on a floor, its table and JSON, the scene that it writes, and exit codes."""

import os

from command import Case, EXTRA, FolderCase, MODELS, main

MASS = "<inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01'/></inertial>"

# a table: it stands by itself
TABLE = ("<robot name='t'><link name='top'>" + MASS + "<collision><geometry><box size='0.4 0.4 0.1'/>"
         "</geometry></collision></link></robot>")

# a pole on a point, with nothing that holds it
POLE = ("<robot name='p'><link name='pole'>" + MASS + "<collision><origin xyz='0.01 0 -0.5'/><geometry>"
        "<sphere radius='0.02'/></geometry></collision></link></robot>")

# keyframes, one of the usual name, and an actuator
CRANK = """<mujoco><worldbody><body name='b' pos='0 0 1'><joint name='j' axis='0 1 0' damping='1'/>
<geom type='box' size='0.1 0.02 0.02' pos='0.1 0 0' mass='1'/></body></worldbody>
<actuator><position name='p' joint='j' kp='500' kv='20'/></actuator>
<keyframe><key name='down' qpos='1'/><key name='home' qpos='0.5'/></keyframe></mujoco>"""

# four bars whose first joint starts outside its limits
LOOP = """<mujoco><compiler angle='radian'/><default><geom type='capsule' size='0.02' mass='1' contype='0'
conaffinity='0'/></default><worldbody><body name='a' pos='0 0 1'><joint name='j' axis='0 1 0' range='0.3 1'/>
<geom fromto='0 0 0 0 0 0.4'/><body name='b' pos='0 0 0.4'><joint name='k' axis='0 1 0'/><geom fromto='0 0 0 0.5 0 0'/>
<site name='end' pos='0.5 0 0'/></body></body><body name='c' pos='0.5 0 1'><joint name='l' axis='0 1 0'/>
<geom fromto='0 0 0 0 0 0.4'/><site name='top' pos='0 0 0.4'/></body></worldbody>
<equality><connect site1='end' site2='top'/></equality></mujoco>"""

# a bar on a hinge, what hangs from it, and its motor: 4.9 N m hold it against gravity
WEAK = """<mujoco><compiler angle='radian'/><worldbody><geom type='sphere' size='0.1' pos='0 5 0'/><body name='b' pos='0 0 3'><joint name='j' axis='0 1 0' damping='1'/>
<geom type='box' size='0.5 0.02 0.02' pos='0.5 0 0' mass='1'/>%s</body></worldbody>
<actuator><motor joint='j' %s/></actuator></mujoco>"""

# a gripper whose drive weighs nothing beside the fingers that follow it
GRIPPER = ("<robot name='g'><link name='palm'>" + MASS + "</link><link name='drive'><inertial><mass value='1e-6'/>"
           "<inertia ixx='1e-9' iyy='1e-9' izz='1e-9'/></inertial></link>"
           "<joint name='d' type='revolute'><parent link='palm'/><child link='drive'/><axis xyz='0 1 0'/>"
           "<limit lower='-1' upper='1' effort='10' velocity='1'/></joint>" + "".join(
               f"<link name='f{i}'><inertial><origin xyz='0.1 0 0'/><mass value='0.2'/><inertia ixx='1e-4' iyy='1e-4' "
               f"izz='1e-4'/></inertial></link><joint name='j{i}' type='revolute'><parent link='palm'/><child link='f{i}'/>"
               f"<axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='10' velocity='1'/>"
               f"<mimic joint='{leader}'/></joint>" for i, leader in enumerate(["d", "j0"])) + "</robot>")

# a pole on a flat foot: gravity takes 19.62 N m/rad from its servo
ANKLE = """<mujoco><compiler angle='radian'/><worldbody><geom type='plane' size='9 9 1'/><body name='foot' pos='0 0 0.02'>
<freejoint/><geom type='box' size='0.3 0.3 0.02' mass='5'/><body name='pole'><joint name='ankle' axis='0 1 0' damping='1'/>
<geom type='sphere' size='0.05' pos='0 0 1' mass='2'/></body></body></worldbody>
<actuator><position joint='ankle' kp='%s'/></actuator>
<keyframe><key name='home' qpos='0 0 0.02 1 0 0 0 0.02'/></keyframe></mujoco>"""

METHODS = ["cone", "lcp", "exact", "impulse", "penalty"]


class Try(FolderCase):
    def path(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def test_table_stands_under_every_method(self):
        r = self.json("try", self.path("t.urdf", TABLE), "--time", "0.5", "--json")
        self.assertEqual([run["contact"] for run in r["runs"]], METHODS)
        for run in r["runs"]:
            self.assertEqual((run["status"], run["stands"]), ("ok", True), run)
            self.assertAlmostEqual(run["height_start"], 0.05, delta=1e-6)
            self.assertAlmostEqual(run["height_end"], 0.05, delta=1e-4)
            self.assertLess(run["tilt_deg"], 0.1)
        self.assertEqual((r["format"], r["base"], r["dof"]), ("urdf", "free", 6))
        self.assertEqual((r["gains"], r["keyframe"], r["repairs"]), ("auto", None, []))

    def test_pole_falls(self):
        r = self.json("try", self.path("p.urdf", POLE), "--contact", "cone", "--json", "--time", "2",
                      code=5)
        self.assertFalse(r["runs"][0]["stands"])
        out, _ = self.tabi("try", self.path("p.urdf", POLE), "--contact", "cone", code=5)
        self.assertIn("NO", out)

    def test_keyframe_and_actuator(self):
        path = self.path("c.xml", CRANK)
        r = self.json("try", path, "--contact", "cone", "--time", "1", "--json")
        self.assertEqual((r["keyframe"], r["gains"], r["base"]), ("home", "file", "fixed"))
        self.assertTrue(r["runs"][0]["stands"])
        r = self.json("try", path, "--contact", "cone", "--keyframe", "down", "--time", "1", "--json")
        self.assertEqual(r["keyframe"], "down")
        _, err = self.tabi("try", path, "--keyframe", "up", code=2)
        self.assertIn("no keyframe is called 'up'; its file has: down, home", err)

    def test_says_why(self):
        r = self.json("try", self.path("p.urdf", POLE), "--contact", "cone", "--json", "--time", "2", code=5)
        self.assertEqual(r["runs"][0]["why"], "cannot hold itself: it fell; it stood on a point")
        r = self.json("try", self.path("t.urdf", TABLE), "--contact", "cone", "--json", "--time", "0.1")
        self.assertIsNone(r["runs"][0]["why"])

    def why(self, name, text, code=5):
        r = self.json("try", self.path(name, text), "--contact", "cone", "--json", "--time", "2", code=code)
        return r["runs"][0]["why"]

    def test_says_what_it_stood_on(self):
        def stool(*feet):
            return ("<robot name='s'><link name='s'>" + MASS + "".join(
                f"<collision><origin xyz='{at}'/><geometry><sphere radius='0.02'/></geometry></collision>"
                for at in feet) + "</link></robot>")

        self.assertEqual(self.why("two.urdf", stool("0.01 -.2 -1", "0.01 .2 -1")),
                         "cannot hold itself: it fell; it stood on a line")
        self.assertEqual(self.why("aside.urdf", stool("0.07 -.2 -1", "0.07 .2 -1", "0.5 0 -1")),
                         "cannot hold itself: it fell; its centre of mass was 0.07 m outside what it stood on")
        self.assertIsNone(self.why("three.urdf", stool("-.2 -.2 -1", "-.2 .2 -1", "0.5 0 -1"), code=0))

    def test_says_which_joint_is_not_held(self):
        self.assertIn("j' went", self.why("weak.xml", WEAK % ("", "gear='1' ctrlrange='-2 2'")))
        self.assertIn("; its motor gives all it has, 2 N m", self.why("weak.xml", WEAK % ("", "gear='1' ctrlrange='-2 2'")))
        self.assertIsNone(self.why("strong.xml", WEAK % ("", "gear='1' ctrlrange='-40 40'"), code=0))
        loose = "<body pos='0.5 0 0'><joint name='k' axis='0 1 0'/><geom type='box' size='.1 .02 .02' pos='.1 0 0' mass='1'/></body>"
        self.assertIn("k' went", self.why("loose.xml", WEAK % (loose, "")))
        self.assertIn("; nothing drives it", self.why("loose.xml", WEAK % (loose, "")))

    def test_says_that_servos_are_too_soft(self):
        self.assertIn("; its servos are too soft to keep it from tipping over", self.why("soft.xml", ANKLE % 12))
        self.assertIsNone(self.why("stiff.xml", ANKLE % 40, code=0))

    def test_says_what_pushes_from_the_start(self):
        """Overlaps and couplings are closed, whatever springs and dampers say: the start is to blame for that energy."""
        self.assertIn("; it starts with 'robot/b' 50 mm inside 'the world'", self.why("deep.xml", """<mujoco><worldbody>
<geom type='plane' size='1 1 1'/><body name='b' pos='0 0 0.05'><joint name='z' type='slide' axis='0 0 1' damping='5000'/>
<geom size='0.1' mass='1'/></body></worldbody><actuator><position joint='z' kp='10'/></actuator></mujoco>"""))
        self.assertIn("; it starts with joint 'robot/j' 0.2 beside its coupling", self.why("coupled.xml", """<mujoco>
<compiler angle='radian'/><worldbody><geom size='0.1' pos='0 5 0'/><body name='a' pos='0 0 1'><joint name='j' axis='0 1 0'
stiffness='100' damping='1'/><geom size='.1' mass='1'/></body><body name='b' pos='1 0 1'><joint name='k' axis='0 1 0'/>
<geom size='.1' mass='1'/></body></worldbody><equality><joint joint1='j' joint2='k'/></equality><actuator><position joint='k'
kp='500' kv='20'/></actuator><keyframe><key name='home' qpos='0 0.2' ctrl='0.2'/></keyframe></mujoco>"""))
        self.assertIn("; it starts with tendon 'robot/t' 0.1 beyond its limit", self.why("taut.xml", """<mujoco><worldbody>
<body name='a' pos='0 0 1'><joint name='z' type='slide' axis='0 0 1' damping='5000'/><geom size='.1' mass='1'/></body>
</worldbody><tendon><fixed name='t' limited='true' range='0.1 1'><joint joint='z' coef='1'/></fixed></tendon>
<actuator><position joint='z' kp='10'/></actuator></mujoco>"""))

    def test_a_thing_beside_the_robot_may_fall(self):
        text = (WEAK % ("", "")).replace("</worldbody>", """<body pos='3 0 2'><joint name='z' type='slide' axis='0 0 1'/>
<geom type='sphere' size='0.1' mass='1'/></body></worldbody>""")
        self.assertIsNone(self.why("beside.xml", text, code=0))
        self.assertIn("; nothing drives it", self.why("tied.xml", text.replace(
            "<actuator>", "<equality><connect body1='b' body2='world' anchor='0 0 0'/></equality><actuator>")))

    def test_gains_carry_what_is_coupled(self):
        r = self.json("try", self.path("g.urdf", GRIPPER), "--base", "fixed", "--contact", "cone", "--json")
        self.assertTrue(r["runs"][0]["stands"], r["runs"][0]["why"])

    def test_hinge_through_a_point(self):
        """Rounding is no inertia: a point on the axis of a hinge gets some, instead of diverging."""
        text = ("<robot name='r'><link name='base'/><link name='b'>" + MASS + "</link><link name='p'><inertial><mass value='0.1'/>"
                "<inertia ixx='0' iyy='0' izz='0'/></inertial></link><joint name='i' type='continuous'><parent link='base'/>"
                "<child link='b'/><origin rpy='0.3 0.7 0.1'/></joint><joint name='j' type='continuous'><parent link='b'/>"
                "<child link='p'/><origin xyz='.177 0 0' rpy='3.141592653 0 1.570796325'/><axis xyz='0 0 1'/></joint></robot>")
        r = self.json("try", self.path("p.urdf", text), "--contact", "cone", "--json", "--time", "0.5")
        self.assertIn("mass without inertia", " ".join(w["message"] for w in r["warnings"]))

    def test_closes_connections(self):
        """A limit moves a joint of a closed chain: the others follow, or it would be torn."""
        r = self.json("try", self.path("loop.xml", LOOP), "--contact", "cone", "--time", "0.5", "--json")
        self.assertTrue(r["runs"][0]["stands"], r["runs"][0])
        scene = os.path.join(self.folder, "loop.yaml")
        self.tabi("try", self.path("loop.xml", LOOP), "--contact", "cone", "--time", "0.01", "--scene", scene)
        _, err = self.tabi("run", scene)
        self.assertNotIn("is open by", err)
        key = LOOP.replace("</mujoco>", "<keyframe><key name='home' qpos='0.5 0 0'/></keyframe></mujoco>")
        r = self.json("try", self.path("key.xml", key), "--contact", "cone", "--time", "0.5", "--json")
        self.assertEqual((r["keyframe"], r["runs"][0]["stands"]), ("home", True), r["runs"][0])

    def test_couplings_of_tendons(self):
        """An equality of tendons couples no joints."""
        text = CRANK.replace("<actuator>", "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>"
                             "<equality><tendon tendon1='t' polycoef='0.5'/></equality><actuator>")
        r = self.json("try", self.path("c.xml", text), "--contact", "cone", "--time", "0.5", "--json")
        self.assertTrue(r["runs"][0]["stands"])

    def test_scene_runs_alike(self):
        scene = os.path.join(self.folder, "made.yaml")
        robot = self.path("c.xml", CRANK)
        self.tabi("try", robot, "--contact", "exact", "--time", "0.2", "--scene", scene)
        r = self.json("run", scene, "--json")
        self.assertEqual((r["contact"], r["steps"]), ("exact", 200))
        again = self.json("try", robot, "--contact", "exact", "--time", "0.2", "--json")
        self.assertEqual(r["checks"]["energy_gain"], again["runs"][0]["energy_gain"])

    def test_starts_within_limits(self):
        arm = ("<robot name='a'><link name='a'>" + MASS + "</link><link name='b'>" + MASS + "</link>"
               "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/>"
               "<limit lower='0.4' upper='1' effort='50' velocity='9'/></joint></robot>")
        scene = os.path.join(self.folder, "made.yaml")
        r = self.json("try", self.path("a.urdf", arm), "--base", "fixed", "--contact", "cone", "--time", "1",
                      "--scene", scene, "--json")
        self.assertTrue(r["runs"][0]["stands"])
        self.assertLess(r["runs"][0]["energy_gain"], 1e-6)
        with open(scene, encoding="utf-8") as made:
            self.assertIn('"j": 0.41', made.read())

    def test_base_of_arm_is_fixed_and_of_biped_free(self):
        def box(name, x, y, z, at):
            return (f"<link name='{name}'>" + MASS + f"<collision><origin xyz='{at}'/><geometry>"
                    f"<box size='{x} {y} {z}'/></geometry></collision></link>")

        def joint(name, parent, child, at):
            return (f"<joint name='{name}' type='revolute'><parent link='{parent}'/><child link='{child}'/>"
                    f"<origin xyz='{at}'/><axis xyz='0 1 0'/>"
                    "<limit lower='-1' upper='1' effort='90' velocity='9'/></joint>\n")

        arm = ("<robot name='a'>\n" + box("foot", .3, .3, .1, "0 0 .05") + box("upper", .1, .1, .4, "0 0 .3") +
               joint("shoulder", "foot", "upper", "0 0 .1") + "</robot>")
        # a gripper whose fingers hang to the height of the foot is no pair of legs
        hand = (arm.replace("</robot>", "") + box("wrist", .5, .1, .1, ".25 0 .5").replace("value='1'", "value='.1'") +
                joint("elbow", "upper", "wrist", "0 0 .1") +
                box("left", .1, .1, .5, ".5 .1 0").replace("value='1'", "value='.1'") +
                box("right", .1, .1, .5, ".5 -.1 0").replace("value='1'", "value='.1'") +
                joint("l", "wrist", "left", "0 0 0.05") + joint("r", "wrist", "right", "0 0 .05") + "</robot>")
        biped = ("<robot name='b'>\n" + box("trunk", .2, .4, .2, "0 0 0") + box("left", .3, .1, .4, "0 0 -.2") +
                 box("right", .3, .1, .4, "0 0 -.2") + joint("l", "trunk", "left", "0 .15 -.1") +
                 joint("r", "trunk", "right", "0 -.15 -.1") + "</robot>")
        ahead = biped.replace("xyz='0 0 0'", "xyz='3 0 0'").replace("<inertial>", "<inertial><origin xyz='2 0 0'/>")
        bare = arm.replace("collision", "visual")
        bolted = biped.replace("<robot name='b'>", "<robot name='b'>" + box("world", .1, .1, .1, "0 0 0") +
                               joint("w", "world", "trunk", "0 0 0"))
        for name, text, base, why in (
                ("arm", arm, "fixed", "it has no two limbs that reach the ground"),
                ("hand", hand, "fixed", "it has no two limbs that reach the ground"),
                ("bolted", bolted, "fixed", "its root is called 'world'"),
                ("biped", biped, "free", "it stands on two limbs or more"),
                ("ahead", ahead, "fixed", "its centre of mass is not above what reaches the ground"),
                ("bare", bare, "fixed", "none of its shapes collides")):
            with self.subTest(name):
                path = self.path(name + ".urdf", text)
                r = self.json("try", path, "--contact", "cone", "--time", "0.5", "--json")
                self.assertEqual((r["base"], r["base_why"]), (base, why))
                self.assertTrue(r["runs"][0]["stands"])
        path = self.path("arm.urdf", arm)
        r = self.json("try", path, "--base", "free", "--contact", "cone", "--time", "0.1", "--json")
        self.assertEqual((r["base"], r["base_why"]), ("free", "as asked"))
        out, _ = self.tabi("try", path, "--contact", "cone", "--time", "0.1")
        self.assertIn("base fixed: it has no two limbs that reach the ground; --base free to change", out)

    def test_replay(self):
        html = os.path.join(self.folder, "t.html")
        self.tabi("try", self.path("t.urdf", TABLE), "--time", "0.1", "--contact", "cone", "--html", html)
        self.assertGreater(os.path.getsize(html), 1000)

    def test_no_robot(self):
        _, err = self.tabi("try", self.path("e.xml", "<mujoco><worldbody/></mujoco>"), code=3)
        self.assertIn("there is no robot in it", err)

    def test_usage(self):
        robot = self.path("t.urdf", TABLE)
        _, err = self.tabi("try", robot, "--contact", "cone,magic", code=2)
        self.assertIn("unknown contact method 'magic'", err)
        self.tabi("try", robot, "--contact", "gait", code=2)
        self.tabi("try", robot, "--time", "0", code=2)
        self.tabi("try", robot, "--base", "loose", code=2)
        self.tabi("try", os.path.join(self.folder, "nothing.urdf"), code=3)
        self.tabi("try", self.path("bad.urdf", "<robot name='x'><link/></robot>"), code=3)


class Shipped(Case):
    def test_humanoid_stands(self):
        short = os.environ.get("TABI_SANITIZE")
        r = self.json("try", os.path.join(MODELS, "humanoid36.urdf"), "--json", "--time",
                      "0.5" if short else "5")
        self.assertEqual(r["gains"], "auto")
        for run in r["runs"]:
            self.assertTrue(run["stands"], run)
            self.assertLess(run["tilt_deg"], 5, run)


class Published(Case):
    def test_robots_stand(self):
        for name in ("unitree_g1/scene.xml", "unitree_go1/scene.xml", "icub/iCubGazeboV2_5.urdf",
                     "hyq_description/robots/hyq_no_sensors.urdf", "kuka_iiwa_14/scene.xml",
                     "agility_cassie/scene.xml", "pal_talos/scene_motor.xml"):
            path = os.path.join(EXTRA, "robots", name)
            if not EXTRA or not os.path.exists(path):
                self.skipTest("skipped: no robots beside the project")
            with self.subTest(name):
                r = self.json("try", path, "--contact", "cone,exact", "--json", "--time", "1",
                              "--package-path", os.path.join(EXTRA, "robots"))
                for run in r["runs"]:
                    self.assertTrue(run["stands"], run)
                    self.assertLess(run["energy_gain"], 1e-3, run)
                    peak = run["torque_peak"]
                    if peak:
                        self.assertLessEqual(abs(peak["value"]), peak["limit"] * (1 + 1e-12), run)


if __name__ == "__main__":
    main()
