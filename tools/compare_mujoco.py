#!/usr/bin/env python3
"""Robots of MJCF files in tabi beside MuJoCo: the same keyframe, actuators and time step.

    tools/compare_mujoco.py ROBOT.xml.. [--tabi build/release/tabi] [--time 5] [--key NAME] [--summary]
    tools/compare_mujoco.py ROBOT.xml.. --write DOCUMENT

Prints a table for each robot: height and tilt of its base, force of the ground, and the force of every
actuator at its joint, means over the last tenth of the run.  Each is compared three times: `as it is`, with
MuJoCo at the settings of the file; `hard`, with stiff constraints in MuJoCo, both at a fifth of the time step
and from the height to which tabi lifts keyframes out of the ground, which would throw a hard robot;
`no friction`, hard, and without dry friction of the joints in either.  Differences are in per cent of
MuJoCo's number, of a force below 1 % of the largest of its robot in per cent of that; of tilt in per cent of
a radian.  `*` marks those above 1.  Joints with motors are held in both by the implicit servos that `tabi try`
makes for the robot, and such a robot settles for 2 s before, its base held back by a damper: unloaded springs
of limbs would let it fall over.

--summary prints one line for each robot; --write puts these lines between the markers of a document.
Exits with 2 where there is no MuJoCo (tools/install-python.sh).
"""

import argparse
import csv
import glob
import json
import os
import re
import site
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
for packages in glob.glob(os.path.join(ROOT, "build", "venv", "lib", "python3*", "site-packages")):
    site.addsitedir(packages)

try:
    import mujoco
    import numpy as np
except ImportError:
    mujoco = None

LIMIT = 1.0     # per cent, above which a difference is marked
SHARE = 0.01    # forces below this share of the largest are compared with that
CASES = ("as it is", "hard", "no friction")
FINER = 5       # time steps of the hard cases in one of the file
SETTLE, RATE = 2.0, 20.0    # s, and 1/s of the damper, as scenes of tabi have them
GAIN = re.compile(r'^        "(.*)": {kp: (.*), kd: (.*)}$', re.M)
BLOCK = re.compile(r"(<!-- mujoco -->\n).*?(<!-- end -->\n)", re.S)


# -- MuJoCo

def load(path):
    """The model; geoms whose mesh is not there are left out, as tabi does."""
    spec = mujoco.MjSpec.from_file(path)
    folder = os.path.join(os.path.dirname(path), spec.meshdir)
    missing = {m.name or os.path.splitext(os.path.basename(m.file))[0]: m for m in spec.meshes
               if m.file and not os.path.exists(os.path.join(folder, m.file))}
    for geom in [g for g in spec.geoms if g.meshname in missing]:
        spec.delete(geom)
    for mesh in missing.values():
        spec.delete(mesh)
    return spec.compile()


def harden(model):
    """Stiff constraints, which a fifth of the time step resolves."""
    for name in ("geom_solref", "jnt_solref", "dof_solref", "eq_solref", "pair_solref"):
        getattr(model, name)[:] = (0.002, 1)
    for name in ("geom_solimp", "jnt_solimp", "dof_solimp", "eq_solimp", "pair_solimp"):
        getattr(model, name)[:] = (0.9999, 0.9999, 0.001, 0.5, 2)
    model.geom_margin[:] = 0  # robots would hover by their margins
    model.opt.timestep /= FINER
    model.opt.iterations = 200
    model.opt.tolerance = 1e-12


def is_motor(model, i):
    """Whether an actuator only passes its input on, so that something else must hold the joint."""
    return not model.actuator_biasprm[i].any()


def driven(model):
    """{name of a joint: its actuator} of joints with one coordinate."""
    joint = mujoco.mjtTrn.mjTRN_JOINT
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    pairs = ((model.joint(model.actuator_trnid[i, 0]), i) for i in range(model.nu)
             if model.actuator_trntype[i] == joint)
    return {j.name: i for j, i in pairs if j.name and int(j.type[0]) in single}


def held_by(model, data, gains):
    """Servos as springs and dampers of joints, which MuJoCo takes implicitly; {joint: its force}."""
    forces = {}
    for name, (kp, kd) in gains.items():
        joint = model.joint(name)
        q, v, own = joint.qposadr[0], joint.dofadr[0], joint.stiffness[0]
        if own:
            raise SystemExit(f"{name}: a spring beside a servo cannot be told from it")
        model.jnt_stiffness[joint.id], model.qpos_spring[q] = kp, data.qpos[q]
        model.dof_damping[v] += kd
        forces[name] = lambda target=data.qpos[q], kp=kp, kd=kd, q=q, v=v: (
            kp * (target - data.qpos[q]) - kd * data.qvel[v])
    return forces


def settle(model, data):
    """As `settle` of a scene: the base is held back by a damper, then all is at rest."""
    base = model.body(1).id
    mass = model.body_subtreemass[base]
    mujoco.mj_forward(model, data)
    ways = data.xipos[base:] - data.xpos[base]
    moment = float(np.sum(model.body_mass[base:, None] * ways ** 2))
    before = model.dof_damping[:6].copy()
    model.dof_damping[:6] = [RATE * mass] * 3 + [RATE * moment] * 3
    while data.time < SETTLE:
        mujoco.mj_step(model, data)
    model.dof_damping[:6] = before
    data.qvel[:] = 0
    data.time = 0


def measure(model, data, joints, servos):
    """Height, tilt, force of the ground, forces of the actuators."""
    base = model.body(1)
    up = data.xmat[base.id].reshape(3, 3)[2, 2]
    ground, force = 0.0, np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        bodies = [model.body_weldid[model.geom_bodyid[g]] for g in contact.geom]
        if bodies[0] != 0 and bodies[1] != 0:
            continue
        mujoco.mj_contactForce(model, data, k, force)
        pull = contact.frame.reshape(3, 3).T @ force[:3]
        ground += pull[2] if bodies[0] == 0 else -pull[2]
    drives = [servos[j]() if j in servos else data.qfrc_actuator[model.joint(j).dofadr[0]] for j in joints]
    return [data.xpos[base.id][2], np.arccos(np.clip(up, -1, 1)), ground, *drives]


def run_mujoco(path, key, duration, case, height, gains):
    """Means over the last tenth of the run, {quantity: number}; a hard robot starts at the height."""
    model = load(path)
    joints = driven(model)
    if case != "as it is":
        harden(model)
    if case == "no friction":
        model.dof_frictionloss[:] = 0
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
    if case != "as it is" and model.joint(0).type[0] == 0:
        data.qpos[2] = height
    servos = held_by(model, data, gains)
    if gains:
        settle(model, data)
    samples, steps = [], round(duration / model.opt.timestep)
    for k in range(steps):
        mujoco.mj_step(model, data)
        if k >= 0.9 * steps:
            samples.append(measure(model, data, joints, servos))
    return dict(zip(names(joints), np.mean(samples, axis=0)))


# -- tabi

def read_gains(tabi, path, key):
    """Of the joints with motors: what `tabi try` makes for them."""
    model = load(path)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "scene.yaml")
        subprocess.run([tabi, "try", path, "--keyframe", key, "--contact", "cone", "--time", "0.01", "--scene", place,
                        "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        with open(place, encoding="utf-8") as f:
            found = {name: (float(kp), float(kd)) for name, kp, kd in GAIN.findall(f.read())}
    return {j: found[j] for j, i in driven(model).items() if is_motor(model, i)}


def scene(path, model, key, duration, case, gains):
    """The text of the scene; JSON is YAML."""
    joints = driven(model)
    robot = {"name": "robot", "model": os.path.abspath(path), "posture": key, "sensors": [
        {"name": f"drive {j}", "type": "joint_torque", "joint": j} for j in joints]}
    if gains:
        robot.update(place="ground", settle=SETTLE, controller={
            "type": "pd", "kp": 0, "implicit": True, "joints": {j: {"kp": g[0], "kd": g[1]} for j, g in gains.items()}})
    if case == "no friction":
        rough = [model.joint(j) for j in range(model.njnt)]
        robot["joints"] = {j.name: {"friction": 0} for j in rough if j.frictionloss.any()}
    finer = 1 if case == "as it is" else FINER
    return json.dumps({"timestep": model.opt.timestep / finer, "duration": duration,
                       "gravity": list(model.opt.gravity), "robots": [robot]})


def run_tabi(tabi, path, key, duration, case, gains):
    """The same means, and the height of the base at the start."""
    model = load(path)
    joints = driven(model)
    with tempfile.TemporaryDirectory() as folder:
        place, table = (os.path.join(folder, name) for name in ("scene.yaml", "run.csv"))
        with open(place, "w", encoding="utf-8") as f:
            f.write(scene(path, model, key, duration, case, gains))
        subprocess.run([tabi, "run", place, "--csv", table, "--quiet", "--package-path",
                        os.path.dirname(os.path.abspath(path))],
                       stdout=subprocess.DEVNULL, check=True, timeout=600)
        with open(table, encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
    last = [sample(row, joints) for row in rows[int(0.9 * len(rows)):]]
    return dict(zip(names(joints), np.mean(last, axis=0))), float(rows[0]["robot.z"])


def sample(row, joints):
    number = {name: float(cell) for name, cell in row.items() if cell}
    up = 1 - 2 * (number["robot.qx"] ** 2 + number["robot.qy"] ** 2)
    return [number["robot.z"], np.arccos(np.clip(up, -1, 1)), number["ground.fz"],
            *(number[f"robot/drive {j}.tau"] for j in joints)]


# -- tables

def names(joints):
    return ["height, m", "tilt, rad", "ground, N", *joints]


def differences(ours, theirs):
    """Per cent, {quantity: number}."""
    least = {"height, m": 1e-3, "tilt, rad": 1.0, "ground, N": max(theirs["ground, N"], 1e-3)}
    drives = [abs(x) for name, x in theirs.items() if name not in least]
    floor = SHARE * max(drives, default=1.0)
    return {name: 100 * abs(ours[name] - x) / (1.0 if name == "tilt, rad" else
                                               max(abs(x), least.get(name, floor), 1e-9))
            for name, x in theirs.items()}


def compare(tabi, path, key, duration, case):
    gains = read_gains(tabi, path, key)
    ours, height = run_tabi(tabi, path, key, duration, case, gains)
    theirs = run_mujoco(path, key, duration, case, height, gains)
    return ours, theirs, differences(ours, theirs)


def marked(percent):
    return f"{percent:.2g}{' *' if percent > LIMIT else ''}"


def table(results):
    """All quantities of a robot."""
    ours, theirs, _ = results[CASES[0]]
    lines = ["| | tabi | MuJoCo | " + " | ".join(f"{case}, %" for case in CASES) + " |", "|---" * 6 + "|"]
    for name in ours:
        cells = [marked(results[case][2][name]) for case in CASES]
        lines.append(f"| {name} | {ours[name]:.5g} | {theirs[name]:.5g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(name, results):
    """One line: height, tilt, ground, and how many actuators differ and by how much at most."""
    cells = []
    for case in CASES:
        _, _, percent = results[case]
        drives = list(percent.values())[3:]
        above = sum(d > LIMIT for d in drives)
        cells.append(" / ".join(marked(list(percent.values())[k]) for k in range(3)) +
                     f" / {marked(max(drives, default=0))}" + (f" ({above} of {len(drives)})" if above else ""))
    return f"| {name} | " + " | ".join(cells) + " |"


HEAD = "| robot | " + " | ".join(CASES) + " |\n" + "|---" * 4 + "|\n"


def write(document, lines):
    with open(document, encoding="utf-8") as f:
        text = f.read()
    with open(document, "w", encoding="utf-8") as f:
        f.write(BLOCK.sub(lambda m: m[1] + HEAD + "\n".join(lines) + "\n" + m[2], text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="+")
    parser.add_argument("--tabi", default="tabi", help="the command; default: tabi")
    parser.add_argument("--time", type=float, default=5.0, help="seconds; default: 5")
    parser.add_argument("--key", help="keyframe; default: the first")
    parser.add_argument("--summary", action="store_true", help="one line for each robot")
    parser.add_argument("--write", help="document whose table to write")
    args = parser.parse_args()
    if not mujoco:
        print("no MuJoCo for Python: tools/install-python.sh installs it", file=sys.stderr)
        return 2
    lines = []
    for path in args.robots:
        key = args.key or load(path).key(0).name
        results = {case: compare(args.tabi, path, key, args.time, case) for case in CASES}
        name = os.path.basename(os.path.dirname(os.path.abspath(path)))
        lines.append(summary(name, results))
        if not args.write:
            print(lines[-1] if args.summary else f"\n{name}, {key}\n\n{table(results)}", flush=True)
    if args.write:
        write(args.write, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
