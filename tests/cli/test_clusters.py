"""Studies on clusters: a real Slurm with two nodes and an MPI job of four ranks, one of which is killed, all on this
machine; their rows are those of `tabi sweep`."""

import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from command import FolderCase, TABI, main

SCENE = """
timestep: 1e-3
duration: %g
contact: {friction: 0.5}
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.1]}, xyz: [0, 0, 0.05], lin: [1, 0, 0]}
"""

STUDY = """
scene: slide.yaml
runs: %d
parameters: {friction: {set: contact.friction, uniform: [0.1, 0.9]}}
measures: {distance: {signal: box.x, statistic: last}}
"""

ROWS = "select id, seed, status, hash, engine, version, p_friction, m_distance from runs order by id"

CONF = """ClusterName=tabi
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={d}/munge/sock
CredType=cred/munge
StateSaveLocation={d}/ctl
SlurmdSpoolDir={d}/%n
SlurmctldPidFile={d}/ctl.pid
SlurmdPidFile={d}/%n.pid
SlurmctldLogFile={d}/ctl.log
SlurmdLogFile={d}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
MaxArraySize=5
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 RealMemory=100
PartitionName=all Nodes=n[1-2] Default=YES State=UP
"""

MPI = os.path.join(os.path.dirname(TABI), "tabi-sweep-mpi")


def missing(*programs):
    found = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return [p for p in programs if not shutil.which(p, path=found)]


class Clusters(FolderCase):
    def study(self, runs, duration):
        self.file("slide.yaml", SCENE % duration)
        return self.file("study.yaml", STUDY % runs)

    def rows(self, name):
        with sqlite3.connect(self.file(name)) as base:
            return base.execute(ROWS).fetchall()

    # -- Slurm

    def start(self, *command):
        env = dict(os.environ, SLURM_CONF=self.file("slurm.conf"), PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       cwd=self.folder)

    def stop_all(self):
        for pid in ("n1.pid", "n2.pid", "ctl.pid", "munge/pid"):
            try:
                with open(self.file(pid), encoding="ascii") as file:
                    os.kill(int(file.read()), signal.SIGKILL)
            except (OSError, ValueError):
                pass

    def start_slurm(self):
        os.chmod(self.folder, 0o755)
        os.makedirs(self.file("munge"), mode=0o755)
        self.file("munge/key", secrets.token_bytes(128))
        os.chmod(self.file("munge/key"), 0o600)
        port = 20000 + os.getpid() % 20000
        self.file("slurm.conf", CONF.format(d=self.folder, port=port, first=port + 1, last=port + 2,
                                            user=subprocess.check_output(["id", "-un"], text=True).strip()))
        os.makedirs(self.file("ctl"))
        self.addCleanup(self.stop_all)
        self.start("munged", "--force", *("--%s-file=%s" % (kind, self.file("munge/" + name)) for kind, name in
                                          (("key", "key"), ("pid", "pid"), ("log", "log"), ("seed", "seed"))),
                   "--socket=" + self.file("munge/sock"))
        self.start("slurmctld", "-f", self.file("slurm.conf"))
        for node in ("n1", "n2"):
            self.start("slurmd", "-N", node, "-f", self.file("slurm.conf"))
        return dict(os.environ, SLURM_CONF=self.file("slurm.conf"))

    def wait_for_jobs(self, env):
        for _ in range(600):
            left = subprocess.run(["squeue", "-h"], env=env, capture_output=True, text=True, check=False)
            if left.returncode == 0 and not left.stdout.strip():
                return
            time.sleep(0.2)
        self.fail("the jobs do not end: " + left.stdout)

    def test_slurm(self):
        gone = missing("munged", "slurmctld", "slurmd", "sbatch", "squeue")
        if gone:
            self.skipTest("no %s (Debian: slurmctld slurmd slurm-client munge)" % gone[0])
        study = self.study(24, 0.2)
        env = self.start_slurm()
        self.tabi("sweep", study, "--out", self.file("local.sqlite"))
        r = self.json("sweep", study, "--slurm", "--jobs", "8", "--out", self.file("slurm.sqlite"), "--json", env=env)
        self.assertEqual(r["tasks"], 4)  # MaxArraySize
        self.wait_for_jobs(env)
        self.assertEqual(self.rows("slurm.sqlite"), self.rows("local.sqlite"))

    # -- MPI

    def mpirun(self, ranks, study, out):
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")
        return subprocess.Popen(["mpirun", "--oversubscribe", "--enable-recovery", "-np", str(ranks), MPI, study,
                                 "--out", out], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def workers(self, out):
        """Ranks other than 0 that are at the study: not the one that holds the file open."""
        found = subprocess.run(["pgrep", "-f", "tabi-sweep-mpi .*" + out], capture_output=True, text=True,
                               check=False).stdout.split()
        ranks = []
        for pid in found:
            try:
                with open("/proc/%s/environ" % pid, "rb") as file:
                    names = dict(item.split(b"=", 1) for item in file.read().split(b"\0") if b"=" in item)
            except OSError:
                continue
            if int(names.get(b"OMPI_COMM_WORLD_RANK", b"0")) > 0:
                ranks.append(int(pid))
        return ranks

    def count(self, out):
        try:
            with sqlite3.connect(out, timeout=5) as base:
                return base.execute("select count(*) from runs").fetchone()[0]
        except sqlite3.OperationalError:  # no table yet
            return 0

    @unittest.skipIf(missing("mpirun", "pgrep") or not os.path.exists(MPI), "no MPI (Debian: libopenmpi-dev)")
    def test_mpi_survives_a_rank(self):
        study = self.study(150, 4)
        out = self.file("mpi.sqlite")
        with self.mpirun(4, study, out) as job:
            # ranks that die while MPI starts would keep the others from starting
            while job.poll() is None and self.count(out) == 0:
                time.sleep(0.02)
            os.kill(self.workers(out)[0], signal.SIGKILL)
            done = self.count(out)
            said = job.communicate(timeout=200)
        self.assertEqual(job.returncode, 0, said[1].decode()[-2000:])
        self.assertLess(done, 150)  # it died on the way
        self.assertIn("given up", said[1].decode())
        self.tabi("sweep", study, "--out", self.file("local.sqlite"))
        self.assertEqual(self.rows("mpi.sqlite"), self.rows("local.sqlite"))


if __name__ == "__main__":
    main()
