"""Files of commands: outputs that would destroy something, pipes, inputs of the wrong kind."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from command import TABI, FolderCase, data, main, scene

FALL = "duration: 0.01\nbodies: [{name: ball, shape: {sphere: 0.1}, mass: 1, xyz: [0, 0, 1]}]\n"


def content(path):
    with open(path, "rb") as f:
        return f.read()


class Outputs(FolderCase):
    def setUp(self):
        super().setUp()
        self.scene = self.file("fall.yaml", FALL)

    def refused(self, *args, says):
        """Wrong usage, and nothing is written."""
        before = {name: content(self.file(name)) for name in os.listdir(self.folder)}
        _, err = self.tabi(*args, code=2)
        self.assertIn(says, err)
        self.assertEqual({name: content(self.file(name)) for name in os.listdir(self.folder)},
                         before)

    def test_two_outputs_of_one_name(self):
        x = self.file("x.svg")
        for a, b in (("--log", "--csv"), ("--csv", "--plot"), ("--plot", "--html")):
            self.refused("run", self.scene, a, x, b, x, says=f"{a} and {b} are the same file")

    def test_the_same_file_by_other_names(self):
        x = self.file("x")
        os.mkdir(self.file("folder"))
        here = os.path.join(self.folder, "folder", "..", "x")
        with self.assertRaises(IsADirectoryError):
            content(self.file("folder"))
        _, err = self.tabi("run", self.scene, "--log", x, "--csv", here, code=2)
        self.assertIn("are the same file", err)
        os.rmdir(self.file("folder"))
        os.symlink("x", self.file("nowhere"))  # a link to what does not exist yet
        _, err = self.tabi("run", self.scene, "--log", x, "--csv", self.file("nowhere"), code=2)
        self.assertIn("are the same file", err)
        self.assertFalse(os.path.exists(x))

    def test_outputs_that_are_inputs(self):
        os.link(self.scene, self.file("hard.yaml"))
        os.symlink(self.scene, self.file("soft.yaml"))
        for name in ("fall.yaml", "hard.yaml", "soft.yaml"):
            for option in ("--log", "--csv", "--html"):
                self.refused("run", self.scene, option, self.file(name), says="which is read")
        os.link(self.scene, self.file("hard.svg"))
        self.refused("run", self.scene, "--plot", self.file("hard.svg"), says="which is read")

    def test_outputs_that_a_scene_names(self):
        robot = self.file("arm.urdf", content(data("walker.urdf")).decode())
        path = self.file("s.yaml", f"duration: 0.01\nrobots: [{{name: r, model: {robot}}}]\n")
        self.file("a.STL", "solid a\nendsolid a\n")
        os.symlink(robot, self.file("r.svg"))
        for name in ("arm.urdf", "a.STL", "fall.yaml"):
            for option in ("--log", "--csv", "--html"):
                self.refused("run", path, option, self.file(name), says="would overwrite")
        self.refused("run", path, "--plot", self.file("r.svg"), says="would overwrite")

    def test_outputs_of_compare_and_export(self):
        log = self.file("a.tabi")
        self.tabi("run", self.scene, "--log", log)
        x = self.file("x.svg")
        self.refused("compare", log, log, "--html", x, "--plot", x, says="are the same file")
        self.refused("export", log, "-o", log, "--format", "csv", says="which is read")
        self.refused("view", log, "--html", log, says="which is read")
        os.link(log, self.file("b.svg"))
        self.refused("plot", log, "energy.total", "-o", self.file("b.svg"), says="which is read")

    def test_devices_may_be_shared(self):
        self.tabi("run", self.scene, "--log", "/dev/null", "--csv", "/dev/null")

    def test_a_log_replaces_logs_only(self):
        robot = self.file("robot.txt", content(data("walker.urdf")))
        _, err = self.tabi("run", self.scene, "--log", robot, code=3)
        self.assertIn("robot.txt:1: error: exists and is no log", err)
        self.assertEqual(content(robot), content(data("walker.urdf")))
        log = self.file("a.tabi", "")
        self.tabi("run", self.scene, "--log", log)
        self.tabi("run", self.scene, "--log", log)

    def test_one_writer_at_a_time(self):
        """The second run ends with an error, and the first loses nothing."""
        for option, code, says in (("--log", 3, "is being written by another process"),
                                   ("--csv", 1, "it is being written by another process")):
            path = self.file("out")
            if os.path.exists(path):
                os.remove(path)
            first = subprocess.Popen([TABI, "run", self.scene, "--time", "1e6", option, path],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                while not os.path.exists(path) or os.path.getsize(path) == 0:
                    self.assertIsNone(first.poll())
                    time.sleep(0.01)
                _, err = self.tabi("run", self.scene, option, path, code=code)
                self.assertIn(says, err)
            finally:
                first.send_signal(signal.SIGINT)
                first.wait()
            if option == "--log":
                self.tabi("plot", path, "--list")
            self.tabi("run", self.scene, option, path)  # the lock ends with its run


class Pipes(FolderCase):
    def setUp(self):
        super().setUp()
        self.scene = self.file("fall.yaml", FALL)
        self.pipe = self.file("pipe")
        os.mkfifo(self.pipe)

    def test_inputs_do_not_wait(self):
        for args in (("run", self.pipe), ("run", "--resume", self.pipe), ("info", self.pipe),
                     ("check", self.pipe), ("compare", self.pipe, self.scene),
                     ("view", self.pipe), ("plot", self.pipe, "time"), ("solve", self.pipe),
                     ("export", self.pipe, "-o", self.file("x.csv")),
                     ("dynamics", data("walker.urdf"), "--state", self.pipe)):
            _, err = self.tabi(*args, code=3)
            self.assertIn("pipe:1: error: ", err)

    def test_devices_and_folders_are_no_inputs(self):
        for path in ("/dev/null", "/dev/zero", self.folder):
            for args in (("run", path), ("info", path), ("run", "--resume", path),
                         ("dynamics", data("walker.urdf"), "--state", path)):
                _, err = self.tabi(*args, code=3)
                self.assertIn(f"{path}:1: error: ", err)

    def test_trajectories(self):
        robot = self.file("arm.urdf", content(data("walker.urdf")))
        path = self.file("s.yaml", f"robots:\n  - {{name: r, model: {robot}, controller: "
                                   f"{{type: csv, kp: 1, file: {self.pipe}}}}}\n")
        _, err = self.tabi("run", path, code=3)
        self.assertIn("pipe", err)

    def test_no_log_into_a_pipe(self):
        _, err = self.tabi("run", self.scene, "--log", self.pipe, code=3)
        self.assertIn("pipe:1: error: is no regular file", err)

    def test_a_pipe_without_reader(self):
        _, err = self.tabi("run", self.scene, "--csv", self.pipe, code=1)
        self.assertIn("nobody reads from this pipe", err)
        _, err = self.tabi("run", self.scene, "--html", self.pipe, code=1)
        self.assertIn("nobody reads from this pipe", err)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_figures_into_a_pipe(self):
        pipe, log = self.file("pipe.svg"), self.file("a.tabi")
        os.mkfifo(pipe)
        self.tabi("run", self.scene, "--log", log)
        for args in (("run", self.scene, "--plot", pipe), ("plot", log, "-o", pipe),
                     ("compare", log, log, "--plot", pipe)):
            _, err = self.tabi(*args, code=1)
            self.assertIn("nobody reads from this pipe", err)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        time.sleep(0.3)  # until it has opened the pipe
        self.tabi("plot", log, "-o", pipe)
        out, _ = reader.communicate(timeout=60)
        self.assertIn(b"</svg>", out)

    def test_exports_into_a_pipe(self):
        log = self.file("a.tabi")
        self.tabi("run", self.scene, "--log", log)
        for ending, says in (("csv", "nobody reads"), ("mcap", "nobody reads"), ("h5", "HDF5")):
            pipe = self.file("pipe." + ending)
            os.mkfifo(pipe)
            _, err = self.tabi("export", log, "-o", pipe, code=1)
            self.assertIn(says, err)

    def test_reproduction_needs_a_folder(self):
        for path in (self.pipe, self.scene, "/dev/null"):
            _, err = self.tabi("reproduce", "all", "--quick", "--out", path, code=3)
            self.assertIn(f"{path}:1: error: cannot be written: Not a directory", err)

    def test_a_pipe_with_reader(self):
        reader = subprocess.Popen(["cat", self.pipe], stdout=subprocess.PIPE)
        time.sleep(0.3)  # until it has opened the pipe
        self.tabi("run", self.scene, "--csv", self.pipe)
        out, _ = reader.communicate(timeout=60)
        self.assertEqual(out.decode().splitlines()[0].split(",")[0], "time")
        self.assertEqual(len(out.decode().splitlines()), 11)

    def test_csv_on_standard_output(self):
        run = subprocess.run([TABI, "run", self.scene, "--csv", "/dev/stdout"], check=True,
                             stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(run.stdout[:5], b"time,")


class Swapped(FolderCase):
    """What is understood by another command is named."""

    def test_a_scene_is_no_robot(self):
        for command in ("info", "dynamics"):
            self.error(command, scene("stack"), line=1, says="this is a scene; use tabi run",
                       path=scene("stack"))

    def test_a_robot_is_no_scene(self):
        self.error("run", data("walker.urdf"), line=1, says="this is a robot and no scene",
                   path=data("walker.urdf"))

    def test_a_log_is_neither(self):
        log = self.file("a.tabi")
        self.tabi("run", self.file("fall.yaml", FALL), "--log", log)
        for command in ("run", "info"):
            self.error(command, log, line=1, says="this is a log; use tabi view", path=log)

    def test_a_mesh_is_neither(self):
        mesh = self.file("a.stl", "solid a\nendsolid a\n")
        for command in ("run", "info"):
            self.error(command, mesh, line=1, says="this is a mesh", path=mesh)

    def test_a_broken_file_keeps_its_own_error(self):
        self.error("info", self.file("a.urdf", "<robot>\n<link>\n"), line=3, says="",
                   path=self.file("a.urdf"))


if __name__ == "__main__":
    main()
