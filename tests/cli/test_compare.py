"""tabi compare: figures against closed forms and against what `tabi run` logs, equal runs, runs that
part, logs against scenes, tolerances, the fixed JSON form, and what cannot be compared."""

import csv
import json
import math
import os
import re
import tempfile

from command import HERE, Case, main, scene

STAND = scene("stand")
INCLINE = scene("incline")
WALK = scene("biped_walk")
DOCS = os.path.join(HERE, "..", "..", "docs", "compare.md")

FIGURES = ["fall", "force_mean", "force_peak", "force_jump", "contact_peak", "zmp_error", "zmp_noise",
           "slip", "slip_energy", "creep", "penetration", "energy_start", "energy_end", "energy_gain",
           "gap", "gap_99", "complementarity", "complementarity_99", "cone", "cone_99",
           "dissipation", "dissipation_99", "stalled", "step_time", "position_error", "angle_error"]
KEYS = ["reference", "runs", "refused", "tolerances", "within", "warnings", "repairs"]
RUN_KEYS = ["name", "file", "log", "contact", "integrator", "dt", "start", "end", "samples", "frames",
            "fell", "failure", "figures", "divergence", "links"]

# A box that falls from 1 cm; room for four points of contact is needed.
DROP = """
timestep: 1e-3
duration: 0.1
contact: {max_contacts: %d}
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.11]}
"""

ROBOT = """
<robot name="block">
  <link name="block">
    <inertial><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
</robot>
"""
FALL = """
timestep: 1e-3
duration: 1
robots: [{name: robot, model: robot.urdf, base: free, xyz: [0, 0, 1]}]
"""


class Compare(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def log(self, scene, name, *args):
        """A log of a run of the scene, with all steps."""
        self.tabi("run", scene, "--log", self.path(name), "--set", "log.every=1", *args)
        return self.path(name)

    def compare(self, *args, code=0):
        result = self.json("compare", *args, "--json", code=code)
        self.assertEqual(list(result), KEYS)
        for run in result["runs"]:
            self.assertEqual(list(run), RUN_KEYS)
            self.assertEqual(list(run["figures"]), FIGURES)
        return result

    # -- what the numbers are

    def test_a_sliding_box_in_closed_form(self):
        # friction 0.3 on 30 degrees: a = g (sin - mu cos), steps of h: s = a h^2 n (n + 1) / 2
        mu, angle, g, h, n = 0.3, math.pi / 6, 9.81, 1e-3, 500
        a = g * (math.sin(angle) - mu * math.cos(angle))
        way = a * h * h * n * (n + 1) / 2
        up = g * math.cos(angle) * (math.cos(angle) + mu * math.sin(angle))
        result = self.compare(INCLINE, "--time", "0.5", "--contact", "exact",
                              "--set", "materials.wood.friction=0.3")
        figures = result["runs"][0]["figures"]
        self.assertAlmostEqual(figures["slip"], way, delta=1e-6)
        self.assertAlmostEqual(figures["slip_energy"], mu * g * math.cos(angle) * way, delta=1e-5)
        self.assertAlmostEqual(figures["force_mean"], up, delta=1e-5)
        self.assertAlmostEqual(figures["force_peak"], up, delta=1e-5)
        # the box never changes its mind, and all four corners together are one contact of two links
        self.assertLess(figures["force_jump"], 1e-5)
        normal = g * math.cos(angle)
        self.assertAlmostEqual(figures["contact_peak"], normal * math.hypot(1, mu), delta=1e-5)
        self.assertIsNone(figures["creep"])
        links = result["runs"][0]["links"]
        self.assertEqual([link["link"] for link in links], ["box"])
        self.assertAlmostEqual(links[0]["slip"], way, delta=1e-6)
        self.assertEqual(links[0]["stick_time"], 0)

    def test_figures_are_those_of_the_run(self):
        # what run writes, step by step, has the same peaks, means and percentiles
        table = self.path("run.csv")
        run = self.json("run", STAND, "--time", "0.2", "--contact", "lcp", "--csv", table, "--json")
        result = self.compare(STAND, "--time", "0.2", "--contact", "lcp")["runs"][0]
        figures = result["figures"]
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 200)
        self.assertEqual(result["samples"], 201)
        up = [float(row["ground.fz"]) for row in rows]
        self.assertAlmostEqual(figures["force_mean"], sum(up) / len(up), delta=1e-3)
        self.assertAlmostEqual(figures["force_peak"], max(up), delta=1e-3)
        jump = max(abs(b - a) for a, b in zip(up, up[1:]))
        self.assertAlmostEqual(figures["force_jump"], jump, delta=1e-3)
        for name, column in (("gap", "gap_m"), ("complementarity", "complementarity_mps"),
                             ("cone", "cone_N"), ("dissipation", "dissipation_mps")):
            values = sorted(float(row[column]) for row in rows)
            for figure, value in ((name, values[-1]), (name + "_99", values[197])):
                self.assertAlmostEqual(figures[figure], value, delta=1e-5 * value, msg=figure)
        self.assertAlmostEqual(figures["penetration"], run["penetration_max"],
                               delta=1e-6 * run["penetration_max"])
        for figure, key in (("energy_start", "start"), ("energy_end", "end"),
                            ("energy_gain", "max_gain")):
            self.assertEqual(figures[figure], run["energy"][key])
        self.assertEqual(result["fell"], run["fell"])
        # and the same ledger; creep is the way of what stuck over its time
        self.assertEqual([link["link"] for link in result["links"]], list(run["ledger"]))
        time = way = 0
        for link in result["links"]:
            ledger = run["ledger"][link["link"]]
            self.assertEqual(link["slip"], ledger["distance"])
            self.assertEqual(link["energy"], ledger["energy"])
            for stay in (entry for entry in ledger["intervals"] if entry["status"] == "stick"):
                time += stay["end"] - stay["start"]
                way += stay["distance"]
        self.assertAlmostEqual(figures["creep"], way / time, delta=1e-9 * way / time)

    def zmp(self, log):
        """Zero-moment points of a log, from its signals."""
        table = log + ".csv"
        self.tabi("export", log, "-o", table, "--signals", "zmp")
        with open(table, encoding="utf-8", newline="") as file:
            return [(float(row["zmp.x"]), float(row["zmp.y"])) for row in list(csv.DictReader(file))[1:]]

    def test_zero_moment_points(self):
        # errors and noise as the formulas of docs/compare.md say, from what the signals are
        logs = [self.log(STAND, f"{method}.tabi", "--contact", method, "--time", "0.15")
                for method in ("exact", "lcp")]
        points = [self.zmp(log) for log in logs]
        runs = self.compare(*logs)["runs"]
        apart = [math.dist(a, b) ** 2 for a, b in zip(*points)]
        self.assertEqual(len(apart), 150)
        error = runs[1]["figures"]["zmp_error"]
        self.assertGreater(error, 1e-5)
        self.assertAlmostEqual(error, math.sqrt(sum(apart) / len(apart)), delta=1e-4 * error)
        for run, way in zip(runs, points):
            off = [math.dist(p, ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)) ** 2
                   for a, p, b in zip(way, way[1:], way[2:])]
            noise = run["figures"]["zmp_noise"]
            # white noise of mean square s^2 gives 3/2 s^2
            self.assertAlmostEqual(noise, math.sqrt(sum(off) / len(off) / 1.5), delta=1e-4 * noise)

    def test_a_fall_has_its_time(self):
        # without a floor, below half of 1 m first where g h^2 n (n + 1) / 2 > 0.5 m: n = 319
        self.write("robot.urdf", ROBOT)
        fall = self.write("fall.yaml", FALL)
        for time, fell in (("0.318", False), ("0.319", True), ("0.4", True)):
            self.assertEqual(self.json("run", fall, "--time", time, "--json")["fell"], fell)
            run = self.compare(fall, "--time", time, "--contact", "exact")["runs"][0]
            self.assertEqual(run["fell"], fell)
            self.assertEqual(run["figures"]["fall"], 0.319 if fell else None)
        out, _ = self.tabi("compare", fall, "--time", "0.4")
        self.assertRegex(out, r"fell +0.319 s +0.319 s")

    def test_the_end_of_a_walk_is_a_fall(self):
        # no torques, and a waist that may not come down: the walk is over soon, and its log says so
        args = ["--set", "gait.forces=[]", "--set", "gait.floors=[{link: waist, height: 4.275}]"]
        log = self.log(WALK, "walk.tabi", *args)
        walk = self.json("run", WALK, *args, "--json")
        self.assertTrue(walk["fell"])
        live, logged = self.compare(WALK, log, *args)["runs"]
        self.assertEqual(live["figures"]["fall"], walk["time"])
        self.assertEqual(logged["figures"]["fall"], walk["time"])
        self.assertLess(walk["time"], 0.2)

    # -- runs against each other

    def test_the_same_run_twice(self):
        result = self.compare(STAND, STAND, "--time", "0.1")
        one, other = result["runs"]
        self.assertEqual([one["name"], other["name"]], ["stand", "stand#2"])
        self.assertEqual(result["reference"], "stand")
        for figures in (one["figures"], other["figures"]):
            self.assertGreater(figures.pop("step_time"), 0)
            for name in ("zmp_error", "position_error", "angle_error"):
                self.assertEqual(figures[name], 0)
        self.assertEqual(one["figures"], other["figures"])
        self.assertIsNone(other["divergence"])
        self.assertEqual(one["links"], other["links"])

    def test_logs_say_what_the_runs_said(self):
        for method in ("cone", "penalty"):
            log = self.log(STAND, "run.tabi", "--contact", method, "--time", "0.1")
            live, logged = self.compare(STAND, log, "--time", "0.1", "--set",
                                        f"contact.model={method}")["runs"]
            self.assertEqual([live["log"], logged["log"]], [False, True])
            self.assertIsNone(logged["figures"].pop("step_time"))
            live["figures"].pop("step_time")
            self.assertEqual(live["figures"], logged["figures"])
            for key in ("contact", "dt", "start", "end", "samples", "fell", "links"):
                self.assertEqual(live[key], logged[key], key)

    def test_methods_agree_where_they_should(self):
        result = self.compare(STAND, "--contact", "exact,cone", "--time", "0.3", "--tolerance",
                              "zmp_error=1e-3,position_error=1e-4,angle_error=1e-4,force_mean=0.1,"
                              "slip=1e-6,creep=1e-6,penetration=1e-6,fall=0")
        self.assertEqual([run["contact"] for run in result["runs"]], ["exact", "cone"])
        self.assertTrue(result["within"])
        self.assertEqual([t["exceeded"] for t in result["tolerances"]], [[]] * 8)

    def test_less_friction_makes_runs_diverge_when_it_must(self):
        # x of the sliding box: a h^2 n (n + 1) / 2 cos > 1 mm first at n = 31
        log = self.log(INCLINE, "slides.tabi", "--time", "0.1", "--contact", "exact",
                       "--set", "materials.wood.friction=0.3")
        result = self.compare(INCLINE, log, "--time", "0.1", "--set", "contact.model=exact")
        parted = result["runs"][1]["divergence"]
        slope = math.pi / 6
        a = 9.81 * (math.sin(slope) - 0.3 * math.cos(slope))
        self.assertAlmostEqual(parted["time"], 0.031, delta=1e-9)
        self.assertEqual((parted["signal"], parted["unit"]), ("box.x", "m"))
        self.assertAlmostEqual(parted["difference"], a * 1e-6 * 31 * 16 * math.cos(slope), delta=1e-8)
        out, _ = self.tabi("compare", INCLINE, log, "--time", "0.1", "--set", "contact.model=exact")
        self.assertIn("slides diverges from incline at 0.031 s: box.x differs by 1.01 mm", out)

    def test_turns_are_told_apart_from_ways(self):
        # a push about z: the angle of the box leaves first, by 1 mrad
        spin = ["--set", "bodies.box.ang=[0, 0, 0.5]", "--time", "0.02"]
        drop = self.write("drop.yaml", DROP % 8)
        result = self.compare(drop, self.log(drop, "spin.tabi", *spin), "--time", "0.02")
        parted = result["runs"][1]["divergence"]
        self.assertEqual((parted["signal"], parted["unit"]), ("box.qz", "rad"))
        self.assertAlmostEqual(parted["difference"], 0.5 * parted["time"], delta=1e-6)
        self.assertAlmostEqual(result["runs"][1]["figures"]["angle_error"], 0.5 * 0.02, delta=1e-5)

    def test_links_with_several_shapes(self):
        """Each of two boxes lies on both halves of a bed, which carries all of its weight."""
        box = "<collision><origin xyz='%s 0 0'/><geometry><box size='%s'/></geometry></collision>"
        self.write("bed.urdf", "<robot name='bed'><link name='base'>" + box % (-0.5, "1 2 0.1") +
                   box % (0.5, "1 2 0.1") + "</link></robot>")
        self.write("box.urdf", "<robot name='box'><link name='base'><inertial><mass value='1'/>"
                   "<inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>" +
                   box % (0, "0.2 0.2 0.1") + "</link></robot>")
        scene = self.write("bed.yaml", "duration: 0.02\nrobots:\n"
                           "  - {name: bed, model: bed.urdf, base: fixed}\n"
                           "  - {name: one, model: box.urdf, base: free, xyz: [0, 0, 0.1]}\n"
                           "  - {name: two, model: box.urdf, base: free, xyz: [0, 0.5, 0.1]}\n")
        figures = self.compare(scene, "--contact", "cone")["runs"][0]["figures"]
        self.assertAlmostEqual(figures["contact_peak"], 9.81, delta=1e-3)

    def test_a_log_that_begins_later(self):
        """Its energy at first is that of its first sample, whatever work was done before."""
        whole = self.log(STAND, "whole.tabi", "--time", "0.1")
        late = self.path("late.tabi")
        self.tabi("run", "--resume", whole, "--at", "0.06", "--time", "0.1", "--log", late)
        table = self.path("whole.csv")
        self.tabi("export", whole, "-o", table, "--signals", "energy")
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(abs(float(rows[60]["energy.work"])), 0.01)
        figures = self.compare(late, late)["runs"][0]["figures"]
        self.assertEqual(figures["energy_start"], float(rows[60]["energy.total"]))
        self.assertEqual(figures["energy_end"], float(rows[100]["energy.total"]))

    def test_times_in_common(self):
        # rows at 0, 3, 6 ms against 0, 2, 4: only those at 0 and 6 ms are near enough
        drop = self.write("drop.yaml", DROP % 8)
        every = []
        for step, rows in (("1e-3", 3), ("2e-3", 1)):
            path = self.path(f"every{rows}.tabi")
            self.tabi("run", drop, "--time", "0.02", "--dt", step, "--log", path, "--set",
                      f"log.every={rows}")
            every.append(path)
        # free fall with steps of 1 and 2 ms: g t (t + h) / 2 differs by g t h / 2
        result = self.compare(*every, "--time", "0.019")
        self.assertAlmostEqual(result["runs"][1]["figures"]["position_error"],
                               9.81 * 0.018 * 1e-3 / 2, delta=1e-9)
        self.assertIn("up to 0.018 s", self.tabi("compare", *every, "--time", "0.019")[0])

    # -- results and their form

    def test_exceeded_tolerances_end_with_5(self):
        args = ["--contact", "exact,penalty", "--time", "0.05"]
        result = self.compare(STAND, *args, "--tolerance", "penetration=1e-6,force_mean=1000", code=5)
        self.assertEqual(result["tolerances"],
                         [{"name": "penetration", "limit": 1e-6, "exceeded": ["penalty"]},
                          {"name": "force_mean", "limit": 1000.0, "exceeded": []}])
        self.assertFalse(result["within"])
        out, _ = self.tabi("compare", STAND, *args, "--tolerance", "penetration=1e-6", code=5)
        self.assertRegex(out, r"penetration, max \[mm\] +\S*\d +\S+\*\n")
        self.assertIn("tolerance penetration=1e-06: exceeded (*) by penalty\n", out)
        # what is not known is not kept either
        result = self.compare(INCLINE, "--time", "0.01", "--contact", "exact", "--tolerance",
                              "zmp_error=1", code=5)
        self.assertEqual(result["tolerances"][0]["exceeded"], ["exact"])

    def test_the_table_is_readable(self):
        out, err = self.tabi("compare", STAND, "--time", "0.02")
        self.assertEqual(err, "")
        head, table, below = out.split("\n\n")
        self.assertEqual(head, f"{STAND}: 0 to 0.02 s in steps of 1 ms, semi-implicit; the reference "
                               "is cone")
        lines = table.split("\n")
        self.assertEqual(lines[0].split(), ["cone", "lcp", "exact", "penalty", "impulse"])
        self.assertEqual(len(lines), 1 + len(FIGURES))
        for line in lines:
            self.assertLessEqual(len(line), 100)
            self.assertEqual(len(line), len(lines[0]))
            self.assertEqual(len(line[34:].split()), 5, line)
        self.assertIn("lcp agrees with cone within 1 mm and 1 mrad up to 0.02 s\n", below)
        # what refuses the scene is named with its reason
        self.assertIn("gait cannot run this scene: contact: model gait needs a section", below)

    def test_published_variants_run_when_they_are_named(self):
        names = ["cone", "lcp", "exact", "penalty", "impulse", "gait", "cone-paper", "lcp-paper",
                 "penalty-paper", "impulse-paper"]
        drop = self.write("drop.yaml", DROP % 8)
        result = self.json("compare", drop, "--time", "0.01", "--contact", ",".join(names), "--json")
        ran = [run["name"] for run in result["runs"]]
        self.assertEqual(ran + [r["name"] for r in result["refused"]],
                         [n for n in names if n != "gait"] + ["gait"])
        self.assertEqual(ran, [run["contact"] for run in result["runs"]])
        # without names the six methods only
        result = self.json("compare", drop, "--time", "0.01", "--json")
        self.assertEqual([r["name"] for r in result["runs"] + result["refused"]], names[:6])
        pair = self.json("compare", drop, "--time", "0.01", "--contact", "cone,cone-paper", "--json")
        self.assertEqual([run["contact"] for run in pair["runs"]], ["cone", "cone-paper"])
        lines = self.tabi("compare", drop, "--time", "0.01", "--contact",
                          "cone,impulse-paper")[0].split("\n\n")[1].split("\n")
        self.assertEqual(lines[0].split(), ["cone", "impulse-paper"])
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})

    def test_figure_and_page(self):
        drop = self.write("drop.yaml", DROP % 8)
        log = self.log(drop, "run.tabi", "--contact", "exact")
        figure, page = self.path("both.svg"), self.path("both.html")
        self.tabi("compare", drop, log, "--plot", figure, "--html", page)
        with open(figure, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("ground.fz, drop", text)
        self.assertIn("ground.fz, run", text)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        scenes = re.findall(r'id="tabi-scene-\d">(.*?)</script>', text, re.S)
        self.assertEqual([json.loads(scene)["title"] for scene in scenes], ["drop", "run"])

    def test_without_gnuplot(self):
        drop = self.write("drop.yaml", DROP % 8)
        figure = self.path("none.svg")
        out, err = self.tabi("compare", drop, "--contact", "cone", "--plot", figure,
                             env={**os.environ, "PATH": self.folder.name})
        self.assertIn("warning: ", err)
        self.assertIn("gnuplot-nox", err)
        self.assertIn("penetration, max", out)
        self.assertFalse(os.path.exists(figure))
        _, err = self.tabi("compare", drop, "--plot", "figure.bmp", code=2)
        self.assertIn(".svg", err)
        _, err = self.tabi("compare", drop, "--html", self.path("no/such/page.html"), code=1)
        self.assertIn("no/such/page.html", err)

    def test_refusals_in_json(self):
        result = self.compare(STAND, "--time", "0.01", "--contact", "gait,exact")
        self.assertEqual([run["name"] for run in result["runs"]], ["exact"])
        self.assertEqual([list(r) for r in result["refused"]], [["name", "reason"]])
        self.assertEqual(result["refused"][0]["name"], "gait")
        self.assertEqual(self.tabi("compare", STAND, "--contact", "gait", code=3)[1].count("\n"), 1)

    def test_a_run_that_fails_is_a_column(self):
        good = self.write("good.yaml", DROP % 8)
        bad = self.write("bad.yaml", DROP % 2)
        result = self.compare(good, bad)
        run = result["runs"][1]
        self.assertIn("contacts", run["failure"])
        self.assertIsNone(result["runs"][0]["failure"])
        self.assertLess(run["end"], 0.05)
        self.assertAlmostEqual(result["runs"][0]["end"], 0.1, delta=1e-12)
        self.assertFalse(self.compare(good, bad, "--tolerance", "fall=1", code=5)["within"])
        self.assertIn("bad stopped early: ", self.tabi("compare", good, bad)[0])
        _, err = self.tabi("compare", bad, code=4)
        self.assertIn(f"{bad}:1: error: ", err)

    def test_names_of_columns(self):
        drop = self.write("a_rather_long_name.yaml", DROP % 8)
        names = [run["name"] for run in self.compare(drop, drop, drop, "--time", "0.01")["runs"]]
        self.assertEqual(names, ["a_rather_l", "a_rather#2", "a_rather#3"])
        # three bytes each, of which ten and eight are not a multiple
        drop = self.write("\u6b69\u884c\u8a66\u9a13.yaml", DROP % 8)
        names = [run["name"] for run in self.compare(drop, drop, "--time", "0.01")["runs"]]
        self.assertEqual(names, ["\u6b69\u884c\u8a66", "\u6b69\u884c#2"])

    def test_what_is_documented(self):
        with open(DOCS, encoding="utf-8") as file:
            text = file.read()
        for name in FIGURES + KEYS + RUN_KEYS:
            self.assertRegex(text, rf"`{re.escape(name)}`", name)

    # -- what cannot be compared

    def test_other_robots(self):
        drop = self.write("drop.yaml", DROP % 8)
        other = self.write("other.yaml", (DROP % 8).replace("name: box", "name: cube"))
        self.error("compare", drop, other, path=other, line=1,
                   says="its joints are not those of " + drop)
        _, err = self.tabi("compare", drop, STAND, code=3)
        self.assertIn("'robot/waist_yaw'", err)
        self.assertIn("; compare runs of the same robots", err)

    def test_usage(self):
        log = self.log(INCLINE, "short.tabi", "--time", "0.01")
        for args, says in (([], "SCENE or LOG is missing"),
                           ([STAND, "--contact", "cone,newton"], "unknown contact method 'newton' (cone, "),
                           ([STAND, "--contact", "cone,cone"], "'cone' is given twice"),
                           ([STAND, STAND, "--contact", "cone"], "--contact goes with one SCENE"),
                           ([log, "--contact", "cone"], "--contact goes with one SCENE"),
                           ([log, "--dt", "0.1"], "--dt goes with scenes"),
                           ([log, "--set", "timestep=1"], "--set goes with scenes"),
                           ([STAND, "--time", "0"], "--time needs a number of seconds > 0"),
                           ([STAND, "--set", "timestep"], "--set needs path=value"),
                           ([STAND, "--tolerance", "zmp=1"], "unknown metric 'zmp' (fall, force_mean"),
                           ([STAND, "--tolerance", "slip"], "'slip' needs a number >= 0"),
                           ([STAND, "--tolerance", "slip=5mm"], "'slip' needs a number >= 0"),
                           ([STAND, "--tolerance", "slip=1,"], "unknown metric ''"),
                           ([STAND, "--tolerance", "slip=1,slip=2"], "'slip' is given twice")):
            self.assertIn(says, self.tabi("compare", *args, code=2)[1])
        self.error("compare", "no/such.yaml", path="no/such.yaml", line=1, says="cannot open")
        with open(log, "r+b") as file:
            file.seek(200)
            byte = file.read(1)
            file.seek(200)
            file.write(bytes([byte[0] ^ 1]))
        self.error("compare", log, path=log, line=1, says="")


if __name__ == "__main__":
    main()
