"""expect.py - what MuJoCo makes of the models in this folder, for test_mjcf_dialects.c.

Writes expected.txt: model, nv, nu, mass, and sums over the mass matrix and the bias force at
qpos0 and velocities sin(k + 1) in tabi's conventions, which differ from MuJoCo's in the angular
velocity of free bodies: world axes.
"""
import pathlib
import sys

import mujoco
import numpy as np

HERE = pathlib.Path(__file__).parent


def to_world_axes(m, d):
    turn = np.eye(m.nv)
    for j in range(m.njnt):
        if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
            rot = np.zeros(9)
            mujoco.mju_quat2Mat(rot, d.qpos[m.jnt_qposadr[j] + 3 : m.jnt_qposadr[j] + 7])
            at = m.jnt_dofadr[j] + 3
            turn[at : at + 3, at : at + 3] = rot.reshape(3, 3).T
    return turn


def expected(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    turn = to_world_axes(m, d)
    d.qvel[:] = turn @ np.sin(1 + np.arange(m.nv))
    mujoco.mj_forward(m, d)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, mass)
    mass = turn.T @ mass @ turn
    i = np.arange(m.nv)
    weights = np.cos(i[:, None] + 2 * i[None, :])
    bias = turn.T @ d.qfrc_bias
    return m.nv, m.nu, m.body_mass.sum(), (weights * mass).sum(), (np.cos(i) * bias).sum()


def main():
    with open(HERE / "expected.txt", "w", encoding="utf-8") as out:
        for path in sorted(HERE.glob("*.xml")):
            nv, nu, *numbers = expected(path)
            print(path.name, nv, nu, *(f"{x:.16g}" for x in numbers), file=out)


if __name__ == "__main__":
    sys.exit(main())
