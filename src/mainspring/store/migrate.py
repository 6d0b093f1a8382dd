"""Numbered, forward-only migrations; each in one transaction with its number, so a kill leaves whole steps."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring import faults
from mainspring.errors import SchemaTooNew
from mainspring.faults import FaultPoint
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.sqlite_errors import translated
from mainspring.store.statements import migrations, statement

VERSION_TABLE = "schema/create_version"


Step = tuple[int, str, str]
"""Number, name and script of a migration."""


def upgrade(engine: SqliteEngine, kind: str, *, binary: str, steps: Sequence[Step] = ()) -> None:
    """Bring the tables to this version. Raises SchemaTooNew when they were made by a newer, incompatible one.

    ``steps``: the migrations, in order; those of this kind in the package unless given.
    """
    steps = steps or migrations(kind)
    newest = steps[-1][0]
    version, oldest_binary = _version(engine)
    check_not_newer(engine.path, (version, oldest_binary), newest, binary)
    if version < newest:
        with translated(engine.path):
            _apply(engine, [step for step in steps if step[0] > version], binary)
    _forget_statistics(engine)


def check_not_newer(path: str, found: tuple[int, str], newest: int, binary: str) -> None:
    """Raise SchemaTooNew for tables of a newer mainspring that said that this one must not use them."""
    version, oldest_binary = found
    if version > newest and _numbers(binary) < _numbers(oldest_binary):
        raise SchemaTooNew(
            f"{path} has schema version {version}; this mainspring {binary} knows up to {newest}.",
            remedy=f"Use mainspring {oldest_binary} or newer: pip install --upgrade mainspring",
        )


def _apply(engine: SqliteEngine, steps: Sequence[Step], binary: str) -> None:
    connection = engine.raw
    for number, _, script in steps:
        connection.execute("begin immediate")
        try:
            # Another process may have been faster while we waited for the lock.
            if _version(engine)[0] < number:
                engine.script(script)
                _record(engine, number, binary)
                faults.hit(FaultPoint.MIGRATE_BEFORE_COMMIT)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled back already
                connection.execute("rollback")
            raise


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
