"""tabi export: what is asked for is what is written; a file is there when it is whole or not at all,
whatever happens; memory does not grow with the log.  Numbers are compared with those that tabi run
wrote on its own; tests/export reads the files with the libraries that others use."""

import csv
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from command import TABI, Case, main

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAIR = os.path.join(ROOT, "tests", "export", "data", "pair.yaml")
STAND = os.path.join(ROOT, "scenes", "stand.yaml")
# a disk that takes so much, and no more
SPACE = 20000


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, SPACE))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


class Export(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.log = os.path.join(cls.folder, "pair.tabi")
        cls.csv = os.path.join(cls.folder, "run.csv")
        subprocess.run([TABI, "run", PAIR, "--log", cls.log, "--csv", cls.csv], check=True,
                       stdout=subprocess.PIPE)
        probe = subprocess.run([TABI, "export", cls.log, "-o", os.path.join(cls.folder, "x.h5")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        cls.refusal = probe.stderr.decode()
        cls.endings = ["csv", "mcap"] if "without HDF5" in cls.refusal else ["csv", "h5", "mcap"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.out = tempfile.mkdtemp(dir=self.folder)

    def file(self, name):
        return os.path.join(self.out, name)

    def rows(self, *args, log=None):
        path = self.file("rows.csv")
        self.tabi("export", log or self.log, "-o", path, *args)
        with open(path, newline="", encoding="utf-8") as of:
            return list(csv.DictReader(of, strict=True))

    def refuse(self, *args, says):
        _, err = self.tabi("export", *args, code=2)
        self.assertIn(says, err)

    def test_numbers_are_those_of_the_run(self):
        with open(self.csv, newline="", encoding="utf-8") as of:
            told = list(csv.DictReader(of))
        rows = self.rows()
        self.assertEqual(len(rows), 251)
        self.assertEqual(rows[0]["time"], "0")
        columns = {"kinetic": "energy.kinetic", "work": "energy.work", "contacts": "contacts",
                   "ground.fz": "ground.fz", "a.z": "a.z", "b.qw": "b.qw",
                   "a/gyro.wx": "a/gyro.wx", "a/ft.tx": "a/ft.tx"}
        for old, new in zip(told, rows[1:]):
            self.assertAlmostEqual(float(old["time"]), float(new["time"]), 12)
            for there, here in columns.items():
                wanted = float(old[there])
                self.assertAlmostEqual(float(new[here]), wanted, delta=1e-6 * abs(wanted) + 1e-9)

    def test_names_and_what_is_no_number(self):
        rows = self.rows()
        self.assertIn('box, "b".x', rows[0])
        self.assertEqual(list(rows[0])[:2], ["time", "energy.kinetic"])
        # nothing stands on the floor yet, so there is no zero-moment point
        self.assertEqual(rows[0]["a.zmp.x"], "")
        self.assertNotEqual(rows[-1]["a.zmp.x"], "")

    def test_names_in_the_table_of_a_run(self):
        path = self.file("run.csv")
        self.tabi("run", PAIR, "--time", "0.01", "--csv", path, "--set", "log.signals=['box, \"b\"']")
        with open(path, newline="", encoding="utf-8") as of:
            rows = list(csv.reader(of, strict=True))
        self.assertIn('box, "b".x', rows[0])
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    def test_chosen_signals(self):
        self.assertEqual(list(self.rows("--signals", "b.com,*knee.q")[0]),
                         ["time", "b.com.x", "b.com.y", "b.com.z", "a/knee.q", "b/knee.q"])
        self.assertEqual(list(self.rows("--signals", "a.com.z", "--signals=contacts")[0]),
                         ["time", "contacts", "a.com.z"])
        self.assertEqual(list(self.rows("--signals", "time")[0]), ["time"])
        self.refuse(self.log, "-o", self.file("x.csv"), "--signals", "a.con.z",
                    says="no signal 'a.con.z' in " + self.log + "; did you mean 'a.com.z'?")
        self.assertEqual(os.listdir(self.out), ["rows.csv"])

    def test_times(self):
        def times(*args):
            return [round(float(r["time"]), 12) for r in self.rows("--signals", "contacts", *args)]
        self.assertEqual(times("--every", "100"), [0, 0.1, 0.2])
        self.assertEqual(times("--from", "0.1", "--to", "0.103"), [0.1, 0.101, 0.102, 0.103])
        self.assertEqual(times("--from", "0.0995", "--to", "0.1005"), [0.1])
        self.assertEqual(times("--from", "0.2", "--every", "25"), [0.2, 0.225, 0.25])
        self.assertEqual(times("--to", "9")[-1], 0.25)
        to = ("-o", self.file("x.csv"))
        self.refuse(self.log, *to, "--from", "1", says="the log goes from 0 to 0.25 s")
        self.refuse(self.log, *to, "--from", "0.0991", "--to", "0.0999", says="no samples")
        self.refuse(self.log, *to, "--from", "0.2", "--to", "0.1", says="--from 0.2 is after --to")
        self.refuse(self.log, *to, "--from", "soon", says="--from needs a number of seconds")
        self.refuse(self.log, *to, "--to", "nan", says="--to needs a number of seconds")
        for every in ("0", "1.5", "-1", "x", "1e99"):
            self.refuse(self.log, *to, "--every", every, says="--every needs a whole number")

    def test_formats(self):
        magic = {"csv": b"time,", "h5": b"\x89HDF", "hdf5": b"\x89HDF", "mcap": b"\x89MCAP"}
        for ending, begins in magic.items():
            if "h5" not in self.endings and begins == b"\x89HDF":
                continue
            path = self.file("x." + ending)
            out, _ = self.tabi("export", self.log, "-o", path, "--every", "50")
            self.assertRegex(out, rf"^{path}: 6 samples, \d+ signals, [\d.]+ MB\n$")
            with open(path, "rb") as of:
                self.assertEqual(of.read(len(begins)), begins)
        self.tabi("export", self.log, "-o", self.file("csv.mcap"), "--format", "csv")
        with open(self.file("csv.mcap"), "rb") as of:
            self.assertEqual(of.read(5), b"time,")
        self.refuse(self.log, says="-o FILE is missing")
        self.refuse(self.log, "-o", self.file("x.txt"), says="names no format; use .csv")
        self.refuse(self.log, "-o", self.file("x.csv"), "--format", "xls",
                    says="unknown format 'xls' (csv, hdf5, mcap)")

    def record(self, bodies):
        """A log of some balls in the air."""
        scene, log = self.file("balls.yaml"), self.file("balls.tabi")
        with open(scene, "w", encoding="utf-8") as to:
            to.write("duration: 0.002\nbodies:\n")
            for i, name in enumerate(bodies):
                to.write(f"  - {{name: {name}, mass: 1, xyz: [{i}, 0, 1], shape: {{sphere: 0.1}}}}\n")
        self.tabi("run", scene, "--log", log)
        return log

    def test_many_coordinates(self):
        """Their names are an attribute, and more than 64 KB need a newer format of HDF5."""
        if "h5" in self.endings:
            log = self.record(f"ball{i}" for i in range(650))
            self.tabi("export", log, "-o", self.file("a.h5"), "--signals", "ground")

    def test_a_name_that_is_a_folder_of_another(self):
        if "h5" in self.endings:
            log = self.record(["a", "a.x/b"])
            _, err = self.tabi("export", log, "-o", self.file("a.h5"), code=1)
            self.assertIn("no place for signals/a.x/b.x beside the others", err)
            self.tabi("export", log, "-o", self.file("a.h5"), "--signals", "a.y,a.x/b")

    def test_without_hdf5_the_package_is_named(self):
        if "h5" in self.endings:
            self.assertEqual(self.refusal, "")
        else:
            self.assertIn("libhdf5-dev", self.refusal)

    def test_the_log_is_not_overwritten(self):
        with open(self.log, "rb") as of:
            before = of.read()
        os.symlink(self.log, self.file("x.csv"))
        for path in (self.log, self.file("x.csv")):
            self.refuse(self.log, "-o", path, "--format", "csv", says="-o would overwrite " + self.log)
        with open(self.log, "rb") as of:
            self.assertEqual(of.read(), before)

    def test_no_command_overwrites_what_it_reads(self):
        log, scene = self.file("x.svg"), self.file("scene.yaml")
        shutil.copy(self.log, log)
        shutil.copy(PAIR, scene)
        for args in (["run", scene, "--log", scene], ["run", scene, "--csv", scene],
                     ["run", "--resume", log, "--log", log], ["run", "--resume", log, "--html", log],
                     ["plot", log, "-o", log], ["compare", self.log, log, "--plot", log],
                     ["compare", log, "--html", log], ["view", log, "--html", log]):
            with self.subTest(args):
                _, err = self.tabi(*args, code=2)
                self.assertIn(f"{args[-2]} would overwrite {args[-1]}, which is read", err)
        for one, other in ((log, self.log), (scene, PAIR)):
            with open(one, "rb") as a, open(other, "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_logs_that_are_not_whole(self):
        """What a killed run left is exported; what is no log, or damaged, is not."""
        with open(self.log, "rb") as of:
            log = of.read()
        cut, bad = self.file("cut.tabi"), self.file("bad.tabi")
        with open(cut, "wb") as to:
            to.write(log[:-30])
        self.assertGreater(len(self.rows("--signals", "contacts", log=cut)), 200)
        with open(bad, "wb") as to:
            to.write(log[:9000] + bytes([log[9000] ^ 1]) + log[9001:])
        for path in (bad, PAIR):
            _, err = self.tabi("export", path, "-o", self.file("x.csv"), code=3)
            self.assertIn(f"{path}:1: error: ", err)
        self.tabi("export", self.file("none.tabi"), "-o", self.file("x.csv"), code=3)
        self.assertNotIn("x.csv", os.listdir(self.out))

    def test_a_full_disk_leaves_what_was_there(self):
        for ending in self.endings:
            path = self.file("x." + ending)
            with open(path, "w", encoding="utf-8") as to:
                to.write("old")
            run = subprocess.run([TABI, "export", self.log, "-o", path], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, preexec_fn=limit_files, timeout=60)
            err = run.stderr.decode()
            self.assertEqual((run.returncode, run.stdout), (1, b""), err)
            self.assertEqual(err, f"{path}:1: error: cannot write: File too large\n")
            with open(path, encoding="utf-8") as of:
                self.assertEqual(of.read(), "old")
        self.assertEqual(sorted(os.listdir(self.out)), ["x." + e for e in self.endings])

    def test_devices_and_folders(self):
        for word in ("csv", "mcap"):
            _, err = self.tabi("export", self.log, "-o", "/dev/full", "--format", word, code=1)
            self.assertEqual(err, "/dev/full:1: error: cannot write: No space left on device\n")
            self.tabi("export", self.log, "-o", "/dev/null", "--format", word)
        self.assertTrue(os.path.exists("/dev/full"))
        for name in ("none/x." + e for e in self.endings):
            _, err = self.tabi("export", self.log, "-o", self.file(name), code=1)
            self.assertEqual(err, f"{self.file(name)}:1: error: cannot write: "
                                  "No such file or directory\n")
        os.symlink(self.file("aim.csv"), self.file("link.csv"))
        self.tabi("export", self.log, "-o", self.file("link.csv"))
        self.assertTrue(os.path.islink(self.file("link.csv")))
        self.assertGreater(os.path.getsize(self.file("aim.csv")), 1000)

    def interrupt(self, log, ending, number):
        path = self.file("x." + ending)
        run = subprocess.Popen([TABI, "export", log, "-o", path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        while run.poll() is None and not os.listdir(self.out):
            time.sleep(0.001)
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (128 + number, b""), err)
        self.assertEqual(os.listdir(self.out), [])

    def test_interrupted(self):
        log = os.path.join(self.folder, "stand.tabi")
        self.tabi("run", STAND, "--time", "0.5", "--log", log)
        for number, ending in zip((signal.SIGTERM, signal.SIGINT, signal.SIGINT), self.endings):
            self.interrupt(log, ending, number)

    def most_memory(self, *args):
        run = subprocess.Popen([TABI, "export", *args], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 0)
        return usage.ru_maxrss

    def test_memory_does_not_grow(self):
        """Four times the samples take no more; sanitizers keep what was freed, so not with them."""
        if os.environ.get("TABI_SANITIZE"):
            return
        log = os.path.join(self.folder, "long.tabi")
        self.tabi("run", PAIR, "--time", "6", "--log", log)
        for ending in self.endings:
            path = self.file("x." + ending)
            few = self.most_memory(log, "-o", path, "--to", "1.5")
            many = self.most_memory(log, "-o", path)
            self.assertLess(many, few + 1500, f"{ending}: {few} kB, then {many} kB")


if __name__ == "__main__":
    main()
