#!/usr/bin/env python3
"""A Markdown table of all robots below a folder: what loads, and what tabi repairs and ignores.

    tools/robots.py FOLDER [--tabi build/release/tabi] [--package-path DIR[:DIR]]

Exits with 1 if a robot does not load.
"""

import argparse
import json
import os
import re
import subprocess
import sys

ROOTS = re.compile(rb"<\s*(robot|mujoco|sdf)[\s>]")
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
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(place, name)
            if is_robot(path):
                yield path


def run(args, command, path):
    """The JSON of a command, or None and its error."""
    words = [args.tabi, command, path, "--json", "--quiet"]
    if args.package_path:
        words += ["--package-path", args.package_path]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "no result after 120 s"
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


def ignored_text(warnings):
    """The elements and attributes that are ignored, those of consequence in bold."""
    found = {}
    for w in warnings:
        match = re.match(r"(?:attribute '([^']+)' of )?<([^>]+)> is ignored", w["message"])
        if match:
            name = f"{match[2]}@{match[1]}" if match[1] else match[2]
            found[name] = found.get(name, False) or w["severity"] == "warning"
    return ", ".join(f"**{name}**" if of_consequence else name
                     for name, of_consequence in sorted(found.items()))


def row(args, path):
    """The cells of a robot, and whether it loads."""
    name = os.path.relpath(path, args.folder)
    info, error = run(args, "info", path)
    if info is None:
        return [name, "-", "-", "does not load: " + error.replace("|", "\\|"), "", ""], False
    check, _ = run(args, "check", path)
    problems = str(check["problems"]) if check else "-"
    return [name, str(info["dof"]), f"{info['mass']:.6g}", repairs_text(info["repairs"]),
            ignored_text(info["warnings"]), problems], True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--tabi", default="tabi", help="the command; default: tabi")
    parser.add_argument("--package-path", default="", help="as of tabi")
    args = parser.parse_args()
    loaded = total = 0
    print("| file | DOF | mass, kg | repairs | ignored | problems |")
    print("|---|---|---|---|---|---|")
    for path in find_robots(args.folder):
        cells, good = row(args, path)
        print("| " + " | ".join(cells) + " |", flush=True)
        loaded += good
        total += 1
    print(f"\n{loaded} of {total} load.")
    return 0 if loaded == total else 1


if __name__ == "__main__":
    sys.exit(main())
