"""Which module of the package leads to which, by import or by name, and what is reached from the outside."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.house.tree import Finding, Source, package_of, sources, texts

ROOTS = {
    "mainspring": "what users import",
    "mainspring.__main__": "python -m mainspring",
    "mainspring.cli.main": "the command",
    "mainspring.testing": "what users test with",
    "mainspring.testing.world": "the simulated world, which campaign/ and tests/simulation run",
    "mainspring.testing.report": "the story of a seed that failed, which campaign/ prints",
    "mainspring.extend": "the extension points",
}
"""Modules that the outside world enters by."""


def dead_modules(root: Path) -> list[Finding]:
    """Modules that can't be reached from where the outside world enters."""
    known = {_name(source.path, root): source for source in sources(root)}
    reached: set[str] = set()
    ahead = [name for name in ROOTS if name in known]
    while ahead:
        name = ahead.pop()
        if name in reached:
            continue
        reached.add(name)
        ahead += _leads_to(name, known)
    return [
        source.finding(1, f"nothing leads to {name}: delete it, or use it")
        for name, source in known.items()
        if name not in reached and not _is_empty(source)
    ]


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(package_of(root).parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _leads_to(name: str, known: dict[str, Source]) -> list[str]:
    """Modules that this one imports, or names in a text, as lazy imports and commands of processes do."""
    source = known[name]
    package = name if source.path.name == "__init__.py" else name.rpartition(".")[0]
    said = [package]
    for _, text in texts(source.tree):
        said += [match.group() for match in re.finditer(r"mainspring(\.\w+)+", text)]
        if re.fullmatch(r"\w+\.py", text):  # a file that a module starts as a program lies beside it
            said.append(f"{package}.{text.removesuffix('.py')}")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            said += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            said += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    found = []
    for full in said:
        parts = full.split(".")
        # a.b.c runs a and a.b on the way; what follows the last module is a name in it
        found += [".".join(parts[:count]) for count in range(1, len(parts) + 1) if ".".join(parts[:count]) in known]
    return found


def _is_empty(source: Source) -> bool:
    """A package whose __init__ says only what it is for."""
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in source.tree.body)
