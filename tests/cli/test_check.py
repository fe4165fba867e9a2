"""tabi check: every kind of finding, with its line, and the exit codes."""

import os
import re

from command import Case, MODELS, data, main

# line, severity, part of the message: what is wrong in data/doubtful.urdf
EXPECTED = [
    (3, "problem", "link 'trunk': inertia is exactly 1 1 1, a placeholder"),
    (3, "problem", "link 'trunk': is 0.03 m inside link 'hammer' in the initial state"),
    (10, "problem", "link 'left_arm': smallest principal moment"),
    (10, "advice", "link 'left_arm': centre of mass is 1.4"),
    (10, "advice", "link 'left_arm': mass is 2 kg, but 'right_arm' has 0.002 kg"),
    (18, "problem", "joint 'left_shoulder': limit 90 rad"),
    (18, "advice", "joint 'left_shoulder': effort limit is 0"),
    (18, "advice", "joint 'left_shoulder': velocity limit is 0"),
    (22, "advice", "link 'right_arm': inertia is that of an infinitely thin plate"),
    (22, "problem", "link 'right_arm': 0.002 kg carry 20000 kg of link 'hammer'"),
    (29, "advice", "joint 'right_shoulder': initial position 0 is outside the limits [0.26, 1.4]"),
    (33, "problem", "link 'hammer': mass is 20000 kg"),
    (40, "advice", "joint 'wrist': has no effort limit"),
    (43, "advice", "link 'antenna': ends a limb but has no collision shape"),
    (49, "problem", "joint 'antenna_joint': moves only 0.0001 kg"),
    (49, "problem", "joint 'antenna_joint': turns only 1e-10 kg m^2"),
    (49, "advice", "joint 'antenna_joint': lower and upper are both 0"),
    (53, "problem", "link 'pack': inertia is far too large (radius of gyration 2 m"),
    (60, "advice", "link 'battery': has a mass of 1 kg but no inertia"),
]


class Check(Case):
    def test_clean_model(self):
        out, err = self.tabi("check", data("walker.urdf"))
        self.assertEqual(out, data("walker.urdf") + ": no findings\n")
        self.assertEqual(err, "")
        r = self.json("check", data("walker.urdf"), "--json")
        self.assertEqual((r["ok"], r["findings"], r["warnings"]), (True, [], []))

    def test_every_finding(self):
        r = self.json("check", data("doubtful.urdf"), "--json", code=5)
        self.assertFalse(r["ok"])
        found = [(f["line"], f["severity"], f["message"]) for f in r["findings"]]
        for line, severity, text in EXPECTED:
            self.assertTrue(any(f[:2] == (line, severity) and text in f[2] for f in found),
                            f"{line} {severity} {text} not in\n" + "\n".join(map(str, found)))
        self.assertEqual(len(found), len(EXPECTED), "\n".join(map(str, found)))
        self.assertEqual(r["problems"] + r["advice"], len(found))

    def test_text(self):
        path = data("doubtful.urdf")
        out, _ = self.tabi("check", path, code=5)
        lines = out.splitlines()
        for line in lines[:-1]:
            self.assertRegex(line, "^" + re.escape(path) + r":\d+: (problem|advice): (link|joint) ")
        self.assertEqual(lines[-1], path + ": 9 problems, 10 pieces of advice")

    def test_shipped_humanoid_is_clean(self):
        for name in ("humanoid36.urdf", "humanoid36_parallel.urdf"):
            out, _ = self.tabi("check", os.path.join(MODELS, name))
            self.assertIn("no findings", out)


if __name__ == "__main__":
    main()
