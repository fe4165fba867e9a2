"""The outside of the command: help, usage errors, exit codes, broken output."""

import os
import pty
import subprocess
import time

from command import Case, TABI, data, main

COMMANDS = ["run", "info", "check", "dynamics", "solve", "bench", "reproduce", "compare", "plot",
            "export", "view"]


class Usage(Case):
    def test_version(self):
        out, err = self.tabi("--version")
        self.assertRegex(out, r"^tabi \d+\.\d+\.\d+\n$")
        self.assertEqual(err, "")

    def test_overview_names_every_command(self):
        for args in (["help"], ["--help"], ["-h"]):
            out, _ = self.tabi(*args)
            for command in COMMANDS:
                self.assertIn(f"\n  {command} ", out)
            self.assertIn("exit codes", out)

    def test_help_of_each_command_teaches(self):
        for command in COMMANDS:
            out, _ = self.tabi("help", command)
            self.assertTrue(out.startswith(f"usage: tabi {command} "), out)
            self.assertIn(f"  tabi {command} ", out)
            self.assertIn("exit codes", out)
            self.assertEqual(self.tabi(command, "--help")[0], out)
            self.assertEqual(self.tabi(command, "-h")[0], out)
            self.assertTrue(all(len(line) <= 100 for line in out.splitlines()), out)

    def test_help_lists_all_contact_methods(self):
        for command in ("run", "compare", "view"):
            out, _ = self.tabi("help", command)
            words = " ".join(out.split())
            self.assertIn("cone, lcp, exact, penalty, impulse, gait, cone-paper, lcp-paper, ", words)

    def test_no_arguments_is_a_usage_error(self):
        _, err = self.tabi(code=2)
        self.assertIn("usage: tabi COMMAND", err)

    def usage_error(self, *args, says):
        _, err = self.tabi(*args, code=2)
        self.assertTrue(err.startswith("tabi: error: "), err)
        self.assertIn(says, err)
        self.assertIn("--help", err)

    def test_wrong_words(self):
        model = data("walker.urdf")
        self.usage_error("inof", model, says="did you mean 'info'?")
        self.usage_error("xyzzyxyzzy", says="unknown command 'xyzzyxyzzy'")
        self.usage_error("help", "dynamix", says="did you mean 'dynamics'?")
        self.usage_error("--verson", says="unknown option '--verson'")
        self.usage_error("info", says="MODEL is missing")
        self.usage_error("info", model, model, says="unexpected")
        self.usage_error("info", model, "--jsn", says="did you mean '--json'?")
        self.usage_error("info", model, "--json=1", says="takes no value")
        self.usage_error("info", model, "--json", "--json", says="given twice")
        self.usage_error("dynamics", model, "--base", says="needs a value")
        self.usage_error("dynamics", model, "--base", "loose", says="'free' or 'fixed'")
        self.usage_error("dynamics", model, "--stat=x", says="did you mean '--state'?")

    def test_option_forms(self):
        model = data("walker.urdf")
        plain, _ = self.tabi("dynamics", model, "--base", "fixed")
        self.assertEqual(self.tabi("dynamics", "--base=fixed", "--", model)[0], plain)

    def test_missing_model(self):
        for command in ("info", "check", "dynamics"):
            self.error(command, "no/such.urdf", path="no/such.urdf", line=1, says="")

    def test_full_disk_is_reported(self):
        with open("/dev/full", "wb") as full:
            run = subprocess.run([TABI, "info", data("walker.urdf")], stdout=full,
                                 stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"error: cannot write", run.stderr)

    def test_reader_that_goes_away(self):
        read, write = os.pipe()
        os.close(read)
        run = subprocess.run([TABI, "dynamics", data("walker.urdf")], stdout=write,
                             stderr=subprocess.PIPE, timeout=60)
        os.close(write)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"error: cannot write", run.stderr)

    def wait_for_handler(self, pid, number):
        """Waits until a process catches a signal; a loaded machine may take its time."""
        for _ in range(3000):
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                caught = next(line for line in status if line.startswith("SigCgt:"))
            if int(caught.split()[1], 16) >> (number - 1) & 1:
                return
            time.sleep(0.01)
        self.fail(f"signal {number} is not caught")

    def test_interrupt(self):
        for number, code in ((2, 130), (15, 143)):
            with subprocess.Popen([TABI, "dynamics", data("walker.urdf"), "--state", "-"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
                self.wait_for_handler(run.pid, number)
                run.send_signal(number)
                self.assertEqual(run.wait(timeout=30), code)

    def stderr_on_terminal(self, **env):
        """What is printed on a terminal when a model is missing."""
        master, slave = pty.openpty()
        run = subprocess.run([TABI, "info", "no.urdf"], stderr=slave, timeout=60,
                             stdout=subprocess.DEVNULL, env=dict(os.environ, TERM="xterm", **env))
        os.close(slave)
        text = os.read(master, 4096)
        os.close(master)
        self.assertEqual(run.returncode, 3)
        return text

    def test_colour(self):
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        os.environ.clear()
        os.environ.update(env)
        self.assertIn(b"\x1b[1;31merror\x1b[0m", self.stderr_on_terminal())
        self.assertNotIn(b"\x1b", self.stderr_on_terminal(NO_COLOR="1"))
        _, err = self.tabi("info", "no.urdf", code=3)
        self.assertNotIn("\x1b", err)


if __name__ == "__main__":
    main()
