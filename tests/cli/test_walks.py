"""`tabi reproduce`: that robots walk, step, jump and fall as the papers say, in short runs.

Speed and variants belong to long runs and are not asked for here.  Under sanitizers, where a walk takes
long, the small humanoid must do."""

import csv
import json
import os
import subprocess
import tempfile
from itertools import groupby

from command import Case, TABI, main

SMALL = ["p5/walk", "p5/jump"]
LARGE = ["p1/stepping", "p1/walk", "p1/push", "p2/figure-walk", "p4/stepping", "p4/fall"]
RUN = SMALL if os.environ.get("TABI_SANITIZE") else LARGE + SMALL


class Walks(Case):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        run = subprocess.run([TABI, "reproduce", *RUN, "--quick", "--json", "--out",
                              cls.temporary.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=280)
        cls.stderr = run.stderr.decode()
        experiments = json.loads(run.stdout)["experiments"] if run.stdout else []
        cls.experiments = {e["id"]: e for e in experiments}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_every_criterion_is_met(self):
        self.assertEqual(set(self.experiments), set(RUN), self.stderr)
        for name, experiment in self.experiments.items():
            self.assertGreaterEqual(len(experiment["criteria"]), 2, name)
            for criterion in experiment["criteria"]:
                if not criterion["name"].startswith("time of"):
                    self.assertTrue(criterion["pass"], (name, criterion))

    def test_quick_runs_measure_no_speed_and_no_variants(self):
        for name, experiment in self.experiments.items():
            for criterion in experiment["criteria"]:
                self.assertNotRegex(criterion["name"], "^speed|variants", name)

    def test_feet_take_turns(self):
        """The log of a walk: each foot has its times without the floor, never both at once."""
        with open(os.path.join(self.temporary.name, "p5-walk-ours.csv"), encoding="utf-8") as file:
            rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
        lifted = [(left == 0, right == 0) for _, left, right, *_ in rows]
        self.assertGreater(sum(left for left, _ in lifted), 300)
        self.assertGreater(sum(right for _, right in lifted), 300)
        self.assertNotIn((True, True), lifted)

    def test_jump_leaves_the_floor(self):
        with open(os.path.join(self.temporary.name, "p5-jump-ours.csv"), encoding="utf-8") as file:
            rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
        # the longest time in the air is the flight; soles that rebound have short ones after it
        flights = [list(group) for free, group in groupby(rows, lambda row: row[1] == 0) if free]
        air = max(flights, key=len)
        self.assertGreater(len(air), 100)
        self.assertLess(len(air), 300)
        self.assertGreater(max(row[2] for row in air), rows[0][2] + 0.02)


if __name__ == "__main__":
    main()
