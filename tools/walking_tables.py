#!/usr/bin/env python3
"""walking_tables.py: tables of docs/balance.md, measured by `tabi walk`.

  tools/walking_tables.py walk ROBOT... [--contact cone,lcp,..]       ten steps under every method
  tools/walking_tables.py push ROBOT... [--size 0.3,0.4] [--stride M] [--directions 16] [--random N]
  tools/walking_tables.py stand ROBOT... [--directions 16] [--svg F]  the largest push without a step

A push is an impulse of so many N s per kg within 0.1 s, in 16 directions at 4 moments of two steps, and as many in
random directions at random moments as asked.  A robot survives if it is up ten step times later.

Standing, the capture point of a push of J N s per kg is J / omega from the CoM, and the feet hold it while it is over
them: J <= omega d, d being the way to the edge of the rectangle around both soles, omega = sqrt(g / z).
"""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

METHODS = "cone,lcp,exact,impulse,penalty"


def walk(tabi, robot, *options):
    """The JSON of one walk, or None with the reason."""
    run = subprocess.run([tabi, "walk", robot, "--quiet", "--json", *map(str, options)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode in (0, 5):
        return json.loads(run.stdout), ""
    return None, run.stderr.decode().strip().splitlines()[-1:]


def name_of(robot):
    return os.path.join(os.path.basename(os.path.dirname(robot)), os.path.basename(robot))


def walk_table(args):
    print("| robot | method | steps | distance | torque peak | asked beyond | slip | ZMP error | real time |")
    print("|---|---|---|---|---|---|---|---|---|")
    for robot in args.robots:
        for method in args.contact.split(","):
            r, why = walk(args.tabi, robot, "--contact", method, *args.option)
            if r is None:
                print(f"| {name_of(robot)} | {method} | {why} |")
                continue
            peak = r["torque_peak"]
            limit = f" of {peak['limit']:.0f}" if peak["limit"] else ""
            fell = ", fell" if r["fell"] else ("" if r["limits_kept"] else ", velocity limit broken")
            print(f"| {name_of(robot)} | {method} | {r['steps_done']} of {r['steps_planned']}{fell} "
                  f"| {r['distance']:.2f} m | {peak['value']:.0f}{limit} N m, {peak['joint']} "
                  f"| {100 * r['saturated']:.1f} % | {1e3 * r['slip_max']:.1f} mm "
                  f"| {1e3 * r['zmp_error_max']:.0f} mm | {r['realtime_factor']:.0f} |", flush=True)


def moments(args, step_time):
    """(degrees, s) of all pushes."""
    start = 0.5 + 4 * step_time
    for phase in range(args.phases):
        for k in range(args.directions):
            yield 360 * k / args.directions, start + 2 * step_time * (phase + 0.5) / args.phases
    generator = random.Random(args.seed)
    for _ in range(args.random):
        yield generator.uniform(0, 360), start + 2 * step_time * generator.random()


def push_row(args, robot, size):
    """The row of a robot and a size, and a line for each moment of what it survived."""
    r, why = walk(args.tabi, robot, "--steps", 0)
    if r is None:
        return f"| {name_of(robot)} | {why} |"
    options = ["--steps", args.steps, "--stride", args.stride]
    if not args.known:
        options.append("--stabilise")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for degrees, time in moments(args, r["step_time"]):
            file.write(f"{size * r['mass']:.6g},{degrees:.6g},{time:.6g}\n")
        file.flush()
        result, why = walk(args.tabi, robot, *options, "--pushes", file.name)
    if result is None:
        return f"| {name_of(robot)} | {why} |"
    lived = result["survived"]
    grid = args.phases * args.directions
    row = f"| {name_of(robot)} | {size:g} | {sum(lived[:grid])} of {grid} | {sum(lived[grid:])} of {args.random} |"
    lines = [lived[i:i + args.directions] for i in range(0, grid, args.directions)] if args.verbose else []
    return "\n".join([row] + ["    " + "".join(".x"[not x] for x in line) for line in lines])


def push_table(args):
    print("| robot | N s per kg | grid | random |")
    print("|---|---|---|---|")
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = [(robot, float(size)) for robot in args.robots for size in args.size.split(",")]
        for row in pool.map(lambda item: push_row(args, *item), rows):
            print(row, flush=True)


def bound(r, degrees):
    """N s per kg: omega d."""
    omega = math.sqrt(9.80665 / r["com_height"])
    sole = r["legs"][0]["sole"]
    half = (sole[0] / 2, (r["spacing"] + sole[1]) / 2)
    way = (abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees))))
    return omega * min(half[i] / way[i] for i in range(2) if way[i] > 1e-9)


def held(args, robot, r, degrees):
    """N s per kg, the largest push that is borne without a step, by halving."""
    low, high = 0, 1.5 * bound(r, degrees)
    for _ in range(8):
        size = (low + high) / 2
        options = [] if args.known else ["--stabilise"]
        push = f"{size * r['mass']:.6g},{degrees:.6g},1"
        result, _ = walk(args.tabi, robot, "--steps", 0, "--push", push, *options)
        stands = result is not None and not result["fell"] and result["steps_done"] == 0
        low, high = (size, high) if stands else (low, size)
    return low


def stand_table(args):
    print("| robot | degrees | bound, N s per kg | held | share |")
    print("|---|---|---|---|---|")
    rows = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for robot in args.robots:
            r, why = walk(args.tabi, robot, "--steps", 0)
            if r is None:
                print(f"| {name_of(robot)} | {why} |")
                continue
            angles = [360 * k / args.directions for k in range(args.directions)]
            found = list(pool.map(lambda a: held(args, robot, r, a), angles))
            rows.append((robot, r, list(zip(angles, found))))
            for degrees, size in rows[-1][2]:
                limit = bound(r, degrees)
                print(f"| {name_of(robot)} | {degrees:g} | {limit:.3f} | {size:.3f} | {size / limit:.2f} |",
                      flush=True)
    if args.svg:
        pathlib.Path(args.svg).write_text(stand_figure(rows), encoding="utf-8")


def outline(points, scale, middle):
    """SVG points; forward is up, left is left."""
    return " ".join(f"{middle[0] - scale * size * math.sin(math.radians(a)):.1f},"
                    f"{middle[1] - scale * size * math.cos(math.radians(a)):.1f}" for a, size in points)


def stand_figure(rows):
    """For each robot the bound as a line, and what was held as a filled outline; rings of 0.2 N s per kg."""
    wide, high, scale = 260, 290, 150
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide * len(rows)}" height="{high}" '
           f'font-family="sans-serif" font-size="12" fill="none">',
           f'<rect width="{wide * len(rows)}" height="{high}" fill="white"/>']
    for i, (robot, r, found) in enumerate(rows):
        middle = (wide * (i + 0.5), 130)
        for ring in (0.2, 0.4, 0.6):
            out.append(f'<circle cx="{middle[0]}" cy="{middle[1]}" r="{scale * ring}" stroke="#ccc"/>')
            out.append(f'<text x="{middle[0] + 2}" y="{middle[1] - scale * ring - 2}" fill="#888">{ring}</text>')
        edge = [(a, bound(r, a)) for a in range(0, 360, 2)]
        out.append(f'<polygon points="{outline(found, scale, middle)}" fill="#9ecae1" stroke="#2171b5"/>')
        out.append(f'<polygon points="{outline(edge, scale, middle)}" stroke="#d94801" stroke-width="1.5"/>')
        out.append(f'<text x="{middle[0]}" y="{high - 12}" text-anchor="middle" fill="black">'
                   f'{name_of(robot)}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=["walk", "push", "stand"])
    parser.add_argument("robots", nargs="+")
    parser.add_argument("--tabi", default="build/release/tabi")
    parser.add_argument("--contact", default=METHODS)
    parser.add_argument("--option", action="append", default=[], help="passed to tabi walk")
    parser.add_argument("--size", default="0.3,0.4", help="N s per kg")
    parser.add_argument("--stride", type=float, default=0, help="m; 0: in place")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--directions", type=int, default=16)
    parser.add_argument("--phases", type=int, default=4)
    parser.add_argument("--random", type=int, default=0, help="as many random pushes besides")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--known", action="store_true", help="the state is known, not measured")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--svg", help="stand: a figure")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    {"walk": walk_table, "push": push_table, "stand": stand_table}[args.table](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
