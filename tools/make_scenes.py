#!/usr/bin/env python3
"""make_scenes.py [FOLDER]: writes the scenes that consist of many like bodies, into scenes/.

Random numbers come from Python's Mersenne twister with the seed that each scene names, so the
files come out the same everywhere.
"""
import pathlib
import random
import sys

FLOOR = "  - {name: floor, fixed: true, shape: {plane: {}}, material: %s}\n"


def number(value):
    return format(round(value, 9), ".9g")


def vector(values):
    return "[" + ", ".join(number(v) for v in values) + "]"


def stack():
    text = """\
# Ten boxes on top of each other.  They stay.
name: stack of ten boxes
duration: 5
materials:
  wood: {friction: 0.5}
bodies:
"""
    text += FLOOR % "wood"
    for i in range(10):
        text += (f"  - {{name: box{i}, mass: 1, shape: {{box: [0.2, 0.2, 0.2]}}, "
                 f"xyz: {vector((0, 0, 0.1 + 0.2 * i))}, material: wood}}\n")
    return text


def pile():
    rng = random.Random(7)
    text = """\
# Twenty boxes, each turned at random (seed 7), fall on a heap.
name: pile of twenty boxes
duration: 5
materials:
  wood: {friction: 0.6}
bodies:
"""
    text += FLOOR % "wood"
    for i in range(20):
        place = (rng.uniform(-0.15, 0.15), rng.uniform(-0.15, 0.15), 0.25 + 0.25 * i)
        turn = [rng.uniform(-3, 3) for _ in range(3)]
        text += (f"  - {{name: box{i}, density: 500, shape: {{box: [0.2, 0.16, 0.12]}}, "
                 f"xyz: {vector(place)}, rpy: {vector(turn)}, material: wood}}\n")
    return text


def bouncing():
    text = """\
# SimBenchmark's elastic balls: 7 x 7 of them fall 4.9 m and bounce for ever, 10 times in 20 s.
# The mean of (E - E0)^2 is the error.  The positions of a ball in flight are right only with
# `midpoint`; semi-implicit steps give 185 J^2 at 1 ms.
name: bouncing balls
timestep: 1e-3
duration: 20
integrator: midpoint
materials:
  rubber: {friction: 0, restitution: 1}
log: {every: 10}
bodies:
"""
    text += FLOOR % "rubber"
    for i in range(7):
        for j in range(7):
            text += (f"  - {{name: ball{i}{j}, mass: 10, shape: {{sphere: 0.1}}, "
                     f"xyz: {vector((2 * i - 6, 2 * j - 6, 5))}, material: rubber}}\n")
    return text


def rolling():
    depth = 2e-5
    text = """\
# SimBenchmark's friction cone: a slab is drawn over the floor by 150 N, 60 degrees from x, and
# 25 balls roll on it.  After 4 s the slab moves at 2.954 m/s and every ball at 0.844 m/s, along
# the force; a friction pyramid gets stuck.
name: rolling balls
timestep: 1e-3
duration: 4
contact: {model: cone, correction: 0} # they overlap a little and are not pushed apart
materials:
  ground: {friction: 0.4}
  steel: {friction: 0.4}
  rubber: {friction: 0.8}
pairs:
  - [ground, steel, {friction: 0.4}]
  - [steel, rubber, {friction: 0.8}]
forces:
  - {body: slab, force: [75, 129.9038105676658, 0]}
bodies:
"""
    text += FLOOR % "ground"
    text += (f"  - {{name: slab, mass: 10, shape: {{box: [20, 20, 1]}}, "
             f"xyz: {vector((0, 0, 0.5 - depth))}, material: steel}}\n")
    for i in range(5):
        for j in range(5):
            text += (f"  - {{name: ball{i}{j}, mass: 1, shape: {{sphere: 0.5}}, "
                     f"xyz: {vector((2 * i - 4, 2 * j - 4, 1.5 - 3 * depth))}, "
                     f"material: rubber}}\n")
    return text


def balls666():
    rng = random.Random(42)
    text = """\
# SimBenchmark's 666 balls: 6 x 6 x 6 smooth balls, a little out of line (seed 42), fall apart.
# The mean over time of the sum of squared overlaps is the error.
name: 6 x 6 x 6 balls
timestep: 1e-3
duration: 10
materials:
  smooth: {friction: 0}
log: {every: 10}
bodies:
"""
    text += FLOOR % "smooth"
    for i in range(6):
        for j in range(6):
            for k in range(6):
                grid = (0.21 * i - 0.525, 0.21 * j - 0.525, 0.101 + 0.21 * k)
                place = [g + 1e-3 * rng.random() for g in grid]
                text += (f"  - {{name: ball{i}{j}{k}, mass: 10, shape: {{sphere: 0.1}}, "
                         f"xyz: {vector(place)}, material: smooth}}\n")
    return text


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "scenes"
    for make in (stack, pile, bouncing, rolling, balls666):
        (folder / f"{make.__name__}.yaml").write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
