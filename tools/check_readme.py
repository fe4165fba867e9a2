#!/usr/bin/env python3
"""check_readme.py FOLDER: the first program in README.md is the example that its first line names, word
for word, and what that example, built in FOLDER, prints is what the README says it prints.  A program
in FOLDER will do, too."""
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


def fail(message):
    print(f"README.md: error: {message}", file=sys.stderr)
    return 1


def main():
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    programs = [i for i, (language, _) in enumerate(found) if language == "c"]
    if not programs or programs[0] + 1 == len(found):
        return fail("no C program in it with its output after it")
    program, output = found[programs[0]][1], found[programs[0] + 1][1]
    named = re.match(r"/\* (\w+)\.c ", program)
    if not named or not (ROOT / "examples" / f"{named.group(1)}.c").exists():
        return fail("the first line of the program names no file of examples/, as '/* 03_stand.c - ...' does")
    example = f"examples/{named.group(1)}.c"
    folder = pathlib.Path(sys.argv[1])
    built = (folder if folder.is_dir() else folder.parent) / f"example_{named.group(1)}"
    printed = subprocess.run([built.resolve()], cwd=ROOT, check=True, capture_output=True, text=True)
    good = same((ROOT / example).read_text(encoding="utf-8"), program, (example, "README.md"))
    good &= same(printed.stdout, output, ("what it prints", "README.md"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
