"""What the checks of the house look at: the files of one checkout, parsed, and the findings about them.

Every check takes the root of a tree, so that a test can plant a violation in a small tree and see it found.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout that this file belongs to."""

SKIPPED = {"node_modules", "build", "dist", "__pycache__", "htmlcov"}


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is not as it should be."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Source:
    """One Python file."""

    path: Path
    name: str
    """The path as shown, from the root."""
    tree: ast.Module

    def finding(self, node: ast.AST | int, text: str) -> Finding:
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        return Finding(self.name, line, text)


def report(findings: list[Finding]) -> str:
    """The findings as the message of a failed assertion."""
    return "\n" + "\n".join(str(finding) for finding in sorted(findings))


def package_of(root: Path) -> Path:
    return root / "src" / "mainspring"


def inside(path: Path, root: Path) -> str:
    """The path from the root, with forward slashes."""
    return path.relative_to(root).as_posix()


def files(folder: Path, pattern: str) -> Iterator[Path]:
    """Files below a folder in a fixed order, without what tools leave behind."""
    if not folder.is_dir():
        return
    for path in sorted(folder.rglob(pattern)):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part in SKIPPED or part.startswith(".") for part in parts):
            yield path


def sources(root: Path, *folders: str) -> list[Source]:
    """The parsed Python files below these folders of the tree; of the package when none is named."""
    return [parse(path, root) for folder in folders or ("src/mainspring",) for path in files(root / folder, "*.py")]


def parse(path: Path, root: Path) -> Source:
    return Source(path, inside(path, root), _parsed(path, path.stat().st_mtime_ns))


@functools.cache
def _parsed(path: Path, _changed: int) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@functools.cache
def walked(tree: ast.Module) -> list[ast.AST]:
    """Every node of a file; kept, as each check goes over all of them."""
    return list(ast.walk(tree))


def aliases(tree: ast.Module) -> dict[str, str]:
    """What each imported name in this file stands for: ``from time import sleep as nap`` gives nap: time.sleep."""
    names: dict[str, str] = {}
    for node in walked(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                short = alias.asname or alias.name.partition(".")[0]
                names[short] = alias.name if alias.asname else short
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The full name that an expression such as ``dt.now`` stands for, or an empty text."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value, names)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def docstrings(tree: ast.Module) -> set[int]:
    """The identities of the nodes that are bare texts: docstrings of modules, classes, functions, attributes."""
    return {
        id(node.value)
        for node in walked(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def texts(tree: ast.Module) -> Iterator[tuple[ast.Constant, str]]:
    """Every text constant of a file that is not a docstring, the fixed parts of f-strings included."""
    bare = docstrings(tree)
    for node in walked(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node, node.value
