"""tabi dynamics: the form of its JSON, states by name, bad states."""

import json
import math
import os
import tempfile

from command import Case, data, main

WALKER = data("walker.urdf")
BODIES = data("bodies.xml")
KEYS = ["mass", "com", "kinetic", "potential", "dofs", "M", "bias", "qdd", "links"]
BASE = ["base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz"]


class Dynamics(Case):
    def state(self, model, state, *args):
        text = state if isinstance(state, str) else json.dumps(state)
        return self.json("dynamics", model, "--state", "-", *args, stdin=text)

    def near(self, a, b, tolerance=1e-12):
        self.assertEqual(len(a), len(b))
        for x, y in zip(a, b):
            self.assertLessEqual(abs(x - y), tolerance, (a, b))

    def bad(self, state, line, says, model=WALKER, args=()):
        self.error("dynamics", model, "--state", "-", *args, stdin=state, line=line, says=says)

    def test_tendons(self):
        """A path over a drum of 0.1 m: the arm is its radius, whatever the posture."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "drum.xml")
            with open(path, "w", encoding="utf-8") as f:
                f.write("""<mujoco><worldbody><site name="s" pos="-1 0 0"/><geom name="drum" type="cylinder" size="0.1 1"
                    euler="90 0 0"/><site name="over" pos="0 0 1"/><body name="b"><joint name="j" axis="0 1 0"/>
                    <geom type="capsule" fromto="0 0 0 1 0 0" size="0.05"/><site name="t" pos="1 0 0"/></body></worldbody>
                    <tendon><spatial name="rope"><site site="s"/><geom geom="drum" sidesite="over"/><site site="t"/>
                    </spatial></tendon></mujoco>""")
            r = self.state(path, {"q": {"j": 0.3}, "v": {"j": 2}})
        rope = r["tendons"][0]
        self.assertEqual(list(rope), ["name", "length", "rate", "arms"])
        self.assertEqual(rope["name"], "rope")
        straight = (1 - 0.01) ** 0.5
        self.assertAlmostEqual(rope["length"], 2 * straight + 0.1 * (math.pi + 0.3 - 2 * math.acos(0.1)), 12)
        self.near(rope["arms"], [0.1])
        self.assertAlmostEqual(rope["rate"], 0.2, 12)

    def test_keys_and_sizes(self):
        r = self.json("dynamics", WALKER)
        self.assertEqual(list(r), KEYS)
        self.assertEqual(r["dofs"], BASE + ["hip", "knee"])
        self.assertEqual([len(row) for row in r["M"]], [8] * 8)
        self.assertEqual(len(r["bias"]), 8)
        self.assertEqual(len(r["qdd"]), 8)
        self.assertEqual(list(r["links"]), ["trunk", "thigh", "shin", "toe"])
        self.near(r["links"]["toe"]["pos"], [0.1, 0, -0.65])
        self.assertAlmostEqual(r["mass"], 11, 12)
        self.near(r["qdd"], [0, 0, -9.81, 0, 0, 0, 0, 0])
        self.assertAlmostEqual(r["M"][0][0], 11, 12)
        self.assertEqual(self.json("dynamics", WALKER, "--json"), r)

    def test_seventeen_digits(self):
        out, _ = self.tabi("dynamics", WALKER, "--state", "-", stdin='{"base":{"pos":[0.1,0,0]}}')
        self.assertIn("0.10000000000000001", out)

    def test_fixed_base_is_placed(self):
        state = {"base": {"pos": [1, 2, 3], "quat": [0, 0, 0, 1], "lin": [0, 0, 0]}}
        r = self.state(WALKER, state, "--base", "fixed")
        self.assertEqual(r["dofs"], ["hip", "knee"])
        self.near(r["links"]["toe"]["pos"], [0.9, 2, 2.35])
        self.near(r["links"]["trunk"]["pos"], [1, 2, 3])
        self.assertAlmostEqual(r["mass"], 11, 12)

    def test_base_and_joints_by_name(self):
        state = {"base": {"pos": [0, 0, 1], "lin": [0, 0, 2]}, "q": {"knee": 1.5707963267948966},
                 "v": {"hip": 0}, "tau": {"knee": 3}}
        r = self.state(WALKER, state)
        self.near(r["links"]["toe"]["pos"], [-0.3, 0, 1 - 0.05 - 0.3 - 0.1])
        self.assertAlmostEqual(r["kinetic"], 0.5 * 11 * 4, 10)
        # M qdd + bias = tau
        for i, row in enumerate(r["M"]):
            tau = 3 if r["dofs"][i] == "knee" else 0
            self.assertAlmostEqual(sum(m * a for m, a in zip(row, r["qdd"])) + r["bias"][i], tau, 9)

    def test_state_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{\n "q": {\n  "hip": 0.1,\n  "kne": 1\n }\n}\n')
            self.error("dynamics", WALKER, "--state", path, path=path, line=4,
                       says="no joint 'kne'; did you mean 'knee'?")
            self.error("dynamics", WALKER, "--state", path + "x", path=path + "x", line=1,
                       says="cannot open")

    def test_bad_json(self):
        self.bad("", 1, "empty")
        self.bad(" \n", 1, "empty")
        self.bad('{\n"q": {"hip": 1,}}', 2, "JSON")
        self.bad('{"q": {"hip": nan}}', 1, "JSON")
        self.bad('{"q": {"hip": 1e999}}', 1, "JSON")
        self.bad('{"q": {"hip": 1}, "q": {}}', 1, "JSON")
        self.bad("[1]", 1, "must be an object")
        self.bad('{"a\\u0000b": 1}', 1, "JSON")
        self.bad("[" * 100000, 1, "JSON")

    def test_bad_keys(self):
        self.bad('{\n\n"Q": {}}', 3, "unknown key 'Q'; did you mean 'q'?")
        self.bad('{"base":\n{"position": [0, 0, 0]}}', 2, "unknown key 'position' in 'base'")
        self.bad('{"base": {"quad": [1, 0, 0, 0]}}', 1, "did you mean 'quat'?")
        self.bad('{"q": {"toe_mount": 1}}', 1, "is fixed")
        self.bad('{"q": {"base": 1}}', 1, "the base is set by")
        self.bad('{"tau": {"base": [0, 0, 0, 0, 0, 0]}}', 1, "no motor")
        self.bad('{"q": [1]}', 1, "must be an object")
        self.bad('{"v": {"hip":0},\n"tau":\n\n {"x": 1, "hip": 2}}', 4, "no joint 'x'")

    def test_bad_values(self):
        self.bad('{"q": {"hip": "1"}}', 1, "must be a number")
        self.bad('{"q": {"hip": [1]}}', 1, "must be a number")
        self.bad('{"base": {"pos": [0, 0]}}', 1, "array of 3 numbers")
        self.bad('{"base": {"pos": [0, 0, null]}}', 1, "array of 3 numbers")
        self.bad('{"base": {"quat": [0, 0, 0, 0]}}', 1, "zero length")
        self.bad('{"base": {"quat": [1, 1, 0, 0]}}', 1, "length 1.41")
        self.bad('{"base": {"lin": [0, 0, 1]}}', 1, "the base is fixed", args=["--base", "fixed"])
        self.bad('{"v": {"hip": 1e300}}', 1, "not finite")

    def test_rounded_quaternion_is_made_unit(self):
        r = self.state(WALKER, '{"base": {"quat": [0.707, 0.707, 0, 0]}}')
        self.near(r["links"]["trunk"]["quat"], [0.5 ** 0.5, 0.5 ** 0.5, 0, 0])

    def test_mjcf_names(self):
        r = self.json("dynamics", BODIES)
        box = ["box" + name[4:] for name in BASE]
        arm = ["shoulder.x", "shoulder.y", "shoulder.z", "roll", "pitch"]
        self.assertEqual(sorted(r["dofs"]), sorted(BASE + arm + box))
        self.assertEqual(r["dofs"][:6], BASE)
        self.assertEqual(list(r["links"]), ["robot", "arm", "hand", "box"])
        self.assertAlmostEqual(r["qdd"][2], -1.5, 12)

    def test_mjcf_states(self):
        half = 0.5 ** 0.5
        state = {"base": {"pos": [0, 0, 1]},
                 "q": {"shoulder": [half, 0, 0, half], "box": [1, 2, 3, 1, 0, 0, 0]},
                 "v": {"box": [0, 0, 0, 0, 0, 1], "shoulder": [0, 0, 0]},
                 "tau": {"shoulder": [0, 0, 0.1]}}
        r = self.state(BODIES, state)
        self.near(r["links"]["hand"]["pos"], [-0.3, 0.2, 1])
        self.near(r["links"]["box"]["pos"], [1, 2, 3])
        inertia = 2 * (0.2 ** 2 + 0.2 ** 2) / 12
        self.assertAlmostEqual(r["kinetic"], 0.5 * inertia, 12)
        self.bad('{"q": {"shoulder": [1, 0, 0]}}', 1, "array of 4 numbers", model=BODIES)
        self.bad('{"q": {"box": [0, 0, 0]}}', 1, "array of 7 numbers", model=BODIES)
        self.bad('{"tau": {"box": [0, 0, 0, 0, 0, 0]}}', 1, "no motor", model=BODIES)

    def test_german_numbers(self):
        env = dict(os.environ, LC_ALL="de_DE.UTF-8")
        plain, _ = self.tabi("dynamics", WALKER, "--state", "-", stdin='{"q": {"hip": 0.25}}')
        german, _ = self.tabi("dynamics", WALKER, "--state", "-", stdin='{"q": {"hip": 0.25}}',
                              env=env)
        self.assertEqual(plain, german)


if __name__ == "__main__":
    main()
