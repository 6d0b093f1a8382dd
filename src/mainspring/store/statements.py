"""Finds a statement by its name: ``sql/<engine>/x/y.sql`` if there is one, else ``sql/x/y.sql``.

One statement a file, named by its verb, pasteable into a shell. Leading ``--`` lines are its header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent / "sql"
ENGINES = ("sqlite", "postgres")
SHAPES = "shape"
"""The folder of statements about tables that are known only when they run."""

PARAMETER = re.compile(r"'[^']*'|--[^\n]*|(?<!:):([a-z_]+)")
_ANSWERING = re.compile(r"^(select|with)\b|\breturning\b")


class Statement(NamedTuple):
    """A statement ready for its engine.

    ``parameters``: names in the order of their first appearance, which is the order of values for batches;
    ``header``: ``leaves``, ``enters`` and ``causes`` of a move; ``answers``: whether it has rows to tell.
    """

    name: str
    text: str
    parameters: tuple[str, ...]
    header: dict[str, str]
    answers: bool


@cache
def statement(name: str, engine: str) -> Statement:
    """The statement of this name for this engine. A missing file is a fault of the package: FileNotFoundError."""
    override = ROOT / engine / f"{name}.sql"
    return read_statement(name, override if override.exists() else ROOT / f"{name}.sql")


def read_statement(name: str, path: Path) -> Statement:
    """Read one file: header lines, then the statement."""
    header: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    body = [line for line in lines if not line.startswith("--")]
    for line in lines:
        key, colon, value = line.removeprefix("--").strip().partition(": ")
        if line.startswith("--") and colon and key in {"leaves", "enters", "causes"}:
            header[key] = value.strip()
    text = "\n".join(body).strip()
    names = [match[1] for match in PARAMETER.finditer(text) if match[1]]
    return Statement(name, text, tuple(dict.fromkeys(names)), header, bool(_ANSWERING.search(text)))


@cache
def formatted(name: str) -> bytes:
    """The statement for PostgreSQL's driver: ``:name`` as ``%(name)s``."""
    text = statement(name, "postgres").text.replace("%", "%%")
    return PARAMETER.sub(lambda match: f"%({match[1]})s" if match[1] else match[0], text).encode()


@cache
def numbered(name: str) -> bytes:
    """The statement as PostgreSQL itself reads it: its parameters by number, in the order of ``parameters``."""
    found = statement(name, "postgres")
    return PARAMETER.sub(
        lambda match: f"${found.parameters.index(match[1]) + 1}" if match[1] else match[0], found.text
    ).encode()


def shaped(name: str, engine: str, **names: str | Sequence[str] | int) -> str:
    """A statement of ``shape/``: about tables that are known when it runs. Names are quoted and put in.

    A text stands for one name, several for a list of names, a number for so many values that are bound by position.
    """
    value = "?" if engine == "sqlite" else "%s"

    def written(one: str | Sequence[str] | int) -> str:
        if isinstance(one, int):
            return ", ".join([value] * one)
        return ", ".join('"' + name.replace('"', '""') + '"' for name in ([one] if isinstance(one, str) else one))

    return statement(name, engine).text.format(one=value, **{key: written(one) for key, one in names.items()})


def names(engine: str) -> list[str]:
    """Every statement that this engine has, by the name that code uses; migrations and shapes are none."""
    found = set()
    for path in ROOT.rglob("*.sql"):
        folder, _, rest = (path.relative_to(ROOT).with_suffix("").as_posix()).partition("/")
        if not path.name[0].isdigit() and path.parent.name != SHAPES and folder not in set(ENGINES) - {engine}:
            found.add(rest if folder == engine else f"{folder}/{rest}")
    return sorted(found)


def migrations(kind: str) -> list[tuple[int, str, str]]:
    """Number, name and script of each migration of a kind (``sqlite``, ``postgres``, ``logs``), in order."""
    found = []
    for path in sorted((ROOT / "schema").glob(f"*.{kind}.sql")):
        number, _, name = path.name.removesuffix(f".{kind}.sql").partition("_")
        found.append((int(number), name, path.read_text(encoding="utf-8")))
    return found
