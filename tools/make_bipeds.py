#!/usr/bin/env python3
"""make_bipeds.py [FOLDER]: planar bipeds of nine links: models/biped9.urdf, biped9_long.urdf and
biped_human.urdf.

They have the same links and joints:

    head                 x forward, z up.  Every joint turns about -y, so that positive angles go
      | neck             counter-clockwise in the plane (x, z).
    torso
      | torso            Waist, thighs and torso share one point of the plane, the hip.  The planar
    waist o base         joint `base` moves the waist: x, z, angle.
      | left_hip, right_hip
    thigh                At zero all stand straight, the soles below the hip.
      | knee
    shank
      | ankle
    foot
"""
import pathlib
import sys

sys.dont_write_bytecode = True

from urdf_text import Robot, ball, box, cylinder, cylinder_moments

ROOT = pathlib.Path(__file__).resolve().parent.parent
AXIS = "0 -1 0"
SIDES = (("left", 1), ("right", -1))
COLOURS = {
    "trunk": "0.92 0.93 0.95",
    "left": "0.13 0.32 0.62",
    "right": "0.80 0.36 0.18",
    "joint": "0.38 0.41 0.46",
    "sole": "0.10 0.10 0.11",
}

NINE = """\
  biped9: a planar biped of nine links, after a published study of walking with slip (2011); written by
  tools/make_bipeds.py.  Masses, lengths and radii are the study's.  What it leaves open is ours: feet
  are boxes with the ankle above the middle of the sole, and the waist is a cylinder across the plane,
  so that both thighs and the torso hang on one point of it.

  11.5 kg, 7 m.  x points forward, z up; the robot moves in that plane.  Every joint turns about -y:
  angles are counter-clockwise in (x, z).  With all joints at zero it stands straight, the soles 4.5 m
  below the origin of the waist.  The planar joint has the coordinates x, z, angle.  A negative knee
  bends the leg; it goes 0.2 rad beyond straight.

  Where the legs are across the plane, 0.5 m to either side, is for the eye alone.
"""

LONG = """\
  biped9_long: biped9 with feet of 2 m, the study's 1.0 m read as half their length; written by
  tools/make_bipeds.py.
"""

WHY = """\
      <!-- iyy is the moment about the diameter, m(l^2/12 + r^2/4) with l 1.5, r 0.2, as of all other
           cylinders, and not m r^2/2 about the axis: with the joints' damping of 50 only that lets
           explicit integration run at the steps of 5 ms that are reported -->
"""

HUMAN = """\
  biped_human: the links and joints of biped9 in the size of a man, 1.75 m and 70 kg; written by
  tools/make_bipeds.py.  Lengths and masses, and of the legs also centres of mass and radii of gyration,
  are the usual shares of height and weight (Winter); the arms weigh on the torso.  The ankle is over
  the rear third of the foot.

  x points forward, z up; the robot moves in that plane.  Every joint turns about -y: a positive hip
  brings the leg forward, a negative knee bends it, a positive torso leans back.  With all joints at
  zero it stands straight, the soles 0.9275 m below the origin of the waist.
"""


def biped(robot, links, joints):
    """links: {name: arguments of Robot.link}; joints: {name: (height, limit, damping, side)}."""
    robot.link("ground")
    robot.section("trunk")
    for name in ("waist", "torso", "head"):
        robot.link(name, *links[name])
    robot.joint("base", "ground", "waist", (0, 0, 0), AXIS, "planar")
    for name, parent, child in (("torso", "waist", "torso"), ("neck", "torso", "head")):
        height, limit, damping, _ = joints[name]
        robot.joint(name, parent, child, (0, 0, height), AXIS, "revolute", limit, (damping, 0))
    for side, sign in SIDES:
        robot.section(f"{side} leg")
        parent = "waist"
        for name, child in (("hip", "thigh"), ("knee", "shank"), ("ankle", "foot")):
            robot.link(f"{side}_{child}", *links[f"{side}_{child}"])
            height, limit, damping, across = joints[name]
            robot.joint(f"{side}_{name}", parent, f"{side}_{child}", (0, sign * across, height),
                        AXIS, "revolute", limit, (damping, 0))
            parent = f"{side}_{child}"
    return robot.finish()


def rod(radius, length, up, colour, joint_radius):
    """A cylinder that hangs from its joint or stands on it, and the ball that is drawn there."""
    return [cylinder(radius, length, (0, 0, up * length / 2), colour),
            ball(joint_radius, (0, 0, 0), "joint", heavy=False)]


def nine(name="biped9", text=NINE, sole=1):
    """sole: length of the feet, m."""
    waist = cylinder(0.2, 1.5, (0, 0, 0), "trunk", axis="y")
    about = [cylinder_moments(1.5, 0.2, 1.5)[0]] * 3
    links = {
        "waist": (1.5, [waist], ([0, 0, 0], about, [0, 0, 0]), WHY),
        "torso": (3, rod(0.2, 2, 1, "trunk", 0.25)),
        # seen as a ball of its height, and so touched
        "head": (1, [cylinder(0.5, 0.5, (0, 0, 0.25), "", drawn=False),
                     ball(0.25, (0, 0, 0.25), "trunk", heavy=False, solid=True),
                     box((0.06, 0.3, 0.09), (0.22, 0, 0.29), "sole", heavy=False)]),
    }
    for side, _ in SIDES:
        links[f"{side}_thigh"] = (1, rod(0.2, 2, -1, side, 0.25))
        links[f"{side}_shank"] = (1, rod(0.2, 2, -1, side, 0.23))
        links[f"{side}_foot"] = (1, [box((sole, 0.5, 0.5), (0, 0, -0.25), "sole", solid=True),
                                     ball(0.22, (0, 0, 0), "joint", heavy=False)])
    limit = (-3.1, 3.1, 1000, 100)
    heights = {"torso": 0, "neck": 2, "hip": 0, "knee": -2, "ankle": -2}
    joints = {name: (z, limit, 50, 0.5 if name == "hip" else 0) for name, z in heights.items()}
    joints["knee"] = (-2, (-3.1, 0.2, 1000, 100), 50, 0)
    return biped(Robot(name, text, COLOURS, 15), links, joints)


def segment(mass, length, up, centre, gyration, radius):
    """Inertia of a body segment from its shares of length; about its long axis a cylinder's."""
    across = mass * (gyration * length) ** 2
    return ([0, 0, up * centre * length], [across, across, mass * radius ** 2 / 2], [0, 0, 0])


def human():
    height, weight = 1.75, 70
    thigh, shank, ankle = 0.245 * height, 0.246 * height, 0.039 * height
    torso, head = 0.288 * height, 0.182 * height
    skin = 0.11
    links = {
        "waist": (0.142 * weight, [cylinder(0.09, 0.26, (0, 0, 0.05), "trunk", axis="y")]),
        "torso": (0.455 * weight,
                  [box((0.2, 0.3, 0.62 * torso), (0, 0, 0.67 * torso), "trunk"),
                   cylinder(0.09, 0.4 * torso, (0, 0, 0.2 * torso), "joint")],
                  segment(0.455 * weight, torso, 1, 0.6, 0.32, 0.15)),
        "head": (0.081 * weight,
                 [cylinder(0.05, 0.1, (0, 0, 0.04), "joint"),
                  ball(skin, (0, 0, head - skin), "trunk", solid=True),
                  box((0.03, 0.13, 0.035), (0.095, 0, head - skin + 0.02), "sole", heavy=False)],
                 segment(0.081 * weight, head, 1, 0.55, 0.3, 0.08)),
    }
    for side, _ in SIDES:
        mass = 0.1 * weight
        links[f"{side}_thigh"] = (mass, rod(0.07, thigh, -1, side, 0.08),
                                  segment(mass, thigh, -1, 0.433, 0.323, 0.07))
        mass = 0.0465 * weight
        links[f"{side}_shank"] = (mass, rod(0.05, shank, -1, side, 0.06),
                                  segment(mass, shank, -1, 0.433, 0.302, 0.05))
        links[f"{side}_foot"] = (0.0145 * weight,
                                 [box((0.26, 0.1, 0.05), (0.06, 0, 0.025 - ankle), "sole",
                                      solid=True),
                                  ball(0.05, (0, 0, 0), "joint", heavy=False)])
    joints = {
        "torso": (0, (-1.5, 0.6, 250, 10), 5, 0),
        "neck": (torso, (-0.9, 0.9, 40, 10), 1, 0),
        "hip": (0, (-0.7, 2.1, 250, 15), 3, 0.09),
        "knee": (-thigh, (-2.4, 0.1, 250, 15), 3, 0),
        "ankle": (-shank, (-0.9, 0.6, 200, 15), 2, 0),
    }
    return biped(Robot("biped_human", HUMAN, COLOURS, 9), links, joints)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    (folder / "models").mkdir(parents=True, exist_ok=True)
    (folder / "models" / "biped9.urdf").write_text(nine(), encoding="utf-8")
    long = nine("biped9_long", LONG, 2)
    (folder / "models" / "biped9_long.urdf").write_text(long, encoding="utf-8")
    (folder / "models" / "biped_human.urdf").write_text(human(), encoding="utf-8")


if __name__ == "__main__":
    main()
