#!/usr/bin/env python3
"""benchmarks_chart.py JSON SVG - time per step and penetration of other engines.

One line for each scene.  To the left the time of each engine over tabi's, to the right the penetration at
the end, both on logarithmic axes; an engine has its colour and mark, hollow with settings that are
not its default ones.
"""

import math
import sys

from benchmarks import ERRORS, load, scenes

ENGINES = {"tabi": ("#d55e00", "circle"), "mujoco": ("#0072b2", "square"),
           "bullet": ("#e69f00", "triangle"), "ode": ("#009e73", "diamond"),
           "dart": ("#a05195", "cross")}
WIDTH, TOP, ROW, GAP = 960, 92, 19, 8
# of the panels: left, right, smallest and largest value
TIME, DEPTH = (130, 560, 0.01, 1000), (610, 930, 1e-10, 1e-2)


def place(panel, value):
    left, right, low, high = panel
    part = math.log(min(max(value, low), high) / low) / math.log(high / low)
    return left + part * (right - left)


def mark(engine, x, y, hollow):
    colour, form = ENGINES[engine]
    style = f'fill="{"white" if hollow else colour}" stroke="{colour}" stroke-width="1.6"'
    if form == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {style}/>'
    points = {"square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
              "triangle": [(0, -5), (5, 4), (-5, 4)],
              "diamond": [(0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)],
              "cross": [(-5, -3), (-3, -5), (0, -2), (3, -5), (5, -3), (2, 0), (5, 3), (3, 5),
                        (0, 2), (-3, 5), (-5, 3), (-2, 0)]}[form]
    corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)
    return f'<polygon points="{corners}" {style}/>'


def text(x, y, words, anchor="start", size=12, extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
            f'{extra}>{words}</text>')


def power_of_ten(value):
    exponent = round(math.log10(value))
    if -1 <= exponent <= 3:
        return f"{value:g}"
    return f'10<tspan dy="-5" font-size="9">{exponent}</tspan>'


def axis(panel, top, bottom, every):
    _, _, low, high = panel
    out, value = [], low
    while value <= high * 1.01:
        x = place(panel, value)
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#dddddd"/>')
        out.append(text(x, bottom + 16, power_of_ten(value), "middle", 11))
        value *= 10 ** every
    return out


def lines_of(found):
    """Scenes that several engines were measured in, each with its y; a gap between kinds."""
    lines, y, last = [], TOP + 14, None
    for scene, engines in found.items():
        timed = [name for name in engines if "us" in engines[name]]
        if scene in ERRORS or len(timed) < 2:
            continue
        kind = scene.rstrip("0123456789").split("-")[0]
        if last and kind != last:
            y += GAP
        lines.append((scene, engines, y))
        y, last = y + ROW, kind
    return lines, y


def draw_scene(scene, engines, y):
    out = [text(TIME[0] - 12, y + 4, scene, "end")]
    first = next(row["us"] for row in engines.values() if "us" in row)
    # tabi last, so that nothing lies on it
    for name, row in sorted(engines.items(), key=lambda item: item[0].startswith("tabi")):
        engine = name.split("-")[0]
        hollow = "-" in name and not name.endswith("-rk4")
        if "us" in row:
            out.append(mark(engine, place(TIME, row["us"] / first), y, hollow))
        if row.get("penetration", 0) > 0:
            out.append(mark(engine, place(DEPTH, row["penetration"]), y, hollow))
    return out


def legend():
    out, x = [], TIME[0]
    for engine in ENGINES:
        out += [mark(engine, x, 52, False), text(x + 10, 56, engine)]
        x += 82
    out += ['<circle cx="610" cy="52" r="4.5" fill="white" stroke="#777777" stroke-width="1.6"/>',
            text(620, 56, "hollow: finer settings")]
    return out


def chart(source, target):
    lines, end = lines_of(scenes(load(source)))
    bottom = end - 4
    one = place(TIME, 1)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 44}" '
           f'viewBox="0 0 {WIDTH} {bottom + 44}" font-family="sans-serif" fill="#222222">',
           f'<rect width="{WIDTH}" height="{bottom + 44}" fill="white"/>',
           f'<rect x="{TIME[0]}" y="{TOP}" width="{one - TIME[0]:.1f}" height="{bottom - TOP}" '
           'fill="#fbeae0"/>',
           text(16, 28, "Time per step relative to tabi, and penetration", size=16,
                extra=' font-weight="bold"'),
           text((TIME[0] + one) / 2, TOP - 8, "tabi is slower", "middle", 11),
           text((one + TIME[1]) / 2, TOP - 8, "time over tabi's: tabi is faster", "middle", 11),
           text((DEPTH[0] + DEPTH[1]) / 2, TOP - 8, "penetration, m: left is better", "middle", 11)]
    out += axis(TIME, TOP, bottom, 1) + axis(DEPTH, TOP, bottom, 2) + legend()
    out.append(f'<line x1="{one:.1f}" y1="{TOP}" x2="{one:.1f}" y2="{bottom}" '
               'stroke="#d55e00" stroke-width="1.5"/>')
    for line in lines:
        out += draw_scene(*line)
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    chart(*sys.argv[1:])
