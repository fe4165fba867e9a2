#!/usr/bin/env python3
"""What tools/benchmarks.sh does with the numbers of `tabi bench --json`.

  benchmarks.py commands TABI FOLDER             times of whole commands; FOLDER: other models, or ""
  benchmarks.py goals [PEER]                     rows that have a goal, those of a scene in a line
  benchmarks.py keep FOLDER JSON MACHINE COMPILER
                                                 FOLDER/native/*.json and FOLDER/release/*.json in one
  benchmarks.py tables JSON DOCUMENT             rewrites tables between <!-- name --> and <!-- end -->
"""

import json
import math
import os
import re
import resource
import subprocess
import sys
import time

KEPT = ["us", "us_median", "instructions", "contacts", "penetration", "deepest", "error", "gap",
        "energy", "residual", "speed", "steps", "memory"]
ERRORS = ["slope", "rolling", "bouncing", "balls666", "momentum", "energy", "loops10",
          "loops53"]

# goals: name, scene, tabi's row, the peers', how many times as fast
GOALS = [
    ("humanoid stands, 8 contacts", "stand", "tabi", ["mujoco"], 10),
    ("the same, rk4", "stand-rk4", "tabi-rk4", ["mujoco-rk4"], 10),
    ("humanoid walks", "walk", "tabi", ["mujoco"], 10),
    ("humanoid, 40 contacts", "points40", "tabi", ["mujoco"], 6),
    ("1 quadruped", "quadrupeds1", "tabi", ["mujoco", "bullet", "dart"], 1),
    ("225 quadrupeds", "quadrupeds225", "tabi",
     ["mujoco", "mujoco-cg", "bullet", "dart"], 1),
    ("pile of 100", "pile100", "tabi", ["bullet", "ode"], 1),
    ("pile of 300", "pile300", "tabi", ["bullet", "ode"], 1),
    ("pile of 1000", "pile1000", "tabi", ["bullet", "ode"], 1.5),
    ("pile of 100", "pile100", "tabi", ["mujoco", "mujoco-cg"], 4),
    ("pile of 300", "pile300", "tabi", ["mujoco", "mujoco-cg"], 10),
    ("chain of 1000", "chain1000", "tabi", ["mujoco"], 3),
    ("100 boxes fall", "drop100", "tabi", ["bullet", "ode"], 1),
    ("100 boxes fall", "drop100", "tabi", ["mujoco"], 4),
    ("300 boxes fall", "drop300", "tabi", ["bullet", "ode"], 1),
    ("300 boxes fall", "drop300", "tabi", ["mujoco"], 4),
    ("1000 boxes fall", "drop1000", "tabi", ["bullet", "ode"], 1),
    ("1000 boxes fall", "drop1000", "tabi", ["mujoco"], 4),
    ("limp humanoid falls", "limp", "tabi", ["mujoco"], 2),
    ("humanoid36 falls, self-collision", "fall", "tabi", ["mujoco"], 3),
]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


# --- measuring commands

def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command):
    """Seconds of a command by the clock and of CPU time, and what it printed."""
    before, start = children(), time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, children() - before, done.stdout


def best(command, times):
    """The least of both times, and what each run printed."""
    runs = [run(command) for _ in range(times)]
    return min(r[0] for r in runs), min(r[1] for r in runs), [r[2] for r in runs]


def commands(tabi, folder):
    found = {}
    walk = next(s for s in ("scenes/walk19.yaml", "scenes/walk.yaml") if os.path.exists(s))
    _, used, texts = best([tabi, "run", walk, "--json"], 9)
    results = [json.loads(text) for text in texts]
    found["walk"] = {"scene": walk, "seconds": used, "simulated": results[0]["time"],
                     "steps": round(min(r["wall_seconds"] for r in results), 4)}
    wall, _, _ = best([tabi, "run", "scenes/stand.yaml", "--time", "0.001", "--json"], 20)
    found["start"] = {"scene": "scenes/stand.yaml", "seconds": wall}
    robot = os.path.join(folder, "models/sr1/SR1.urdf")
    if os.path.exists(robot):
        # all of `tabi info`, without what a command costs that reads nothing
        used = best([tabi, "info", robot], 20)[1] - best([tabi, "--version"], 20)[1]
        found["load"] = {"model": "SR1.urdf", "seconds": used}
    for item in found.values():
        item["seconds"] = float(f"{item['seconds']:.3g}")
    json.dump(found, sys.stdout)


def print_goals(engine=""):
    """Scenes and, of each, the rows of tabi and its peers that a table has for both presets."""
    rows = {} if engine else {"slope": ["tabi"], "chain10": ["tabi"]}
    for _, scene, ours, others, _ in GOALS:
        beside = [name for name in others if name.startswith(engine)]
        if not beside or scene == "pile1000":  # which takes minutes to come to rest
            continue
        named = rows.setdefault(scene, [])
        named += [name for name in [ours, *beside] if name not in named]
    for scene, named in rows.items():
        print(scene, *(f"engines/{scene}/{name}" for name in named))


# --- keeping numbers

def shortened(row):
    kept = {key: row[key] for key in ("workload", "engine", "settings", "dof", "note")
            if key in row}
    kept.update({key: float(f"{row[key]:.4g}") for key in KEPT if key in row})
    return kept


def rows_of(folder, order):
    """All rows of a preset, its scenes in the order that tabi lists them in."""
    rows = []
    for scene in order + ["growth", "alone", "turn"]:
        rows += part_of(folder, f"{scene}.json", {"rows": []})["rows"]
    return rows


def part_of(folder, name, default):
    path = os.path.join(folder, name)
    return load(path) if os.path.exists(path) else default


def keep(folder, path, machine, compiler):
    lists, single = {}, {"machine": machine, "compiler": compiler}
    with open(os.path.join(folder, "scenes"), encoding="utf-8") as file:
        order = file.read().split()
    for part, name in (("native", "rows"), ("newest", "newest"), ("release", "release")):
        lists[name] = [shortened(row) for row in rows_of(os.path.join(folder, part), order)]
    for preset in ("native", "release"):
        single[f"commands_{preset}"] = part_of(os.path.join(folder, preset), "commands.json", {})
    for preset, name in (("native", "growth"), ("release", "growth_release")):
        lists[name] = part_of(os.path.join(folder, preset), "growth.json", {"growth": []})["growth"]
    text = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in single.items())
    for name, items in lists.items():
        lines = ",\n".join("  " + json.dumps(item) for item in items)
        text += f',\n "{name}": [\n{lines}\n ]'
    with open(path, "w", encoding="utf-8") as file:
        file.write("{" + text + "}\n")


# --- tables

def scenes(data, rows="rows"):
    """Rows by scene and by the name of the engine, in the order measured."""
    found = {}
    for row in data.get(rows, []):
        workload, scene, name = row["workload"].split("/")
        if workload == "engines":
            found.setdefault(scene, {})[name] = row
    return found


def number(value, form="{:.1e}"):
    return "" if value is None else form.format(value)


def times(value):
    """Two digits, and no exponent."""
    return "" if value is None else f"{float(f'{value:.2g}'):g}x"


def micros(value):
    if value is None:
        return ""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def lines_of(head, rows):
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]


def conditions(data):
    engines = sorted({row["engine"] for row in data["rows"] + data.get("newest", [])
                      if " " in row["engine"] and not row["engine"].startswith("tabi")})
    return [f"{data['machine']}; {data['compiler']}, preset `native`; "
            f"{', '.join(engines) or 'no peers'}."]


def times_as_fast(found, scene, ours, other):
    own, peer = (found.get(scene, {}).get(name, {}).get("us") for name in (ours, other))
    return peer / own if own and peer else None


def reached(value, good, form):
    if value is None:
        return "not measured"
    return form.format(value) + ("" if good(value) else " (missed)")


def overlap(row):
    """The largest over the run where that was looked at, else that at the end."""
    return row.get("deepest", row.get("penetration"))


def goals(data):
    found, newest, released = (scenes(data, name) for name in ("rows", "newest", "release"))
    rows = []
    for what, scene, ours, others, wanted in GOALS:
        for other in others:
            ratio = times_as_fast(found, scene, ours, other)
            if ratio is None:
                continue
            own, peer = found[scene][ours], found[scene][other]
            depth, beside = overlap(own), overlap(peer)
            deeper = (depth or 0) > max(beside or 0, 1e-12)
            rows.append([what, other, f"{wanted}x",
                         times(ratio) + ("" if ratio >= wanted else " (missed)"),
                         times(times_as_fast(released, scene, ours, other)),
                         times(times_as_fast(newest, scene, ours, other)),
                         number(depth) + (" (deeper)" if deeper else ""), number(beside)])
    head = ["scene", "peer", "goal", "reached", "`release`", "newest MuJoCo", "depth m",
            "peer's depth m"]
    return lines_of(head, rows)


def value_of(found, scene, name, key):
    return found.get(scene, {}).get(name, {}).get(key)


def power(found, small, large, size):
    """By which power of the size the time of tabi grows between two scenes."""
    one, many = (value_of(found, scene, "tabi", "us") for scene in (small, large))
    return math.log(many / one) / math.log(size) if one and many else None


def robots(found):
    one, many = (value_of(found, f"quadrupeds{n}", "tabi", "us") for n in (1, 225))
    return many / 225 / one if one and many else None


def exponent_of(growth):
    return next((item["us"] for item in growth if item["function"] == "cone20" and
                 item["size"] == "contacts" and item["from"] == 8), None)


def in_turn(rows):
    """Time of a step of worlds that take turns, by the name of the row."""
    return {row["workload"]: row["us"] for row in rows if row["workload"].startswith("turn/")}


def quotient(a, b):
    return a / b if a and b else None


# name, format, limit (negative: a lower bound), and how the value is found
LIMITS = [
    ("225 quadrupeds: time per robot, relative to a single one", "{:.2f}", 1.5,
     lambda run: robots(run["rows"])),
    ("cost ~ contacts^p, 8 to 1000, 20 sweeps: p", "{:.2f}", 1.1,
     lambda run: exponent_of(run["growth"])),
    ("cost ~ links^p, chains of 10 to 1000: p", "{:.2f}", 1.1,
     lambda run: power(run["rows"], "chain10", "chain1000", 100)),
    ("cube on a slope: creep, m/s", "{:.1e}", 1e-9,
     lambda run: value_of(run["rows"], "slope", "tabi", "error")),
    ("`rolling`, exact to 1e-14: error, m²/s²", "{:.1e}", 1e-20,
     lambda run: value_of(run["rows"], "rolling", "tabi-exact14", "error")),
    ("`bouncing`, midpoint: error, J²", "{:.1e}", 2e-2,
     lambda run: value_of(run["rows"], "bouncing", "tabi-midpoint", "error")),
    ("`balls666`: error, m²", "{:.1e}", 1e-4,
     lambda run: value_of(run["rows"], "balls666", "tabi", "error")),
    ("`momentum`, rk4: error, (kg m/s)²", "{:.1e}", 1e-12,
     lambda run: value_of(run["rows"], "momentum", "tabi-rk4", "error")),
    ("`energy`, rk4: error, J²", "{:.1e}", 1e-16,
     lambda run: value_of(run["rows"], "energy", "tabi-rk4", "error")),
    ("walk, steps with controllers and sensors: times real time", "{:.0f}", -100,
     lambda run: quotient(run["commands"].get("walk", {}).get("simulated"),
                          run["commands"].get("walk", {}).get("steps"))),
    ("walk, the whole `tabi run` with loading and planning: times real time", "{:.0f}", -100,
     lambda run: quotient(run["commands"].get("walk", {}).get("simulated"),
                          run["commands"].get("walk", {}).get("seconds"))),
    ("4096 worlds in turn: time of a step, relative to one world", "{:.2f}", 1.3,
     lambda run: quotient(*(run["turn"].get(f"turn/stand/{n}") for n in (4096, 1)))),
    ("memory of a world with the humanoid, kB", "{:.0f}", 256,
     lambda run: quotient(value_of(run["rows"], "stand", "tabi", "memory"), 1024)),
    ("loading SR1, ms", "{:.1f}", 5,
     lambda run: quotient(run["commands"].get("load", {}).get("seconds"), 1e-3)),
    ("start and end of `tabi run`, 0.001 s simulated, ms", "{:.1f}", 20,
     lambda run: quotient(run["commands"].get("start", {}).get("seconds"), 1e-3)),
]


def limits(data):
    native = {"rows": scenes(data), "turn": in_turn(data["rows"]), "growth": data["growth"],
              "commands": data.get("commands_native", {})}
    release = {"rows": scenes(data, "release"), "turn": in_turn(data["release"]),
               "growth": data.get("growth_release", []),
               "commands": data.get("commands_release", {})}
    rows = []
    for what, form, limit, find in LIMITS:
        good = (lambda v, m=-limit: v >= m) if limit < 0 else (lambda v, m=limit: v <= m)
        wanted = f"at least {-limit:g}" if limit < 0 else f"at most {limit:g}"
        rows.append([what, wanted, reached(find(native), good, form),
                     number(find(release), form)])
    return lines_of(["what", "goal", "reached", "`release`"], rows)


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
                         number(row.get("penetration")), number(row.get("deepest")),
                         number(row.get("energy")), number(row.get("residual")),
                         number(row.get("speed")),
                         row.get("note", "")])
    head = ["scene", "engine", "contacts", "us", "ratio", "instructions", "depth m",
            "deepest m", "energy", "certificate m/s", "speed m/s", ""]
    return lines_of(head, rows)


def errors(data):
    rows = []
    for scene, engines in scenes(data).items():
        for name, row in engines.items() if scene in ERRORS else ():
            count = row.get("instructions")
            rows.append([f"`{scene}`", name, number(row.get("error")), number(row.get("energy")),
                         micros(row.get("us")), number(count and count / 1000, "{:.0f} k"),
                         number(row.get("residual")), row.get("note", "")])
    head = ["scene", "engine", "error", "energy", "us", "instructions", "certificate m/s", ""]
    return lines_of(head, rows)


def alone(data):
    """Scenes that no peer has, beside the same robot on the same floor without meshes."""
    rows = []
    for row in data["rows"]:
        workload, scene, _ = row["workload"].split("/")
        if workload == "contact" and scene in ("stand", "hullfeet", "meshground"):
            rows.append([f"`contact/{scene}`", number(row.get("contacts"), "{:.0f}"),
                         micros(row.get("us")), number(row.get("penetration")),
                         number(row.get("residual")), number(row.get("speed"))])
    return lines_of(["scene", "contacts", "us", "depth m", "certificate m/s", "speed m/s"], rows)


def growth(data):
    rows = [[f"`{item['shape']}/{item['function']}`", item["size"], f"{item['from']:.0f}",
             f"{item['us']:.2f}"] for item in data["growth"]]
    found = scenes(data)
    for series, small, large, size in (("quadrupeds", 1, 225, "robots"),
                                       ("chain", 10, 1000, "links"), ("pile", 20, 1000, "boxes")):
        one, many = (found.get(f"{series}{n}", {}) for n in (small, large))
        for name, row in one.items():
            if "us" in row and "us" in many.get(name, {}):
                p = math.log(many[name]["us"] / row["us"]) / math.log(large / small)
                rows.append([f"`{series}/{name}`", size, f"{small}", f"{p:.2f}"])
    return lines_of(["what", "size", "from", "exponent"], rows)


TABLES = {"conditions": conditions, "goals": goals, "limits": limits, "speed": speed,
          "errors": errors, "alone": alone, "growth": growth}


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


if __name__ == "__main__":
    {"commands": commands, "goals": print_goals, "keep": keep, "tables": tables}[sys.argv[1]](*sys.argv[2:])
