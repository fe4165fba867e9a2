"""tabi check: every kind of finding, with its line, and the exit codes."""

import os
import re

from command import Case, EXTRA, MODELS, data, main

# line, severity, part of the message: what is wrong in data/doubtful.urdf
EXPECTED = [
    (3, "warning", "link 'trunk': inertia is exactly 1 1 1, a placeholder"),
    (3, "note", "link 'trunk': is 0.03 m inside link 'hammer' in the initial state"),
    (10, "warning", "link 'left_arm': smallest principal moment"),
    (10, "note", "link 'left_arm': centre of mass is 1.4"),
    (10, "note", "link 'left_arm': mass is 2 kg, but 'right_arm' has 0.002 kg"),
    (18, "warning", "joint 'left_shoulder': limit 90 rad"),
    (18, "note", "joint 'left_shoulder': effort limit is 0"),
    (18, "note", "joint 'left_shoulder': velocity limit is 0"),
    (22, "note", "link 'right_arm': inertia is that of an infinitely thin plate"),
    (22, "warning", "link 'right_arm': 0.002 kg carry 20000 kg of link 'hammer'"),
    (29, "note", "joint 'right_shoulder': initial position 0 is outside the limits [0.26, 1.4]"),
    (33, "warning", "link 'hammer': mass is 20000 kg"),
    (40, "note", "joint 'wrist': has no effort limit"),
    (43, "note", "link 'antenna': ends a limb but has no collision shape"),
    (49, "warning", "joint 'antenna_joint': moves only 0.0001 kg"),
    (49, "warning", "joint 'antenna_joint': turns only 1e-10 kg m^2"),
    (49, "note", "joint 'antenna_joint': lower and upper are both 0"),
    (53, "warning", "link 'pack': inertia is far too large (radius of gyration 2 m"),
    (60, "note", "link 'battery': has a mass of 1 kg but no inertia"),
]


class Check(Case):
    def test_clean_model(self):
        out, err = self.tabi("check", data("walker.urdf"))
        self.assertEqual(out, data("walker.urdf") + ": no findings\n")
        self.assertEqual(err, "")
        r = self.json("check", data("walker.urdf"), "--json")
        self.assertEqual((r["ok"], r["findings"], r["warnings"]), (True, [], []))

    def test_self_collision(self):
        out = self.json("check", data("walker.urdf"), "--self-collision", "--json")
        told = [f["message"] for f in out["findings"]]
        self.assertTrue(told)
        for message in told:
            self.assertRegex(message, "^'.*' and '.*' (overlap or touch|are joined|never meet|met in none)")

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
        form = "^" + re.escape(path) + r":(\d+): (warning|note): (?:link|joint) "
        order = []
        for line in lines[:-1]:
            found = re.match(form, line)
            self.assertTrue(found, line)
            order.append((found[2] == "note", int(found[1])))
        self.assertEqual(order, sorted(order))
        warnings = sum(not note for note, _ in order)
        self.assertEqual(lines[-1], f"{path}: {warnings} warnings, {len(order) - warnings} notes")

    def test_project_is_a_scene(self):
        project = os.path.join(EXTRA, "robots", "openhrp3", "project", "closedLink.xml")
        if not EXTRA or not os.path.exists(project):
            self.skipTest("without extra data")
        out, _ = self.tabi("check", project)
        self.assertIn("closedLink.xml: ", out.splitlines()[-1])
        self.error("info", project, line=1, path=project, says="this is a scene; use tabi run")

    def test_shipped_humanoid_is_clean(self):
        for name in ("humanoid36.urdf", "humanoid36_parallel.urdf"):
            out, _ = self.tabi("check", os.path.join(MODELS, name))
            self.assertIn("no findings", out)


if __name__ == "__main__":
    main()
