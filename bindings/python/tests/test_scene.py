"""Scenes, runs, controllers in Python, logs."""
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tabi
from conftest import SANITIZED

BOX = {
    "name": "box on a slope", "duration": 0.5,
    "bodies": [{"name": "floor", "fixed": True, "shape": {"plane": {}}},
               {"name": "box", "mass": 2, "xyz": [0, 0, 0.1], "shape": {"box": [0.2, 0.2, 0.2]}}],
}


def test_run_is_that_of_the_command(stand):
    result = stand.run(0.3)
    assert result.steps == 300 and result.world.time == pytest.approx(0.3)
    world = stand.world()
    world.step(300)
    assert world.hash == result.hash
    assert len(result.time) == 301 and result["com.z"][-1] == pytest.approx(world.com[2], abs=1e-6)
    assert result.signal("com.z").unit == "m" and "com.z" in result and "nothing" not in result
    assert result.worst["penetration"] < 1e-3
    assert result.ok and [check.name for check in result.checks] == ["penetration", "energy_gain", "residual"]
    strict = stand.run(0.3, set={"check.penetration": 1e-12, "contact.model": "penalty"})
    assert not strict.ok and not strict.checks[0].ok and strict.checks[0].worst == strict.worst["penetration"]
    with pytest.raises(KeyError, match="did you mean"):
        result["com.zz"]


def test_set_changes_one_run(stand):
    usual = stand.run(0.05, signals="com")
    other = stand.run(0.05, set={"contact.model": "penalty", "timestep": 5e-4}, signals="com")
    assert other.world.settings["contact"] == "penalty" and other.steps == 100
    assert stand.run(0.05, signals="com").hash == usual.hash
    with pytest.raises(tabi.Error):
        stand.run(0.05, set={"contact.nonsense": 1})


def test_scene_from_a_dictionary():
    scene = tabi.Scene.from_dict(BOX)
    result = scene.run()
    assert scene.name == "box on a slope" and result.world.q[2] == pytest.approx(0.1, abs=1e-4)
    pushed = tabi.Scene.from_dict(BOX, set={"bodies.box.lin": [1, 0, 0]}).run()
    assert pushed.world.q[0] > 0.05
    with pytest.raises(tabi.Error, match="bodys"):
        tabi.Scene.from_dict({"bodys": []})


def test_samples_and_patterns(stand):
    result = stand.run(0.1, signals=["com", "*_knee.q"], every=10)
    names = [signal.name for signal in result.signals]
    assert len(result) == 11 and len(names) == 5 and result.time[1] == pytest.approx(0.01)
    frame = pytest.importorskip("pandas") and result.to_pandas()
    assert list(frame.columns) == names and frame.index.name == "time"
    with pytest.raises(KeyError, match="did you mean"):
        stand.run(0.1, signals="con.z")


class Wave:
    """Moves one joint by a sine."""

    def __init__(self, model, name):
        self.joint = model.joint_index(name)
        self.calls = 0

    def update(self, world):
        world.target[self.joint] = -0.3 * np.sin(6 * world.time)
        self.calls += 1


def test_controllers_in_python(stand):
    name = next(n for n in stand.model.joint_names if n.endswith("l_elbow"))
    wave = Wave(stand.model, name)
    result = stand.run(0.5, controller=wave, signals=[f"{name}.q"])
    assert wave.calls == 500
    assert result[f"{name}.q"].min() < -0.1 and stand.run(0.5, signals=[f"{name}.q"])[f"{name}.q"].min() > -0.05
    assert result.world.com[2] == pytest.approx(stand.world().com[2], abs=0.02)


def test_errors_of_controllers_come_through(stand):
    class Broken:
        def update(self, world):
            raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        stand.run(0.1, controller=[Broken()])


def test_reset(stand):
    world = stand.world()
    start = world.q.copy()
    world.step(20)
    world.reset()
    assert np.array_equal(world.q, start)
    with pytest.raises(TypeError, match="set="):
        tabi.World(stand, "exact")


def test_scenes_can_be_pickled(stand):
    again = pickle.loads(pickle.dumps(stand.change({"contact.model": "exact"})))
    assert again.settings["contact"] == "exact"
    assert again.run(0.05, signals="com").hash == stand.run(0.05, set={"contact.model": "exact"}, signals="com").hash
    boxed = pickle.loads(pickle.dumps(tabi.Scene.from_dict(BOX)))
    assert boxed.run().hash == tabi.Scene.from_dict(BOX).run().hash


def hash_of(scene):
    return scene.run(0.1, signals="com").hash


def test_processes_forked_and_spawned(stand):
    expected = hash_of(stand)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(hash_of, [stand, stand]) == [expected] * 2
    if not SANITIZED:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.map(hash_of, [stand]) == [expected]


def test_threads_run_scenes_of_their_own(scenes):
    def work(friction):
        scene = tabi.Scene.load(scenes / "stand.yaml", set={"materials.sole.friction": friction})
        return scene.run(0.1, signals="com").hash
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(work, [0.7] * 4))) == 1


def test_one_scene_in_two_threads_is_refused(stand):
    scene = stand.change({})
    first, second = scene.world(), scene.world()
    refused = []

    def work(world):
        try:
            world.step(3000 if SANITIZED else 20000)
        except RuntimeError as error:
            refused.append(str(error))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, [first, second]))
    assert len(refused) == 1 and "load it once for each" in refused[0]


# logs

@pytest.fixture(scope="module")
def log(stand, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "stand.tabi"
    result = stand.run(0.4, log=path)
    log = tabi.Log(path)
    assert log.info.complete and log.info.contact == "cone"
    return log, result


def test_log_holds_the_run(log):
    log, result = log
    assert log["com.z"] == pytest.approx(result["com.z"], abs=1e-9) and len(log) == len(result)
    assert np.array_equal(log.q[-1], result.world.q) and np.array_equal(log.v[-1], result.world.v)
    assert log["com"].shape == (len(log), 3) and log.time[-1] == pytest.approx(0.4)
    assert {signal.name for signal in log.signals} == {signal.name for signal in result.signals}
    with pytest.raises(KeyError, match="did you mean"):
        log["com.k"]


def test_log_by_time_and_as_frame(log):
    log, _ = log
    part = log.between(0.1, 0.2)
    assert part.time[0] == pytest.approx(0.1) and part.time[-1] == pytest.approx(0.2)
    assert part["com.z"] == pytest.approx(log["com.z"][100:201])
    pytest.importorskip("pandas")
    assert part.to_pandas("com").shape == (101, 3)


def test_resume_continues_to_the_last_bit(log, stand):
    log, result = log
    world = log.resume(0.25)
    assert world.steps == 250
    world.step(150)
    assert world.hash == result.hash
    branched = log.resume(0.25, set={"contact.model": "exact"})
    assert branched.settings["contact"] == "exact" and np.array_equal(branched.q, log.resume(0.25).q)
    with pytest.raises(ValueError):
        log.resume(3.0)


def test_damaged_logs_are_refused(log, tmp_path):
    log, _ = log
    data = bytearray(open(log.path, "rb").read())
    data[len(data) // 2] ^= 255
    bad = tmp_path / "bad.tabi"
    bad.write_bytes(data)
    with pytest.raises(tabi.Error):
        tabi.Log(bad)
