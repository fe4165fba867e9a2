"""Friction problems, rollouts, walking, gait, memory."""
import gc
import os

import numpy as np
import pytest

import tabi
from conftest import SANITIZED


# friction problems

def random_problem(n, seed):
    random = np.random.default_rng(seed)
    H = random.standard_normal((3 * n, 3 * n + 3))
    return H @ H.T, random.standard_normal(3 * n) - np.tile([1, 0, 0], n), random.uniform(0.2, 0.9, n)


@pytest.mark.parametrize("seed", range(5))
def test_solution_obeys_coulomb(seed):
    W, q, mu = random_problem(6, seed)
    result = tabi.solve(W, q, mu)
    assert result.converged and result.scaled < 1e-9
    r, u = result.r, (W @ result.r.ravel() + q).reshape(-1, 3)
    size = np.linalg.norm(r[:, 1:], axis=1)
    assert (r[:, 0] >= -1e-9).all() and (u[:, 0] >= -1e-7).all() and (size <= mu * r[:, 0] + 1e-7).all()
    assert np.abs(r[:, 0] * u[:, 0]).max() < 1e-6
    sliding = np.linalg.norm(u[:, 1:], axis=1) > 1e-6
    assert size[sliding] == pytest.approx((mu * r[:, 0])[sliding], abs=1e-6)


def test_other_solvers_and_layouts(tmp_path):
    W, q, mu = random_problem(4, 7)
    exact = tabi.solve(W, q, mu)
    cone = tabi.solve(W, q, mu, solver="cone", max_iterations=100000)
    assert cone.r == pytest.approx(exact.r, abs=1e-6)
    blocks = W.reshape(4, 3, 4, 3).swapaxes(1, 2)
    problem = tabi.FrictionProblem.from_blocks(np.arange(5) * 4, np.tile(np.arange(4), 4), blocks, q, mu)
    assert problem.ncontact == 4 and problem.solve(start=exact.r).r == pytest.approx(exact.r, abs=1e-9)
    with pytest.raises(ValueError, match="exact, cone, lcp"):
        problem.solve("newton")
    with pytest.raises(ValueError):
        tabi.FrictionProblem.from_blocks([0, 1], [0], np.eye(3), [0, 0], [1])
    with pytest.raises(tabi.Error):
        tabi.FrictionProblem.load(tmp_path / "none.txt")


# rollouts

def test_rollouts_do_not_depend_on_threads(humanoid):
    q = humanoid.place_on_ground()
    targets = np.tile(q[[humanoid.q_slice(j).start for j in humanoid.driven_joints]], (8, 1))
    targets += 0.05 * np.random.default_rng(3).standard_normal(targets.shape)
    runs = [tabi.rollout(humanoid, np.tile(q, (8, 1)), None, targets, threads, steps=100, kp=2000, kd=50, every=10)
            for threads in (1, 3)]
    assert runs[0].q.shape == (8, 10, humanoid.nq) and (runs[0].steps == 100).all()
    assert np.array_equal(runs[0].q, runs[1].q) and np.array_equal(runs[0].v, runs[1].v)


def test_rollout_is_the_world(humanoid):
    q = humanoid.place_on_ground()
    joints = ["l_elbow", "r_elbow"]
    targets = 0.1 * np.sin(np.arange(200) / 20)[None, :, None] * np.ones(2)
    run = tabi.rollout(humanoid, q, targets=targets, joints=joints, kp=300, kd=10, contact="exact")
    world = tabi.World(humanoid, "exact")
    world.q = q
    for step in range(200):
        for i, joint in enumerate(joints):
            world.set_servo(joint, 300, 10, target=targets[0, step, i])
        world.step()
    assert np.array_equal(run.q[0, -1], world.q) and np.array_equal(run.v[0, -1], world.v)


def test_lanes_do_what_worlds_do(stand):
    world = stand.world()
    world.step(500)
    joints = list(stand.model.driven_joints)
    targets = np.tile(world.target[joints], (1, 200, 1))
    starts = np.tile(world.q, (5, 1))
    runs = [tabi.rollout(stand.model, starts, None, targets, 2, kp=2000, kd=50, every=50, engine=engine)
            for engine in ("world", "batch", None)]
    assert np.array_equal(runs[1].q, runs[2].q) and list(runs[1].steps) == [200] * 5
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="batch, world"):
        tabi.rollout(stand.model, world.q, steps=3, engine="lanes")


def test_rollouts_of_actuators(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text('<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom type="capsule" size="0.05" '
                    'fromto="0 0 0 0 0 -0.5"/><body pos="0 0 -0.5"><joint name="b" axis="0 1 0"/><geom type="capsule" '
                    'size="0.04" fromto="0 0 0 0 0 -0.4"/></body></body></worldbody><actuator><motor joint="a" gear="3"/>'
                    '<position joint="b" kp="80" kv="4"/></actuator></mujoco>')
    arm = tabi.Model.load(path)
    q0 = np.array([[0.1, 0.2], [-0.3, 0.4], [0.5, 0.0]])
    controls = np.random.default_rng(1).uniform(-1, 1, (3, 60, 2))
    lanes, single = (tabi.rollout(arm, q0, controls=controls, every=20, engine=e) for e in ("batch", "world"))
    np.testing.assert_allclose(lanes.q, single.q, rtol=0, atol=1e-9)
    world = tabi.World(arm)
    world.set_state(q0[1], np.zeros(2))
    for step in range(60):
        world.control[:] = controls[1, step]
        world.step()
        if step % 20 == 19:
            assert np.array_equal(world.q, single.q[1, step // 20])
    held = [tabi.rollout(arm, q0, controls=[0.5, 0.1], steps=60, every=20, engine=e) for e in ("batch", "world")]
    np.testing.assert_allclose(held[0].q, held[1].q, rtol=0, atol=1e-9)
    mixed = [tabi.rollout(arm, q0, targets=[0.2], joints=["a"], kp=50, kd=3, controls=controls, every=20, engine=e)
             for e in ("batch", "world")]
    np.testing.assert_allclose(mixed[0].q, mixed[1].q, rtol=0, atol=1e-9)
    assert np.abs(mixed[0].q - lanes.q).max() > 1e-3
    with pytest.raises(ValueError, match="actuators"):
        tabi.rollout(arm, q0, controls=np.zeros((3, 60, 5)))


def test_rollouts_that_fail_end_with_nan(ball):
    q0 = np.tile(ball.initial_q, (3, 1))
    v0 = np.zeros((3, 6))
    v0[1] = np.nan
    run = tabi.rollout(ball, q0, v0, steps=20, threads=2)
    assert list(run.steps) == [20, 0, 20] and np.isnan(run.q[1]).all() and np.isfinite(run.q[[0, 2]]).all()
    with pytest.raises(ValueError, match="how many"):
        tabi.rollout(ball, q0)
    with pytest.raises(ValueError):
        tabi.rollout(ball, q0[:, :3], steps=3)
    with pytest.raises(tabi.Error):
        tabi.rollout(ball, q0, steps=3, timestep=-1)


# walking

@pytest.fixture(scope="module")
def plan(scenes):
    scene = tabi.Scene.load(scenes / "walk.yaml")
    steps = [{"forward": 0.2}] * 2 + [{}]
    posture = scene.world().q
    walk = tabi.Walk(scene.model, waist="robot/pelvis", left_foot="robot/l_foot", right_foot="robot/r_foot",
                     steps=steps, posture=posture, stand_before=1.0, stand_after=1.0)
    return scene, walk


def test_plan_of_a_walk(plan):
    _, walk = plan
    start, end = walk.at(0), walk.at(walk.duration)
    assert 4 < walk.duration < 8 and end.com[0] - start.com[0] == pytest.approx(0.4, abs=0.02)
    assert end.foot.shape == (2, 3) and not any(end.lifted)
    assert any(any(walk.at(t).lifted) for t in np.arange(0, walk.duration, 0.05))
    target, rate, torque = walk.joints(0.5)
    assert target.shape == rate.shape == torque.shape == (walk.model.njoint,) and np.abs(torque).max() > 1
    with pytest.raises(KeyError):
        tabi.Walk(walk.model, waist="hip", left_foot=1, right_foot=2, steps=[])
    with pytest.raises(TypeError, match="did you mean 'forward'"):
        tabi.Walk(walk.model, waist=0, left_foot=1, right_foot=2, steps=[{"foward": 1}])


def test_robot_walks_the_plan(plan):
    _, walk = plan
    world = tabi.World(walk.model)
    world.q = walk.initial_q
    steps = 300 if SANITIZED else round(walk.duration / world.timestep)
    for _ in range(steps):
        walk.apply(world, 15000, 300)
        world.step()
    assert world.com == pytest.approx(walk.at(world.time).com, abs=0.02)


def test_gait_of_a_scene(scenes):
    scene = tabi.Scene.load(scenes / "biped_walk.yaml")
    result = scene.run(1.0 if not SANITIZED else 0.2)
    state = result.world.gait_state
    assert state.mode and state.outcome and np.isfinite(result.world.gait_torque).all()
    with pytest.raises(tabi.Error):
        tabi.Scene.from_dict({"bodies": []}).world().gait_state


def test_gait_of_ones_own(models):
    model = tabi.Model.load(models / "biped9.urdf")
    feet = [{"link": f"{side}_foot", "heel": [-0.05, 0, 0], "toe": [0.15, 0, 0]} for side in "lr"]
    feet = [f for f in feet if f["link"] in model.link_names]
    with pytest.raises((tabi.Error, ValueError)):
        tabi.Gait(model, feet, friction=-1)


# memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cycle(ball, scene, count):
    for i in range(count):
        world = tabi.World(ball)
        world.step()
        kept = world.q, world.target, world.contacts, world.sensors
        if i % 10 == 0:
            tabi.Dynamics(ball).M
            world.restore(world.save())
        if i % 1000 == 0:
            other = scene.change({})
            other.run(0.002, signals=[])
            try:
                tabi.World(ball, "nonsense")
            except ValueError:
                pass
    del kept
    gc.collect()


def test_creating_and_destroying_leaves_nothing(ball):
    scene = tabi.Scene.from_dict({"bodies": [{"name": "a", "mass": 1, "shape": {"sphere": 0.1}}]})
    count = 300 if SANITIZED else 100_000
    cycle(ball, scene, count // 10)
    before = resident()
    cycle(ball, scene, count)
    grown = resident() - before
    assert SANITIZED or grown < 1 << 20, f"{grown} bytes after {count} worlds"


def test_models_go_when_nothing_needs_them(models):
    def once():
        model = tabi.Model.load(models / "humanoid36.urdf", ground=True)
        world = tabi.World(model)
        q = world.q
        del model, world
        assert np.isfinite(q).all()
    for _ in range(5):
        once()
    gc.collect()
    before = resident()
    for _ in range(5 if SANITIZED else 200):
        once()
    assert SANITIZED or resident() - before < 4 << 20
