"""The house rules that no type checker or linter knows. Each is a function of a tree, over its syntax.

Run as a script it prints the report of the largest files and functions: something to look at, not a gate.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.house.bans import BUILTINS, PACKAGE_BANS, TEST_BANS, Ban
from tests.house.tree import (
    ROOT,
    Finding,
    Source,
    aliases,
    dotted,
    files,
    inside,
    package_of,
    parse,
    sources,
    texts,
    walked,
)

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
FORBIDDEN_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "base",
    "manager",
    "core",
    "misc",
    "service",
    "services",
}


# ------------------------------------------------------------------------------------------------ banned names
def banned_names(root: Path) -> list[Finding]:
    """Uses of a name outside the place that owns it."""
    package = package_of(root)
    found = []
    for source in sources(root):
        bans = [ban for ban in PACKAGE_BANS if ban.holds_in(inside(source.path, package))]
        found += _uses(source, bans)
    for source in sources(root, "tests"):
        found += _uses(source, [ban for ban in TEST_BANS if ban.holds_in(source.name)])
    return found


def _uses(source: Source, bans: list[Ban]) -> list[Finding]:
    """Imports of what is banned, and other uses of banned names."""
    names = aliases(source.tree)
    by_head: dict[str, list[Ban]] = {}
    for ban in bans:
        by_head.setdefault(ban.name.partition(".")[0], []).append(ban)
    own = {node.id for node in walked(source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found = {}
    for node in walked(source.tree):
        for name in _named(node, names, own):
            for ban in by_head.get(name.partition(".")[0], ()):
                # a banned module is found where it is imported, once; a banned name also where it is used
                if ban.covers(name) and (not ban.is_module or isinstance(node, ast.Import | ast.ImportFrom)):
                    text = f"{name} is not for this place: {ban.instead}"
                    found[(getattr(node, "lineno", 1), ban.name)] = source.finding(node, text)
    return list(found.values())


def _named(node: ast.AST, names: dict[str, str], own: set[str]) -> list[str]:
    """The full names that this node mentions."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [] if node.level or not node.module else [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Attribute):
        full = dotted(node, names)
        return [full] if full.partition(".")[0] not in own else []
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
        known = names.get(node.id)
        return [known] if known else [node.id] if node.id in BUILTINS else []
    return []


# ------------------------------------------------------------------------------------------- names of modules
def forbidden_module_names(root: Path) -> list[Finding]:
    """Modules whose name says nothing about what is in them."""
    found = []
    for folder in ("src", "tests", "benchmarks"):
        for path in files(root / folder, "*.py"):
            for part in path.relative_to(root / folder).with_suffix("").parts:
                last = part.strip("_").rpartition("_")[2]
                if last in FORBIDDEN_NAMES:
                    found.append(Finding(inside(path, root), 1, f"a module can't be named {part!r}: name what it does"))
    return found


# -------------------------------------------------------------------------------------------------------- SQL
_SHOUTED = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE\s|CREATE|DROP|ALTER|REPLACE|WITH|PRAGMA|BEGIN|SAVEPOINT)\b")
_SPOKEN = re.compile(
    r"""\s*( select\s.*\bfrom\s | insert\s+(or\s+\w+\s+)?into\s | update\s+\w+\s+set\s | delete\s+from\s
    | (create|drop|alter)\s+(temp\s+|unique\s+|virtual\s+)*(table|index|view|trigger|schema)\s
    | replace\s+into\s | with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\s*\( | pragma\s+\w+ )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
ENGINE_SPEECH = re.compile(r"\s*(PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b", re.IGNORECASE)
"""How an engine is set up and transactions are framed: no table is named, so it may stand in the engine's module."""
ENGINES = ("src/mainspring/store/sqlite", "src/mainspring/store/postgres", "src/mainspring/store/migrate")


def sql_in_python(root: Path) -> list[Finding]:
    """Statements that stand in a .py file, where no one finds, reviews or pastes them."""
    found = []
    for source in sources(root):
        for node, text in texts(source.tree):
            if not (_SHOUTED.match(text) or _SPOKEN.match(text)):
                continue
            if ENGINE_SPEECH.match(text) and source.name.startswith(ENGINES):
                continue
            found.append(source.finding(node, f"SQL lives in store/sql/*.sql, not here: {text.strip()[:40]!r}"))
    return found


def composed_statements(root: Path) -> list[Finding]:
    """A statement built from pieces where it is executed: the way in for injected SQL."""
    found = []
    for source in sources(root):
        for node in walked(source.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                verb = node.func.attr
                if verb in {"execute", "executemany", "executescript"} and _is_composed(node.args[0]):
                    found.append(
                        source.finding(node, f"{verb}() takes a statement by name, never one built from pieces")
                    )
    return found


def _is_composed(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return True
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"format", "join", "replace", "format_map"}
    )


def loose_statements(root: Path) -> list[Finding]:
    """Files of SQL that nothing names, names without a file, and files that don't say what they are for.

    ``sql/job/claim.sql`` and its overrides ``sql/sqlite/job/claim.sql`` are the statement ``job/claim``, which stands
    as one text in a module of store. A text that ends in ``_`` (``f"job/list_{kind}"``) names all that start so.
    The numbered files in ``sql/schema/`` are migrations, found by their numbers.
    """
    folder = package_of(root) / "store" / "sql"
    modules = sources(root, "src/mainspring/store")
    named = {text: (source, node) for source in modules for node, text in texts(source.tree)}
    families = tuple(text for text in named if re.fullmatch(r"[a-z_]+/[a-z_]+_", text))
    found, statements = [], set()
    for path in files(folder, "*.sql"):
        shown, text = inside(path, root), path.read_text(encoding="utf-8")
        if not re.match(r"--\s*\S", text):
            found.append(Finding(shown, 1, "starts with no comment: say in '-- ...' what the statement does"))
        if re.match(r"\d{4}_", path.name):
            continue
        parts = path.relative_to(folder).with_suffix("").parts
        name = "/".join(parts[1:] if parts[0] in {"sqlite", "postgres"} else parts)
        statements.add(name)
        if name not in named and not name.startswith(families or ("\0",)):
            found.append(Finding(shown, 1, f"no module of store names {name!r}: delete the file, or use it"))
        if _count_statements(text) != 1:
            found.append(Finding(shown, 1, "holds several statements, or none: one in each file"))
    nouns = {name.partition("/")[0] for name in statements}
    for text, (source, node) in named.items():
        told = any(name == text or (text in families and name.startswith(text)) for name in statements)
        if re.fullmatch(r"[a-z_]+/[a-z_]+", text) and text.partition("/")[0] in nouns and not told:
            found.append(source.finding(node, f"there is no file for the statement {text!r}"))
    return found


def _count_statements(text: str) -> int:
    # The body of a trigger or function belongs to the one statement that makes it.
    body = r"\$\$.*?\$\$|\bbegin\b.*\bend\b"
    bare = re.sub(rf"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|{body}", " ", text, flags=re.DOTALL)
    return sum(1 for statement in bare.split(";") if statement.strip())


# ------------------------------------------------------------------------------ errors and fault points are tested
def _mentions(root: Path) -> tuple[set[str], str]:
    """The names and the texts that tests use, those of the house left out, as it names everything."""
    names: set[str] = set()
    strings = []
    for source in sources(root, "tests"):
        if source.name.startswith("tests/house/"):
            continue
        for node in walked(source.tree):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
        strings += [text for _, text in texts(source.tree)]
    return names, "\n".join(strings)


def _says(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", text) is not None


def error_codes(root: Path) -> list[tuple[Source, ast.ClassDef, str]]:
    """The error classes that have a code of their own, and the file of each."""
    found = []
    for path in sorted((package_of(root) / "errors").glob("*.py")):
        source = parse(path, root)
        for node in source.tree.body:
            for line in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
                    target = line.targets[0]
                    if isinstance(target, ast.Name) and target.id == "code" and isinstance(node, ast.ClassDef):
                        found.append((source, node, str(line.value.value)))
    return found


def untold_errors(root: Path) -> list[Finding]:
    """Codes that no test sees, that the reference does not describe, or that two classes share."""
    page = root / "docs" / "reference" / "errors.md"
    described = page.read_text(encoding="utf-8") if page.exists() else ""
    names, strings = _mentions(root)
    found, seen = [], set[str]()
    for source, node, code in error_codes(root):
        if node.name not in names and not _says(strings, code):
            found.append(source.finding(node, f"no test names {node.name} or its code {code!r}"))
        if f"`{code}`" not in described:
            meaning = (ast.get_docstring(node) or "").partition("\n")[0]
            found.append(source.finding(node, f"docs/reference/errors.md lacks `{code}`: {meaning}"))
        if code in seen:
            found.append(source.finding(node, f"two errors have the code {code!r}"))
        seen.add(code)
    return found


def untested_faults(root: Path) -> list[Finding]:
    """Fault points that no test arms, or that the product never passes."""
    path = package_of(root) / "faults.py"
    if not path.exists():
        return []
    source = parse(path, root)
    names, strings = _mentions(root)
    passed = {
        node.attr
        for other in sources(root)
        if other.path != path
        for node in walked(other.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "FaultPoint"
    }
    found = []
    for line, name, value in _members(source.tree, "FaultPoint"):
        if name not in names and not _says(strings, value):
            found.append(source.finding(line, f"no test names the fault point {name} ({value})"))
        if name not in passed:
            found.append(source.finding(line, f"nothing hits the fault point FaultPoint.{name}"))
    return found


def _members(tree: ast.Module, enum: str) -> Iterator[tuple[int, str, str]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == enum:
            for line in node.body:
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
                    target = line.targets[0]
                    if isinstance(target, ast.Name):
                        yield line.lineno, target.id, str(line.value.value)


# --------------------------------------------------------------------------------------- notes, sizes, dependencies
_NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_ISSUE = re.compile(r"#\d+")


def unowned_notes(root: Path) -> list[Finding]:
    """Notes for later that no issue carries: nobody will ever see them again."""
    found = []
    for folder in ("src", "tests", "benchmarks", "examples", "docs", "ui/src"):
        for path in files(root / folder, "*"):
            if path.suffix in {".py", ".sql", ".md", ".ts", ".tsx", ".css"}:
                for line, comment in _comments(path) if _NOTE.search(path.read_text(encoding="utf-8")) else ():
                    if _NOTE.search(comment) and not _ISSUE.search(comment):
                        text = f"give it the number of its issue: {comment.strip()[:60]}"
                        found.append(Finding(inside(path, root), line, text))
    return found


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    elif path.suffix == ".md":
        yield from enumerate(text.splitlines(), 1)
    else:
        for number, line in enumerate(text.splitlines(), 1):
            mark = re.search(r"--|//|/\*|^\s*\*", line)
            if mark:
                yield number, line[mark.start() :]


def long_files(root: Path) -> list[Finding]:
    """Files that nobody reads to the end."""
    found = []
    for path in files(package_of(root), "*"):
        if path.suffix in {".py", ".sql"}:
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONGEST_FILE:
                found.append(Finding(inside(path, root), lines, f"{lines} lines; {LONGEST_FILE} is the most"))
    return found


def long_functions(root: Path) -> list[Finding]:
    """Functions to look at: a report, as some things are one thing."""
    found = []
    for source in sources(root):
        for node in walked(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    found.append(source.finding(node, f"{node.name} has {lines} lines"))
    return found


LOADED_BY_NAME = {
    "httptools": "uvicorn's parser",
    "tzdata": "zoneinfo's data where the system has none",
    "uvloop": "the loop of server and runners",
}
"""Dependencies that somebody else imports for us."""


IMPORTED_AS = {
    "argon2_cffi": "argon2",
    "opentelemetry_exporter_otlp_proto_http": "opentelemetry",
    "opentelemetry_sdk": "opentelemetry",
    "python_dateutil": "dateutil",
    "pyyaml": "yaml",
}
"""Distributions whose package has another name."""


def dependency_drift(root: Path) -> list[Finding]:
    """Imports that pyproject.toml does not declare, and declared packages that nothing imports."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    needed = {_distribution(line) for line in project.get("dependencies", [])}
    optional = {_distribution(line) for name, lines in extras.items() if name != "test" for line in lines}
    imported: dict[str, Finding] = {}
    for source in sources(root):
        for node in walked(source.tree):
            for name in _named(node, {}, set()) if isinstance(node, ast.Import | ast.ImportFrom) else []:
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top != "mainspring":
                    imported.setdefault(top, source.finding(node, f"pyproject.toml does not declare {top}"))
    found = [finding for name, finding in imported.items() if name not in needed | optional]
    if imported:  # an empty package has nothing to tell about what it needs
        idle = needed - set(imported) - set(LOADED_BY_NAME)
        found += [Finding("pyproject.toml", 1, f"nothing imports {name}: leave it out") for name in sorted(idle)]
    return found


def _distribution(requirement: str) -> str:
    """The name under which a required package is imported."""
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("-", "_")
    return IMPORTED_AS.get(name, name)


def size_report(root: Path) -> str:
    """The largest files, and the functions worth a look."""
    sizes = sorted(
        ((len(path.read_text(encoding="utf-8").splitlines()), path) for path in files(package_of(root), "*.py")),
        reverse=True,
    )
    lines = ["largest files:"]
    lines += [f"  {count:5}  {inside(path, root)}" for count, path in sizes[:5]]
    lines += [f"median file: {sizes[len(sizes) // 2][0] if sizes else 0} lines of {len(sizes)} files"]
    functions = long_functions(root)
    lines += [f"functions over {LONGEST_FUNCTION} lines: {len(functions)}"]
    lines += [f"  {finding}" for finding in functions]
    return "\n".join(lines)


if __name__ == "__main__":
    print(size_report(ROOT))
