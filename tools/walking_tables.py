#!/usr/bin/env python3
"""walking_tables.py: tables of docs/balance.md, measured by `tabi walk`.

  tools/walking_tables.py walk ROBOT... [--contact cone,lcp,..]       ten steps under every method
  tools/walking_tables.py push ROBOT... [--size 0.3,0.4] [--stride M] [--directions 16] [--random N]

A push is an impulse of so many N s per kg within 0.1 s, in 16 directions at 4 moments of two steps, and as many in
random directions at random moments as asked.  A robot survives if it has not fallen at the end.
"""
import argparse
import json
import os
import random
import subprocess
import sys
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


def push_row(args, robot, size, pool):
    r, why = walk(args.tabi, robot, "--steps", 0)
    if r is None:
        print(f"| {name_of(robot)} | {why} |")
        return
    options = ["--steps", args.steps, "--stride", args.stride]
    if not args.known:
        options.append("--stabilise")

    def survives(moment):
        degrees, time = moment
        push = f"{size * r['mass']:.6g},{degrees:.6g},{time:.6g}"
        result, _ = walk(args.tabi, robot, *options, "--push", push)
        return result is not None and not result["fell"]

    pushes = list(moments(args, r["step_time"]))
    lived = list(pool.map(survives, pushes))
    print(f"| {name_of(robot)} | {size:g} | {sum(lived)} of {len(lived)} |", flush=True)
    if args.verbose:
        for phase in range(args.phases):
            row = lived[phase * args.directions:(phase + 1) * args.directions]
            print("    " + "".join("." if x else "x" for x in row))


def push_table(args):
    print("| robot | N s per kg | survived |")
    print("|---|---|---|")
    with ThreadPoolExecutor(args.jobs) as pool:
        for robot in args.robots:
            for size in args.size.split(","):
                push_row(args, robot, float(size), pool)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=["walk", "push"])
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
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.table == "walk":
        walk_table(args)
    else:
        push_table(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
