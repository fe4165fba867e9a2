"""tabi walk: legs are found, robots walk and are pushed, and what is no biped is told so."""

import os

from command import Case, EXTRA, FolderCase, MODELS, main

SMALL = os.path.join(MODELS, "humanoid20.urdf")


class Walk(FolderCase):
    def test_walks_and_tells_what_it_found(self):
        r = self.json("walk", SMALL, "--steps", "6", "--stride", "0.03", "--json")
        self.assertEqual((r["steps_planned"], r["steps_done"], r["fell"]), (6, 6, False))
        self.assertEqual((r["contact"], r["limits_kept"]), ("cone", True))
        self.assertAlmostEqual(r["front"][0], 1, delta=1e-6)
        self.assertEqual([len(leg["joints"]) for leg in r["legs"]], [6, 6])
        self.assertEqual([leg["foot"] for leg in r["legs"]], ["l_foot", "r_foot"])
        self.assertAlmostEqual(r["legs"][0]["sole"][0], 0.1, delta=1e-3)
        self.assertGreater(r["distance"], 0.08)
        self.assertLess(r["slip_max"], 5e-3)
        self.assertLessEqual(r["torque_peak"]["value"], r["torque_peak"]["limit"])
        self.assertIn(r["torque_peak"]["joint"], r["legs"][0]["joints"] + r["legs"][1]["joints"])

    def test_the_scene_is_the_users(self):
        path = os.path.join(self.folder, "w.yaml")
        r = self.json("walk", SMALL, "--steps", "4", "--stride", "0.03", "--turn", "20", "--scene", path,
                      "--json")
        self.assertFalse(r["fell"])
        again = self.json("run", path, "--json")
        self.assertFalse(again["fell"])

    def test_sensors_of_the_controller_are_its_own(self):
        path = os.path.join(self.folder, "w.yaml")
        self.tabi("walk", SMALL, "--steps", "2", "--stride", "0.02", "--stabilise", "--scene", path)
        again = self.json("run", path, "--json")
        self.assertEqual((again["fell"], again["sensors"]), (False, {}))

    def test_sensors_and_a_push(self):
        r = self.json("walk", SMALL, "--steps", "6", "--stride", "0.02", "--stabilise", "--push", "0.9,90,1",
                      "--json")
        self.assertFalse(r["fell"])

    def test_a_blow_is_a_fall(self):
        out, _ = self.tabi("walk", SMALL, "--steps", "4", "--push", "20,0,1", code=5)
        self.assertIn("FELL", out)

    def test_each_of_many_pushes_begins_from_the_same_walk(self):
        path = os.path.join(self.folder, "pushes.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("20,0,1.2\n0.9,90,1\n20,180,1\n0.9,270,1.2\n")
        options = ("walk", SMALL, "--steps", "6", "--stride", "0.02", "--stabilise", "--pushes", path)
        r = self.json(*options, "--json", code=5)
        self.assertEqual((r["pushes"], r["survived"]), (4, [False, True, False, True]))
        self.assertIn("survived 2 of 4 pushes", self.tabi(*options, code=5)[0])
        with open(path, "a", encoding="utf-8") as file:
            file.write("1,2\n")
        _, err = self.tabi(*options, code=3)
        self.assertIn("pushes.txt:5: error: '1,2' is no push", err)
        self.tabi(*options, "--push", "1,2,3", code=2)

    def test_no_biped(self):
        for name, reason in (("chain.xml", "a biped stands on two"), ("humanoid36_parallel.urdf", "closes a loop")):
            _, err = self.tabi("walk", os.path.join(MODELS, name), code=3)
            self.assertIn(reason, err)

    def test_wrong_usage(self):
        for words in (["--steps", "2.5"], ["--push", "1,2"], ["--front", "up"], ["--stride", "far"],
                      ["--contact", "gait"]):
            self.tabi("walk", SMALL, *words, code=2)


class Published(Case):
    def test_front_is_found_and_obeyed(self):
        path = os.path.join(EXTRA, "robots/icub/iCubGazeboV2_5.urdf") if EXTRA else ""
        if not os.path.exists(path):
            self.skipTest("no robots")
        out, _ = self.tabi("walk", path, "--steps", "0")
        self.assertIn("front is [-1", out)


if __name__ == "__main__":
    main()
