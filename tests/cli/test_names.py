"""Names that somebody chose to do harm, in all that is written for people and programs."""

import csv
import json
import os
import shutil
import subprocess
import unittest
import xml.dom.minidom

from command import TABI, FolderCase, main

NAMES = ["\x1b]0;x\x07", "'x", "''", "x'", "</script><b>\"", "a,b", "a\nb", "t\tb", "\\e@_^{x}", "`date`",
         "$x", "\u009b31m", "%s%n", "#a", "=1+1"]
CONTROLS = set(range(0x20)) - {0x0a} | {0x7f}


def scene(names):
    bodies = [f"  - {{name: {json.dumps(name)}, shape: {{sphere: 0.1}}, mass: 1, xyz: [{i}, 0, 1]}}"
              for i, name in enumerate(names)]
    return "name: " + json.dumps("".join(names)) + "\nduration: 0.01\nbodies:\n" + "\n".join(bodies) + "\n"


class Names(FolderCase):
    def setUp(self):
        super().setUp()
        self.scene = self.file("s.yaml", scene(NAMES))

    def clean(self, text):
        self.assertFalse(CONTROLS & set(text.encode()), repr(text))
        self.assertNotIn("\u009b", text)

    def test_terminal(self):
        log = self.file("a.tabi")
        out, err = self.tabi("run", self.scene, "--log", log, "--spark")
        self.clean(out + err)
        self.assertIn("?]0;x?", out)
        self.assertIn("a?b", out)
        for args in (("plot", log, "--list"), ("compare", log, log)):
            self.clean("".join(self.tabi(*args)))

    def test_errors(self):
        path = self.file("bad.yaml", "bodies: [{name: \"\\x1b[2J\", mass: -1, shape: {sphere: 1}}]\n")
        _, err = self.tabi("run", path, code=3)
        self.clean(err)

    def test_json(self):
        result = self.json("run", self.scene, "--json")
        self.assertIn("'x", json.dumps(result))

    def test_csv(self):
        path = self.file("a.csv")
        signals = [name.replace("\n", "?").replace("\t", "?") for name in ("a,b", "'x", "a\nb")]
        self.file("s.yaml", scene(NAMES) + "log: {signals: " + json.dumps(signals) + "}\n")
        self.tabi("run", self.scene, "--csv", path)
        with open(path, newline="") as f:
            rows = list(csv.reader(f))
        self.assertEqual(len({len(row) for row in rows}), 1)
        for name in signals:
            self.assertIn(name + ".z", rows[0])

    def test_html(self):
        path = self.file("a.html")
        self.tabi("run", self.scene, "--html", path)
        with open(path, encoding="utf-8") as f:
            page = f.read()
        start = page.index('id="tabi-scene-0">') + len('id="tabi-scene-0">')
        described = json.loads(page[start:page.index("</script>", start)])
        self.assertIn("</script>", json.dumps(described["links"]))

    def test_exports(self):
        log = self.file("a.tabi")
        self.tabi("run", self.scene, "--log", log)
        for ending in ("csv", "mcap") + (("h5",) if self.has_hdf5(log) else ()):
            path = self.file("a." + ending)
            out, err = self.tabi("export", log, "-o", path, "--signals", "*.z")
            self.clean(out + err)
            with open(path, "rb") as f:
                written = f.read()
            self.assertNotIn(b"\x1b]0;x", written)
            self.assertNotIn(b"a\nb", written)
            self.assertIn(b"a?b" if ending != "mcap" else b"/signals/a_b", written)

    def has_hdf5(self, log):
        run = subprocess.run([TABI, "export", log, "-o", self.file("b.h5")], stderr=subprocess.PIPE)
        return b"built without HDF5" not in run.stderr

    def test_attributes_of_xml(self):
        path = self.file("a.urdf", '<robot name="r"><link name="a&#10;b&#9;&#x9b;c"/></robot>')
        out, _ = self.tabi("info", path)
        self.clean(out)
        self.assertIn("a b", out)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_plots(self):
        log, path = self.file("a.tabi"), self.file("a.svg")
        self.tabi("run", self.scene, "--log", log, "--plot", path)
        xml.dom.minidom.parse(path)
        for name in NAMES:
            shown = "".join("?" if ord(c) < 32 else c for c in name).replace("\u009b", "??")
            os.remove(path)
            self.tabi("plot", log, shown + ".z", "-o", path)
            xml.dom.minidom.parse(path)


if __name__ == "__main__":
    main()
