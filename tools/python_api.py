#!/usr/bin/env python3
"""python_api.py [--check]: writes docs/python_api.md from the docstrings of the package tabi.

With --check it writes nothing, and fails if the document is not what would be written.  The package must be
importable, as with PYTHONPATH=build/release/python.
"""
import inspect
import pathlib
import sys

import tabi
import tabi.gym
import tabi.plot

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "python_api.md"
HEAD = """# Python interface

Made by `tools/python_api.py` from the docstrings; [python.md](python.md) is the tutorial. Arrays are NumPy's, of
doubles; their shapes stand in brackets.
"""
MODULES = (("tabi", tabi, tabi.__all__), ("tabi.gym", tabi.gym, ["RobotEnv", "Humanoid", "Biped", "make_env",
                                               "RobotVectorEnv", "make_vec"]),
           ("tabi.plot", tabi.plot, ["signals", "balance", "histogram"]))


def doc_of(thing):
    text = inspect.getdoc(thing) or ""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def signature_of(thing):
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "()"
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()
                  if p.name not in ("self", "cls")]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def indent(text):
    """Sections of a docstring as lists: 'Args:' and the like, and their entries."""
    out, inside = [], False
    for line in text.splitlines():
        if line in ("Args:", "Returns:", "Attributes:"):
            inside = line != "Returns:"
            out.append(f"*{line[:-1]}*" + ("" if inside else ":"))
            out.append("")
        elif inside and line.startswith("    ") and not line.startswith("     "):
            name, _, rest = line.strip().partition(": ")
            out.append(f"- `{name}`: {rest}")
        elif line.startswith("    "):
            out.append(("  " if inside else "") + line.strip())
        else:
            inside = inside and line == ""
            out.append(line)
    return "\n".join(out)


def members(cls):
    """Public members of a class and of its base in the extension, in the order of their definition."""
    seen = {}
    for base in cls.__mro__:
        if not base.__module__.startswith("tabi"):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen[name] = value
    return seen.items()


def member_line(name, value):
    if isinstance(value, (classmethod, staticmethod)):
        return f"- `{name}{signature_of(value.__func__)}`: ", doc_of(value.__func__)
    if inspect.isroutine(value) and not inspect.isgetsetdescriptor(value):
        return f"- `{name}{signature_of(value)}`: ", doc_of(value)
    if isinstance(value, property) or inspect.isgetsetdescriptor(value):
        return f"- `{name}`: ", doc_of(value)
    return None


def class_text(name, cls):
    lines = [f"### {name}", "", indent(doc_of(cls)), ""]
    fields = getattr(cls, "_fields", None)
    if fields:
        lines += ["Fields: " + ", ".join(f"`{field}`" for field in fields) + ".", ""]
    for member, value in members(cls):
        if fields and member in fields:
            continue
        line = member_line(member, value)
        if line:
            lines.append(line[0] + line[1].partition("\n\n")[0].replace("\n", " "))
    return "\n".join(lines).rstrip() + "\n"


def function_text(name, function):
    return f"### {name}\n\n`{name}{signature_of(function)}`\n\n{indent(doc_of(function))}\n"


def page():
    parts = [HEAD]
    for title, module, names in MODULES:
        parts.append(f"## {title}\n")
        for name in names:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                parts.append(class_text(name, thing))
            elif inspect.isroutine(thing):
                parts.append(function_text(name, thing))
    return "\n".join(parts)


def main():
    text = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE} is not what tools/python_api.py writes; run it", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
