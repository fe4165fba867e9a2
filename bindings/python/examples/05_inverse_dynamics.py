"""Joint torques of a motion by tabi and by Pinocchio, on the same URDF."""
import numpy as np
import pinocchio

import tabi

path = tabi.data_path("models/humanoid36.urdf")
model = tabi.Model.load(path, base="fixed")
peer = pinocchio.buildModelFromUrdf(path)
data = peer.createData()
joints = [name for name in peer.names if name in model.joint_names and model.v_slice(name).stop]
peer.armature = np.array([model.joint(name).gear ** 2 * model.joint(name).rotor_inertia for name in peer.names[1:]])

random = np.random.default_rng(1)
q, v, qdd = (random.uniform(-1, 1, model.nv) for _ in range(3))
at = [model.v_slice(name).start for name in peer.names[1:]]
ours = tabi.Dynamics(model).set(q, v).inverse(qdd)[at]
theirs = pinocchio.rnea(peer, data, q[at], v[at], qdd[at])
print(f"{len(at)} joints, largest torque {np.abs(theirs).max():.2f} N m, difference {np.abs(ours - theirs).max():.1e} N m")
assert np.abs(ours - theirs).max() < 1e-9 * np.abs(theirs).max()
