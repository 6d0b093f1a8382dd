"""A consistent copy of a SQLite file while others read and write it: all of one snapshot, whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from mainspring.errors import StoreCorrupt
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.sqlite_errors import translated
from mainspring.store.statements import statement


def prepare_copy(engine: SqliteEngine, target: Path) -> Path:
    """Write the copy beside where it is to be, read it back, and answer where it is now; ``publish`` makes it known.

    Writers are not held up: the copy is read from one snapshot, and the WAL grows meanwhile. Raises the StoreError
    that fits, and leaves nothing behind then.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with translated(engine.path):
            engine.raw.execute(statement("schema/copy", "sqlite").text, {"path": str(part)})
        _check(engine, part)
        _to_disk(part)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    return part


def publish(part: Path, target: Path) -> None:
    """Give a copy its name, which stands for a whole one from then on."""
    part.replace(target)
    _to_disk(target.parent)


def _check(engine: SqliteEngine, part: Path) -> None:
    copy = SqliteEngine(str(part), clock=engine.clock, chance=engine.chance, inline=True, durable=False)
    try:
        problems = copy.read(lambda tx: tx.rows("check/quick"))
    finally:
        copy.close()
    if problems:
        raise StoreCorrupt(
            f"The copy of {engine.path} is not sound: {problems[0][0]}.",
            remedy="Nothing was kept of it. Look at the database itself: mainspring db check",
        )


def _to_disk(path: Path) -> None:
    """Wait until the disk has it."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
