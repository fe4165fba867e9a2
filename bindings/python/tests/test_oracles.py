"""The same robots in MuJoCo and in Pinocchio: mass matrix, bias forces and accelerations.

Velocities of a free joint have other axes in each: tabi takes the world's for the velocity of the origin and
for the angular velocity, MuJoCo the child's for the latter, Pinocchio the child's for both.  With v = T v', as in
tabi to theirs, M = T' M' T, and the bias has T' M' (dT/dt v) in it.
"""
import warnings
import xml.etree.ElementTree as xml

import numpy as np
import pytest

import tabi
from conftest import SHARED

TOLERANCE = 1e-9  # of the largest entry


def rotation(quat):
    w, x, y, z = quat
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def random_urdf(path, seed, joints=12):
    """A tree with all kinds of joints that URDF and both peers share."""
    random = np.random.default_rng(seed)
    text = ['<robot name="random">']
    for i in range(joints + 1):
        d = random.uniform(0.01, 0.1, 3)
        ixx, iyy, izz = d[1] + d[2], d[0] + d[2], d[0] + d[1]
        xyz, rpy = random.uniform(-0.1, 0.1, 3), random.uniform(-1, 1, 3)
        text.append(f'<link name="link{i}"><inertial><origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} '
                    f'{rpy[2]}"/><mass value="{random.uniform(0.5, 3)}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" '
                    'ixy="0" ixz="0" iyz="0"/></inertial></link>')
    for i in range(joints):
        axis = random.standard_normal(3)
        axis /= np.linalg.norm(axis)
        xyz, rpy = random.uniform(-0.3, 0.3, 3), random.uniform(-2, 2, 3)
        kind = random.choice(["revolute", "prismatic"])
        text.append(f'<joint name="joint{i}" type="{kind}"><parent link="link{random.integers(0, i + 1)}"/>'
                    f'<child link="link{i + 1}"/><origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} '
                    f'{rpy[2]}"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/><limit lower="-2" upper="2" effort="100" '
                    'velocity="100"/></joint>')
    path.write_text("\n".join(text + ["</robot>"]))
    return path


def without_geometry(path, to):
    """The same URDF with inertias and joints only, so that no mesh need be there; the peers know no dampers."""
    tree = xml.parse(path)
    for link in tree.getroot().iter("link"):
        for part in list(link):
            if part.tag in ("visual", "collision"):
                link.remove(part)
    for joint in tree.getroot().iter("joint"):
        for part in list(joint):
            if part.tag in ("dynamics", "mimic"):
                joint.remove(part)
    tree.write(to)
    return to


@pytest.fixture(params=["humanoid36", "g1", "random1", "random2", "random3"])
def path(request, tmp_path, models):
    to = tmp_path / "robot.urdf"
    if request.param == "humanoid36":
        return without_geometry(models / "humanoid36.urdf", to)
    if request.param == "g1":
        found = SHARED / "robots" / "unitree_g1" / "g1.xml"
        if not found.is_file():
            pytest.skip("no G1 (TABI_EXTRA_DATA)")
        return found
    return random_urdf(to, int(request.param[-1]))


def load(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tabi.Model.load(path, base="free" if path.suffix == ".urdf" else None)


def random_state(model, seed=1):
    random = np.random.default_rng(seed)
    q = model.integrate(model.initial_q, random.uniform(-1, 1, model.nv), 1.0)
    return q, random.uniform(-1, 1, model.nv), random.uniform(-10, 10, model.nv)


def near(ours, theirs):
    scale = max(1.0, np.abs(theirs).max())
    assert np.abs(ours - theirs).max() <= TOLERANCE * scale, np.abs(ours - theirs).max() / scale


def compare(model, order, q, v, tau, T, Tdot_v, theirs):
    """theirs: M', bias', forward'(tau') in the peer's coordinates; order: our degree of freedom of theirs."""
    d = tabi.Dynamics(model).set(q, v)
    M, bias, forward = theirs
    pick = np.ix_(order, order)
    near(d.M[pick], T.T @ M @ T)
    near(d.bias[order], T.T @ (bias + M @ Tdot_v))
    acceleration = forward(np.linalg.solve(T.T, tau[order]))
    near(d.forward(tau)[order], np.linalg.solve(T, acceleration - Tdot_v))


def base_rates(q, v):
    """T and dT/dt v of a base whose velocities a peer takes in the child's axes."""
    R = rotation(q[3:7])
    linear, angular = v[:3], v[3:6]
    return R, R.T @ np.cross(linear, angular), R.T @ np.cross(angular, angular)


def test_mujoco(path):
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_file(str(path))
    if path.suffix == ".urdf":
        spec.compiler.fusestatic = False
        spec.compiler.balanceinertia = False
        spec.compiler.boundmass = 0
        spec.compiler.boundinertia = 0
        spec.worldbody.first_body().add_freejoint(name="base")
    peer = spec.compile()
    data = mujoco.MjData(peer)
    model = load(path)
    q, v, tau = random_state(model)
    T, Tdot_v = np.eye(model.nv), np.zeros(model.nv)
    R, _, spin = base_rates(q, v)
    T[3:6, 3:6] = R.T
    Tdot_v[3:6] = spin
    data.qpos[:7], data.qvel[:3], data.qvel[3:6] = q[:7], v[:3], R.T @ v[3:6]
    order = list(range(6))
    for j in range(1, peer.njnt):
        name = peer.joint(j).name
        order.append(model.v_slice(name).start)
        data.qpos[peer.jnt_qposadr[j]] = q[model.q_slice(name)][0]
        data.qvel[peer.jnt_dofadr[j]] = v[model.v_slice(name)][0]
    peer.dof_armature[6:] = [rotor(model, dof) for dof in order[6:]]
    peer.dof_damping[:] = 0
    peer.dof_frictionloss[:] = 0
    off = mujoco.mjtDisableBit
    peer.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
    mujoco.mj_forward(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    if hasattr(data, "qM"):  # before MuJoCo 4
        mujoco.mj_fullM(peer, M, data.qM)
    else:
        mujoco.mj_fullM(peer, data, M)

    def forward(tau_of_peer):
        data.qfrc_applied[:] = tau_of_peer
        mujoco.mj_forward(peer, data)
        return data.qacc.copy()
    compare(model, order, q, v, tau, T, Tdot_v, (M, data.qfrc_bias.copy(), forward))


def rotor(model, dof):
    for joint in model.items("joint"):
        if joint.name and model.v_slice(joint.name) == slice(dof, dof + 1):
            return joint.gear**2 * joint.rotor_inertia
    return 0.0


def test_pinocchio(path):
    pin = pytest.importorskip("pinocchio")
    if path.suffix == ".urdf":
        peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    else:
        peer = pin.buildModelFromMJCF(str(path))
    data = peer.createData()
    model = load(path)
    q, v, tau = random_state(model)
    R, linear_rate, spin = base_rates(q, v)
    T, Tdot_v = np.eye(model.nv), np.zeros(model.nv)
    T[:3, :3] = T[3:6, 3:6] = R.T
    Tdot_v[:3], Tdot_v[3:6] = linear_rate, spin
    q_peer, v_peer = pin.neutral(peer), np.zeros(peer.nv)
    q_peer[:3], q_peer[3:7] = q[:3], np.roll(q[3:7], -1)
    v_peer[:3], v_peer[3:6] = R.T @ v[:3], R.T @ v[3:6]
    order = list(range(6))
    for j in range(2, peer.njoints):
        name = peer.names[j]
        order.append(model.v_slice(name).start)
        q_peer[peer.joints[j].idx_q] = q[model.q_slice(name)][0]
        v_peer[peer.joints[j].idx_v] = v[model.v_slice(name)][0]
    peer.armature[6:] = [rotor(model, dof) for dof in order[6:]]
    M = pin.crba(peer, data, q_peer)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.rnea(peer, data, q_peer, v_peer, np.zeros(peer.nv))
    compare(model, order, q, v, tau, T, Tdot_v,
            (M, bias, lambda tau_of_peer: pin.aba(peer, data, q_peer, v_peer, tau_of_peer)))
