#!/usr/bin/env python3
"""A Markdown table of all robots below a folder: what loads, and what tabi repairs and ignores.

    tools/robots.py FOLDER.. [--brief] [--stand] [--tabi build/release/tabi] [--package-path DIR[:DIR]]

With --brief only what is ignored with consequences is listed.  With --stand a table of `tabi try` instead: whether each robot stands, or with a fixed base holds still, under
every contact method, with the worst slip, tilt, gain of energy and share of a limit of force of all methods, and
the time of a step of the first one with and without self-collision.  A FOLDER may be the file of one robot.

Exits with 1 if a robot does not load, with --stand also if one does not stand.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOTS = re.compile(rb"<\s*(robot|mujoco|sdf)[\s>]")
LOAD_HEAD = ("file", "DOF", "mass, kg", "repairs", "ignored", "problems")
STAND_HEAD = ("file", "base, start, gains", "stands", "slip, mm", "tilt, deg", "energy gain", "torque, % of limit",
              "us a step", "without self-collision", "repairs")
SUFFIXES = (".urdf", ".xml", ".mjcf", ".sdf", ".body", ".wrl")


def is_robot(path):
    """Whether a file looks like a robot of its own, not a part or a list of something else."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        return False
    with open(path, "rb") as f:
        head = f.read(65536)
    if suffix == ".wrl":
        return b"Humanoid" in head
    return suffix == ".body" or bool(ROOTS.search(head))


def find_robots(folder):
    if os.path.isfile(folder):
        yield folder
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(place, name)
            if is_robot(path):
                yield path


def run(args, command, path, *more):
    """The JSON of a command, or None and its error."""
    words = [args.tabi, command, path, "--json", "--quiet", *more]
    if args.package_path:
        words += ["--package-path", args.package_path]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    except subprocess.TimeoutExpired:
        return None, "no result after 600 s"
    if done.returncode in (0, 5):
        return json.loads(done.stdout), None
    return None, done.stderr.decode(errors="replace").strip().splitlines()[-1]


def repairs_text(repairs):
    """"12 inertias (at most 0.26), 1 swapped": repairs of one kind together."""
    kinds = {}
    for r in repairs:
        kind = "inertia" if "nearest moments" in r["what"] else r["what"]
        count, size = kinds.get(kind, (0, 0.0))
        kinds[kind] = (count + 1, max(size, r["size"] or 0.0))
    return ", ".join(f"{count} {kind}" + (f" (at most {size:.2g})" if size > 0 else "")
                     for kind, (count, size) in sorted(kinds.items()))


def ignored_text(warnings, brief):
    """The elements and attributes that are ignored, those of consequence in bold, or only those."""
    found = {}
    for w in warnings:
        match = re.match(r"(?:attribute '([^']+)' of )?<([^>]+)> is ignored", w["message"])
        if match:
            name = f"{match[2]}@{match[1]}" if match[1] else match[2]
            found[name] = found.get(name, False) or w["severity"] == "warning"
    if brief:
        return ", ".join(name for name, of_consequence in sorted(found.items()) if of_consequence)
    return ", ".join(f"**{name}**" if of_consequence else name
                     for name, of_consequence in sorted(found.items()))


def step_times(args, scene):
    """Microseconds a step with and without self-collision, the best of three."""
    with open(scene, encoding="utf-8") as f:
        text = f.read()
    times = []
    for text in (text, text.replace("  - name: robot\n", "  - name: robot\n    self_collision: false\n")):
        with open(scene, "w", encoding="utf-8") as f:
            f.write(text)
        found = [run(args, "run", scene, "--time", "1")[0] for _ in range(3)]
        times.append(min((1e6 * r["wall_seconds"] / r["steps"] for r in found if r), default=float("nan")))
    return times


def stand_row(args, path, name):
    """The cells of a robot that was tried, and whether it stands under every method."""
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "scene.yaml")
        tried, error = run(args, "try", path, "--scene", scene)
        if tried is None:
            return [name, "", "does not load: " + error.replace("|", "\\|")] + [""] * 7, False
        with_own, without = step_times(args, scene)
    runs = tried["runs"]
    falls = [r["contact"] for r in runs if not r["stands"]]
    peaks = [abs(r["torque_peak"]["value"]) / max(r["torque_peak"]["limit"], 1e-300)
             for r in runs if r["torque_peak"]]
    worst = [max(r[key] or 0 for r in runs) for key in ("slip", "tilt_deg", "energy_gain")]
    how = f"{tried['base']}, {tried['keyframe'] or 'start'}, {tried['gains']}"
    return [name, how, "all" if not falls else "not " + ", ".join(falls), f"{1e3 * worst[0]:.2g}",
            f"{worst[1]:.2g}", f"{worst[2]:.1g}", f"{100 * max(peaks):.0f}" if peaks else "", f"{with_own:.3g}",
            f"{without:.3g}", repairs_text(tried["repairs"])], not falls


def row(args, path, name):
    """The cells of a robot, and whether it loads."""
    info, error = run(args, "info", path)
    if info is None:
        return [name, "-", "-", "does not load: " + error.replace("|", "\\|"), "", ""], False
    check, _ = run(args, "check", path)
    problems = str(check["problems"]) if check else "-"
    return [name, str(info["dof"]), f"{info['mass']:.6g}", repairs_text(info["repairs"]),
            ignored_text(info["warnings"], args.brief), problems], True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--brief", action="store_true", help="leave out what is ignored without consequences")
    parser.add_argument("--stand", action="store_true", help="try them")
    parser.add_argument("--tabi", default="tabi", help="the command; default: tabi")
    parser.add_argument("--package-path", default="", help="as of tabi")
    args = parser.parse_args()
    loaded = total = 0
    head = STAND_HEAD if args.stand else LOAD_HEAD
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for folder in args.folders:
        for path in find_robots(folder):
            name = os.path.relpath(path, folder) if os.path.isdir(folder) else path
            cells, good = (stand_row if args.stand else row)(args, path, name)
            print("| " + " | ".join(cells) + " |", flush=True)
            loaded += good
            total += 1
    print(f"\n{loaded} of {total} {'stand' if args.stand else 'load'}.")
    return 0 if loaded == total else 1


if __name__ == "__main__":
    sys.exit(main())
