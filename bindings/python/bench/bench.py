"""bench.py [--worlds N] [--threads N] [--steps N]: what Python costs, and tabi beside MuJoCo's wheel.

Prints the overhead of world.step() above C, steps per second of a Python loop, and of rollouts on many threads, for
a humanoid that stands, walks and falls.  Both engines have the same robot (inertias, shapes of the feet, gains,
targets), the same time step and no collisions between links; each figure is the best of several repeats in one run, by
processor time of all threads, which a busy machine changes little.
"""
import argparse
import time
import xml.etree.ElementTree as xml

import numpy as np

import tabi

SCENES = {"standing": ("scenes/stand.yaml", 2000.0, 50.0), "walking": ("scenes/walk.yaml", 15000.0, 300.0),
          "falling": ("scenes/stand.yaml", 20.0, 2.0)}
FOOT = 0.7  # friction


def best(function, repeats=5):
    """Seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        function()
        times.append(time.process_time() - begun)
    return min(times)


def mjcf_of(model, q, kp, kd, timestep):
    """A model of one tree as MJCF, with a floor and position servos with gains kp and kd."""
    root = xml.Element("mujoco")
    xml.SubElement(root, "compiler", angle="radian", inertiafromgeom="false", balanceinertia="false", autolimits="true")
    xml.SubElement(root, "option", timestep=repr(timestep), integrator="implicitfast", cone="elliptic")
    world = xml.SubElement(root, "worldbody")
    xml.SubElement(world, "geom", name="floor", type="plane", size="20 20 1", friction=f"{FOOT} 0 0", contype="1",
                   conaffinity="2")
    actuators = xml.SubElement(root, "actuator")
    joints, links, shapes = (list(model.items(kind)) for kind in ("joint", "link", "shape"))
    below = {}
    for i, joint in enumerate(joints):
        below.setdefault(joint.parent, []).append(i)
    text = lambda numbers: " ".join(repr(float(x)) for x in numbers)

    def add(element, index):
        joint = joints[index]
        link = links[joint.child]
        body = xml.SubElement(element, "body", name=link.name, pos=text(joint.pos), quat=text(joint.quat))
        ixx, iyy, izz, ixy, ixz, iyz = link.inertia
        if link.mass > 0:
            xml.SubElement(body, "inertial", pos=text(link.com), mass=repr(link.mass),
                           fullinertia=text([ixx, iyy, izz, ixy, ixz, iyz]))
        if joint.type == "free":
            xml.SubElement(body, "freejoint", name=joint.name)
        elif joint.type in ("revolute", "continuous", "prismatic"):
            kind = "slide" if joint.type == "prismatic" else "hinge"
            limits = {"range": text([joint.lower, joint.upper])} if joint.type != "continuous" else {}
            xml.SubElement(body, "joint", name=joint.name, type=kind, axis=text(joint.axis), damping=repr(joint.damping),
                           frictionloss=repr(joint.friction), armature=repr(joint.gear**2 * joint.rotor_inertia), **limits)
            xml.SubElement(actuators, "position", joint=joint.name, kp=repr(kp), kv=repr(kd))
        for shape in shapes:
            if shape.link == joint.child and shape.type == "box" and shape.collides:
                xml.SubElement(body, "geom", type="box", size=text(shape.size / 2), pos=text(shape.pos),
                               quat=text(shape.quat), friction=f"{FOOT} 0 0", contype="2", conaffinity="1")
        for child in below.get(joint.child, []):
            add(body, child)

    for index in below[-1]:
        if links[joints[index].child].mass > 0 or below.get(joints[index].child):
            add(world, index)
    return xml.tostring(root, encoding="unicode")


class Workload:
    """A humanoid in both engines, with targets of every step."""

    def __init__(self, name, steps):
        path, self.kp, self.kd = SCENES[name]
        self.name, self.steps = name, steps
        scene = tabi.Scene.load(tabi.data_path(path), set={"timestep": 1e-3})
        self.model = scene.model
        world = scene.world()
        if name == "standing":
            world.step(1000)  # until it has settled
        self.start = world.q.copy()
        self.joints = list(self.model.driven_joints)
        self.targets = self._targets(scene)

    def _targets(self, scene):
        """[steps, joints]: kp (target - q) - kd v is then the force of the scene's controller, with rates."""
        world = scene.world()
        rows = []
        for _ in range(self.steps):
            world.step()
            rows.append(world.target[self.joints].copy())
        rows = np.array(rows)
        if self.name == "walking":
            rows = rows + self.kd / self.kp * np.gradient(rows, 1e-3, axis=0)
        return rows

    def rollout(self, worlds, threads):
        q0 = np.tile(self.start, (worlds, 1))
        return tabi.rollout(self.model, q0, None, self.targets[None], threads, kp=self.kp, kd=self.kd,
                            joints=self.joints, every=self.steps)


def overhead():
    """Microseconds of a call of step() above those of a step in C."""
    builder = tabi.Builder()
    builder.add_link("ball", mass=1, inertia=[1, 1, 1, 0, 0, 0])
    builder.add_joint("free", type="free", parent=None, child="ball")
    world = tabi.World(builder.build())
    count = 200  # short, so that some of many repeats are undisturbed on a busy machine

    def loop():
        for _ in range(count):
            world.step()

    def empty():
        for _ in range(count):
            pass
    one = (best(loop, 2000) - best(empty, 2000)) / count
    inside = best(lambda: world.step(count), 2000) / count
    return 1e6 * (one - inside), 1e6 * inside


def read_q():
    builder = tabi.Builder()
    builder.add_link("ball", mass=1, inertia=[1, 1, 1, 0, 0, 0])
    builder.add_joint("free", type="free", parent=None, child="ball")
    world = tabi.World(builder.build())

    def loop():
        for _ in range(1000):
            world.q
    return 1e6 * best(loop, 200) / 1000


def loop_of_tabi(work):
    world = tabi.World(work.model)
    world.q = work.start
    world.set_gains(work.kp, work.kd)
    snapshot, target, joints = world.save(), world.target, work.joints

    def loop():
        world.restore(snapshot)
        for row in work.targets:
            target[joints] = row
            world.step()
    return work.steps / best(loop, 3)


def peers(work, worlds, threads):
    """Steps per second of MuJoCo: a Python loop, and its rollout."""
    import mujoco
    import mujoco.rollout
    model = mujoco.MjModel.from_xml_string(mjcf_of(work.model, work.start, work.kp, work.kd, 1e-3))
    data = mujoco.MjData(model)
    names = {model.joint(int(model.actuator_trnid[i, 0])).name: i for i in range(model.nu)}
    order = [names[work.model.joint_names[j]] for j in work.joints]
    control = np.zeros((work.steps, model.nu))
    control[:, order] = work.targets
    for name in work.model.joint_names:
        at = work.model.q_slice(name)
        if at.stop > at.start and mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) >= 0:
            where = model.joint(name).qposadr[0]
            data.qpos[where:where + at.stop - at.start] = work.start[at]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def loop():
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for row in control:
            data.ctrl[:] = row
            mujoco.mj_step(model, data)
    alone = work.steps / best(loop, 3)
    height = data.qpos[2]
    datas = [mujoco.MjData(model) for _ in range(threads)]
    with mujoco.rollout.Rollout(nthread=threads) as runner:
        many = best(lambda: runner.rollout(model, datas, np.tile(state, (worlds, 1)),
                                           np.tile(control, (worlds, 1, 1))), 2)
    return alone, worlds * work.steps / many, height


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    above, inside = overhead()
    print(f"world.step(): {above:.3f} us above C ({inside:.3f} us a step of a free body); world.q: {read_q():.3f} us")
    print(f"{'':9} {'engine':7} {'loop, steps/s':>14} {'rollout, steps/s':>17} {'height, m':>10}")
    for name in SCENES:
        # a walk stands for two seconds first, and a fall takes one
        longer = {"walking": 4000, "falling": 1000}
        work = Workload(name, max(options.steps, longer.get(name, 0)))
        worlds = max(32, options.worlds * options.steps // work.steps)
        ours = loop_of_tabi(work)
        many = worlds * work.steps / best(lambda: work.rollout(worlds, options.threads), 2)
        height = work.rollout(1, 1).q[0, -1, 2]
        print(f"{name:9} {'tabi':7} {ours:14.0f} {many:17.0f} {height:10.4f}")
        try:
            alone, theirs, at = peers(work, worlds, options.threads)
        except ImportError:
            print("MuJoCo is not there (tools/install-python.sh)")
            continue
        print(f"{'':9} {'MuJoCo':7} {alone:14.0f} {theirs:17.0f} {at:10.4f}")
        print(f"{'':9} {'ratio':7} {ours / alone:14.1f} {many / theirs:17.1f}")


if __name__ == "__main__":
    main()
