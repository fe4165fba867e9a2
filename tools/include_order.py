#!/usr/bin/env python3
"""include_order.py: the folder lists under src/ and cli/ are the architecture.

A folder includes only itself and folders listed above it.  The command and the examples use the
public headers only; the benchmarks, which the command calls, may look inside.
"""
import pathlib
import re
import sys

ORDER = ["base", "math", "friction", "model", "dynamics", "collision", "doctor", "integrate", "problem",
         "contact", "gait", "world", "batch", "control", "io", "scene", "record", "study"]
# of the command; its commands, which stand in cli/ itself, use them all
ROOMS = ["common", "plot", "run", "compare", "export", "sweep", "try", "walk", "view"]
PUBLIC_ONLY = {"cli": ["bench", "reproduce", "viewer"], "reproduce": ["bench"],
               "viewer": [], "examples": [], "bindings": []}  # and whose headers they may use besides
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h"))


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def check_layer(root, path):
    """Complaints about a file under src/."""
    layer = path.relative_to(root / "src").parts[0]
    if layer not in ORDER:
        yield 1, f"folder '{layer}' has no place in the order; add it to tools/include_order.py"
        return
    for number, name in includes(path):
        folder = name.split("/")[0]
        if "/" not in name or name.startswith("."):
            yield number, f'"{name}": write the path from src/'
        elif folder in ORDER and ORDER.index(folder) > ORDER.index(layer):
            yield number, f'"{name}": {layer} stands above {folder} and must not include it'
        elif folder not in ORDER and folder != "tabi":
            yield number, f'"{name}": neither under src/ nor under include/'


def check_public_only(root, path):
    """Complaints about a file that may use the public headers, its neighbours and few others."""
    top = path.relative_to(root).parts[0]
    folders = [root / f for f in [top, *PUBLIC_ONLY[top]]]
    for number, name in includes(path):
        beside = (path.parent / name).exists()
        if not name.startswith("tabi/") and not beside and not any((f / name).exists() for f in folders):
            yield number, f'"{name}": only the public headers, "tabi/...", may be used here'


def check_room(root, path):
    """Complaints about a file in a room of the command."""
    room, *rest = path.relative_to(root / "cli").parts
    if not rest:
        return
    if room not in ROOMS:
        yield 1, f"folder '{room}' has no place in the order; add it to tools/include_order.py"
        return
    for number, name in includes(path):
        folder = name.split("/")[0]
        if folder in ROOMS and ROOMS.index(folder) > ROOMS.index(room):
            yield number, f'"{name}": {room} stands above {folder} and must not include it'
        elif "/" not in name and (root / "cli" / name).exists():
            yield number, f'"{name}": a room must not include what uses it'


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    complaints = 0
    checks = ((check_layer, ["src"]), (check_public_only, PUBLIC_ONLY), (check_room, ["cli"]))
    for check, folders in checks:
        for folder in folders:
            for path in sources(root / folder):
                for number, text in check(root, path):
                    print(f"{path.relative_to(root)}:{number}: error: {text}", file=sys.stderr)
                    complaints += 1
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
