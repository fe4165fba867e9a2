"""Random robots that nobody wrote: MJCF of all spellings beside MuJoCo, and one robot as URDF, SDF, VRML and .body.

URDF itself is compared with Pinocchio and MuJoCo in test_oracles.py.
"""
import random
import warnings

import numpy as np
import pytest

import tabi
from test_oracles import rotation

TOLERANCE = 1e-9
SEEDS = 40


def close(a, b):
    return np.abs(a - b).max() < TOLERANCE * max(1.0, np.abs(b).max())


def load(path, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tabi.Model.load(path, **more)


# -- MJCF

class Writer:
    """Writes one random MJCF file."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.angle = self.random.choice(["degree", "radian"])
        self.unit = 180 / np.pi if self.angle == "degree" else 1

    def numbers(self, n, low, high):
        return " ".join(f"{self.random.uniform(low, high):.6g}" for _ in range(n))

    def may(self, share, text):
        return text if self.random.random() < share else ""

    def name(self, kind):
        self.count += 1
        return f"name='{kind}{self.count}'"

    def turn(self):
        n, unit = self.numbers, self.unit
        return self.random.choice(["", f" quat='{n(4, -1, 1)}'", f" axisangle='{n(3, -1, 1)} {n(1, -2 * unit, 2 * unit)}'",
                                   f" euler='{n(3, -2 * unit, 2 * unit)}'", f" xyaxes='{n(6, -1, 1)}'",
                                   f" zaxis='{n(3, -1, 1)}'"])

    def geom(self):
        n = self.numbers
        mass = self.random.choice(["", f" mass='{n(1, 0.1, 3)}'", f" density='{n(1, 300, 4000)}'"])
        kind, sizes = self.random.choice([("sphere", 1), ("capsule", 2), ("cylinder", 2), ("box", 3), ("ellipsoid", 3),
                                          ("class", 0)])
        if kind == "class":
            return f"<geom class='{self.random.choice(['block', 'rod'])}'{mass}/>"
        if sizes > 1 and self.random.random() < 0.4:
            return f"<geom type='{kind}' size='{n(1, .02, .1)}' fromto='{n(6, -.3, .3)}'{mass}/>"
        return f"<geom type='{kind}' size='{n(sizes, .02, .2)}' pos='{n(3, -.3, .3)}'{self.turn()}{mass}/>"

    def joint(self):
        n = self.numbers
        kind = self.random.choice(["hinge", "hinge", "slide", "ball"])
        unit = self.unit if kind == "hinge" else 1
        more = self.may(.5, f" armature='{n(1, .001, .1)}'") + self.may(.3, " class='heavy'")
        if kind != "ball":
            more += f" axis='{n(3, -1, 1)}'" + self.may(.3, f" ref='{n(1, -.4 * unit, .4 * unit)}'")
        return f"<joint {self.name('j')} type='{kind}' pos='{n(3, -.1, .1)}'{more}/>"

    def inertial(self):
        n = self.numbers
        moments = self.random.choice([f"{self.turn()} diaginertia='0.03 0.04 0.05'",
                                      f" fullinertia='0.03 0.04 0.05 {n(3, -.004, .004)}'"])
        return f"<inertial pos='{n(3, -.1, .1)}' mass='{n(1, .2, 4)}'{moments}/>"

    def body(self, depth, top=False):
        n, choose = self.numbers, self.random.choice
        text = f"<body {self.name('b')} pos='{n(3, -.3, .3)}'{self.turn()}{self.may(.2, ' childclass=' + repr('dense'))}>"
        free = top and self.random.random() < 0.3
        text += f"<freejoint {self.name('f')}/>" if free else "".join(self.joint() for _ in range(choose([0, 1, 1, 2])))
        text += self.may(.3, self.inertial()) + "".join(self.geom() for _ in range(choose([1, 1, 2])))
        for _ in range(choose([0, 1, 1, 2]) if depth > 0 else 0):
            inner = self.body(depth - 1)
            text += choose([inner, inner, f"<frame pos='{n(3, -.3, .3)}'{self.turn()}>{inner}</frame>",
                            f"<frame{self.turn()}><frame pos='{n(3, -.3, .3)}'>{inner}</frame></frame>"])
        if depth > 0 and self.random.random() < 0.15:
            text += f"<replicate count='2' offset='{n(3, -.3, .3)}' sep='_'>{self.body(0)}</replicate>"
        return text + "</body>"

    def file(self):
        order = self.random.choice(["xyz", "XYZ", "zyx", "zxz", "XyZ"])
        rule = self.random.choice(["", " inertiafromgeom='true'", " balanceinertia='true'"])
        bodies = "".join(self.body(3, True) for _ in range(self.random.choice([1, 2])))
        return (f"<mujoco><compiler angle='{self.angle}' eulerseq='{order}'{rule}/><option gravity='{self.numbers(3, -9, 9)}'/>"
                "<default><default class='block'><geom type='box' size='.1 .05 .07' density='500'/><default class='rod'>"
                "<geom type='capsule' size='.05 .1'/></default></default><default class='heavy'><joint armature='0.02'/>"
                "</default><default class='dense'><geom density='1500'/></default></default>"
                f"<worldbody><geom type='plane' size='5 5 1'/>{bodies}</worldbody></mujoco>")


def compare_with_mujoco(mujoco, theirs, ours, seed):
    """Mass matrix and weight at a random posture; a free joint's angular velocity has other axes in MuJoCo."""
    data = mujoco.MjData(theirs)
    change = np.random.default_rng(seed).uniform(-0.7, 0.7, theirs.nv)
    mujoco.mj_integratePos(theirs, data.qpos, change, 1)
    q, turn, order = ours.initial_q.copy(), np.eye(theirs.nv), np.zeros(theirs.nv, int)
    for i in range(theirs.njnt):
        name, at, dof = theirs.joint(i).name, theirs.jnt_qposadr[i], theirs.jnt_dofadr[i]
        places, speeds = ours.q_slice(name), ours.v_slice(name)
        q[places] = data.qpos[at:at + places.stop - places.start]
        order[dof:dof + speeds.stop - speeds.start] = range(speeds.start, speeds.stop)
        if theirs.jnt_type[i] == mujoco.mjtJoint.mjJNT_FREE:
            turn[dof + 3:dof + 6, dof + 3:dof + 6] = rotation(data.qpos[at + 3:at + 7])
    mujoco.mj_forward(theirs, data)
    mass = np.zeros((theirs.nv, theirs.nv))
    for k, unit in enumerate(np.eye(theirs.nv)):
        mujoco.mj_mulM(theirs, data, mass[k], unit)
    dynamics = tabi.Dynamics(ours).set(q, np.zeros(ours.nv))
    assert close(turn.T @ dynamics.M[np.ix_(order, order)] @ turn, mass), seed
    assert close(turn.T @ dynamics.bias[order], data.qfrc_bias), seed


def test_mjcf(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "random.xml"
    compared = 0
    for seed in range(SEEDS):
        text = Writer(seed).file()
        path.write_text(text)
        try:
            theirs = mujoco.MjModel.from_xml_string(text)
        except ValueError:  # a ball among other joints, more than six of them
            continue
        ours = load(path)
        assert ours.nv == theirs.nv, seed
        if theirs.nv > 0:
            compare_with_mujoco(mujoco, theirs, ours, seed)
            compared += 1
    assert compared > SEEDS / 3


# -- one robot in four formats

def numbers(values):
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def listed(values):
    return "[ " + ", ".join(f"{x:.17g}" for x in np.ravel(values)) + " ]"


class Robot:
    """A tree on a fixed base, links[i] on joints[i]; what a format says of it."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        uniform = self.random.uniform
        self.parents = [-1] + [int(self.random.integers(i)) for i in range(1, 9)]
        self.kinds = self.random.choice(["revolute", "prismatic", "fixed"], len(self.parents), p=[.6, .25, .15])
        self.masses, self.coms = uniform(.3, 5, 9), uniform(-.2, .2, (9, 3))
        self.places, self.turns = uniform(-.3, .3, (9, 3)), uniform(-1, 1, (9, 3))
        self.axes = self.random.standard_normal((9, 3))
        self.axes /= np.linalg.norm(self.axes, axis=1)[:, None]
        spread = uniform(-.2, .2, (9, 3, 5))
        points = spread @ spread.transpose(0, 2, 1)
        self.moments = np.trace(points, axis1=1, axis2=2)[:, None, None] * np.eye(3) - points

    def children(self, i):
        return [k for k, parent in enumerate(self.parents) if parent == i]

    def rotation(self, i):
        """Of the roll, pitch and yaw of URDF, as axis and angle."""
        half = self.turns[i] / 2
        x, y, z = ((np.cos(a), np.sin(a)) for a in half)
        quat = [x[0] * y[0] * z[0] + x[1] * y[1] * z[1], x[1] * y[0] * z[0] - x[0] * y[1] * z[1],
                x[0] * y[1] * z[0] + x[1] * y[0] * z[1], x[0] * y[0] * z[1] - x[1] * y[1] * z[0]]
        length = np.linalg.norm(quat[1:])
        return np.append(np.array(quat[1:]) / length, 2 * np.arctan2(length, quat[0]))

    def matrix(self, i, write):
        names = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))
        return "".join(write(name, f"{self.moments[i][a][b]:.17g}") for name, a, b in names)

    def urdf(self):
        text = "<robot name='r'>"
        for i, parent in enumerate(self.parents):
            inertia = self.matrix(i, lambda name, x: f" {name}='{x}'")
            text += (f"<link name='l{i}'><inertial><origin xyz='{numbers(self.coms[i])}'/><mass value='{self.masses[i]}'/>"
                     f"<inertia{inertia}/></inertial></link>")
            if i > 0:
                text += (f"<joint name='j{i}' type='{self.kinds[i]}'><parent link='l{parent}'/><child link='l{i}'/><origin "
                         f"xyz='{numbers(self.places[i])}' rpy='{numbers(self.turns[i])}'/><axis xyz='{numbers(self.axes[i])}'/>"
                         "<limit lower='-3' upper='3'/></joint>")
        return text + "</robot>"

    def sdf(self):
        parts = []
        for i, parent in enumerate(self.parents):
            inertia = self.matrix(i, lambda name, x: f"<{name}>{x}</{name}>")
            on = f"<pose relative_to='j{i}'/>" if i > 0 else ""
            parts.append(f"<link name='l{i}'>{on}<inertial><pose>{numbers(self.coms[i])} 0 0 0</pose><mass>{self.masses[i]}"
                         f"</mass><inertia>{inertia}</inertia></inertial></link>")
            if i > 0:
                parts.append(f"<frame name='f{i}' attached_to='l{parent}'><pose>{numbers(self.places[i])} "
                             f"{numbers(self.turns[i])}</pose></frame><joint name='j{i}' type='{self.kinds[i]}'><pose "
                             f"relative_to='f{i}'/><parent>l{parent}</parent><child>l{i}</child><axis><xyz>"
                             f"{numbers(self.axes[i])}</xyz><limit><lower>-3</lower><upper>3</upper></limit></axis></joint>")
        self.random.shuffle(parts)
        return f"<sdf version='1.9'><model name='r' canonical_link='l0'>{''.join(parts)}</model></sdf>"

    def vrml_joint(self, i):
        kind = {"revolute": "rotate", "prismatic": "slide", "fixed": "fixed"}[self.kinds[i] if i > 0 else "fixed"]
        place = f"translation {numbers(self.places[i])} rotation {numbers(self.rotation(i))}" if i > 0 else ""
        return (f'DEF j{i} Joint {{ jointType "{kind}" jointId {i} jointAxis {numbers(self.axes[i])} {place} children [ '
                f'Segment {{ mass {self.masses[i]} centerOfMass {numbers(self.coms[i])} momentsOfInertia [ '
                f'{numbers(self.moments[i])} ] }} {" ".join(self.vrml_joint(k) for k in self.children(i))} ] }}')

    def vrml(self):
        return f"#VRML V2.0 utf8\nDEF r Humanoid {{ humanoidBody [ {self.vrml_joint(0)} ] }}"

    def body(self):
        lines = ["format: ChoreonoidBody", "formatVersion: 1.0", "name: r", "angleUnit: radian", "links:"]
        for i, parent in enumerate(self.parents):
            lines += [f"  - name: j{i}", f"    jointType: {self.kinds[i] if i > 0 else 'fixed'}", f"    jointId: {i}",
                      f"    jointAxis: {listed(self.axes[i])}"]
            if i > 0:
                lines += [f"    parent: j{parent}", f"    translation: {listed(self.places[i])}",
                          f"    rotation: {listed(self.rotation(i))}"]
            lines += ["    elements:", "      - type: RigidBody", f"        centerOfMass: {listed(self.coms[i])}",
                      f"        mass: {self.masses[i]}", f"        inertia: {listed(self.moments[i])}"]
        return "\n".join(lines) + "\n"


def at_posture(model, posture):
    """Mass matrix and weight per gravity, joint by joint of the posture."""
    q = model.initial_q.copy()
    for name, angle in posture.items():
        q[model.q_slice(name)] = angle
    order = [model.v_slice(name).start for name in posture]
    dynamics = tabi.Dynamics(model).set(q, np.zeros(model.nv))
    return dynamics.M[np.ix_(order, order)], dynamics.bias[order] / model.gravity[2]


@pytest.mark.parametrize("kind, ending", [("sdf", "sdf"), ("vrml", "wrl"), ("body", "body")])
def test_same_robot(tmp_path, kind, ending):
    for seed in range(SEEDS):
        robot = Robot(seed)
        texts = {"urdf": robot.urdf(), ending: getattr(robot, kind)()}
        for name, text in texts.items():
            (tmp_path / f"r.{name}").write_text(text)
        models = [load(tmp_path / f"r.{name}", base="fixed") for name in texts]
        moving = [f"j{i}" for i in range(1, 9) if robot.kinds[i] != "fixed"]
        posture = dict(zip(moving, np.random.default_rng(seed).uniform(-2, 2, len(moving))))
        assert models[0].nv == models[1].nv == len(moving)
        for ours, theirs in zip(*(at_posture(model, posture) for model in models)):
            assert close(ours, theirs), (kind, seed)
