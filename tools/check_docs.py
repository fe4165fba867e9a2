#!/usr/bin/env python3
"""check_docs.py [--self-test] [DOCUMENT...]: what the documents name exists.

Looks at README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md, above all at text between backticks and
in code blocks: paths and file names, links and their anchors, keys of scenes, commands and their options,
functions, types, members and constants, tests, make targets, and every other identifier.  What there
is comes from the sources: tables of keys in src/scene and src/io, tables of options in cli/, headers,
CMake files.  Words after "formerly" and table columns with that heading are names of the past.
"""
import collections
import difflib
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = {"build", "node_modules", "dist", ".git", "__pycache__"}
SOURCE = {".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".js", ".mjs", ".cjs", ".css", ".yaml", ".urdf",
          ".xml", ".json", ".txt", ".html", ".in", ".gp"}
PROGRAM_FILE = r"c|h|cpp|py|sh|js|mjs|cjs|md|cmake"  # a name with this ending is a file of ours
NAMED_CHILDREN = {"joints", "links", "motion", "materials", "posture", "velocity", "springs",
                  "parameters", "measures"}  # maps from names
COMPLETE = [("docs/scenes.md", "scenes/*.yaml", "`{stem}`"), ("docs/models.md", "models/*.urdf", "`{stem}`"),
            ("docs/index.md", "docs/*.md", "({name})"), ("CONTRIBUTING.md", "tests/*/", "`tests/{name}`"),
            ("CONTRIBUTING.md", "src/*/", "`{name}`"), ("docs/cli.md", "cli/cmd_*.c", "tabi {command}")]

# a piece of code in a document: language is None between backticks; column is the heading of the
# table's column, first whether it is the first one, setting whether the table gives defaults; title is
# the heading of the section
Piece = collections.namedtuple("Piece", "line text language column first setting title")


# the sources

def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def braced(text, start):
    """The text between the first '{' after start and the '}' that closes it."""
    begin = text.index("{", start)
    depth = 0
    for i in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[begin + 1:i]
    return text[begin + 1:]


class Sources:
    """What the tree contains: files, words, keys, options, names, tests, make targets."""

    def __init__(self, root):
        self.root = root
        self.files = {p.relative_to(root).as_posix() for p in root.rglob("*")
                      if p.is_file() and not SKIPPED & set(p.relative_to(root).parts[:-1])}
        self.folders = {f.rsplit("/", n)[0] for f in self.files for n in range(1, f.count("/") + 1)}
        self.tops = {f.split("/")[0] for f in self.folders}
        self.text = {f: self.read(f) for f in self.files
                     if pathlib.Path(f).suffix in SOURCE or f == "Makefile"}
        self.text.pop("tools/check_docs.py", None)  # its test is full of words that are wrong
        self.words = set()
        for text in self.text.values():
            self.words |= set(re.findall(r"[A-Za-z_][\w-]*", text))
            self.words |= set(re.findall(r"[A-Za-z_]\w*", text))
        self.public = self.joined("include/")
        self.quoted = self.joined("src/")
        self.names = set(re.findall(r"\b(?:tabi|TABI|tbi|TBI)_\w+", self.joined("")))
        self.keys = self.find_keys()
        self.options = self.find_options()
        self.tests = set(re.findall(r"[\w-]+\.[\w-]+", self.joined("tests/", ".txt")))
        self.targets = set(re.findall(r"^(\w+):", self.joined("Makefile"), flags=re.M))

    def read(self, file):
        text = (self.root / file).read_text(encoding="utf-8", errors="replace")
        return strip_comments(text) if file.endswith((".c", ".h", ".cpp")) else text

    def joined(self, start, end=""):
        return "\n".join(t for f, t in sorted(self.text.items()) if f.startswith(start) and f.endswith(end))

    def find_keys(self):
        """First words of table rows, and what is asked for by name, where scenes are read."""
        text = self.joined("src/scene/") + self.joined("src/io/") + self.joined("src/study/") + self.joined("examples/plugin/")
        asked = r'(?:child|strcmp|options_\w+|_(?:need|take|get|read)\w*)\([^;"]*"(\w+)"'
        return set(re.findall(r'\{\s*"(\w+)"\s*,', text)) | set(re.findall(asked, text))

    def find_options(self):
        """The options of each command: from its table, or from the folder of one that has none."""
        options = {}
        for file, text in self.text.items():
            for match in re.finditer(r"const tbi_command tbi_cmd_(\w+) =", text):
                body, command = braced(text, match.end()), match.group(1)
                if ".run_raw" in body:
                    body = self.joined(command + "/")
                options[command] = set(re.findall(r'"(--?[a-z][a-z0-9-]*)"', body)) | {"--help"}
                if re.search(r"\.(?:loads|tells) = true", body):
                    options[command] |= self.shared_options()
        return options

    def shared_options(self):
        """Options of all commands that load models or tell what they noticed."""
        text = self.joined("cli/common/args.c")
        table = re.search(r"shared_options\[\] =", text)
        return set(re.findall(r'"(--[a-z0-9-]+)"', braced(text, table.end()))) if table else set()

    def members(self, name):
        """The text of a public struct, or None."""
        match = re.search(r"\bstruct " + name + r"\s*\{", self.public)
        return braced(self.public, match.start()) if match else None

    def has_path(self, path):
        """A file or folder of that path, or of one that ends so; * stands for anything."""
        path = path.rstrip("/")
        if "*" in path:
            return any(pathlib.PurePath(p).match(path) for p in self.files | self.folders)
        return any(p == path or p.endswith("/" + path) for p in self.files | self.folders)


# the documents

def slug(heading):
    """The anchor that GitHub gives to a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def without_fences(text):
    return re.sub(r"^```.*?^```$", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)


def without_past(text):
    """The text without what follows the word formerly."""
    past = r"((?i:formerly)\s+)((?:`[^`]+`(?:,?\s+and\s+|,\s+)?)+)"
    return re.sub(past, lambda m: m.group(1) + re.sub(r"[^\n]", " ", m.group(2)), text)


def anchors(text):
    return {slug(h) for h in re.findall(r"^#+ (.*)$", without_fences(text), flags=re.M)}


def fenced(text):
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S):
        line = text.count("\n", 0, match.start()) + 2
        yield Piece(line, match.group(2), match.group(1), "", False, False, "")


def table_columns(lines):
    """For every line of a table, the headings of its columns."""
    heads = {}
    for i, line in enumerate(lines):
        if re.match(r"\|[-| :]+\|$", line) and i > 0:
            head = [cell.strip() for cell in lines[i - 1].strip().strip("|").split("|")]
            for j in range(i + 1, len(lines)):
                if not lines[j].startswith("|"):
                    break
                heads[j] = head
    return heads


def spans(text):
    """What stands between backticks, with where it stands."""
    text = without_past(without_fences(text))
    lines = text.split("\n")
    heads = table_columns(lines)
    titles = [i for i, line in enumerate(lines) if line.startswith("#")]
    for match in re.finditer(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", text, flags=re.S):
        i = text.count("\n", 0, match.start())
        before = lines[i][:match.start() - text.rfind("\n", 0, match.start()) - 1]
        cell = len(re.findall(r"(?<!\\)\|", before)) - 1
        head = heads.get(i, [])
        column = head[cell] if 0 <= cell < len(head) else ""
        title = next((lines[t] for t in reversed(titles) if t <= i), "")
        yield Piece(i + 1, " ".join(match.group(2).split()), None, column.strip("`"), cell == 0,
                    "default" in head, title)


# the checks: each yields (line, message)

def near(word, words):
    found = difflib.get_close_matches(word, words, 1, 0.75)
    return f"; did you mean '{found[0]}'?" if found else ""


def check_links(sources, document, text):
    body = without_fences(text)
    for match in re.finditer(r"\]\(([^)\s]+)\)", body):
        line, target = body.count("\n", 0, match.start()) + 1, match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        if not file.exists():
            yield line, f"link to '{path}', which does not exist"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield line, f"'{path or document.name}' has no heading '#{anchor}'"


def check_paths(sources, piece):
    for match in re.finditer(r"(?<![\w./:<~-])[\w.<*-][\w./<>*-]*", piece.text):
        path = re.sub(r"^(\.\./)+", "", match.group(0).rstrip("."))
        top, _, rest = path.partition("/")
        if "<" in path or path.endswith(".so") or re.search(r"[A-Z]{4}", path) and not path.endswith(".md"):
            continue
        ours = rest and (top in sources.tops) or re.fullmatch(rf"[\w./-]*\w\.({PROGRAM_FILE})", path)
        if ours and not path.startswith("/") and not sources.has_path(path):
            yield piece.line, f"no file or folder '{path}'" + near(path, sources.files)


def check_prose(sources, text):
    """Files of ours that the text names without backticks."""
    tops = "|".join(sorted(sources.tops))
    body = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda m: " " * len(m.group(0)), without_fences(without_past(text)))
    for match in re.finditer(rf"(?<![\w./-])(?:{tops})/[\w./-]*\w\.[a-z]+\b", body):
        if not sources.has_path(match.group(0)):
            yield body.count("\n", 0, match.start()) + 1, f"no file '{match.group(0)}'"


def check_sources(sources):
    """Documents that messages, help texts and comments of the sources name."""
    for file in sorted(sources.text):
        raw = (sources.root / file).read_text(encoding="utf-8", errors="replace")
        for match in re.finditer(r"\bdocs/[\w-]+\.md\b", raw):
            if match.group(0) not in sources.files:
                yield file, raw.count("\n", 0, match.start()) + 1, f"no document '{match.group(0)}'"


def check_names(sources, piece):
    for match in re.finditer(r"\b((?:tabi|tbi)_[a-z0-9_]+|(?:TABI|TBI)_[A-Z0-9_]+)\b(\*?)((?:\.\w+)*)",
                             piece.text):
        name, star, members = match.groups()
        known = any(n.startswith(name) for n in sources.names) if star else name in sources.names
        if not known and not sources.has_path(name + members):
            yield piece.line, f"no '{name}' in the sources" + near(name, sources.names)
            continue
        body = sources.members(name) if members else None
        for member in members.split(".")[1:] if body is not None else []:
            if not re.search(rf"\b{member}\b", body):
                yield piece.line, f"'{name}' has no member '{member}'"
                break


def command_options(sources, text):
    """Of a shell line, pairs of a command of tabi and an option that it is given."""
    for part in re.split(r"\||&&|;|\s#|\$\(", text):
        match = re.match(r"\s*(?:\$ )?(?:\S*/)?tabi ([a-z]+)\b(.*)", part)
        if match:
            yield match.group(1), None
            for option in re.findall(r"(?<=\s)--?[a-z][a-z0-9-]*", match.group(2)):
                yield match.group(1), option


def check_commands(sources, piece):
    for i, line in enumerate(piece.text.splitlines()):
        for command, option in command_options(sources, line):
            known = command == "help" or command in sources.options or f'"{piece.text}"' in sources.quoted
            if not known:
                yield piece.line + i, f"no command 'tabi {command}'"
            elif option and option not in sources.options.get(command, ()):
                yield piece.line + i, f"'tabi {command}' has no option '{option}'" + near(
                    option, sources.options[command])
        for target in re.findall(r"^(?:\$ )?make (\w+)", line):
            if target not in sources.targets:
                yield piece.line + i, f"no target '{target}' in the Makefile"


def check_bare_option(sources, piece):
    """An option without its command: of the one in the section's title, or of any."""
    match = re.match(r"(--[a-z][a-z0-9-]*)", piece.text)
    if not match or match.group(1) == "--version":
        return
    option, titled = match.group(1), re.search(r"`?tabi (\w+)", piece.title)
    command = titled.group(1) if titled and piece.first and titled.group(1) in sources.options else None
    known = sources.options[command] if command else set().union(*sources.options.values())
    built = sources.joined("", ".txt") + sources.joined("tools/")
    if option not in known and (command or option not in built):
        yield piece.line, f"no option '{option}'" + (f" of 'tabi {command}'" if command else "") + near(
            option, known)


def yaml_keys(text):
    """Keys of a YAML text with their parents: (line, parent, key)."""
    blocks, flow = [], []  # keys above: by indentation, and of open braces
    for i, line in enumerate(text.splitlines()):
        line = re.sub(r"(^|\s)#.*", "", line)
        last = None
        for match in re.finditer(r"([\w/-]+):(?=\s|$)|([{}])", line):
            key, brace = match.groups()
            if brace == "{":
                flow.append(last)
            elif brace:
                if flow:
                    flow.pop()
            elif flow:
                yield i, flow[-1], key
                last = key
            else:
                while blocks and blocks[-1][0] >= match.start():
                    blocks.pop()
                yield i, blocks[-1][1] if blocks else None, key
                blocks.append((match.start(), key))
                last = key


def check_keys(sources, piece):
    text = piece.text
    if piece.language is None:
        shown = re.match(r"[a-z_]+:", text) and not re.search(r'"|(error|warning):', text)
        keys = list(yaml_keys(text)) if shown else []
        if piece.first and piece.setting and re.fullmatch(r"keys?\b.*", piece.column):
            keys.append((0, None, text.split(":")[0]))
    else:
        keys = list(yaml_keys(text)) if piece.language == "yaml" else []
    for path in re.findall(r"--set '?((?:[\w/]+\.)*\w+)=", text):
        if path != "path":  # the placeholder of the help text
            keys.append((0, None, re.sub(r"(\.\d+)+$", "", path).split(".")[-1]))
    for i, parent, key in keys:
        if parent not in NAMED_CHILDREN and key not in sources.keys:
            yield piece.line + i, f"no key '{key}' in scenes" + near(key, sources.keys)


def check_word(sources, piece):
    """A lone identifier must occur in the sources, numbers at its end aside."""
    word = piece.text
    if not re.fullmatch(r"[a-z_][\w-]{3,}(\.[a-z_]\w+)?", word) or word.startswith(("tabi_", "tbi_")):
        return
    folder = word.split(".")[0]
    if word in sources.tests or f"tests/{folder}/test_{word[len(folder) + 1:]}.py" in sources.files:
        return
    if sources.has_path(word):
        return
    for part in word.split("."):
        stems = {part, re.sub(r"\d+$", "", part), re.sub(r"_x$", "", part)}  # `pile20`, `left_x`
        if not stems & sources.words:
            yield piece.line, f"nothing in the sources is called '{part}'" + near(part, sources.words)


def check_past(sources, piece):
    """A public name of the past must be gone."""
    for name in re.findall(r"\b(?:tabi_[a-z0-9_]+|TABI_[A-Z0-9_]+)\b(?![.*])", piece.text):
        if re.search(rf"\b{name}\b", sources.public):
            yield piece.line, f"'{name}' is called former, but include/ has it"


def check_complete(sources, document, text):
    """Documents that list all of a kind list all."""
    for name, pattern, form in COMPLETE:
        if document != sources.root / name:
            continue
        for path in sorted(sources.root.glob(pattern)):
            wanted = form.format(stem=path.stem, name=path.name, command=path.stem.replace("cmd_", ""))
            skipped = path.name in SKIPPED or not path.is_dir() and pattern.endswith("/")
            if path != document and not skipped and wanted not in text:
                yield 1, f"'{path.relative_to(sources.root).as_posix()}' is missing: no {wanted} in the text"


def check_documented(sources, texts):
    """Every key of a scene and every option of a command is in a document."""
    code = " ".join(re.findall(r"```.*?```|`[^`]*`", "\n".join(texts), flags=re.S))
    tables = sources.joined("src/scene/") + sources.joined("src/io/")
    for key in sorted(set(re.findall(r'\{\s*"(\w+)"\s*,\s*TBI_FIELD', tables))):
        if not re.search(rf"\b{key}\b", code):
            yield "docs/scenes.md", 1, f"key '{key}' of scenes is in no document"
    for command, options in sorted(sources.options.items()):
        for option in sorted(options):
            if not re.search(rf"(?<![\w-]){option}\b", code):
                yield "docs/cli.md", 1, f"option '{option}' of 'tabi {command}' is in no document"


def check_stages(sources, document):
    """The stages in docs/contact.md are those of the step, by number and name, in the same order."""
    code = (sources.root / "src/world/step.c").read_text(encoding="utf-8")
    before, _, after = document.read_text(encoding="utf-8").partition("## The step\n")
    coded = sorted((int(n), name) for n, name in re.findall(r"/\* (\d+)\. (\w+):", code))
    listed = [(int(n), name.lower())
              for n, name in re.findall(r"^(\d+)\. \*\*(\w+)", after.split("\n## ")[0], flags=re.M)]
    if not coded or listed != coded:
        yield before.count("\n") + 1, f"stages {listed} are not those of src/world/step.c, {coded}"


def check_functions(sources, text):
    """In tables of files and functions, a function is in one of the files of its row."""
    lines = without_fences(text).split("\n")
    for i, head in table_columns(lines).items():
        if not {"file", "function"} <= set(head):
            continue
        cells = dict(zip(head, re.split(r"(?<!\\)\|", lines[i].strip().strip("|"))))
        files = [f for name in re.findall(r"`([^`]+)`", cells.get("file", ""))
                 for f in sources.text if f == name or f.endswith("/" + name)]
        for name in re.findall(r"`(\w+)`", cells.get("function", "")):
            if not any(re.search(rf"^\w.*\b{name}[(\[]", sources.text[f], re.M) for f in files):
                yield i + 1, f"no function '{name}' in {' or '.join(files) or 'any file of this row'}"


def check_piece(sources, piece):
    if piece.column == "formerly":
        return list(check_past(sources, piece))
    found = [*check_names(sources, piece), *check_keys(sources, piece)]
    if piece.language in (None, "", "sh", "bash"):
        found += [*check_paths(sources, piece), *check_commands(sources, piece)]
    if piece.language is None:
        found += [*check_bare_option(sources, piece), *check_word(sources, piece)]
    return found


def check_document(sources, document):
    text = document.read_text(encoding="utf-8")
    found = [*check_links(sources, document, text), *check_complete(sources, document, text),
             *check_functions(sources, text), *check_prose(sources, text)]
    found += check_stages(sources, document) if document == sources.root / "docs/contact.md" else []
    for piece in [*fenced(text), *spans(text)]:
        found += check_piece(sources, piece)
    return sorted(set(found))


# the test of the checks

RIGHT = """# Right
[here](#right), `src/world/step.c`, `step.c`, `tabi run --contact cone`, `--json`, `contact: {model: cone}`,
`tabi_world_step`, `tabi_world_*`, `TABI_OK`, `tabi_material_def.friction`, formerly `tabi_gone_step` and
`gone.c`.
"""
WRONG = {
    "no file or folder": "`src/world/stepp.c`, `scenes/walkk.yaml`",
    "no file or folder 'stepp": "`stepp.c`",
    "no file 'docs/nowhere.md'": "more in docs/nowhere.md",
    "link to": "[there](nowhere.md)",
    "has no heading": "[here](#nothing)",
    "no key 'modl'": "`contact: {modl: cone}`",
    "no key 'masss'": "`--set bodies.box.masss=3`",
    "no key 'grvity'": "\n```yaml\nname: x\ngrvity: [0, 0, 0]\n```\n",
    "no key 'timestp'": "\n| key | default |\n|---|---|\n| `timestp` | s |\n",
    "'tabi info' has no option": "`tabi info --contact cone`",
    "no option '--contct'": "`--contct`",
    "no command": "`tabi rum`",
    "no target": "`make tests`",
    "no 'tabi_world_stepp'": "`tabi_world_stepp`",
    "no 'tabi_worlds_'": "`tabi_worlds_*`",
    "no 'TABI_OKAY'": "\n```c\nreturn TABI_OKAY;\n```\n",
    "has no member": "`tabi_material_def.frction`",
    "nothing in the sources": "`warm_strat`",
    "no function 'tabi_world_time'": "\n| file | function |\n|---|---|\n| `step.c` | `tabi_world_time` |\n",
    "is called former": "\n| formerly | now |\n|---|---|\n| `tabi_world_step` | |\n",
}


def self_test(sources):
    """Every wrong sentence is found, and the right one is left alone."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "sample.md"
        for expected, text in [(None, RIGHT), *WRONG.items()]:
            document.write_text(text, encoding="utf-8")
            messages = [message for _, message in check_document(sources, document)]
            if bool(messages) != bool(expected) or expected and not any(expected in m for m in messages):
                failures.append(f"check_docs.py: self-test: {text!r}: {messages}, not {expected!r}")
        document.write_text("## The step\n1. **Forces.**\n2. **Candidates.**\n", encoding="utf-8")
        if not list(check_stages(sources, document)):
            failures.append("check_docs.py: self-test: two stages pass for those of the step")
    if not list(check_documented(sources, [RIGHT])):
        failures.append("check_docs.py: self-test: a document with one key and one option documents all")
    print("\n".join(failures) or f"check_docs.py: finds {len(WRONG) + 2} kinds of mistake")
    return 1 if failures else 0


def main(arguments):
    sources = Sources(ROOT)
    if arguments == ["--self-test"]:
        return self_test(sources)
    documents = [pathlib.Path(a).resolve() for a in arguments] or [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *sorted((ROOT / "docs").glob("*.md"))]
    found = [(document.relative_to(ROOT), *error) for document in documents
             for error in check_document(sources, document)]
    if not arguments:
        found += check_sources(sources)
        found += check_documented(sources, [d.read_text(encoding="utf-8") for d in documents])
    for name, line, message in found:
        print(f"{name}:{line}: error: {message}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
