"""Batches: live arrays, masks, resets, variation, and agreement with a world."""
import numpy as np
import pytest

import tabi


@pytest.fixture(scope="module")
def scene():
    return tabi.Scene.load(tabi.data_path("scenes/stand.yaml"))


def make(scene, n, **more):
    world = tabi.World(scene)
    world.step(1)
    kp, kd = np.zeros(scene.model.nv), np.zeros(scene.model.nv)
    for joint in scene.model.driven_joints:
        first, end = scene.model._joint_v(joint)
        kp[first:end], kd[first:end] = 2000, 50
    start = tabi.World(scene)
    batch = tabi.Batch(scene.model, n, 2, kp=kp, kd=kd, timestep=1e-3, **more)
    batch.reset(q=start.q)
    return batch


def test_arrays_are_live(scene):
    batch = make(scene, 6)
    assert batch.q.shape == (6, scene.model.nq) and batch.lanes > 0 and batch.reason == ""
    q = batch.q
    before = q.copy()
    assert batch.step(3) == 0
    assert q is batch.q and not np.array_equal(q, before)
    assert (batch.steps == 3).all() and (batch.status == 0).all()
    assert (np.ptp(batch.q, axis=0) == 0).all()


def test_masks(scene):
    batch = make(scene, 5)
    active = np.array([True, False, True, False, False])
    before = batch.q.copy()
    batch.step(2, active)
    assert ((batch.q != before).any(axis=1) == active).all()
    batch.reset(active, q=before[0])
    assert np.allclose(batch.q, before, atol=1e-15)
    with pytest.raises(tabi.Error):
        batch.reset([7])


def test_agrees_with_world(scene):
    batch, world = make(scene, 3), tabi.World(scene)
    for _ in range(100):
        world.step()
    batch.step(100)
    assert np.abs(batch.q - world.q).max() < 1e-8


def test_bits_do_not_depend_on_width_or_threads(scene):
    results = []
    for lanes, threads in ((1, 1), (None, 1), (None, 2)):
        batch = make(scene, 9, lanes=lanes)
        batch.scatter(seed=3, position=0.1, speed=1.0)
        batch.step(50)
        results.append(batch.q.tobytes())
    assert results[0] == results[1] == results[2]


def test_variation_and_divergence(scene):
    batch = make(scene, 4, vary=["gravity", "mass"], push="robot/chest", feet=["robot/l_foot", "robot/r_foot"])
    batch.gravity[1] = 0
    batch.q[:, 2] += 1
    batch.v[3, 8] = np.nan
    assert batch.step(50) == 1
    assert batch.status.tolist() == [0, 0, 0, 6] or batch.status[3] != 0
    assert batch.v[0, 2] < -0.4 and abs(batch.v[1, 2]) < 0.05
    assert batch.foot.shape == (4, 2, 6) and batch.push.shape == (4, 6)
    with pytest.raises(ValueError):
        tabi.Batch(scene.model, 1, vary=["colour"])


@pytest.mark.parametrize("lanes", [None, 0])
def test_rollout(scene, lanes):
    a, b = make(scene, 3, lanes=lanes), make(scene, 3, lanes=lanes)
    targets = np.repeat(a.target[:, None], 10, axis=1) + 0.01
    torques = np.random.default_rng(0).normal(0, 3, (3, 10, scene.model.nv))
    q, v = a.rollout(targets, torques=torques)
    for k in range(10):
        b.target[:] = targets[:, k]
        b.torque[:] = torques[:, k]
        b.step()
        assert np.array_equal(b.q, q[:, k]) and np.array_equal(b.v, v[:, k])
    with pytest.raises(ValueError, match="10 and 20"):
        a.rollout(targets, 20)
    with pytest.raises(ValueError, match="how many"):
        a.rollout()
