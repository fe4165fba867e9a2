#!/usr/bin/env python3
"""make_ground.py [FOLDER]: writes the ground of scenes/terrain.yaml, and scenes/bowl.yaml with its
mesh, into scenes/."""
import math
import pathlib
import sys


def terrain():
    """Heights in mm: bumps in the middle, where a robot stands; hills and a rim around it."""
    width, depth, columns, rows = 4, 3, 81, 61

    def height(x, y):
        bumps = (4 * math.sin(9 * x + 1) * math.sin(8 * y) +
                 2 * math.sin(21 * x) * math.cos(17 * y + 0.5))
        outside = 1 - math.exp(-((x * x + y * y) / 0.9) ** 2)
        hills = 60 * math.sin(2.3 * x + 0.4) * math.cos(2.1 * y - 0.3) + 60
        rim = max(0, abs(x) - 1.5) ** 2 + max(0, abs(y) - 1.1) ** 2
        return round(bumps + outside * (hills + 1500 * rim))

    text = ("# heights in mm, 81 x 61 over 4 m x 3 m: "
            "bumps of some millimetres in the middle, hills around\n")
    for row in range(rows):
        y = depth * (0.5 - row / (rows - 1))
        text += " ".join(str(height(width * (i / (columns - 1) - 0.5), y)) for i in range(columns))
        text += "\n"
    return text


def bowl_mesh():
    """The lower part of a ball from inside, quadrilaterals around its axis."""
    radius, deep, around, up = 1, 0.8, 32, 10
    last = math.acos(1 - deep / radius)
    text = ("# the inside of a bowl: part of a ball of radius 1 m, 0.8 m deep; faces look inward\n"
            "v 0 0 0\n")
    for j in range(1, up + 1):
        angle = last * j / up
        for i in range(around):
            turn = 2 * math.pi * i / around
            point = (radius * math.sin(angle) * math.cos(turn),
                     radius * math.sin(angle) * math.sin(turn), radius * (1 - math.cos(angle)))
            # adding zero turns -0 into 0
            text += "v %s %s %s\n" % tuple(format(round(x, 6) + 0.0, ".6g") for x in point)

    def vertex(j, i):
        return 2 + j * around + i % around

    for i in range(around):
        text += f"f 1 {vertex(0, i)} {vertex(0, i + 1)}\n"
    for j in range(1, up):
        for i in range(around):
            text += (f"f {vertex(j - 1, i)} {vertex(j, i)} {vertex(j, i + 1)} "
                     f"{vertex(j - 1, i + 1)}\n")
    return text


def bowl():
    shapes = ("sphere: 0.07", "capsule: [0.06, 0.12]", "cylinder: [0.07, 0.12]",
              "box: [0.2, 0.15, 0.1]")
    text = """\
# Things of all kinds fall into a bowl, a mesh of triangles that stands still.
name: things in a bowl
timestep: 1e-3
duration: 6
materials:
  clay: {friction: 0.5}
bodies:
  - {name: bowl, fixed: true, shape: {mesh: bowl.obj}, material: clay}
"""
    for i in range(18):
        x = 0.28 * (i % 3 - 1) + 0.005 * (i * 7 % 5 - 2)
        y = 0.28 * (i // 3 % 3 - 1) + 0.005 * (i * 3 % 5 - 2)
        text += (f"  - {{name: thing{i}, density: 500, shape: {{{shapes[i % 4]}}}, "
                 f"xyz: [{x:.3f}, {y:.3f}, {0.4 + 0.27 * (i // 9):.2f}], "
                 f"rpy: [{0.3 * (i % 5):.1f}, {0.2 * (i % 7):.1f}, 0], material: clay}}\n")
    return text


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "scenes"
    for name, make in (("terrain.txt", terrain), ("bowl.obj", bowl_mesh), ("bowl.yaml", bowl)):
        (folder / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
