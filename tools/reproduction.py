#!/usr/bin/env python3
"""reproduction.py write QUICK.json [FULL.json] | check QUICK.json: the tables of docs/reproduction.md.

QUICK.json is what `tabi reproduce all --quick --json` printed, FULL.json the same without --quick.  Tables
stand between `<!-- results ID -->` and `<!-- end -->`, the overview between `<!-- overview -->` and
`<!-- end -->`.  Numbers are those of the quick run; criteria that only the full run has come from there.
check says where the document does not say what the quick run measured, digit by digit.  Of criteria on
time ("time of ..", "x real time"), which are another on every machine, it asks for the criterion only.
"""
import json
import pathlib
import re
import sys

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reproduction.md"
BLOCK = re.compile(r"<!-- (results (\S+)|overview) -->\n(.*?)<!-- end -->\n", re.S)
HEAD = "| criterion | expected | published | ours | |\n|---|---|---|---|---|\n"
OVERVIEW = ("| figure | experiment | published | ours | reconstructed |\n|---|---|---|---|---|\n")
TIMED = re.compile(r"^\| time |x real time \|")


def load(path):
    with open(path, encoding="utf-8") as file:
        return {e["id"]: e for e in json.load(file)["experiments"]}


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


def table(quick, full):
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


def write(quick, full):
    def fill(match):
        body = (table(quick[match[2]], full.get(match[2])) if match[2] else overview(full or quick))
        return f"<!-- {match[1]} -->\n{body}<!-- end -->\n"
    DOCUMENT.write_text(BLOCK.sub(fill, DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    return check(quick)


def same(expected_line, text_lines):
    """Whether the document has the line; of a time only its name and what is expected."""
    if expected_line in text_lines:
        return True
    criterion = expected_line.split(" | ")[:2]
    return bool(TIMED.search(expected_line)) and any(t.split(" | ")[:2] == criterion for t in text_lines)


def check(quick):
    blocks = {m[2]: m[3] for m in BLOCK.finditer(DOCUMENT.read_text(encoding="utf-8")) if m[2]}
    wrong = [f"no table of {name}" for name in quick if name not in blocks]
    wrong += [f"there is no experiment {name}" for name in blocks if name not in quick]
    for name, experiment in quick.items():
        lines = blocks.get(name, "").splitlines(keepends=True)
        wrong += [f"{name}: not in the document: {text.strip()}"
                  for key, line in criteria(experiment).items()
                  for text in [line_text(*key, line)] if not same(text, lines)]
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
