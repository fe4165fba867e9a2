"""tabi solve: both storages, the fixed JSON form, tables, exit codes, and files that are wrong."""

import glob
import os
import tempfile

from command import Case, EXTRA, main

KEYS = ["contacts", "iterations", "residual", "scaled", "converged", "seconds", "r"]

# Two contacts of one body of mass 2 that only translates: W = 1/2 everywhere on the diagonal.
HALF = [0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5]
Q = [-1, 0.25, 0, -1, 0.25, 0]


def dense(nc=2, q=Q, mu=(0.5, 0.5)):
    rows = [" ".join("0.5" if i % 3 == j % 3 else "0" for j in range(3 * nc)) for i in range(3 * nc)]
    head = f"3\n{nc}\n0\n{3 * nc}\n{3 * nc}\n{3 * nc}\t{3 * nc}\n"
    return head + "\n".join(rows) + "\n" + " ".join(map(str, q)) + "\n" + " ".join(map(str, mu)) + "\n"


def blocks(unsymmetric=0.0):
    """The same as blocks; an entry above the diagonal shows which way they are stored."""
    lines = ["3", "2", "1", "6", "6", "4", "2", "2", "3 6", "3 6", "3", "4", "0 2 4", "0 1 0 1"]
    for number in range(4):
        lines.append(str(number))
        values = list(HALF)
        values[3] = unsymmetric  # column by column: row 0, column 1
        lines += [str(v) for v in values]
    return "\n".join(lines + [" ".join(map(str, Q)), "0.5 0.5"]) + "\n"


class Solve(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, text, name="problem.dat"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def sums(self, path, *args):
        """The impulses of both contacts together: single ones are not determined."""
        result = self.json("solve", path, "--json", *args)
        self.assertEqual(list(result), KEYS)
        self.assertTrue(result["converged"])
        self.assertEqual(result["contacts"], 2)
        self.assertLessEqual(result["scaled"], 1e-10)
        r = result["r"]
        self.assertEqual(len(r), 6)
        return [r[k] + r[3 + k] for k in range(3)]

    def test_both_storages_and_all_solvers(self):
        # the body stops: r = -q / (1/2), half of the friction that is there
        for text in (dense(), blocks()):
            path = self.write(text)
            for solver in ("exact", "cone", "lcp"):
                for value, expected in zip(self.sums(path, "--solver", solver), (2, -0.5, 0)):
                    self.assertAlmostEqual(value, expected, delta=1e-9)

    def test_blocks_are_stored_by_columns(self):
        # row 0, column 1 of each block: u_n = (r_n + 0.2 r_t) / 2 - 1 and u_t = r_t / 2 + 0.25
        sums = self.sums(self.write(blocks(0.1)))
        for value, expected in zip(sums, (2.1, -0.5, 0)):
            self.assertAlmostEqual(value, expected, delta=1e-9)

    def test_text(self):
        path = self.write(dense())
        out, err = self.tabi("solve", path)
        self.assertEqual(err, "")
        self.assertIn("2 contacts in 1 island\n", out)
        self.assertIn("converged", out)

    def test_several_files_give_a_table(self):
        paths = [self.write(dense(), "first.dat"), self.write(blocks(), "second.dat")]
        lines = self.tabi("solve", *paths)[0].splitlines()
        self.assertEqual(lines[0].split(),
                         ["problem", "contacts", "iterations", "residual", "scaled", "ms"])
        self.assertEqual([line.split()[:2] for line in lines[1:]],
                         [["first.dat", "2"], ["second.dat", "2"]])
        problems = self.json("solve", *paths, "--json")["problems"]
        self.assertEqual([p["file"] for p in problems], paths)
        self.assertEqual([k for k in problems[0] if k != "file"], KEYS)

    def test_not_converged_ends_with_5(self):
        # slipping askew: the pyramid is no cone
        path = self.write(dense(q=[-1, 3, 2, -1, 3, 2]))
        result = self.json("solve", path, "--solver", "lcp", "--json", code=5)
        self.assertFalse(result["converged"])
        self.assertGreater(result["scaled"], 1e-3)
        out, _ = self.tabi("solve", path, "--solver", "lcp", "--tolerance=1e-14", code=5)
        self.assertIn("not converged", out)
        out, _ = self.tabi("solve", path, self.write(dense(), "good.dat"), "--solver", "lcp", code=5)
        self.assertIn("not converged", out.splitlines()[1])
        self.assertNotIn("not converged", out.splitlines()[2])

    def test_usage(self):
        path = self.write(dense())
        for args, says in ((["--solver", "newton"], "'cone', 'lcp' or 'exact'"),
                           (["--tolerance", "0"], "a number > 0"),
                           (["--tolerance", "nan"], "a number > 0"),
                           (["--max-iterations", "1.5"], "a whole number > 0"),
                           (["--max-iterations", "99999999999"], "a whole number > 0")):
            _, err = self.tabi("solve", path, *args, code=2)
            self.assertIn(says, err)
        self.assertIn("PROBLEM.dat is missing", self.tabi("solve", code=2)[1])

    def wrong(self, text, line, says):
        path = self.write(text)
        self.error("solve", path, "--json", path=path, line=line, says=says)

    def test_wrong_files(self):
        good = dense()
        self.wrong("", 1, "file ends before spatial dimension")
        self.wrong("2" + good[1:], 1, "spatial dimension is 2, expected 3")
        self.wrong(good.replace("2\n", "two\n", 1), 2, "'two' is not a number")
        self.wrong(good.replace("3\n2\n0", "3\n2\n2", 1), 3, "storage of W")
        self.wrong(good.replace("\n6\n6\n", "\n6\n9\n", 1), 5, "number of columns of W is 9, expected 6")
        self.wrong("3\n100000000\n0\n", 2, "number of contacts is 1e+08")
        self.wrong("3\n-1\n0\n", 2, "number of contacts is -1")
        self.wrong("3\n1.5\n0\n", 2, "number of contacts is 1.5")
        self.wrong(good.replace("0.5 0 0", "0.5 nan 0", 1), 7, "not finite")
        self.wrong(good.replace("0.5 0 0", "0.5 1e999 0", 1), 7, "not finite")
        self.wrong(dense(mu=(0.5, -0.1)), 14, "friction of contact 1 is -0.1; give a number >= 0")
        self.wrong(good.rsplit(" ", 1)[0], 14, "file ends before friction of contact 1")
        self.wrong(good.replace("0.5", "0"), 1, "trace 0")

    def test_wrong_blocks(self):
        good = blocks()
        self.wrong(good.replace("0 1 0 1", "0 1 0 2", 1), 14, "column index is 2")
        self.wrong(good.replace("0 1 0 1", "0 1 0 -1", 1), 14, "column index is -1")
        self.wrong(good.replace("0 2 4", "0 2 3", 1), 13, "row pointer ends with 3")
        self.wrong(good.replace("0 2 4", "0 5 4", 1), 13, "row pointer is 5")
        self.wrong(good.replace("3 6\n", "3 7\n", 1), 9, "cumulative row size is 7, expected 6")
        self.wrong(good.replace("\n6\n6\n4\n", "\n6\n6\n400000000\n", 1), 6, "number of blocks is 4e+08")
        self.wrong(good.replace("\n3\n4\n0 2", "\n4\n4\n0 2", 1), 11, "length of the row pointer is 4")

    def test_missing_and_unreadable(self):
        self.error("solve", "no/such.dat", path="no/such.dat", line=1, says="cannot open")
        self.error("solve", self.folder.name, path=self.folder.name, line=1, says="cannot read")

    def test_collection(self):
        paths = sorted(glob.glob(os.path.join(EXTRA, "problems", "*.dat"))) if EXTRA else []
        if not paths:
            self.skipTest("no stored problems: set TABI_EXTRA_DATA")
        for path in paths:
            result = self.json("solve", path, "--tolerance", "1e-8", "--json")
            self.assertTrue(result["converged"], path)
            self.assertLessEqual(max(result["residual"], result["scaled"]), 1e-8, path)


if __name__ == "__main__":
    main()
