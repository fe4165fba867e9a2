"""Worlds: steps, views, drives, snapshots, what they tell."""
import gc
import threading

import numpy as np
import pytest

import tabi
from conftest import SANITIZED

STEPS = 3000 if SANITIZED else 20000  # long enough to meet another thread


def standing(humanoid):
    world = tabi.World(humanoid)
    world.set_gains(2000, 50)
    world.q = humanoid.place_on_ground()
    return world


def test_ball_falls_and_rests(ball):
    world = tabi.World(ball, timestep=1e-3)
    world.step(100)
    assert world.time == pytest.approx(0.1) and world.steps == 100
    assert world.q[2] == pytest.approx(1 - 9.81 * 0.1**2 / 2, abs=1e-3)
    world.step(n=2000)
    assert world.q[2] == pytest.approx(0.1, abs=1e-4)
    assert world.forces[0] == pytest.approx([0, 0, 2 * 9.81], abs=1e-6)
    force, torque = world.contact_wrench("ball")
    assert force[2] == pytest.approx(2 * 9.81) and torque == pytest.approx([0, 0, 0], abs=1e-9)
    contact, = world.contacts
    assert {contact["link_a"], contact["link_b"]} == {-1, 0}
    assert abs(contact["impulse"][2]) == pytest.approx(2 * 9.81e-3)
    assert contact["friction"] > 0 and abs(contact["normal"][2]) == 1
    assert world.certificate.contacts == 1 and world.certificate.converged
    assert world.balance("ball").com == pytest.approx(world.com)


def test_state_is_a_view_without_copies(ball):
    world = tabi.World(ball)
    q = world.q
    assert q is world.q and q.dtype == np.float64 and q.shape == (ball.nq,)
    before = q[2]
    world.step(50)
    assert q[2] < before
    with pytest.raises(ValueError):
        q[2] = 0
    with pytest.raises(ValueError):
        q.flags.writeable = True


def test_views_outlive_their_world(ball):
    world = tabi.World(ball)
    world.step(10)
    q, expected = world.q, world.q.copy()
    del world
    gc.collect()
    worlds = [tabi.World(ball) for _ in range(20)]
    for other in worlds:
        other.step(3)
    assert np.array_equal(q, expected)


def test_views_hold_through_growth():
    builder = tabi.Builder()
    builder.add_ground()
    for i in range(60):
        builder.add_link(f"box{i}", mass=1, inertia=[0.01, 0.01, 0.01, 0, 0, 0])
        builder.add_joint(f"free{i}", type="free", parent=None, child=f"box{i}",
                          initial_q=[0.001 * i, 0, 0.05 + 0.101 * i, 1, 0, 0, 0])
        builder.add_shape("box", f"box{i}", size=[0.1, 0.1, 0.1])
    world = tabi.World(builder.build(), timestep=2e-3)
    q = world.q
    world.step(50)
    assert len(world.contacts) >= 60 and np.array_equal(q, world.q) and q is world.q


def test_setting_the_state(ball):
    world = tabi.World(ball)
    world.set_state([0, 0, 2, 2, 0, 0, 0], np.arange(6))
    assert world.q == pytest.approx([0, 0, 2, 1, 0, 0, 0]) and world.v == pytest.approx(np.arange(6))
    world.v = np.zeros(6, dtype=np.float32)
    assert not world.v.any() and world.q[2] == 2
    with pytest.raises(ValueError, match="7"):
        world.q = [1, 2]
    with pytest.raises(tabi.Error):
        world.q = [np.nan] * 7
    with pytest.raises(ValueError):
        world.step(-1)


def test_settings(ball):
    world = tabi.World(ball, "exact", 2e-3, friction=0.3, seed=2**63)
    settings = world.settings
    assert (settings["contact"], settings["timestep"], settings["friction"], settings["seed"]) == \
        ("exact", 2e-3, 0.3, 2**63)
    with pytest.raises(ValueError, match="cone, lcp"):
        tabi.World(ball, "cones")
    with pytest.raises(TypeError, match="did you mean 'friction'"):
        tabi.World(ball, frictio=1)
    with pytest.raises(tabi.Error):
        tabi.World(ball, timestep=-1)


@pytest.mark.parametrize("contact", ["cone", "lcp", "exact", "penalty", "impulse"])
def test_humanoid_stands_under_every_method(humanoid, contact):
    world = tabi.World(humanoid, contact)
    world.set_gains(2000, 50)
    world.q = humanoid.place_on_ground()
    height = world.com[2]
    world.step(300)
    assert world.com[2] == pytest.approx(height, abs=0.01)
    assert world.forces.sum(axis=0)[2] == pytest.approx(humanoid.mass * 9.81, rel=0.1)


def test_targets_move_joints(humanoid):
    world = standing(humanoid)
    elbow = humanoid.joint_index("l_elbow")
    world.target[elbow] = -0.4
    world.step(600)
    assert world.q[humanoid.q_slice("l_elbow")][0] == pytest.approx(-0.4, abs=0.03)
    snapshot = world.save()
    world.target[elbow] = 0.0
    world.step(100)
    world.restore(snapshot)
    assert world.target[elbow] == -0.4


def test_joint_forces(humanoid):
    pendulum = tabi.Builder()
    pendulum.add_link("bob", mass=1, com=[0, 0, -1], inertia=[1e-3, 1e-3, 1e-3, 0, 0, 0])
    pendulum.add_joint("pivot", type="continuous", parent=None, child="bob", axis=[0, 1, 0])
    world = tabi.World(pendulum.build())
    world.tau[0] = 2.0
    world.step()
    assert world.v[0] == pytest.approx(2.0 / (1 + 1e-3) * world.timestep)
    world.tau = 0.0
    assert not world.tau.any()


def test_actuators(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text('<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="a" axis="0 0 1" damping="10"/>'
                    '<geom size="0.1" pos="0.5 0 0"/></body></worldbody><actuator><position name="m" joint="a" '
                    'kp="50"/></actuator></mujoco>')
    world = tabi.World(tabi.Model.load(path))
    world.control[0] = 0.3
    world.step(4000)
    assert world.q[0] == pytest.approx(0.3, abs=1e-3)


def test_push_acts_for_one_step(ball):
    world = tabi.World(ball, gravity=[0, 0, 0])
    world.apply("ball", force=[2.0, 0, 0])
    world.step(3)
    assert world.v[0] == pytest.approx(1.0 * world.timestep)
    with pytest.raises(tabi.Error):
        world.apply(None, [1, 0, 0])


def test_motion_is_obeyed(ball):
    world = tabi.World(ball)
    world.set_motion("free", [1, 0, 0, 0, 0, 0])
    world.step(100)
    assert world.q[0] == pytest.approx(100 * world.timestep) and world.q[2] == pytest.approx(1)
    world.set_motion("free", None)
    world.step(10)
    assert world.q[2] < 1


def test_snapshots_step_equally(humanoid):
    world = standing(humanoid)
    world.step(50)
    snapshot = world.save()
    world.step(50)
    end = world.hash
    world.restore(snapshot)
    world.step(50)
    assert world.hash == end
    with pytest.raises(tabi.Error):
        world.restore(b"nonsense")
    other = tabi.World(humanoid, "exact")
    other.continue_from(world)
    assert np.array_equal(other.q, world.q)


def test_rays(ball):
    world = tabi.World(ball)
    hit = world.ray([0, 0, 3], [0, 0, -1])
    assert hit.link == 0 and hit.distance == pytest.approx(1.9) and hit.normal == pytest.approx([0, 0, 1])
    assert world.ray([0, 0, 3], [0, 0, 1]) is None
    with pytest.raises(tabi.Error):
        world.ray([0, 0, 3], [0, 0, 0])


def test_sensors(scenes):
    world = tabi.Scene.load(scenes / "walk_bush.yaml").world()
    world.step(200)
    sensors = world.sensors
    assert tuple(sensors) == world.model.sensor_names and len(sensors) > 2
    assert np.array_equal(np.concatenate(list(sensors.values())), world.sensor_data)
    assert np.linalg.norm(sensors["robot/accelerometer"]) == pytest.approx(9.81, abs=0.5)
    assert world.model.sensor("robot/gyro").type == "gyro"


def test_diverging_worlds_tell_why(ball):
    world = tabi.World(ball)
    world.tau[:] = 1e300
    with pytest.raises(tabi.Error):
        world.step(5)
    assert np.isfinite(world.q).all()


def test_steps_release_the_lock(humanoid):
    world = standing(humanoid)
    counted = 0
    thread = threading.Thread(target=world.step, args=(STEPS,))
    thread.start()
    refused = 0
    while thread.is_alive():
        counted += 1
        try:
            world.energy
        except RuntimeError:
            refused += 1
    thread.join()
    assert counted > 100 and refused > 0 and world.steps == STEPS


def test_threads_with_worlds_of_their_own(humanoid):
    hashes = {}

    def work(i):
        world = standing(humanoid)
        world.step(400)
        hashes[i] = world.hash

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hashes) == 4 and len(set(hashes.values())) == 1
