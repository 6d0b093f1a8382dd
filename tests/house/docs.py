"""What the documentation promises and can be checked: links lead somewhere, code is code, every command is told."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import cyclopts

from tests.house.tree import Finding, files, inside

_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_FENCE = re.compile(r"^( {0,3})(```+|~~~+)[ \t]*([^\n]*)\n(.*?)^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
ROOMS = ("start", "guides", "migration", "operations", "reference")
RECORD_PARTS = ("Context", "Options measured", "Decision", "Consequences")


def pages(root: Path) -> list[Path]:
    """Every page of prose."""
    return list(files(root, "*.md"))


def broken_links(root: Path) -> list[Finding]:
    """Relative links that lead to no file, and fragments that lead to no heading."""
    found = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        prose = _FENCE.sub(lambda block: "\n" * block.group().count("\n"), text)
        prose = re.sub(r"`[^`\n]*`", "``", prose)
        for match in _LINK.finditer(prose):
            target = match[1] or match[2]
            if re.match(r"[a-z][a-z0-9+.-]*:", target) or target.startswith("//"):
                continue
            line = prose.count("\n", 0, match.start()) + 1
            path, _, fragment = target.partition("#")
            goal = (root / path.lstrip("/") if path.startswith("/") else page.parent / path) if path else page
            if not goal.exists():
                found.append(Finding(inside(page, root), line, f"{target} leads nowhere"))
            elif fragment and goal.suffix == ".md" and fragment not in _anchors(goal.read_text(encoding="utf-8")):
                found.append(Finding(inside(page, root), line, f"{target}: no heading of that name"))
    return found


def unlisted_pages(root: Path) -> list[Finding]:
    """Pages for users that the list of pages does not lead to."""
    index = root / "docs" / "README.md"
    listed = {match[1] for match in _LINK.finditer(index.read_text(encoding="utf-8"))}
    return [
        Finding(inside(index, root), 1, f"{path} is not listed")
        for room in ROOMS
        for page in sorted((root / "docs" / room).glob("*.md"))
        if (path := f"{room}/{page.name}") not in listed
    ]


def _anchors(text: str) -> set[str]:
    """The fragments of the headings of a page, as code hosts make them."""
    headings = re.findall(r"^#{1,6}\s+(.+?)\s*#*$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-") for heading in headings}


def blocks(text: str, language: str) -> Iterator[tuple[int, str]]:
    """The fenced blocks of one language, each with the line that it starts at."""
    for match in _FENCE.finditer(text):
        if match[3].split() and match[3].split()[0].lower() == language:
            yield text.count("\n", 0, match.start(4)) + 1, match[4]


def broken_code(root: Path) -> list[Finding]:
    """Python blocks that are not Python. ``await`` may stand alone, as in a notebook."""
    found = []
    for page in pages(root):
        for line, code in blocks(page.read_text(encoding="utf-8"), "python"):
            try:
                compile(
                    textwrap.dedent(code), str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
                )
            except SyntaxError as error:
                at = line + (error.lineno or 1) - 1
                found.append(Finding(inside(page, root), at, f"this block is not Python: {error.msg}"))
    return found


WIDEST = 125
"""Characters of a line of prose; only rows of tables may be longer, as they can't be broken."""


def wide_lines(root: Path) -> list[Finding]:
    """Lines of pages that don't fit a terminal or an editor beside another."""
    return [
        Finding(inside(page, root), number, f"{len(line)} characters; at most {WIDEST}, or a row of a table")
        for page in pages(root)
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > WIDEST and not line.lstrip().startswith("|")
    ]


def commands(app: cyclopts.App, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], cyclopts.App]]:
    """Every command below this app that people are shown, with its words; lazy ones are loaded."""
    for name in app:
        below = app[name]
        if name.startswith("-") or not below.show:
            continue
        words = (*above, name)
        yield words, below
        yield from commands(below, words)


def untold_commands(app: cyclopts.App, page: Path) -> list[Finding]:
    """Commands without a sentence of help, or without a place in the reference."""
    told = page.read_text(encoding="utf-8") if page.exists() else ""
    found = []
    for words, command in commands(app):
        line = " ".join(("mainspring", *words))
        if not (command.help or "").strip():
            found.append(Finding("src/mainspring/cli", 1, f"`{line}` has no help: give its function a docstring"))
        if not re.search(rf"{re.escape(line)}(?![\w-])", told):
            found.append(Finding("docs/reference/cli.md", 1, f"does not tell of `{line}`"))
    return found


def odd_records(root: Path) -> list[Finding]:
    """Decision records that are out of order, or lack a part that a record has."""
    found = []
    records = [path for path in files(root / "docs" / "decisions", "*.md") if path.name != "README.md"]
    for number, path in enumerate(records, 1):
        shown, text = inside(path, root), path.read_text(encoding="utf-8")
        if not path.name.startswith(f"{number:04}-"):
            found.append(Finding(shown, 1, f"should be number {number:04}: one after the other, none left out"))
        if not re.match(rf"# {number:04} ", text):
            found.append(Finding(shown, 1, f"should start with '# {number:04} ' and its title"))
        if not re.search(r"^Date: \d{4}-\d{2}-\d{2}", text, re.MULTILINE):
            found.append(Finding(shown, 1, "has no line 'Date: YYYY-MM-DD'"))
        found += [
            Finding(shown, 1, f"has no part '## {part}'") for part in RECORD_PARTS if f"\n## {part}\n" not in text
        ]
    return found
