"""tabi run with contact method gait: the shipped walks, their table, JSON, log and figure."""

import csv
import os
import shutil
import unittest

from command import FolderCase, main, scene

WALK = scene("biped_walk")
LONG = scene("biped_walk_long")
JOINTS = ["left_ankle", "left_knee", "left_hip", "right_hip", "right_knee", "right_ankle", "torso"]


def start(angles):
    """ten times the printed force on the head, from a posture that another program started from"""
    posture = ", ".join(f"{joint}: {angle}" for joint, angle in zip(JOINTS, angles))
    return ["--set", "robots.biped.posture={" + posture + "}", "--set",
            "gait.forces.1.amplitude=[4.9, 48]", "--set", "gait.least_stride=0.1"]


# with the times of the changes of support that it found, s
FIVE = start([-0.094210, -0.525011, 0.168963, 0.636948, -0.472434, 0.064641, -0.25])
SIX = start([-0.15, -0.575579, 0.2, 1, -0.426257, 0.100609, -0.128392])
TIMES = [1.466, 2.620, 3.626, 4.476, 5.214]
TIMES6 = [1.729, 3.014, 4.135, 5.156, 6.098, 6.944]
COARSE = ["--dt", "2e-2"]  # events are located all the same


class Gait(FolderCase):
    def check_times(self, gait, times):
        self.assertEqual(len(gait["steps"]), len(times))
        for step, time in zip(gait["steps"], times):
            self.assertAlmostEqual(step["time"], time, delta=0.02)

    def test_five_steps(self):
        """strides shrink, feet are pressed down less and slip farther; then it is over, in words"""
        r = self.json("run", WALK, *FIVE, "--json")
        gait = r["gait"]
        self.check_times(gait, TIMES)
        for before, after in zip(gait["steps"], gait["steps"][1:]):
            self.assertLess(after["stride"], before["stride"])
            self.assertLess(after["push"], before["push"])
            self.assertGreater(after["slip"], before["slip"])
        self.assertEqual((r["contact"], r["integrator"], r["fell"]), ("gait", "located", True))
        self.assertEqual(gait["outcome"], "landed level with the supporting foot or behind it")
        self.assertAlmostEqual(r["time"], 5.587, delta=0.02)
        self.assertLess(gait["energy_gap"], 1e-6)
        self.assertTrue(0.15 < gait["pulled_share"] < 0.3)
        modes = "".join(event["to"] for event in gait["events"] if event["from"] != event["to"])
        self.assertEqual(modes.replace("2121", "21"), "23" + "4123" * 4 + "412")
        self.assertTrue(all(event["lost"] > -1e-9 for event in gait["events"]))

    def test_six_steps(self):
        gait = self.json("run", WALK, *SIX, *COARSE, "--json")["gait"]
        self.check_times(gait, TIMES6)

    def check_shipped(self, path, outcome):
        """Six steps that get shorter, pressed down less, by soles that never pull: so strict guards
        change nothing."""
        gaits = [self.json("run", path, *COARSE, "--set", "gait.guards=" + guards, "--json")["gait"]
                 for guards in ("paper", "strict")]
        self.assertEqual(*gaits)
        gait = gaits[0]
        self.assertEqual((len(gait["steps"]), gait["outcome"]), (6, outcome))
        for before, after in zip(gait["steps"], gait["steps"][1:]):
            self.assertLess(after["touchdown"], before["touchdown"])
            self.assertGreater(after["slip"], before["slip"])
        self.assertLess(gait["steps"][-1]["push"], 0.3 * gait["steps"][0]["push"])
        for step in gait["steps"]:
            self.assertAlmostEqual(step["touchdown"] + step["slip"], step["stride"], 6)
        self.assertEqual(gait["pulled_share"], 0)
        self.assertLess(gait["energy_gap"], 1e-6)

    def test_shipped_walks(self):
        self.check_shipped(WALK, "landed level with the supporting foot or behind it")
        self.check_shipped(LONG, "fell")

    def test_head_force_as_printed(self):
        gait = self.json("run", WALK, *COARSE, "--set", "gait.forces.1.amplitude=[0.49, 4.8]",
                         "--json")["gait"]
        self.assertEqual((gait["steps"], gait["outcome"]), ([], "fell"))

    def test_table_and_log(self):
        log = self.file("walk.csv")
        out, err = self.tabi("run", WALK, *FIVE, *COARSE, "--time", "1.6", "--csv", log, "--set",
                             "log.every=1")
        self.assertEqual(err, "")
        self.assertIn("gait, located", out)
        self.assertIn("gait          1 step, ongoing in mode 1", out)
        self.assertIn("fell          no", out)
        self.assertRegex(out, r"\n +1 +1\.467\d +1\.467\d +0\.549 +-0\.178 +0\.371 +66\.9\n")
        with open(log) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), 80)
        self.assertEqual({row["gait.mode"] for row in rows} - {"3", "4"}, {"1", "2"})
        self.assertEqual(rows[0]["gait.support"], "biped/left_foot")
        self.assertEqual(rows[-1]["gait.support"], "biped/right_foot")
        for row in rows:
            value = {key: float(row["gait." + key + "_N"])
                     for key in ("heel", "toe", "normal", "friction")}
            load = value["heel"] + value["toe"] + value["normal"]
            self.assertAlmostEqual(load, float(row["ground.fz"]), 4)
            self.assertLessEqual(abs(value["friction"]), 0.5 * value["normal"] + 1e-9)
        # the swinging foot's joints are driven by nothing below the knee
        self.assertAlmostEqual(float(rows[0]["biped/right_ankle.tau"]), 0, 12)
        self.assertGreater(abs(float(rows[0]["biped/left_ankle.tau"])), 50)

    def test_less_friction_slips_farther(self):
        slips = []
        for friction in ("0.5", "0.1"):
            r = self.json("run", WALK, *COARSE, "--time", "1.8", "--set",
                          "gait.friction=" + friction, "--json")
            slips.append(abs(r["gait"]["steps"][0]["slip"]))
        self.assertGreater(slips[1], 2 * slips[0])

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_plot(self):
        plot = self.file("walk.svg")
        _, err = self.tabi("run", WALK, *COARSE, "--time", "0.1", "--plot", plot)
        self.assertEqual(err, "")
        with open(plot) as f:
            text = f.read()
        for words in ("joint torques", "contact mode", "heel lands", "friction", "left_knee"):
            self.assertIn(words, text)
        self.assertIn("</svg>", text)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_over_at_once(self):
        """a robot that falls upwards has no step, but an outcome and a figure"""
        args = ["run", WALK, "--set", "gravity=[0, 0, 9.8]", "--set", "gait.forces=[]"]
        r = self.json(*args, "--plot", self.file("none.svg"), "--json")
        self.assertEqual((r["steps"], r["fell"]), (0, True))
        self.assertEqual(r["gait"]["outcome"], "the supporting foot left the ground")
        self.assertTrue(os.path.getsize(self.file("none.svg")) > 1000)

    def test_needs_a_section(self):
        path = scene("stand")
        self.error("run", path, "--contact", "gait", line=1, path="contact.model=gait",
                   says="model gait needs a section 'gait:' with two feet")

    def test_other_methods(self):
        r = self.json("run", WALK, "--contact", "cone", "--time", "0.05", "--json")
        self.assertIsNone(r["gait"])
        self.assertEqual(r["integrator"], "semi-implicit")


if __name__ == "__main__":
    main()
