"""tools/reproduction.py: that it writes the tables of a document and tells which numbers are stale."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import tempfile

from command import Case, main

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "reproduction.py"

DOCUMENT = """text
<!-- overview -->
<!-- end -->
<!-- results p1/push -->
<!-- end -->
<!-- results p3/walk -->
<!-- end -->
<!-- full p3/walk -->
<!-- end -->
<!-- table pushes full -->
<!-- end -->
<!-- table postures quick -->
<!-- end -->
"""


def criterion(variant, measured, verdict, name="steps"):
    return {"name": name, "unit": "m", "variant": variant, "expected": "< 2 m", "measured": measured,
            "pass": True, "verdict": verdict, "reason": "it slips" if verdict == "differs" else None}


class Tables(Case):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        spec = importlib.util.spec_from_file_location("reproduction", TOOL)
        self.tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.tool)
        self.tool.DOCUMENT = self.folder / "document.md"
        self.tool.DOCUMENT.write_text(DOCUMENT, encoding="utf-8")

    def run_of(self, name, pushes, measured):
        """A JSON file of a run, with the CSV files that it wrote."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "p1-push.csv").write_text("stabilised,direction,push_Ns,fell_s\n" + "".join(
            f"0,2,{push},{fell}\n" for push, fell in pushes), encoding="utf-8")
        (folder / "p3-walk-postures.csv").write_text(
            "reading,located,strict,friction,posture,steps,outcome,end_mode,end_s,pulled_s\n"
            "0,0,0,0.5,1,3,4,1,10,1\n0,0,0,0.5,2,2,6,1,10,0\n0,1,1,0.4,1,2,6,1,10,0\n", encoding="utf-8")
        (folder / "p3-walk-steps.csv").write_text(
            "reading,located,strict,friction,posture,step,touchdown_m\n"
            "0,0,0,0.5,1,1,0.4\n0,0,0,0.5,1,2,0.3\n0,0,0,0.5,1,3,0.2\n0,0,0,0.5,2,1,0.1\n0,0,0,0.5,2,2,0.2\n",
            encoding="utf-8")
        experiments = [
            {"id": "p1/push", "paper": "not in P1", "reconstructed": "", "files": [str(folder / "p1-push.csv")],
             "criteria": [criterion("ours", 1.0, "pass")]},
            {"id": "p3/walk", "paper": "P3", "reconstructed": "posture",
             "files": [str(folder / "p3-walk-postures.csv"), str(folder / "p3-walk-steps.csv")],
             "criteria": [criterion("published", measured, "differs"), criterion("ours", 1.5, "pass")]}]
        path = folder / "run.json"
        path.write_text(json.dumps({"experiments": experiments}), encoding="utf-8")
        return str(path)

    def call(self, *words):
        says = io.StringIO()
        with contextlib.redirect_stderr(says):
            return self.tool.main(list(words)), says.getvalue()

    def write(self):
        quick = self.run_of("quick", [(10, 0), (60, 1.5)], 3.0)
        full = self.run_of("full", [(10, 0), (35, 2), (60, 1.5)], 4.0)
        self.assertEqual(self.call("write", quick, full), (0, ""))
        return self.tool.DOCUMENT.read_text(encoding="utf-8")

    def test_writes_every_table(self):
        text = self.write()
        self.assertIn("| P3 | `p3/walk` | no | yes | posture |", text)
        self.assertIn("<!-- results p3/walk -->\n" + self.tool.HEAD + "| steps | < 2 m | 3 m | 1.5 m | differs |\n\n"
                      "*Differs*: it slips.\n", text)
        self.assertIn("| steps | < 2 m | 4 m | 1.5 m | differs |", text)
        self.assertIn("| N s | 10 | 35 | 60 |\n|---|---|---|---|\n| left, open loop | o | x | x |\n", text)
        self.assertIn("| walk, published | 2 | 2: 1, 3: 1 | 50 % | 50 % | 0 % | 50 % | 50 % | 5 %, 10 % |\n", text)

    def test_accepts_what_it_wrote_and_tells_what_is_stale(self):
        self.write()
        self.assertEqual(self.call("check", str(self.folder / "quick" / "run.json"))[0], 0)
        code, says = self.call("check", self.run_of("quick", [(10, 0), (60, 1.5)], 3.1))
        self.assertEqual(code, 1)
        self.assertIn("p3/walk: not in the document: | steps | < 2 m | 3.1 m", says)

    def test_a_push_that_ends_otherwise_is_stale(self):
        self.write()
        code, says = self.call("check", self.run_of("quick", [(10, 0), (60, 0)], 3.0))
        self.assertEqual(code, 1)
        self.assertIn("pushes: left, open loop, 60 N s is o", says)

    def test_without_a_full_run_its_tables_stay(self):
        before = self.write()
        quick = os.path.join(self.folder, "quick", "run.json")
        self.assertEqual(self.call("write", quick)[0], 0)
        self.assertEqual(self.tool.DOCUMENT.read_text(encoding="utf-8"), before)


if __name__ == "__main__":
    main()
