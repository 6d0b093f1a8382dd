"""Numbered, forward-only migrations; each in one transaction with its number, so a kill leaves whole steps.

Before the first of them a SQLite file that holds something is copied: ``x.db`` at version 3 to ``x.db.v3.backup``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mainspring import faults
from mainspring.errors import SchemaTooNew, StoreReadOnly
from mainspring.faults import FaultPoint
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.sqlite_copy import prepare_copy, publish
from mainspring.store.sqlite_errors import translated
from mainspring.store.statements import migrations, statement

VERSION_TABLE = "schema/create_version"


Step = tuple[int, str, str]
"""Number, name and script of a migration."""


class Upgraded(NamedTuple):
    """What an upgrade did to ``place``.

    ``found``: its version before; ``made``: the steps; ``backup``: where it is as it was before.
    """

    place: str
    found: int
    made: list[int]
    backup: str = ""


_fresh: dict[str, bytes] = {}
"""New databases in memory by their kind: the second of a process is a copy of the first, not migrated again."""


def upgrade(engine: SqliteEngine, kind: str, *, binary: str, steps: Sequence[Step] = ()) -> Upgraded:
    """Bring the tables to this version. Raises SchemaTooNew when they were made by a newer, incompatible one.

    ``steps``: the migrations, in order; those of this kind in the package unless given.
    """
    steps = steps or migrations(kind)
    newest = steps[-1][0]
    version, oldest_binary = _version(engine)
    check_not_newer(engine.path, (version, oldest_binary), newest, binary)
    made, backup = [], ""
    if version < newest:
        if version and not engine.memory:
            backup = _save(engine, version)
        with translated(engine.path):
            if engine.memory and kind in _fresh:
                engine.raw.deserialize("main", _fresh[kind])
            else:
                made = _apply(engine, [step for step in steps if step[0] > version], binary)
            if engine.memory:
                _fresh[kind] = engine.raw.serialize("main")
    _forget_statistics(engine)
    return Upgraded(engine.path, version, made, backup)


def _save(engine: SqliteEngine, version: int) -> str:
    """Copy the file as it is before the upgrade; an empty text when another process was faster with both."""
    target = Path(f"{engine.path}.v{version}.backup")
    part = prepare_copy(engine, target)
    # While the version is still the one that we found, so is that of the copy, which was made in between.
    if _version(engine)[0] != version:
        part.unlink()
        return ""
    try:
        publish(part, target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreReadOnly(
            f"{target} can't be written, and without a backup nothing is upgraded: {error.strerror}.",
            remedy="Make room for it.",
        ) from error
    return str(target)


def check_not_newer(path: str, found: tuple[int, str], newest: int, binary: str) -> None:
    """Raise SchemaTooNew for tables of a newer mainspring that said that this one must not use them."""
    version, oldest_binary = found
    if version > newest and _numbers(binary) < _numbers(oldest_binary):
        raise SchemaTooNew(
            f"{path} has schema version {version}; this mainspring {binary} knows up to {newest}.",
            remedy=f"Use mainspring {oldest_binary} or newer: pip install --upgrade mainspring",
        )


def _apply(engine: SqliteEngine, steps: Sequence[Step], binary: str) -> list[int]:
    connection = engine.raw
    made = []
    for number, _, script in steps:
        connection.execute("begin immediate")
        try:
            # Another process may have been faster while we waited for the lock.
            if _version(engine)[0] < number:
                engine.script(script)
                _record(engine, number, binary)
                faults.hit(FaultPoint.MIGRATE_BEFORE_COMMIT)
                made.append(number)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled back already
                connection.execute("rollback")
            raise
    return made


def _forget_statistics(engine: SqliteEngine) -> None:
    """Plans must not depend on who ran ANALYZE when. Connections that are open elsewhere forget too."""
    with translated(engine.path):
        if list(engine.raw.execute(_text("schema/statistics"))):
            engine.script(_text("schema/forget_stat1"))
            engine.script(_text("schema/forget_stat4"))


def _version(engine: SqliteEngine) -> tuple[int, str]:
    """Version and oldest usable binary; (0, "") for an empty file."""
    with translated(engine.path):
        if not _known(engine):
            return 0, ""
        version, oldest_binary = next(engine.raw.execute(_text("schema/read")))
        return version, oldest_binary


def _known(engine: SqliteEngine) -> bool:
    return bool(next(engine.raw.execute(_text("schema/known")))[0])


def _record(engine: SqliteEngine, number: int, binary: str) -> None:
    if not _known(engine):
        engine.script(_text(VERSION_TABLE))
    engine.raw.execute(_text("schema/write"), {"version": number, "oldest_binary": binary, "now": engine.clock.now()})


def _text(name: str) -> str:
    return statement(name, "sqlite").text


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
