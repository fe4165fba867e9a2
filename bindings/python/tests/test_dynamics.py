"""Rigid-body dynamics: identities between what it computes."""
import numpy as np
import pytest

import tabi


@pytest.fixture
def state(humanoid):
    random = np.random.default_rng(1)
    v = random.standard_normal(humanoid.nv)
    return humanoid.integrate(humanoid.initial_q, random.standard_normal(humanoid.nv), 0.3), v


def test_equation_of_motion(humanoid, state):
    d = tabi.Dynamics(humanoid).set(*state)
    tau = np.random.default_rng(2).standard_normal(humanoid.nv)
    qdd = d.forward(tau)
    assert d.M @ qdd + d.bias == pytest.approx(tau, abs=1e-7)
    assert d.inverse(qdd) == pytest.approx(tau, abs=1e-7)
    assert d.M == pytest.approx(d.M.T) and np.linalg.eigvalsh(d.M).min() > 0
    assert d.kinetic == pytest.approx(state[1] @ d.M @ state[1] / 2, rel=0.05)  # rotors are in M only


def test_results_do_not_change_with_the_next_state(humanoid, state):
    d = tabi.Dynamics(humanoid).set(*state)
    mass = d.M
    kept = mass.copy()
    d.set(humanoid.initial_q)
    assert np.array_equal(mass, kept) and not np.array_equal(d.M, kept)


def test_jacobians(humanoid, state):
    q, v = state
    d = tabi.Dynamics(humanoid).set(q, v)
    linear, angular = d.link_velocity("l_foot")
    assert d.jacobian("l_foot") @ v == pytest.approx(linear)
    assert d.angular_jacobian("l_foot") @ v == pytest.approx(angular)
    assert d.momentum_matrix @ v == pytest.approx(d.momentum)
    assert d.com_jacobian @ v * humanoid.mass == pytest.approx(d.momentum[:3])
    dt = 1e-6
    later = tabi.Dynamics(humanoid).set(humanoid.integrate(q, v, dt), v)
    rate = (later.jacobian("l_foot") - d.jacobian("l_foot")) / dt
    assert d.jacobian("l_foot", rate=True) == pytest.approx(rate, abs=1e-4)
    assert d.com_jacobian_rate == pytest.approx((later.com_jacobian - d.com_jacobian) / dt, abs=1e-4)
    point = d.link_pose("l_foot")[0] + [0.1, 0, 0]
    assert d.jacobian("l_foot", point) @ v == pytest.approx(linear + np.cross(angular, [0.1, 0, 0]))


def test_dynamics_of_a_world(humanoid):
    world = tabi.World(humanoid)
    world.step(10)
    assert world.dynamics().com == pytest.approx(world.com)


def test_wrong_sizes(humanoid):
    d = tabi.Dynamics(humanoid)
    with pytest.raises(ValueError, match="43"):
        d.set([1, 2, 3])
    with pytest.raises(ValueError, match="42"):
        d.forward(np.zeros(3))
    with pytest.raises(TypeError):
        tabi.Dynamics("robot.urdf")
