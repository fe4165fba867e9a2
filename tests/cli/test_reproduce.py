"""`tabi reproduce`: that experiments meet their criteria, the form of the result, and what is left of
it without gnuplot.

Experiments that measure time are not run, and criteria that do are not held against the others: a
build with sanitizers on a busy machine says nothing about them.  The walking experiments have tests
of their own."""

import csv
import json
import os
import subprocess
import tempfile

from command import Case, TABI, main

RUN = ["p1/cone-vs-pyramid", "p1/bush-oscillation", "p2/box-drop", "p3/walk", "p4/slope",
       "p4/anisotropy", "p4/closed-link", "p5/fall", "p5/restitution", "p5/stick-slip", "p5/energy"]
TIMED = ["p1/cost", "p4/cost"]


class Reproduce(Case):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.out = os.path.join(cls.temporary.name, "out")
        run = subprocess.run([TABI, "reproduce", *RUN, "--quick", "--json", "--out", cls.out],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=250)
        cls.code, cls.stderr = run.returncode, run.stderr.decode()
        cls.experiments = json.loads(run.stdout)["experiments"] if run.stdout else []

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_every_criterion_is_met(self):
        self.assertEqual([e["id"] for e in self.experiments], RUN, self.stderr)
        for experiment in self.experiments:
            for criterion in experiment["criteria"]:
                if criterion["name"].startswith("time of"):
                    continue
                self.assertTrue(criterion["pass"], (experiment["id"], criterion))

    def test_form(self):
        for experiment in self.experiments:
            self.assertLessEqual({"id", "pass", "criteria", "paper", "shows", "files"},
                                 set(experiment))
            self.assertGreaterEqual(len(experiment["criteria"]), 3)
            self.assertEqual(experiment["pass"], all(c["pass"] for c in experiment["criteria"]))
            verdicts = [c["verdict"] for c in experiment["criteria"]]
            self.assertEqual(experiment["differs"], verdicts.count("differs"))
            for criterion in experiment["criteria"]:
                self.assertLessEqual({"name", "expected", "measured", "pass"}, set(criterion))
                self.assertIn(criterion["variant"], ("published", "ours"))
                self.assertEqual(criterion["pass"], criterion["verdict"] in ("pass", "differs"))
                # nothing differs without a reason
                self.assertEqual(criterion["verdict"] == "differs", bool(criterion["reason"]))
                self.assertIsInstance(criterion["measured"], (float, str))
                self.assertIsInstance(criterion["expected"], str)

    def test_both_variants_of_p5_are_judged_alike(self):
        for experiment in self.experiments:
            if not experiment["id"].startswith("p5/"):
                continue
            names = {variant: [c["name"] for c in experiment["criteria"]
                               if c["variant"] == variant] for variant in ("published", "ours")}
            self.assertEqual(names["published"], names["ours"], experiment["id"])

    def test_exit_code_tells_the_verdict(self):
        self.assertEqual(self.code, 0 if all(e["pass"] for e in self.experiments) else 5)

    def test_files(self):
        for experiment in self.experiments:
            name = experiment["id"].replace("/", "-")
            tables = [f for f in experiment["files"] if f.endswith(".csv")]
            self.assertIn(os.path.join(self.out, name + ".csv"), tables)
            for table in tables:
                with open(table, encoding="utf-8") as file:
                    rows = list(csv.reader(file))
                self.assertGreater(len(rows), 10)
                for row in rows[1:]:
                    self.assertEqual(len(row), len(rows[0]))
                    [float(cell) for cell in row]
            for figure in [f for f in experiment["files"] if f.endswith(".svg")]:
                with open(figure, encoding="utf-8") as file:
                    self.assertIn("</svg>", file.read())

    def test_list(self):
        out, _ = self.tabi("reproduce", "--list")
        for name in RUN + TIMED:
            self.assertIn(f"{name} ", out)

    def test_text_and_life_without_gnuplot(self):
        with tempfile.TemporaryDirectory() as out:
            text, err = self.tabi("reproduce", "p4/closed-link", "--quick", "--out", out,
                                  env={**os.environ, "PATH": out})
            self.assertIn("gnuplot-nox", err)
            self.assertEqual(sorted(os.listdir(out)),
                             ["p4-closed-link-published.csv", "p4-closed-link.csv"])
        self.assertIn("The paper: ", text)
        self.assertIn("reproduced", text)

    def test_wrong_words(self):
        for words, says in ((["p4/slop"], "did you mean 'p4/slope'?"), ([], "--list"),
                            (["p9"], "no experiment 'p9'")):
            _, err = self.tabi("reproduce", *words, code=2)
            self.assertIn(says, err)

    def test_folder_that_cannot_be_made(self):
        _, err = self.tabi("reproduce", "p4/closed-link", "--out", "/no/such/folder", code=3)
        self.assertIn("/no/such/folder:1: error: cannot be written", err)
        self.assertIn("--out", err)


if __name__ == "__main__":
    main()
