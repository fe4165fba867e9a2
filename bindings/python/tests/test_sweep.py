"""Studies from Python: on this machine, and on a Dask cluster of two workers."""
import os
import pathlib
import signal
import threading
import time

import numpy as np
import pytest

import tabi
from tabi._command import run_command

SCENE = """
timestep: 1e-3
duration: 0.5
contact: {friction: 0.5}
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.1]}, xyz: [0, 0, 0.05], lin: [1, 0, 0]}
"""

STUDY = """
scene: slide.yaml
runs: 60
parameters:
  friction: {set: contact.friction, uniform: [0.1, 0.9]}
  speed: {set: bodies.box.lin, choices: ["[1, 0, 0]", "[2, 0, 0]"]}
measures:
  distance: {signal: box.x, statistic: last}
  stopped: {when: "box.vx < 0.001"}
"""

PARTS = ("id", "seed", "status", "hash", "engine", "version", "p_friction", "p_speed", "m_distance", "m_stopped")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "slide.yaml").write_text(SCENE)
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    package = str(pathlib.Path(tabi.__file__).parents[1])
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  env={"PYTHONPATH": package}) as cluster, distributed.Client(cluster) as client:
        yield client


def assert_same_rows(one, other):
    for part in PARTS:
        np.testing.assert_array_equal(one[part], other[part])


def test_results(study, tmp_path):
    result = tabi.sweep(study, tmp_path / "a.sqlite", report=tmp_path / "a.html")
    assert len(result) == 60 and result.summary["runs"] == 60 and set(PARTS) < set(result.columns)
    speed = np.array([float(text[1]) for text in result["p_speed"]])
    deceleration = 9.81 * result["p_friction"]
    moving = np.minimum(0.5, speed / deceleration)
    np.testing.assert_allclose(result["m_distance"], speed * moving - deceleration * moving**2 / 2, atol=2e-3)
    assert np.isnan(result["m_stopped"]).any() and "60 of 60" in repr(result)
    assert (tmp_path / "a.html").stat().st_size > 1000
    with pytest.raises(KeyError, match="m_distance"):
        result["distance"]
    with pytest.raises(tabi.Error, match="resume"):
        tabi.sweep(study, tmp_path / "a.sqlite")
    result.replay(7, tmp_path / "7.tabi")
    assert tabi.Log(tmp_path / "7.tabi")["box.x"][-1] == pytest.approx(result["m_distance"][7], abs=1e-6)


def test_pandas_and_hdf5(study, tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("pandas")
    result = tabi.sweep(study, tmp_path / "a.sqlite")
    run_command("sweep", str(study), "--out", result.path, "--resume", "--hdf5", str(tmp_path / "a.h5"))
    frame = result.to_pandas()
    with h5py.File(tmp_path / "a.h5") as file:
        for name in ("seed", "seconds", "p_friction", "m_distance", "m_stopped"):
            np.testing.assert_array_equal(file[name][:], frame[name].to_numpy(float))
        assert [text.decode() for text in file["p_speed"]] == list(frame["p_speed"])
        assert [f"{h:016x}" for h in file["hash"]] == list(frame["hash"])


def test_dask_gives_the_same_rows(study, tmp_path, cluster):
    here = tabi.sweep(study, tmp_path / "here.sqlite")
    there = tabi.sweep(study, tmp_path / "there.sqlite", client=cluster, jobs=7)
    assert_same_rows(here, there)
    with pytest.raises(FileExistsError):
        tabi.sweep(study, tmp_path / "there.sqlite", client=cluster)
    assert_same_rows(here, tabi.sweep(study, tmp_path / "there.sqlite", client=cluster, jobs=7, resume=True))


def test_a_dask_worker_that_dies(study, tmp_path, cluster):
    """Its shard is done by another; Dask starts a new worker in its place."""
    victim = next(iter(cluster.run(os.getpid).values()))
    longer = study.with_name("longer.yaml")
    longer.write_text(STUDY.replace("runs: 60", "runs: 300"))
    killer = threading.Thread(target=lambda: (time.sleep(0.3), os.kill(victim, signal.SIGKILL)))
    killer.start()
    there = tabi.sweep(longer, tmp_path / "there.sqlite", client=cluster, jobs=20)
    killer.join()
    assert victim not in cluster.run(os.getpid).values()
    assert_same_rows(tabi.sweep(longer, tmp_path / "here.sqlite"), there)
