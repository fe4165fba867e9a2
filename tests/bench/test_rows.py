"""Rows of `tabi bench engines`: they run, and their errors are those that are known."""

import json
import os
import unittest

from command import Case, TABI, main

MUJOCO = os.path.exists(os.path.join(os.path.dirname(TABI), "tabi-bench-mujoco"))


class Engines(Case):
    def rows(self, *names, peers=False):
        out, _ = self.tabi("bench", *names, "--json", *(["--peers"] if peers else []))
        return {row["workload"].split("/", 1)[1]: row for row in json.loads(out)["rows"]}

    def test_list_names_engines(self):
        out, _ = self.tabi("bench", "--list", "engines/pile100")
        for engine in ("tabi", "mujoco", "bullet", "ode", "dart"):
            self.assertIn(f"engines/pile100/{engine}\n", out)

    def test_cube_on_slope_does_not_creep(self):
        row = self.rows("engines/slope/tabi")["slope/tabi"]
        self.assertLess(row["error"], 1e-9)
        self.assertLess(row["penetration"], 1e-9)
        self.assertEqual(row["contacts"], 4)

    def test_energy_is_kept_by_rk4(self):
        rows = self.rows("engines/energy/tabi", "engines/energy/tabi-rk4")
        self.assertLess(rows["energy/tabi-rk4"]["error"], 1e-16)
        # by default limbs keep their energy, and what is left is the fall's: (h / 2) M g^2 t, because
        # positions move with the new velocity; the mean of t^2 over 2 s is 4/3 s^2
        fall = 1e-3 / 2 * 33.897 * 9.81**2
        self.assertAlmostEqual(rows["energy/tabi"]["error"], 4 / 3 * fall**2, delta=0.01)

    def test_loops_stay_closed(self):
        row = self.rows("engines/loops10/tabi")["loops10/tabi"]
        self.assertLess(row["error"], 1e-8)
        # what hangs from the world is solved at the middle of the step
        self.assertLess(row["energy"], 1e-9)

    def test_all_loops_of_a_large_scene_stay_closed(self):
        row = self.rows("engines/loops53/tabi")["loops53/tabi"]
        self.assertEqual(row["dof"], 159)
        self.assertLess(row["error"], 1e-8)

    def test_hulls_and_meshes_stand_as_boxes_on_a_plane(self):
        rows = self.rows(*(f"contact/{s}/cone" for s in ("stand", "hullfeet", "meshground")))
        for name, row in rows.items():
            self.assertEqual(row["contacts"], 8, name)
            self.assertLess(row["penetration"], 1e-9, name)
            self.assertLess(row["speed"], 1e-9, name)

    @unittest.skipUnless(MUJOCO, "tabi-bench-mujoco is not built")
    def test_robot_falls_alike(self):
        rows = self.rows("engines/fall/tabi", "engines/fall/mujoco", peers=True)
        ours, theirs = rows["fall/tabi"], rows["fall/mujoco"]
        # it lies: more than its soles touch, and no more than the soles at first
        for row in (ours, theirs):
            self.assertEqual(row["steps"], 3000)
            self.assertLess(row["speed"], 0.2)
        self.assertAlmostEqual(ours["contacts"] / theirs["contacts"], 1, delta=0.3)

    def test_without_peers_there_are_none(self):
        self.assertEqual(list(self.rows("engines/chain10")), ["chain10/tabi"])

    def test_missing_peers_are_named_with_their_packages(self):
        _, err = self.tabi("bench", "engines/chain10/tabi", "--peers")
        for engine, package in (("bullet", "libbullet-dev"), ("ode", "libode-dev"),
                                ("dart", "libdart-collision-ode-dev")):
            there = os.path.exists(os.path.join(os.path.dirname(TABI), f"tabi-bench-{engine}"))
            self.assertEqual(there, package not in err, err)

    @unittest.skipUnless(MUJOCO, "tabi-bench-mujoco is not built")
    def test_mujoco_steps_the_same_robot(self):
        names = [f"engines/energy/{e}" for e in ("tabi", "mujoco")]
        rows = self.rows(*names, peers=True)
        ours, theirs = (rows[f"energy/{e}"]["error"] for e in ("tabi", "mujoco"))
        # both are semi-implicit, and lose the same of their energy in the fall
        self.assertAlmostEqual(theirs, 3.6, delta=0.2)
        self.assertAlmostEqual(ours / theirs, 1, delta=0.05)
        slope = self.rows("engines/slope/mujoco", peers=True)["slope/mujoco"]
        self.assertAlmostEqual(slope["error"] / 1e-3, 1, delta=0.2)

    @unittest.skipUnless(MUJOCO, "tabi-bench-mujoco is not built")
    def test_who_is_left_out_is_told_why(self):
        row = self.rows("engines/bouncing/mujoco", peers=True)["bouncing/mujoco"]
        self.assertIn("left out: MuJoCo has no restitution", row["note"])
        self.assertNotIn("us", row)

    @unittest.skipUnless(MUJOCO, "tabi-bench-mujoco is not built")
    def test_mujoco_closes_the_same_loops(self):
        row = self.rows("engines/loops10/mujoco", peers=True)["loops10/mujoco"]
        self.assertAlmostEqual(row["error"] / 1.3e-4, 1, delta=0.2)

    @unittest.skipUnless(MUJOCO, "tabi-bench-mujoco is not built")
    def test_mujoco_takes_chains_of_any_length(self):
        rows = self.rows("engines/chain100/mujoco", peers=True)
        self.assertEqual(rows["chain100/mujoco"]["dof"], 100)


if __name__ == "__main__":
    main()
