"""tabi plot: what it draws of logs, what it lists, and what is refused; and what tabi run shows of
signals.
"""

import os
import re
import shutil
import struct
import tempfile
import unittest
import xml.dom.minidom

from command import Case, TABI, main

NO_GNUPLOT = not shutil.which("gnuplot")
SCENE = """\
name: a box hits & slides
timestep: 1e-3
materials: {wood: {friction: %s}}
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}, material: wood}
  - {name: box, mass: 2, shape: {box: [0.4, 0.4, 0.2]}, xyz: [0, 0, 0.3], lin: [1, 0, 0],
     material: wood}
"""


class Plots(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def file(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return path

    def log(self, name="box.tabi", friction=0.3, time="0.6", contact="cone"):
        path = self.file(name)
        if not os.path.exists(path):
            scene = self.file(name + ".yaml", SCENE % friction)
            self.tabi("run", scene, "--time", time, "--contact", contact, "--log", path)
        return path

    def read(self, path, mode="r"):
        with open(path, mode) as f:
            return f.read()

    def texts(self, path):
        """All that an SVG figure says."""
        return re.findall(r"<text>(?:<tspan[^>]*>)?([^<]*)", self.read(path))

    # lists and refusals

    def test_list(self):
        out, err = self.tabi("plot", self.log(), "--list")
        lines = [re.split(r"  +", line) for line in out.splitlines()]
        self.assertEqual(err, "")
        self.assertEqual(lines[0], ["time", "s", "time"])
        names = [line[0] for line in lines]
        self.assertEqual(len(set(names)), len(names))
        self.assertIn(["box.vz", "m/s", "vertical velocity"], lines)
        self.assertIn(["ground.fz", "N", "vertical ground reaction force"], lines)
        out, _ = self.tabi("plot", self.log(), "--list", "energy", "box.v*")
        self.assertEqual([line.split()[0] for line in out.splitlines()],
                         ["energy.kinetic", "energy.potential", "energy.spring", "energy.total",
                          "energy.work", "box.vx", "box.vy", "box.vz"])

    def test_refused(self):
        log = self.log()
        _, err = self.tabi("plot", log, "grund.fz", code=2)
        self.assertIn(f"{log}:1: error: no signal is called 'grund.fz' (did you mean 'ground.fz'?)",
                      err)
        self.assertIn("--list", err)
        _, err = self.tabi("plot", log, "-o", self.file("f.jpg"), code=2)
        self.assertIn(".svg, .png and .pdf", err)
        _, err = self.tabi("run", log + ".yaml", "--plot", self.file("f.txt"), code=2)
        self.assertIn(".svg, .png and .pdf", err)
        _, err = self.tabi("plot", log, "--from", "7", code=2)
        self.assertIn("is from 0 to 0.6 s", err)
        _, err = self.tabi("plot", log, "--from", "soon", code=2)
        self.assertIn("--from needs a number", err)
        _, err = self.tabi("plot", log, *["box.vx"] * 3, *["x.tabi"] * 12, code=2)
        self.assertIn("more than 12 logs", err)
        _, err = self.tabi("plot", self.file("none.tabi"), code=3)
        self.assertIn("none.tabi:1: error: ", err)
        self.tabi("plot", code=2)

    def test_no_gnuplot(self):
        figure = self.file("f.svg")
        _, err = self.tabi("plot", self.log(), "-o", figure, code=1,
                           env=dict(os.environ, PATH=self.folder))
        self.assertIn("f.svg:1: error: not drawn", err)
        self.assertIn("gnuplot-nox", err)
        self.assertFalse(os.path.exists(figure))

    # figures

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_full_disk(self):
        """gnuplot itself does not notice."""
        path = self.file("full.svg")
        os.symlink("/dev/full", path)
        _, err = self.tabi("plot", self.log(), "-o", path, code=1)
        self.assertIn(f"{path}:1: error: gnuplot could not draw the figure", err)

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_overview(self):
        log = self.log("over.tabi")
        out, err = self.tabi("plot", log)
        self.assertEqual(err, "")
        self.assertEqual(out, f"{self.file('over.svg')}: 6 curves in 3 panels\n")
        texts = self.texts(self.file("over.svg"))
        for text in ("a box hits &amp; slides, cone", "vertical force [N]", "energy [J]", "residual",
                     "time [s]", "ground.fz", "gap [m]", "complementarity [m/s]", "dissipation [m/s]"):
            self.assertIn(text, texts)

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_zero(self):
        """what is zero throughout, as complementarity under penalty, has no curve"""
        out, _ = self.tabi("plot", self.log("soft.tabi", contact="penalty"))
        self.assertEqual(out, f"{self.file('soft.svg')}: 5 curves in 3 panels\n")

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_chosen(self):
        """signals with one unit share axes, which say what it is"""
        figure = self.file("chosen.svg")
        out, _ = self.tabi("plot", self.log(), "box.vz", "box.x", "box.z", "floor.slip", "-o", figure)
        self.assertEqual(out, f"{figure}: 4 curves in 2 panels\n")
        texts = self.texts(figure)
        self.assertIn("velocity [m/s]", texts)
        self.assertIn("position [m]", texts)
        self.assertEqual(sum("[" in text for text in texts), 3)
        self.tabi("plot", self.log(), "box.vz", "-o", figure)
        self.assertIn("vertical velocity [m/s]", self.texts(figure))

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_long_names(self):
        """Legends cut them, and letters have several bytes; the file must stay XML."""
        scene = self.file("long.yaml", SCENE.replace("name: box", "name: x" + "\u3042" * 60) % 0.3)
        log, figure = self.file("long.tabi"), self.file("long.svg")
        self.tabi("run", scene, "--time", "0.01", "--log", log)
        self.tabi("plot", log, "x*.x", "x*.z", "-o", figure)
        xml.dom.minidom.parse(figure)

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_several_logs(self):
        """each has its own dashes and its name in the legend"""
        figure = self.file("both.svg")
        logs = [self.log("slow.tabi", 0.9), self.log("fast.tabi", 0.1)]
        out, _ = self.tabi("plot", *logs, "box.vx", "box.vz", "ground.fz", "-o", figure)
        self.assertEqual(out, f"{figure}: 6 curves in 2 panels\n")
        texts = self.texts(figure)
        for text in ("box.vx", "box.vz", "slow", "fast", "ground.fz, slow", "ground.fz, fast"):
            self.assertIn(text, texts)
        self.assertIn("stroke-dasharray", self.read(figure))

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_formats(self):
        png, pdf = self.file("f.png"), self.file("f.pdf")
        self.tabi("plot", self.log(), "-o", png)
        self.tabi("plot", self.log(), "-o", pdf)
        self.assertEqual(self.read(png, "rb")[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreaterEqual(struct.unpack(">I", self.read(png, "rb")[16:20])[0], 1600)
        self.assertEqual(self.read(pdf, "rb")[:5], b"%PDF-")

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_extremes_stay(self):
        """the impact lasts for one step of 8000, and its peak is in the figure"""
        log, figure = self.log("long.tabi", 0.3, "8"), self.file("long.svg")
        self.tabi("plot", log, "ground.fz", "-o", figure)
        path = max(re.findall(r"<path stroke=[^>]*d='([^']*)'", self.read(figure)), key=len)
        points = [tuple(map(float, p)) for p in re.findall(r"([0-9.]+),([0-9.]+)", path)]
        self.assertLess(len(points), 4100)
        heights = sorted(y for _, y in points)  # downwards
        rest = heights[len(heights) // 2]
        self.assertGreater(rest - heights[0], 100)

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_time(self):
        """no point lies outside of --from and --to, which are the ends of the axis"""
        figure = self.file("part.svg")
        self.tabi("plot", self.log(), "box.z", "--from", "0.2", "--to", "0.4", "-o", figure)
        texts = self.texts(figure)
        self.assertIn("0.2", [t.strip() for t in texts])
        self.assertIn("0.4", [t.strip() for t in texts])
        self.assertNotIn("0.6", [t.strip() for t in texts])

    @unittest.skipIf(NO_GNUPLOT, "no gnuplot")
    def test_run_draws_the_same(self):
        """tabi run --plot is tabi plot of its log"""
        scene, log = self.file("same.yaml", SCENE % 0.3), self.file("same.tabi")
        run, plot = self.file("run.svg"), self.file("plot.svg")
        self.tabi("run", scene, "--time", "0.3", "--log", log, "--plot", run)
        self.tabi("plot", log, "-o", plot)
        self.assertEqual(self.read(run), self.read(plot))

    # the terminal

    def test_sparklines(self):
        """the box falls for 0.2 s, hits, and rests"""
        scene = self.file("s.yaml", SCENE % 0.3)
        out, _ = self.tabi("run", scene, "--time", "0.48", "--spark")
        lines = re.findall(r"^  (\w+) +([ ▁▂▃▄▅▆▇█]{48})  (.*)$", out, re.M)
        self.assertEqual([line[0] for line in lines], ["force", "residual"])
        cells = lines[0][1]
        self.assertEqual(cells[:20], 20 * "▁")
        self.assertEqual(cells.count("█"), 1)
        self.assertEqual(cells.index("█"), 20)
        self.assertRegex(lines[0][2], r"^0 to \d\.?\d*e\+03 N$")
        for args in ((), ("--json",), ("--json", "--spark")):
            out, _ = self.tabi("run", scene, "--time", "0.1", *args)
            self.assertNotIn("▁", out)

    def test_sparklines_on_a_terminal(self):
        """where letters are UTF-8, and nowhere else"""
        import pty
        scene = self.file("t.yaml", SCENE % 0.3)
        for locale, shown in (("de_DE.UTF-8", True), ("C", False)):
            pid, terminal = pty.fork()
            if pid == 0:
                env = dict(os.environ, LC_ALL=locale, TERM="xterm")
                os.execve(TABI, [TABI, "run", scene, "--time", "0.1"], env)
            text = b""
            try:
                while chunk := os.read(terminal, 4096):
                    text += chunk
            except OSError:
                pass  # the end, on Linux
            os.close(terminal)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, text)
            self.assertEqual("▁" in text.decode(), shown, text)


if __name__ == "__main__":
    main()
