#!/usr/bin/env python3
"""film.py: writes docs/figures/push.webp, a humanoid that walks, is pushed and steps to keep its balance.

  NODE_PATH=build/dev/node/node_modules build/venv/bin/python tools/film.py [--tabi build/release/tabi]

Needs Node, Chromium and Pillow.  The pictures are those of the viewer; only the words and the arrow of the push are
drawn here.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILM = ROOT / "docs" / "figures" / "push.webp"
IMPULSE, DEGREES, TIME = 29, 90, 2.4  # N s, to the left, s
SHOWN = 0.2  # s, in which the arrow is seen: twice as long as the push
FROM, TO, RATE, SLOWNESS = 1.6, 4.4, 20, 1.6
WIDTH, QUALITY = 480, 70
PART, ACROSS = 0.66, 0.43  # shown of the picture's width and height; where its middle is
INK, RED = (33, 37, 41), (200, 30, 60)


def frames(tabi, folder):
    """What film_frames.cjs says of its pictures of the walk."""
    replay = folder / "walk.html"
    push = f"{IMPULSE},{DEGREES},{TIME}"
    subprocess.run([tabi, "walk", ROOT / "models" / "humanoid36.urdf", "--speed", "0.3", "--steps", "12", "--push", push,
                    "--html", replay, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["node", ROOT / "tools" / "film_frames.cjs", replay, folder, str(FROM), str(TO), str(RATE)], check=True)
    return json.loads((folder / "frames.json").read_text())


def arrow(draw, start, end, width, colour):
    (x, y), (u, v) = start, (end[0] - start[0], end[1] - start[1])
    draw.line([start, (x + 0.7 * u, y + 0.7 * v)], fill=colour, width=width)
    head = [(x + 0.62 * u - 0.18 * v, y + 0.62 * v + 0.18 * u), end, (x + 0.62 * u + 0.18 * v, y + 0.62 * v - 0.18 * u)]
    draw.polygon(head, fill=colour)


def drawn(folder, frame, font):
    """A picture with its words, and the arrow that pushes at the right shoulder towards the left one."""
    image = Image.open(folder / frame["name"]).convert("RGB")
    draw = ImageDraw.Draw(image)
    if TIME <= frame["time"] < TIME + SHOWN:
        left, right = frame["shoulders"]
        ahead = (left[0] - right[0], left[1] - right[1])
        end = (right[0] - 0.25 * ahead[0], right[1] - 0.25 * ahead[1])
        start = (end[0] - 0.8 * ahead[0], end[1] - 0.8 * ahead[1])
        arrow(draw, start, end, 14, RED)
        above = ((start[0] + end[0]) / 2, start[1] - 36)
        draw.text(above, f"{IMPULSE} N s", font=font, fill=RED, anchor="mb")
    wide, high = image.width * PART / 2, image.height * PART / 2
    middle = (ACROSS * image.width, image.height / 2)
    image = image.crop((middle[0] - wide, middle[1] - high, middle[0] + wide, middle[1] + high))
    ImageDraw.Draw(image).text((20, 14), f"{frame['time']:.2f} s", font=font, fill=INK)
    return image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.LANCZOS)


def write_film(images):
    images[0].save(FILM, save_all=True, append_images=images[1:], duration=round(1000 * SLOWNESS / RATE), loop=0,
                   quality=QUALITY, method=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tabi", default=str(ROOT / "build" / "release" / "tabi"))
    args = parser.parse_args()
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 30)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_film([drawn(folder, frame, font) for frame in frames(args.tabi, folder)])
    print(f"{FILM.relative_to(ROOT)}: {FILM.stat().st_size} bytes")


if __name__ == "__main__":
    main()
