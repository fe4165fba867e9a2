#!/usr/bin/env python3
"""Controllers from shared objects: the example moves the arms as it says, options and names that are
wrong are told with their line, and so is what is wrong with the object itself."""

import csv
import math
import os
import shutil
import signal
import tempfile

from command import HERE, Case, main

EXAMPLE = os.path.join(HERE, "..", "..", "examples", "plugin")
SWING = os.environ["SWING"]
BROKEN = os.environ["BROKEN"]
CONTROLLER = "robots.robot.controller"

ARM = """<robot name='arm'><link name='upper'/>
<link name='lower'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>
<joint name='l_shoulder_pitch' type='continuous'><parent link='upper'/><child link='lower'/>
<axis xyz='0 1 0'/></joint></robot>
"""


class Plugin(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as to:
            to.write(text)
        return path

    def scene(self, controller):
        self.file("arm.urdf", ARM)
        return self.file("s.yaml", "robots:\n  - {name: r, model: arm.urdf, base: fixed,\n"
                                   f"     controller: {{{controller}}}}}\n")

    def refuse(self, controller, says, line=3):
        path = self.scene(controller)
        self.error("run", path, line=line, path=path, says=says)

    def test_example_swings(self):
        """Shoulders go along a sine, in opposite directions, and the robot stands."""
        log = os.path.join(self.folder.name, "log.csv")
        result = self.json("run", os.path.join(EXAMPLE, "swing.yaml"), "--json", "--time", "1",
                           "--csv", log, "--set", f"{CONTROLLER}.file={SWING}", "--set",
                           f"{CONTROLLER}.swing=0.3", "--set", f"{CONTROLLER}.period=0.8")
        self.assertFalse(result["fell"])
        with open(log, encoding="utf-8", newline="") as of:
            rows = list(csv.DictReader(of))
        names = [[n for n in rows[0] if f"{s}_shoulder_pitch" in n and n.endswith("q")][0]
                 for s in "lr"]
        highest = 0
        for row in rows:
            left, right = (float(row[n]) for n in names)
            wanted = 0.3 * math.sin(2 * math.pi * float(row["time"]) / 0.8)
            self.assertAlmostEqual(left, wanted, delta=0.03)
            self.assertAlmostEqual(right, -wanted, delta=0.03)
            highest = max(highest, left)
        self.assertGreater(highest, 0.25)

    def test_log_without_object(self):
        """A log is read without the code that it names, which may be anyone's; to go on needs it."""
        swing = os.path.join(self.folder.name, "swing.so")
        shutil.copy(SWING, swing)
        log, page, table = (os.path.join(self.folder.name, n) for n in ("l.tabi", "p.html", "t.csv"))
        self.tabi("run", os.path.join(EXAMPLE, "swing.yaml"), "--time", "0.05", "--log", log, "--set",
                  f"{CONTROLLER}.file={swing}")
        self.file("swing.so", "no object\n")
        self.assertIn("robot/l_shoulder_pitch.q", self.tabi("plot", log, "--list")[0])
        self.tabi("export", log, "-o", table, "--signals", "com")
        self.tabi("view", log, "--html", page)
        self.tabi("compare", log, log, "--html", page)
        self.error("run", "--resume", log, "--time", "0.06", line=1,
                   path=f"{CONTROLLER}.file={swing}", says="swing.so' cannot be loaded")

    def test_options(self):
        """A number that is none, a key that nobody asks for, a joint that is not there."""
        plugin = f"type: plugin, file: '{SWING}'"
        self.refuse(f"{plugin}, swing: much", "controller: swing 'much' is not a number")
        self.refuse(f"{plugin}, swing: [1, 2]", "controller: swing must be a single value")
        self.refuse(plugin, "no joint is called 'r_shoulder_pitch' (did you mean "
                            "'l_shoulder_pitch'?)")
        self.error("run", os.path.join(EXAMPLE, "swing.yaml"), "--set",
                   f"{CONTROLLER}.file={SWING}", "--set", f"{CONTROLLER}.speed=3", line=1,
                   path=f"{CONTROLLER}.speed=3", says="unknown key 'speed': the plugin does not ask")

    def test_file(self):
        self.refuse("type: plugin, file: ./none.so", "none.so' cannot be read; it is looked for")
        text = self.file("text.so", "no object\n")
        self.refuse("type: plugin, file: text.so", f"file '{text}' cannot be loaded: ")
        self.refuse("type: plugin", "file is missing: a shared object")

    def test_broken(self):
        for name, says in (("symbol", "is no plugin: it does not export tabi_plugin"),
                           ("version", "is a plugin of version 9999, and this tabi needs 2; compile"),
                           ("lacks", "tabi_plugin lacks create, update or destroy"),
                           ("fails", "robot 'r': controller: the moon is full"),
                           ("silent", "robot 'r': controller: it could not be made"),
                           ("undefined", "tabi_does_not_exist")):
            with self.subTest(name):
                path = os.path.join(BROKEN, f"{name}.so")
                self.refuse(f"type: plugin, file: '{path}'", says)

    def test_failed_assertion(self):
        """A bug ends the command with one line that can be reported."""
        path = self.scene(f"type: plugin, file: '{os.path.join(BROKEN, 'asserts.so')}'")
        _, err = self.tabi("run", path, code=-signal.SIGABRT)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("tabi: internal error: model.c:42: 0 <= joint; please report", err)


if __name__ == "__main__":
    main()
