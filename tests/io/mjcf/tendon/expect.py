"""expect.py - what MuJoCo makes of the tendons in this folder, for test_mjcf_tendons.c.

Writes expected.txt: for each model its nv and number of tendons, then lengths of the tendons, sums
of cos(k) over their Jacobians, and accelerations, at hinges and slides 0.2 sin(k + 1) away from
qpos0 (k: the dof), velocities 0.7 sin(2 k + 1), and inputs 0.5 cos(i) of the actuators.  What is
free to rotate stays at qpos0, so that velocities mean the same in tabi.
"""
import pathlib
import sys

import mujoco
import numpy as np

SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
HERE = pathlib.Path(__file__).parent


def expected(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    for j in range(m.njnt):
        if m.jnt_type[j] in SINGLE:
            d.qpos[m.jnt_qposadr[j]] += 0.2 * np.sin(m.jnt_dofadr[j] + 1)
    d.qvel[:] = 0.7 * np.sin(2 * np.arange(m.nv) + 1)
    d.ctrl[:] = 0.5 * np.cos(np.arange(m.nu))
    mujoco.mj_forward(m, d)
    assert d.ncon == 0 and d.nefc == 0, path
    jacobian = np.zeros((m.ntendon, m.nv))
    for i in range(m.ntendon):
        jacobian[i] = jacobian_row(m, d, i)
    return m.nv, m.ntendon, *d.ten_length, *(jacobian @ np.cos(np.arange(m.nv))), *d.qacc


def jacobian_row(m, d, tendon):
    """By velocities: the rate of a tendon under each alone."""
    row = np.zeros(m.nv)
    kept = d.qvel.copy()
    for k in range(m.nv):
        d.qvel[:] = 0
        d.qvel[k] = 1
        mujoco.mj_fwdVelocity(m, d)
        row[k] = d.ten_velocity[tendon]
    d.qvel[:] = kept
    return row


def main():
    with open(HERE / "expected.txt", "w", encoding="utf-8") as out:
        for path in sorted(HERE.glob("*.xml")):
            nv, nt, *numbers = expected(path)
            print(path.name, nv, nt, *(f"{x:.17g}" for x in numbers), file=out)


if __name__ == "__main__":
    sys.exit(main())
