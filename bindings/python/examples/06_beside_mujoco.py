"""The same robot falls in tabi and in MuJoCo, side by side: heights, and steps per second."""
import time

import mujoco
import numpy as np

import tabi

MJCF = """
<mujoco><option timestep="0.001"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.8 0 0"/>
  <body name="torso" pos="0 0 0.6"><freejoint name="root"/>
    <geom type="box" size="0.1 0.15 0.2" mass="10" friction="0.8 0 0"/>
    <body name="thigh" pos="0 0 -0.2"><joint name="hip" axis="0 1 0" damping="1" range="-90 90" limited="false"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.05" mass="3" friction="0.8 0 0"/>
      <body name="shin" pos="0 0 -0.2"><joint name="knee" axis="0 1 0" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.04" mass="2" friction="0.8 0 0"/>
      </body></body></body></worldbody></mujoco>
"""
builder = tabi.Builder()
builder.load("leg.xml", text=MJCF)
world = tabi.World(builder.build(), timestep=1e-3)
peer = mujoco.MjModel.from_xml_string(MJCF)
data = mujoco.MjData(peer)


def per_second(step, steps=1500):
    begun = time.perf_counter()
    for _ in range(steps):
        step()
    return steps / (time.perf_counter() - begun)


ours, theirs = per_second(world.step), per_second(lambda: mujoco.mj_step(peer, data))
print(f"tabi   {ours:8.0f} steps/s, torso at {world.q[2]:.3f} m, penetration "
      f"{1e3 * max(0.0, -world.contacts['gap'].min(initial=0.0)):.4f} mm")
print(f"MuJoCo {theirs:8.0f} steps/s, torso at {data.qpos[2]:.3f} m, penetration "
      f"{1e3 * max(0.0, -data.contact.dist.min(initial=0.0)):.4f} mm")
assert np.isfinite(world.q).all() and 0 < world.q[2] < 0.6
