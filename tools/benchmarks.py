#!/usr/bin/env python3
"""What tools/benchmarks.sh does with the numbers of `tabi bench --json`.

  benchmarks.py keep NATIVE RELEASE JSON MACHINE COMPILER
                                                 raw numbers, small, and where they were measured
  benchmarks.py tables JSON DOCUMENT             tables between <!-- name --> and <!-- end --> anew
  benchmarks.py chart JSON                       a gnuplot script on standard output
"""

import json
import math
import re
import sys

KEPT = ["us", "us_median", "instructions", "contacts", "penetration", "error", "residual", "speed"]
ERRORS = ["slope", "rolling", "bouncing", "balls666", "momentum", "energy"]

# what is to be reached: name, scene, tabi's row, the others', how many times as fast
GOALS = [
    ("humanoid stands, 8 contacts", "stand", "tabi", ["mujoco"], 8),
    ("the same, rk4", "stand-rk4", "tabi-rk4", ["mujoco-rk4"], 10),
    ("humanoid walks", "walk", "tabi", ["mujoco"], 6),
    ("humanoid, 40 contacts", "points40", "tabi", ["mujoco"], 6),
    ("1 quadruped", "quadrupeds1", "tabi", ["mujoco", "bullet", "dart"], 1),
    ("225 quadrupeds", "quadrupeds225", "tabi", ["mujoco", "bullet", "dart"], 1),
    ("pile of 100", "pile100", "tabi", ["bullet", "ode"], 1),
    ("pile of 300", "pile300", "tabi", ["bullet", "ode"], 1),
    ("pile of 100", "pile100", "tabi", ["mujoco"], 4),
    ("pile of 300", "pile300", "tabi", ["mujoco"], 10),
    ("chain of 1000", "chain1000", "tabi", ["mujoco"], 3),
]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def shortened(row):
    kept = {key: row[key] for key in ("workload", "engine", "settings", "dof") if key in row}
    kept.update({key: float(f"{row[key]:.4g}") for key in KEPT if key in row})
    return kept


def keep(native, release, path, machine, compiler):
    data, other = load(native), load(release)
    lists = {"rows": [shortened(row) for row in data["rows"]],
             "release": [shortened(row) for row in other["rows"]],
             "growth": data["growth"]}
    text = f'{{"machine": {json.dumps(machine)},\n "compiler": {json.dumps(compiler)}'
    for name, items in lists.items():
        lines = ",\n".join("  " + json.dumps(item) for item in items)
        text += f',\n "{name}": [\n{lines}\n ]'
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "}\n")


def scenes(data, rows="rows"):
    """Rows by scene and by the name of the engine, in the order measured."""
    found = {}
    for row in data[rows]:
        workload, scene, name = row["workload"].split("/")
        if workload == "engines":
            found.setdefault(scene, {})[name] = row
    return found


def number(value, form="{:.1e}"):
    return "" if value is None else form.format(value)


def micros(value):
    if value is None:
        return ""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def lines_of(head, rows):
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]


def conditions(data):
    engines = sorted({row["engine"] for row in data["rows"] if row["engine"] != "tabi"})
    return [f"{data['machine']}; {data['compiler']}, preset `native`; "
            f"{', '.join(engines) or 'no peers'}."]


def times_as_fast(found, scene, ours, other):
    own, peer = (found.get(scene, {}).get(name, {}).get("us") for name in (ours, other))
    return peer / own if own and peer else None


def goals(data):
    found, released, rows = scenes(data), scenes(data, "release"), []
    for what, scene, ours, others, wanted in GOALS:
        for other in others:
            ratio = times_as_fast(found, scene, ours, other)
            if ratio is None:
                continue
            own, peer = found[scene][ours], found[scene][other]
            release = times_as_fast(released, scene, ours, other)
            deeper = own.get("penetration", 0) > max(peer.get("penetration", 0), 1e-12)
            reached = f"{ratio:.2g}x" + ("" if ratio >= wanted else " (missed)")
            depth = number(own.get("penetration")) + (" (deeper)" if deeper else "")
            rows.append([what, other, f"{wanted}x", reached, number(release, "{:.2g}x"), depth,
                         number(peer.get("penetration"))])
    head = ["scene", "against", "wanted", "reached", "`release`", "overlap m", "theirs m"]
    return lines_of(head, rows)


def speed(data):
    rows = []
    for scene, engines in scenes(data).items():
        if scene in ERRORS:
            continue
        first = next(iter(engines.values()))
        for name, row in engines.items():
            ratio = row["us"] / first["us"] if "us" in row and "us" in first else None
            count = row.get("instructions")
            rows.append([f"`{scene}`", name, number(row.get("contacts"), "{:.0f}"),
                         micros(row.get("us")), number(ratio, "{:.2f}"),
                         number(count and count / 1000, "{:.0f} k"),
                         number(row.get("penetration")), number(row.get("speed"))])
    head = ["scene", "engine", "contacts", "us", "ratio", "instructions", "overlap m", "speed m/s"]
    return lines_of(head, rows)


def errors(data):
    rows = [[f"`{scene}`", name, number(row.get("error")), micros(row.get("us"))]
            for scene, engines in scenes(data).items() if scene in ERRORS
            for name, row in engines.items()]
    return lines_of(["scene", "engine", "error", "us"], rows)


def exponent(one, many):
    return math.log(many["us"] / one["us"]) / math.log(225)


def growth(data):
    rows = [[f"`{item['shape']}/{item['function']}`", item["size"], f"{item['from']:.0f}",
             f"{item['us']:.2f}"] for item in data["growth"]]
    found = scenes(data)
    one, many = (found.get(f"quadrupeds{n}", {}) for n in (1, 225))
    rows += [[f"`quadrupeds/{name}`", "robots", "1", f"{exponent(row, many[name]):.2f}"]
             for name, row in one.items() if "us" in row and "us" in many.get(name, {})]
    return lines_of(["what", "size", "from", "exponent"], rows)


TABLES = {"conditions": conditions, "goals": goals, "speed": speed, "errors": errors,
          "growth": growth}


def tables(path, document):
    data = load(path)
    with open(document, encoding="utf-8") as file:
        text = file.read()
    for name, make in TABLES.items():
        new = f"<!-- {name} -->\n" + "\n".join(make(data)) + "\n<!-- end -->"
        text, count = re.subn(rf"<!-- {name} -->\n.*?<!-- end -->", lambda _: new, text, flags=re.S)
        if count != 1:
            sys.exit(f"{document}: error: no place for the table '{name}'; "
                     f"write '<!-- {name} -->' and '<!-- end -->' on lines of their own")
    with open(document, "w", encoding="utf-8") as file:
        file.write(text)


def chart(path):
    """Overlap over time of a step: each engine a point, each scene a panel."""
    found = scenes(load(path))
    panels = [s for s in ("stand", "quadrupeds1", "pile100", "pile300") if s in found]
    print("set terminal svg size 900,640 font 'sans,12' background 'white'")
    print("set logscale xy\nset grid\nset key off\nset format y '10^{%L}'")
    print("set offsets graph 0.15, graph 0.3, graph 0.1, graph 0.1")
    print("set multiplot layout 2,2 title 'Time of a step and overlap: below and left is better'")
    for scene in panels:
        print(f"set title '{scene}'\nset xlabel 'us of a step'\nset ylabel 'overlap [m]'")
        print("$data << END")
        for name, row in found[scene].items():
            if "us" in row and "penetration" in row:
                ours = int(name.startswith("tabi"))
                print(f'{row["us"]} {max(row["penetration"], 1e-9)} "{name}" {ours}')
        print("END")
        print("plot $data using 1:2:($4 > 0 ? 0xc0392b : 0x34495e) with points pt 7 ps 0.8 "
              "lc rgb variable, '' using 1:2:3 with labels left offset 0.8,0")
    print("unset multiplot")


if __name__ == "__main__":
    {"keep": keep, "tables": tables, "chart": chart}[sys.argv[1]](*sys.argv[2:])
