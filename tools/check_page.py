#!/usr/bin/env python3
"""check_page.py: the viewer's page that is committed, viewer/page/dist/index.html, is the one that
its sources give, allows itself the script that is in it, and asks nobody else for anything.

Needs no Node: the page carries the hash of the sources it was built from."""
import base64
import hashlib
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "viewer" / "page"
SOURCES = ["build.mjs", "index.html", "package-lock.json", "package.json", "src", "vite.config.mjs"]
LARGEST = 1_000_000  # bytes, so that a page with a replay stays below 5 MB
CURE = "run `npm ci && npm run build` in viewer/page and commit dist/index.html"


def sources_hash():
    """The hash of "name length\\n" and content of every source, in the order of their names."""
    paths = []
    for name in SOURCES:
        path = PAGE / name
        paths += [f for f in path.rglob("*") if f.is_file()] if path.is_dir() else [path]
    total = hashlib.sha256()
    for name, path in sorted((path.relative_to(PAGE).as_posix(), path) for path in paths):
        content = path.read_bytes()
        total.update(f"{name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def problems(page):
    """What is wrong with a page, in words."""
    built_from = re.search(r'<meta name="tabi-sources" content="(\w+)">', page)
    if not built_from or built_from[1] != sources_hash():
        yield f"it was not built from these sources; {CURE}"
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.S)
    if len(scripts) != 1:
        yield f"it has {len(scripts)} scripts instead of one; {CURE}"
    digest = base64.b64encode(hashlib.sha256("".join(scripts).encode()).digest()).decode()
    if f"script-src 'sha256-{digest}'" not in page:
        yield f"its policy does not allow its script; {CURE}"
    outside = re.search(r"""<(?:script|link|img)[^>]*(?:src|href)=["'](?!data:)[^>]*>""", page.split("<script")[0])
    if outside:
        yield f"it loads something from outside: {outside[0]}"
    if len(page.encode()) > LARGEST:
        yield f"it has {len(page.encode())} bytes; at most {LARGEST} leave room for replays"


def main():
    path = PAGE / "dist" / "index.html"
    found = list(problems(path.read_text(encoding="utf-8")))
    for problem in found:
        print(f"viewer/page/dist/index.html: error: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
