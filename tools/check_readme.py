#!/usr/bin/env python3
"""check_readme.py PROGRAM: the first program in README.md is examples/01_load.c word for word, and
what PROGRAM, made from it, prints is what the README says it prints."""
import difflib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def blocks(text):
    """The fenced blocks of a Markdown text, as (language, content)."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)


def same(expected, found, names):
    diff = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), *names, lineterm=""))
    print("\n".join(diff))
    return not diff


def main():
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    programs = [i for i, (language, _) in enumerate(found) if language == "c"]
    if not programs:
        print("README.md: error: no C program in it", file=sys.stderr)
        return 1
    program, output = found[programs[0]][1], found[programs[0] + 1][1]
    example = (ROOT / "examples" / "01_load.c").read_text(encoding="utf-8")
    printed = subprocess.run([sys.argv[1]], cwd=ROOT, check=True, capture_output=True, text=True)
    good = same(example, program, ("examples/01_load.c", "README.md"))
    good &= same(printed.stdout, output, ("what it prints", "README.md"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
