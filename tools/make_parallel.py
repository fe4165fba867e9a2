#!/usr/bin/env python3
"""make_parallel.py [FOLDER]: humanoid36 with ankles moved by rods, and how it steps in place.

Writes models/humanoid36_parallel.urdf, from models/humanoid36.urdf, the file with its loops beside
it, scenes/parallel_ankles.yaml and the table of joint angles that it plays.

Each ankle keeps its pitch and roll joints but loses their motors.  Two motors on the shank turn
cranks about y; from the tip of each crank a rod leads down to the ankle plate:

      knee o            cranks point backwards, to -x
           |
    C o----o A          A  axis of the crank, CRANK long, to its tip C
      |    |
      |rod |            C  universal joint: the rod pitches and rolls in the crank's tip
      |    |
    P o----o ankle      P  ball, which closes the loop: a point of the plate

Both cranks together pitch the foot, against each other they roll it.
"""
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True

from make_humanoids import LARGE_MOTOR, motors

ROOT = pathlib.Path(__file__).resolve().parent.parent

# of the left leg; m
THIGH = SHANK = 0.3
HIP_Y, KNEE_Y = 0.06, 0.035
SOLE = 0.105  # below the ankle
CRANK_Z, CRANK = -0.08, 0.06
SIDE = 0.055  # of cranks and rods from the middle of the shank
PLATE = (-0.06, -0.03)  # x and z of P in the plate
ROD = SHANK + CRANK_Z - PLATE[1]

SIDES = (("l", 1), ("r", -1))
RODS = (("outer", 1), ("inner", -1))


def turn_x(a, v):
    c, s = math.cos(a), math.sin(a)
    return (v[0], c * v[1] - s * v[2], s * v[1] + c * v[2])


def turn_y(a, v):
    c, s = math.cos(a), math.sin(a)
    return (c * v[0] + s * v[2], v[1], -s * v[0] + c * v[2])


def number(value):
    text = format(round(value, 6), ".6f").rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def inertia(mass, at, moments):
    xx, yy, zz = (format(m, ".5g") for m in moments)
    return f"""\
    <inertial>
      <origin xyz="{at}"/>
      <mass value="{mass}"/>
      <inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>
    </inertial>
"""


def visual(origin, shape, colour):
    return f"""\
    <visual>
      <origin {origin}/>
      <geometry>{shape}</geometry>
      <material name="{colour}"/>
    </visual>
"""


def joint(name, parent, child, origin, axis, rest):
    return f"""
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/>
    <child link="{child}"/>
    <origin xyz="{origin}"/>
    <axis xyz="{axis}"/>
    {rest}
  </joint>
"""


PASSIVE = """<limit lower="-1.5" upper="1.5" effort="500" velocity="20"/>
    <dynamics damping="0.01" friction="0"/>"""


def box_moments(mass, x, y, z):
    return [mass * s / 12 for s in (y * y + z * z, x * x + z * z, x * x + y * y)]


def chain(leg, rod, y):
    """Crank, cross and rod of one side of an ankle."""
    name = f"{leg}_{rod}"
    across = ROD * ROD / 12 + 0.008 ** 2 / 4
    text = f'\n  <link name="{name}_crank">\n'
    text += inertia(0.3, f"{number(-CRANK / 2)} 0 0", box_moments(0.3, 0.09, 0.02, 0.045))
    text += visual('xyz="0 0 0" rpy="1.5707963 0 0"', '<cylinder radius="0.03" length="0.02"/>',
                   "grey")
    text += visual(f'xyz="{number(-CRANK / 2)} 0 0"',
                   f'<box size="{number(CRANK + 0.02)} 0.012 0.02"/>', "blue")
    text += "  </link>\n"
    text += joint(f"{name}_crank", f"{leg}_shank", f"{name}_crank", f"0 {number(y)} {CRANK_Z}",
                  "0 1 0", '<limit lower="-1.2" upper="1" effort="110" velocity="6"/>\n'
                  '    <dynamics damping="0.5" friction="0.5"/>')
    text += f'\n  <link name="{name}_cross">\n'
    text += inertia(0.05, "0 0 0", [5e-6] * 3)
    text += visual('xyz="0 0 0"', '<sphere radius="0.012"/>', "grey")
    text += "  </link>\n"
    text += joint(f"{name}_rod_pitch", f"{name}_crank", f"{name}_cross", f"{number(-CRANK)} 0 0",
                  "0 1 0", PASSIVE)
    text += f'\n  <link name="{name}_rod">\n'
    text += inertia(0.15, f"0 0 {number(-ROD / 2)}", [0.15 * across, 0.15 * across, 4.8e-6])
    text += visual(f'xyz="0 0 {number(-ROD / 2)}"',
                   f'<cylinder radius="0.008" length="{number(ROD)}"/>', "grey")
    text += visual(f'xyz="0 0 {number(-ROD)}"', '<sphere radius="0.012"/>', "grey")
    text += "  </link>\n"
    text += joint(f"{name}_rod_roll", f"{name}_cross", f"{name}_rod", "0 0 0", "1 0 0", PASSIVE)
    return text


HEAD = """\
<!--
  humanoid36_parallel: humanoid36 with ankles that are moved by rods; written by
  tools/make_parallel.py from humanoid36.urdf, where all about the rest of the robot stands.

  Pitch and roll joints of the ankles have no motors here.  Two cranks on each shank have; a rod leads
  from each to the ankle plate.  The plate's end of each rod closes a loop, which URDF cannot say: that
  and the springs of the bushes stand in humanoid36_parallel.tabi.yaml.

  12 joints more than humanoid36: per leg two cranks, and two that let each rod swing at its crank.
-->
"""


def model(text):
    text = re.sub(r"<!--.*?-->\n", lambda _: HEAD, text, count=1, flags=re.DOTALL)
    text = text.replace('<robot name="humanoid36">', '<robot name="humanoid36_parallel">')
    for leg, sign in SIDES:
        for name in ("ankle_pitch", "ankle_roll"):
            start = text.index(f'<joint name="{leg}_{name}"')
            end = text.index("</joint>", start)
            own = re.sub("<dynamics[^>]*>", '<dynamics damping="0.05" friction="0"/>',
                         text[start:end])
            text = text[:start] + own + text[end:]
        # the last of the two is the ankle's roll
        end = text.index("</joint>", start) + len("</joint>\n")
        added = "".join(chain(leg, rod, sign * side * SIDE) for rod, side in RODS)
        text = text[:end] + added + text[end:]
    return text


def sidecar(plain):
    text = """\
# What humanoid36_parallel.urdf cannot say; written by tools/make_parallel.py.
joints:
"""
    for leg, _ in SIDES:
        text += f"  {leg}_bush_z: {{stiffness: 1e6}}\n"
        text += f"  {leg}_bush_pitch: {{stiffness: 2.5e3}}\n"
        text += f"  {leg}_bush_roll: {{stiffness: 2.5e3}}\n"
        for rod, _ in RODS:
            text += f"  {leg}_{rod}_crank: {{rotor_inertia: 2e-5, gear: 50}}\n"
    for name in motors(plain):
        if "ankle" not in name:
            text += f"  {name}: {{rotor_inertia: {LARGE_MOTOR[0]}, gear: {LARGE_MOTOR[1]}}}\n"
    text += "connections:\n"
    for leg, _ in SIDES:
        for rod, _ in RODS:
            name = f"{leg}_{rod}_rod"
            text += (f"  - {{type: ball, name: {name}, a: {name}, b: {leg}_ankle_plate, "
                     f"at: [0, 0, {number(-ROD)}]}}\n")
    return text


def leg_angles(sign, foot):
    """Hip roll and pitch, knee, ankle pitch and roll; foot: the ankle seen from the hip joint."""
    x, y, z = foot
    side = math.hypot(y, z)
    roll = math.atan2(y, -z) - math.asin(sign * KNEE_Y / side)
    down = math.sqrt(side * side - KNEE_Y * KNEE_Y)
    knee = 2 * math.acos(math.hypot(x, down) / (THIGH + SHANK))
    pitch = -math.atan2(x, down) - knee / 2
    return roll, pitch, knee, -(pitch + knee), -roll


def rod_angles(y, pitch, roll):
    """Crank, pitch and roll of its rod."""
    p = turn_y(pitch, turn_x(roll, (PLATE[0], y, PLATE[1])))
    d = (p[0], p[1] - y, p[2] - SHANK - CRANK_Z)  # from the crank's axis
    k = (ROD ** 2 - sum(c * c for c in d) - CRANK ** 2) / (2 * CRANK)
    crank = -math.atan2(d[2], d[0]) - math.acos(k / math.hypot(d[0], d[2]))
    # of both solutions the one with the crank to the back
    if math.cos(crank) < 0:
        crank = -math.atan2(d[2], d[0]) + math.acos(k / math.hypot(d[0], d[2]))
    crank = math.remainder(crank, 2 * math.pi)
    tip = turn_y(crank, (-CRANK, 0, 0))
    v = turn_y(-crank, tuple(a - b for a, b in zip(d, tip)))
    return crank, math.atan2(-v[0], -v[2]), math.asin(v[1] / ROD)


def posture(pelvis, feet):
    """All joints of the legs; pelvis: (x, y, z) of its origin, feet: heights of both soles."""
    q = {}
    for (leg, sign), foot_z in zip(SIDES, feet):
        ankle = (-pelvis[0], sign * KNEE_Y - pelvis[1], foot_z + SOLE - pelvis[2])
        roll, pitch, knee, ankle_pitch, ankle_roll = leg_angles(sign, ankle)
        q.update({f"{leg}_hip_roll": roll, f"{leg}_hip_pitch": pitch, f"{leg}_knee": knee,
                  f"{leg}_ankle_pitch": ankle_pitch, f"{leg}_ankle_roll": ankle_roll})
        for rod, side in RODS:
            angles = rod_angles(sign * side * SIDE, ankle_pitch, ankle_roll)
            for joint_name, angle in zip(("crank", "rod_pitch", "rod_roll"), angles):
                q[f"{leg}_{rod}_{joint_name}"] = angle
    return q


HEIGHT = 0.65  # of the pelvis
STAND = 5.0  # s, before anything moves
REST = 0.8  # s, before the weight moves and after it is back: the body leans ahead of it
SHIFT, LIFT = 0.9, 0.9  # s, on both feet and on one
AWAY, HIGH = 0.095, 0.03  # m, of the pressure to the side and of the foot
STEPS = 4
END = STAND + 2 * REST + STEPS * (SHIFT + LIFT) + SHIFT
RATE = 50  # rows per second while it moves
COM_HEIGHT = 0.69
COM_SHARE = 0.8  # by which the centre of mass follows the pelvis; the feet stay


def ease(t):
    """0 to 1 with no speed or acceleration at the ends."""
    t = min(max(t, 0), 1)
    return t ** 3 * (10 - 15 * t + 6 * t * t)


def side_of(step):
    """+1 for a step on the left foot, 0 before the first and after the last."""
    return (1 if step % 2 == 0 else -1) if 0 <= step < STEPS else 0


def pressure(t):
    """Where the floor shall carry the robot, m to the left."""
    step, since = divmod(t - STAND - REST, SHIFT + LIFT)
    now, before = side_of(step), side_of(step - 1)
    return AWAY * (before + (now - before) * min(since / SHIFT, 1))


def lifted(t):
    """Height of both feet."""
    step, since = divmod(t - STAND - REST, SHIFT + LIFT)
    up = max(since - SHIFT, 0) / LIFT
    height = HIGH * (ease(2 * up) if up < 0.5 else ease(2 - 2 * up))
    return [height if side_of(step) == -1 else 0, height if side_of(step) == 1 else 0]


def sway(times):
    """The centre of mass y over a pressure p: y - y'' h / g = p, and y = 0 at both ends.

    In differences this is tridiagonal and solved by elimination."""
    k = COM_HEIGHT / 9.81 * RATE * RATE
    c, d = [0.0], [0.0]
    for t in times[1:-1]:
        pivot = 1 + 2 * k + k * c[-1]
        d.append((pressure(t) + k * d[-1]) / pivot)
        c.append(-k / pivot)
    y = [0.0] * len(times)
    for i in range(len(times) - 2, 0, -1):
        y[i] = d[i] - c[i] * y[i + 1]
    return y


def driven(name):
    return "ankle" not in name and "rod" not in name


def table():
    times = [STAND + i / RATE for i in range(round((END - STAND) * RATE) + 1)]
    names = [n for n in posture((0, 0, HEIGHT), [0, 0]) if driven(n)]
    text = "time," + ",".join(names) + "\n"
    for t, y in zip([0.0] + times, [0.0] + sway(times)):
        q = posture((0, y / COM_SHARE, HEIGHT), lifted(t))
        text += ",".join([number(t)] + [number(q[n]) for n in names]) + "\n"
    return text


def scene():
    q = posture((0, 0, HEIGHT), [0, 0])
    text = f"""\
# humanoid36 with ankles that are moved by rods stands for 5 s and then steps in place.  The ankles
# and rods have no motors: all is done by the cranks.  Written by tools/make_parallel.py.
name: parallel ankles
timestep: 1e-3
duration: {number(END + 1)}
materials:
  ground: {{friction: 0.7}}
  sole: {{friction: 0.7}}
log: {{every: 5, signals: [robot/l_foot, robot/r_foot, robot/l_outer_crank, robot/r_outer_crank]}}
bodies:
  - {{name: floor, fixed: true, shape: {{plane: {{}}}}, material: ground}}
robots:
  - name: robot
    model: ../models/humanoid36_parallel.urdf
    self_collision: false
    base: free
    xyz: [0, 0, {number(HEIGHT)}]
    posture:
"""
    for name, value in q.items():
        text += f"      {name}: {format(value + 0.0, '.12g')}\n"
    text += """\
    materials: {l_foot: sole, r_foot: sole}
    controller:
      type: csv
      file: parallel_ankles.csv
      kp: 15000
      kd: 300
      implicit: true
      joints:
"""
    passive = [n for n in q if not driven(n)]
    passive += [f"{leg}_bush_{n}" for leg, _ in SIDES for n in ("z", "pitch", "roll")]
    for name in passive:
        text += f"        {name}: {{kp: 0, kd: 0}}\n"
    return text


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    (folder / "models").mkdir(exist_ok=True)
    (folder / "scenes").mkdir(exist_ok=True)
    plain = (ROOT / "models" / "humanoid36.urdf").read_text(encoding="utf-8")
    for name, text in (("models/humanoid36_parallel.urdf", model(plain)),
                       ("models/humanoid36_parallel.tabi.yaml", sidecar(plain)),
                       ("scenes/parallel_ankles.csv", table()),
                       ("scenes/parallel_ankles.yaml", scene())):
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
