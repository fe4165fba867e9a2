#!/usr/bin/env python3
"""reproduction.py write QUICK.json [FULL.json] | check QUICK.json: the tables of docs/reproduction.md.

QUICK.json is what `tabi reproduce all --quick --json` printed, FULL.json the same without --quick; CSV files
are read from where they were written.  In the document a table stands between its name and `<!-- end -->`:

    <!-- results ID -->       criteria of an experiment, numbers of the quick run; what only the full run has, of that
    <!-- full ID -->          criteria of the full run
    <!-- table NAME RUN -->   a table of a CSV file, of the run `quick` or `full`; NAME: see TABLES
    <!-- overview -->         a row for every experiment, of the full run

check says where the document does not say what the quick run measured, digit by digit.  Of criteria on
time ("time of ..", "x real time"), which are another on every machine, it asks for the criterion only.
"""
import csv
import json
import pathlib
import re
import sys
from statistics import mean

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reproduction.md"
BLOCK = re.compile(r"<!-- ((?:results|full|table|overview)[^\n]*) -->\n(.*?)<!-- end -->\n", re.S)
HEAD = "| criterion | expected | published | ours | |\n|---|---|---|---|---|\n"
OVERVIEW = ("| figure | experiment | published | ours | reconstructed |\n|---|---|---|---|---|\n")
TIMED = re.compile(r"^\| time |x real time \|")


def load(path):
    with open(path, encoding="utf-8") as file:
        return {e["id"]: e for e in json.load(file)["experiments"]}


def rows_of(experiment, ending):
    """Rows of a CSV file that an experiment wrote, as dictionaries of numbers."""
    path = next(f for f in experiment["files"] if f.endswith(ending))
    with open(path, encoding="utf-8") as file:
        return [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def markdown(head, lines):
    text = "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in [head, *lines])
    first, rest = text.split("\n", 1)
    return first + "\n" + "|---" * len(head) + "|\n" + rest


# -- criteria

def criteria(experiment):
    """{(name, expected): {variant: criterion}}, in the order of the run."""
    lines = {}
    for c in experiment["criteria"]:
        lines.setdefault((c["name"], c["expected"]), {})[c["variant"]] = c
    return lines


def cell(criterion):
    if not criterion:
        return ""
    value = criterion["measured"]
    if value is None:
        return "not finite"
    return value if isinstance(value, str) else f"{value:.4g} {criterion['unit']}".strip()


def verdict(line):
    verdicts = [c["verdict"] for c in line.values()]
    return "failed" if "fail" in verdicts else "differs" if "differs" in verdicts else "ok"


def line_text(name, expected, line):
    cells = [name, expected, cell(line.get("published")), cell(line.get("ours")), verdict(line)]
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |\n"


def results(quick, full):
    lines = criteria(quick)
    for key, line in criteria(full or quick).items():
        lines.setdefault(key, line)
    text = HEAD + "".join(line_text(*key, line) for key, line in lines.items())
    reasons = dict.fromkeys(c["reason"] for line in lines.values() for c in line.values() if c["reason"])
    return text + "".join(f"\n*Differs*: {reason}.\n" for reason in reasons)


def answer(experiment, variant):
    """Whether a variant does what the paper shows."""
    verdicts = [c["verdict"] for c in experiment["criteria"] if c["variant"] == variant]
    met = verdicts.count("pass")
    if not verdicts:
        return "-"
    return "yes" if met == len(verdicts) else "no" if met == 0 else f"partly ({met} of {len(verdicts)})"


def overview(experiments):
    rows = [f"| {e['paper']} | `{e['id']}` | {answer(e, 'published')} | {answer(e, 'ours')} | "
            f"{e['reconstructed']} |\n" for e in experiments.values()]
    return OVERVIEW + "".join(rows)


# -- tables of CSV files

DIRECTIONS = ["forward", "backward", "left"]


def pushes(run):
    """{row name: {push: o or x}} of p1/push."""
    table = {}
    for row in rows_of(run["p1/push"], ".csv"):
        name = f"{DIRECTIONS[int(row['direction'])]}, {'stabilised' if row['stabilised'] else 'open loop'}"
        table.setdefault(name, {})[f"{row['push_Ns']:g}"] = "x" if row["fell_s"] > 0 else "o"
    return table


def table_of_pushes(run):
    table = pushes(run)
    head = list(next(iter(table.values())))
    return markdown(["N s", *head], [[name, *(marks[p] for p in head)] for name, marks in table.items()])


def table_of_rubbers(run):
    rows = rows_of(run["p1/walk"], "p1-walk.csv")
    def step(value):
        return "diverges" if value != value else f"{value:g}" if value > 0 else "no fall"
    head = ["N m/rad, N m s/rad", *(f"{r['stiffness']:g}, {r['damping']:g}" for r in rows)]
    return markdown(head, [[v, *(step(r[f"fall_step_{v}"]) for r in rows)] for v in ("published", "ours")])


READINGS = ["walk", "tenfold", "as printed", "as printed, farther", "walk, test off"]
WAYS = {(0, 0): "published", (0, 1): "5 ms, strict guards", (1, 0): "located, the paper's guards", (1, 1): "ours"}
FELL, BEHIND = 6, 4  # of tabi_gait_outcome


def walks_of(run):
    """{(reading, located, strict, K): {posture: (row, touchdown strides)}} of p3/walk."""
    walks = {}
    for row in rows_of(run["p3/walk"], "-postures.csv"):
        key = row["reading"], row["located"], row["strict"], row["friction"]
        walks.setdefault(key, {})[row["posture"]] = row, []
    strides = {}
    for row in rows_of(run["p3/walk"], "-steps.csv"):
        key = row["reading"], row["located"], row["strict"], row["friction"], row["posture"]
        strides.setdefault(key, {})[row["step"]] = row["touchdown_m"]
    for (*key, posture), of_step in strides.items():
        walks[tuple(key)][posture][1].extend(of_step[s] for s in sorted(of_step))
    return walks


def trend(strides):
    """Kendall's rank correlation of strides with their order."""
    signs = [(b > a) - (b < a) for i, b in enumerate(strides) for a in strides[:i]]
    return mean(signs) if signs else float("nan")


def percent(flags):
    flags = list(flags)
    return f"{100 * sum(flags) / len(flags):.3g} %"


def table_of_postures(run):
    lines = []
    for (reading, located, strict, friction), walks in walks_of(run).items():
        if friction != 0.5:
            continue
        rows = [row for row, _ in walks.values()]
        trends = [trend(strides) for _, strides in walks.values()]
        counts = [row["steps"] for row in rows]
        pulls = [100 * row["pulled_s"] / row["end_s"] if row["end_s"] > 0 else 0 for row in rows]
        lines.append([
            f"{READINGS[int(reading)]}, {WAYS[located, strict]}", len(rows),
            ", ".join(f"{n:g}: {counts.count(n)}" for n in sorted(set(counts))),
            percent(row["outcome"] == BEHIND for row in rows), percent(row["outcome"] == FELL for row in rows),
            percent(row["outcome"] not in (BEHIND, FELL) for row in rows),
            percent(t <= -0.6 for t in trends), percent(t <= -1 for t in trends),
            f"{mean(pulls):.3g} %, {max(pulls):.3g} %"])
    return markdown(["", "postures", "steps: postures", "lands behind", "falls", "other end", "strides tend to shrink",
                     "shrink each time", "sole pulls: mean, worst"], lines)


def table_of_frictions(run):
    """Mean numbers of steps of the walk at nine K; those of 0.5 come from more postures."""
    lines = {}
    for (reading, located, strict, friction), walks in walks_of(run).items():
        if reading == 0 and located == strict:
            lines.setdefault(WAYS[located, strict], {})[friction] = mean(row["steps"] for row, _ in walks.values())
    frictions = sorted({k for line in lines.values() for k in line})
    return markdown(["mean steps at K =", *(f"{k:g}" for k in frictions)],
                    [[name, *(f"{line[k]:.1f}" for k in frictions)] for name, line in lines.items()])


TABLES = {"pushes": table_of_pushes, "rubbers": table_of_rubbers, "postures": table_of_postures,
          "frictions": table_of_frictions}


# -- the document

def body(name, quick, full):
    """What a block has to say; None: it takes a full run, and there is none."""
    kind, *words = name.split()
    if kind == "results":
        return results(quick[words[0]], full.get(words[0])) if words[0] in quick else None
    if kind == "table":
        run = quick if words[1] == "quick" else full
        return TABLES[words[0]](run) if run else None
    return None if not full else overview(full) if kind == "overview" else results(full[words[0]], None)


def write(quick, full):
    def fill(match):
        text = body(match[1], quick, full)
        return match[0] if text is None else f"<!-- {match[1]} -->\n{text}<!-- end -->\n"
    DOCUMENT.write_text(BLOCK.sub(fill, DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    return check(quick)


def same(expected_line, text_lines):
    """Whether the document has the line; of a time only its name and what is expected."""
    if expected_line in text_lines:
        return True
    criterion = expected_line.split(" | ")[:2]
    return bool(TIMED.search(expected_line)) and any(t.split(" | ")[:2] == criterion for t in text_lines)


def wrong_pushes(quick, text):
    """Pushes of the quick run that end otherwise in the table of the full one."""
    lines = [[c.strip() for c in line.strip("|\n ").split("|")] for line in text.splitlines()]
    table = {line[0]: dict(zip(lines[0], line)) for line in lines[2:]}
    return [f"pushes: {name}, {push} N s is {mark}" for name, marks in pushes(quick).items()
            for push, mark in marks.items() if table.get(name, {}).get(push) != mark]


def wrong_block(name, text, quick):
    kind, *words = name.split()
    if name == "table pushes full":
        return wrong_pushes(quick, text)
    if kind == "table" and words[1] == "quick" and text != TABLES[words[0]](quick):
        return [f"table of {words[0]}: another in the run"]
    return []


def check(quick):
    blocks = dict(BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")))
    judged = {name.split()[1]: text for name, text in blocks.items() if name.startswith("results")}
    wrong = [f"no table of {name}" for name in quick if name not in judged]
    wrong += [f"there is no experiment {name}" for name in judged if name not in quick]
    for name, experiment in quick.items():
        lines = judged.get(name, "").splitlines(keepends=True)
        wrong += [f"{name}: not in the document: {text.strip()}"
                  for key, line in criteria(experiment).items()
                  for text in [line_text(*key, line)] if not same(text, lines)]
    wrong += [w for name, text in blocks.items() for w in wrong_block(name, text, quick)]
    for message in wrong:
        print(f"docs/reproduction.md: {message}", file=sys.stderr)
    if wrong:
        print("cure: tools/reproduction.py write QUICK.json FULL.json", file=sys.stderr)
    return 1 if wrong else 0


def main(words):
    if len(words) in (2, 3) and words[0] == "write":
        return write(load(words[1]), load(words[2]) if len(words) == 3 else {})
    if len(words) == 2 and words[0] == "check":
        return check(load(words[1]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
