#!/usr/bin/env python3
"""check_readme.py: the C program in README.md is examples/01_load.c, word for word."""
import difflib
import pathlib
import re
import sys


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    readme = (root / "README.md").read_text(encoding="utf-8")
    example = (root / "examples" / "01_load.c").read_text(encoding="utf-8")
    snippets = re.findall(r"^```c\n(.*?)^```$", readme, flags=re.M | re.S)
    if not snippets:
        print("README.md: error: no C program in it", file=sys.stderr)
        return 1
    diff = list(difflib.unified_diff(example.splitlines(), snippets[0].splitlines(),
                                     "examples/01_load.c", "README.md", lineterm=""))
    print("\n".join(diff))
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main())
