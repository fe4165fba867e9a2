#!/usr/bin/env python3
"""make_humanoids.py [FOLDER]: models/humanoid20.urdf, a small robot, and figure40.urdf, a man; and the
sidecars of humanoid20 and humanoid36 with the rotors of their motors.  A man has none.

A robot is a list of parts, each a link and the joint above it.  Only left limbs are listed; right
ones are their mirror images.  Legs have the joints of humanoid36 in the same order: hip yaw, roll
and pitch in one point, knee, ankle pitch and roll in another.
"""
import pathlib
import re
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True

from urdf_text import Robot, Solid, ball, box, cylinder

ROOT = pathlib.Path(__file__).resolve().parent.parent
AXES = {"roll": "1 0 0", "pitch": "0 1 0", "yaw": "0 0 1"}


class Part(NamedTuple):
    link: str
    parent: str
    joint: str  # "" for the root
    at: tuple  # of the joint, in the parent
    turn: str  # of AXES; "" if it is fixed
    range: tuple  # rad
    motor: tuple  # effort, N m; velocity, rad/s; damping, N m s/rad; dry friction, N m
    mass: float
    solids: list


def mirrored(part):
    def other(name):
        return "r_" + name[2:] if name.startswith("l_") else name

    def flip(at):
        return (at[0], -at[1], at[2])

    solids = [Solid(s.shape, s.size, flip(s.at), s.colour, axis=s.axis, drawn=s.drawn,
                    heavy=s.heavy, solid=s.solid) for s in part.solids]
    low, high = part.range
    reach = (low, high) if part.turn == "pitch" else (-high, -low)
    return part._replace(link=other(part.link), parent=other(part.parent), joint=other(part.joint),
                         at=flip(part.at), range=reach, solids=solids)


def write(robot, parts):
    for part in parts:
        robot.link(part.link, part.mass, part.solids)
        if part.turn:
            robot.joint(part.joint, part.parent, part.link, part.at, AXES[part.turn], "revolute",
                        part.range + part.motor[:2], part.motor[2:])
        elif part.joint:
            robot.joint(part.joint, part.parent, part.link, part.at, None, "fixed")


def build(robot, trunk, leg, arm):
    robot.section("trunk")
    write(robot, trunk)
    for title, limb in (("leg", leg), ("arm", arm)):
        robot.section(f"left {title}")
        write(robot, limb)
        robot.section(f"right {title}")
        write(robot, [mirrored(part) for part in limb])
    return robot.finish()


SMALL = """\
  humanoid20: a humanoid of the size of HOAP-1 (0.48 m, 6 kg), made of boxes, cylinders and balls;
  written by tools/make_humanoids.py.

  20 joints: legs 2 x 6, arms 2 x 4.  Chest and head do not move against the pelvis.  At rest, with all
  joints at zero, it stands upright with its arms down; the origin of the pelvis is between the hips,
  0.235 m above the soles.

  x points forward, y to the left, z up.  Pitch is about y, roll about x, yaw about z.  Left and right
  mirror each other.  Each link's inertia is that of the solids drawn, with the mass spread over them.
"""

SMALL_COLOURS = {
    "silver": "0.80 0.82 0.85",
    "dark": "0.16 0.17 0.20",
    "orange": "0.93 0.45 0.10",
    "glass": "0.10 0.45 0.75",
}


def small():
    hip, foot, shoulder = (8, 6, 0.03, 0.05), (6, 6, 0.03, 0.05), (2.5, 6, 0.01, 0.02)
    still = ((), ())
    trunk = [
        Part("pelvis", "", "", (), "", *still, 0.8, [
            box((0.075, 0.112, 0.045), (-0.006, 0, 0.032), "silver", solid=True),
            cylinder(0.019, 0.1, (0, 0, 0), "dark", axis="y"),
            box((0.004, 0.06, 0.018), (0.033, 0, 0.034), "orange")]),
        Part("chest", "pelvis", "chest", (0, 0, 0.055), "", *still, 1.4, [
            box((0.084, 0.122, 0.092), (0, 0, 0.056), "silver", solid=True),
            box((0.06, 0.09, 0.02), (-0.004, 0, 0.004), "dark"),
            box((0.03, 0.1, 0.085), (-0.056, 0, 0.055), "orange", solid=True),
            cylinder(0.017, 0.008, (0.044, 0, 0.066), "glass", axis="x")]),
        Part("head", "chest", "head", (0, 0, 0.1), "", *still, 0.3, [
            cylinder(0.018, 0.034, (0, 0, 0.014), "dark"),
            box((0.068, 0.076, 0.06), (0.004, 0, 0.06), "silver", solid=True),
            box((0.006, 0.062, 0.022), (0.039, 0, 0.064), "glass"),
            cylinder(0.016, 0.088, (0, 0, 0.06), "orange", axis="y")]),
    ]
    leg = [
        Part("l_hip", "pelvis", "l_hip_yaw", (0, 0.038, 0), "yaw", (-0.6, 0.8), hip, 0.12, [
            cylinder(0.019, 0.03, (0, 0, 0), "dark")]),
        Part("l_hip_yoke", "l_hip", "l_hip_roll", (0, 0, 0), "roll", (-0.4, 0.6), hip, 0.12, [
            cylinder(0.017, 0.06, (0, 0, 0), "dark", axis="x")]),
        Part("l_thigh", "l_hip_yoke", "l_hip_pitch", (0, 0, 0), "pitch", (-1.6, 0.8), hip, 0.4, [
            cylinder(0.022, 0.05, (0, 0, 0), "dark", axis="y"),
            box((0.046, 0.044, 0.062), (0, 0, -0.05), "silver", solid=True),
            box((0.004, 0.03, 0.04), (0.024, 0, -0.05), "orange")]),
        Part("l_shank", "l_thigh", "l_knee", (0, 0, -0.1), "pitch", (-0.05, 2.2), hip, 0.3, [
            cylinder(0.021, 0.05, (0, 0, 0), "dark", axis="y", solid=True),
            box((0.042, 0.042, 0.062), (0, 0, -0.05), "silver", solid=True)]),
        Part("l_ankle", "l_shank", "l_ankle_pitch", (0, 0, -0.1), "pitch", (-1.1, 1), foot, 0.12, [
            cylinder(0.017, 0.046, (0, 0, 0), "dark", axis="y")]),
        Part("l_foot", "l_ankle", "l_ankle_roll", (0, 0, 0), "roll", (-0.6, 0.4), foot, 0.22, [
            cylinder(0.014, 0.06, (0, 0, -0.002), "dark", axis="x"),
            box((0.07, 0.046, 0.016), (0.01, 0, -0.013), "silver"),
            box((0.1, 0.062, 0.014), (0.012, 0, -0.028), "dark", solid=True)]),
    ]
    arm = [
        Part("l_shoulder", "chest", "l_shoulder_pitch", (0, 0.068, 0.082), "pitch", (-3, 1.2),
             shoulder, 0.1, [cylinder(0.019, 0.026, (0, 0.01, 0), "dark", axis="y")]),
        Part("l_shoulder_yoke", "l_shoulder", "l_shoulder_roll", (0, 0.036, 0), "roll", (-0.1, 1.7),
             shoulder, 0.06, [cylinder(0.016, 0.042, (0, 0, 0), "silver", axis="x")]),
        Part("l_upper_arm", "l_shoulder_yoke", "l_shoulder_yaw", (0, 0, 0), "yaw", (-1.6, 1.6),
             shoulder, 0.15, [
                 box((0.032, 0.03, 0.05), (0, 0, -0.039), "silver", solid=True),
                 box((0.004, 0.02, 0.03), (0.017, 0, -0.039), "orange")]),
        Part("l_forearm", "l_upper_arm", "l_elbow", (0, 0, -0.08), "pitch", (-2, 0.05), shoulder,
             0.16, [
                 cylinder(0.016, 0.034, (0, 0, 0), "dark", axis="y"),
                 box((0.028, 0.028, 0.056), (0, 0, -0.043), "silver", solid=True),
                 ball(0.017, (0, 0, -0.085), "dark", solid=True)]),
    ]
    return build(Robot("humanoid20", SMALL, SMALL_COLOURS, 6), trunk, leg, arm)


FIGURE = """\
  figure40: a human figure of 1.75 m and 70 kg, made of boxes, cylinders and balls; written by
  tools/make_humanoids.py.

  34 joints, with the free base 40 degrees of freedom: legs 2 x 7 (hip 3, knee, ankle 2, toes), arms 2 x 7
  (shoulder 3, elbow, wrist 3), spine 3, neck 3.  Three hinges through one point make hips, shoulders
  and neck turn like balls.  At rest, with all joints at zero, it stands upright with its arms down; the
  origin of the pelvis is between the hips, 0.93 m above the soles.

  x points forward, y to the left, z up.  Pitch is about y, roll about x, yaw about z.  Left and right
  mirror each other.  Lengths and masses of the limbs are the usual shares of height and weight (Winter);
  each link's inertia is that of the solids drawn, with the mass spread over them.  Torque limits are
  about those of a fit man.
"""

FIGURE_COLOURS = {
    "skin": "0.87 0.67 0.53",
    "hair": "0.22 0.15 0.10",
    "shirt": "0.20 0.45 0.60",
    "trousers": "0.22 0.24 0.30",
    "shoe": "0.12 0.11 0.11",
}


def figure_trunk():
    spine, neck = (300, 6, 5, 0), (40, 6, 1, 0)
    return [
        Part("pelvis", "", "", (), "", (), (), 9.94, [
            box((0.17, 0.27, 0.13), (0, 0, 0.035), "trousers", solid=True),
            cylinder(0.083, 0.3, (0, 0, 0), "trousers", axis="y")]),
        Part("lumbar", "pelvis", "spine_roll", (0, 0, 0.13), "roll", (-0.6, 0.6), spine, 2, [
            cylinder(0.1, 0.06, (0, 0, 0), "shirt"),
            box((0.15, 0.25, 0.05), (0, 0, 0), "shirt")]),
        Part("abdomen", "lumbar", "spine_pitch", (0, 0, 0), "pitch", (-0.5, 1.2), spine, 7.73, [
            box((0.165, 0.245, 0.13), (0, 0, 0.07), "shirt", solid=True)]),
        Part("chest", "abdomen", "spine_yaw", (0, 0, 0.14), "yaw", (-0.8, 0.8), spine, 15.12, [
            box((0.2, 0.29, 0.2), (0, 0, 0.1), "shirt", solid=True),
            cylinder(0.068, 0.34, (0, 0, 0.2), "shirt", axis="y")]),
        Part("neck", "chest", "neck_yaw", (0, 0, 0.27), "yaw", (-1.2, 1.2), neck, 0.8, [
            cylinder(0.054, 0.1, (0, 0, 0.02), "skin")]),
        Part("neck_yoke", "neck", "neck_roll", (0, 0, 0.05), "roll", (-0.6, 0.6), neck, 0.3, [
            ball(0.05, (0, 0, 0), "skin")]),
        Part("head", "neck_yoke", "neck_pitch", (0, 0, 0), "pitch", (-0.8, 0.8), neck, 4.57, [
            ball(0.1, (0.012, 0, 0.13), "skin", solid=True),
            box((0.12, 0.115, 0.1), (0.025, 0, 0.07), "skin"),
            ball(0.1, (-0.012, 0, 0.13), "hair"),
            box((0.03, 0.025, 0.04), (0.108, 0, 0.1), "skin"),
            ball(0.012, (0.1, 0.036, 0.14), "shoe", heavy=False),
            ball(0.012, (0.1, -0.036, 0.14), "shoe", heavy=False)]),
    ]


def figure_leg():
    hip, ankle, toes = (250, 12, 2, 0), (200, 12, 1, 0), (40, 12, 0.5, 0)
    return [
        Part("l_hip", "pelvis", "l_hip_yaw", (0, 0.09, 0), "yaw", (-0.6, 0.8), hip, 0.3, [
            ball(0.06, (0, 0, 0), "trousers")]),
        Part("l_hip_yoke", "l_hip", "l_hip_roll", (0, 0, 0), "roll", (-0.4, 0.8), hip, 0.3, [
            ball(0.06, (0, 0, 0), "trousers")]),
        Part("l_thigh", "l_hip_yoke", "l_hip_pitch", (0, 0, 0), "pitch", (-2.1, 0.7), hip, 6.4, [
            ball(0.081, (0, 0, 0), "trousers"),
            cylinder(0.076, 0.34, (0, 0, -0.2), "trousers", solid=True)]),
        Part("l_shank", "l_thigh", "l_knee", (0, 0, -0.43), "pitch", (-0.05, 2.4), hip, 3.255, [
            ball(0.062, (0, 0, 0), "trousers"),
            cylinder(0.052, 0.34, (0, 0, -0.21), "trousers", solid=True)]),
        Part("l_ankle", "l_shank", "l_ankle_pitch", (0, 0, -0.43), "pitch", (-0.7, 0.9), ankle,
             0.15, [ball(0.043, (0, 0, 0), "shoe")]),
        Part("l_foot", "l_ankle", "l_ankle_roll", (0, 0, 0), "roll", (-0.5, 0.4), ankle, 0.7, [
            box((0.195, 0.09, 0.05), (0.03, 0, -0.045), "shoe", solid=True),
            box((0.08, 0.075, 0.03), (0.01, 0, -0.02), "shoe")]),
        Part("l_toes", "l_foot", "l_toe", (0.13, 0, -0.055), "pitch", (-1, 0.4), toes, 0.165, [
            box((0.06, 0.09, 0.03), (0.032, 0, 0), "shoe", solid=True),
            cylinder(0.015, 0.085, (0, 0, 0), "shoe", axis="y")]),
    ]


def figure_arm():
    shoulder, wrist = (80, 12, 1, 0), (15, 12, 0.2, 0)
    return [
        Part("l_shoulder", "chest", "l_shoulder_pitch", (0, 0.21, 0.205), "pitch", (-3, 1),
             shoulder, 0.15, [ball(0.05, (0, 0, 0), "shirt")]),
        Part("l_shoulder_yoke", "l_shoulder", "l_shoulder_roll", (0, 0, 0), "roll", (-0.2, 2.8),
             shoulder, 0.15, [ball(0.05, (0, 0, 0), "shirt")]),
        Part("l_upper_arm", "l_shoulder_yoke", "l_shoulder_yaw", (0, 0, 0), "yaw", (-1.5, 1.5),
             shoulder, 1.66, [
                 ball(0.057, (0, 0, 0), "shirt"),
                 cylinder(0.046, 0.24, (0, 0, -0.15), "shirt", solid=True)]),
        Part("l_forearm", "l_upper_arm", "l_elbow", (0, 0, -0.32), "pitch", (-2.5, 0.05), shoulder,
             0.6, [
                 ball(0.043, (0, 0, 0), "skin"),
                 cylinder(0.038, 0.12, (0, 0, -0.07), "skin", solid=True)]),
        Part("l_lower_arm", "l_forearm", "l_wrist_yaw", (0, 0, -0.13), "yaw", (-1.5, 1.5), wrist,
             0.52, [cylinder(0.032, 0.12, (0, 0, -0.06), "skin", solid=True)]),
        Part("l_wrist", "l_lower_arm", "l_wrist_pitch", (0, 0, -0.13), "pitch", (-0.6, 0.6), wrist,
             0.06, [ball(0.028, (0, 0, 0), "skin")]),
        Part("l_hand", "l_wrist", "l_wrist_roll", (0, 0, 0), "roll", (-1.2, 1.2), wrist, 0.36, [
            box((0.08, 0.028, 0.09), (0, 0, -0.06), "skin", solid=True),
            box((0.074, 0.022, 0.08), (0, 0, -0.142), "skin", solid=True),
            box((0.02, 0.02, 0.06), (0.05, 0, -0.07), "skin")]),
    ]


# of the motors: rotor inertia before the gear, kg m^2, and gear
LARGE_MOTOR, SMALL_MOTOR = ("2e-5", 100), ("1e-7", 200)


def motors(urdf):
    """The joints that have one; the bushes of feet do not."""
    names = re.findall(r'<joint name="(\w+)" type="(?:revolute|continuous|prismatic)"', urdf)
    return [name for name in names if "bush" not in name]


def sidecar(name, urdf, motor):
    rotor, gear = motor
    text = f"# What {name}.urdf cannot say: the rotors of its motors; written by tools/make_humanoids.py.\n"
    text += "joints:\n"
    for joint in motors(urdf):
        text += f"  {joint}: {{rotor_inertia: {rotor}, gear: {gear}}}\n"
    return text


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    (folder / "models").mkdir(parents=True, exist_ok=True)
    figure = Robot("figure40", FIGURE, FIGURE_COLOURS, 6)
    large = (ROOT / "models" / "humanoid36.urdf").read_text(encoding="utf-8")
    little = small()
    for name, text in (("humanoid20.urdf", little),
                       ("humanoid20.tabi.yaml", sidecar("humanoid20", little, SMALL_MOTOR)),
                       ("humanoid36.tabi.yaml", sidecar("humanoid36", large, LARGE_MOTOR)),
                       ("figure40.urdf",
                        build(figure, figure_trunk(), figure_leg(), figure_arm()))):
        (folder / "models" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
