"""The tables of a PostgreSQL store: made where there are none, upgraded when asked, refused when they don't fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from mainspring import faults
from mainspring.errors import SchemaTooOld, StoreUnreachable
from mainspring.faults import FaultPoint
from mainspring.store.migrate import Step, check_not_newer
from mainspring.store.postgres import PostgresEngine
from mainspring.store.postgres_errors import translated
from mainspring.store.postgres_session import Session
from mainspring.store.statements import formatted, migrations, statement

OLDEST_SERVER = 140_000


def prepare(engine: PostgresEngine, *, binary: str, steps: Sequence[Step] = ()) -> None:
    """Make sure that the tables fit this version: an empty database gets them; older ones are for ``db upgrade``.

    Raises SchemaTooOld, SchemaTooNew, StoreUnreachable.
    """
    steps = steps or migrations("postgres")
    version, oldest_binary = version_of(engine)
    check_not_newer(engine.path, (version, oldest_binary), steps[-1][0], binary)
    if not version:
        _create(engine, binary=binary, steps=steps)
    elif version < steps[-1][0]:
        raise SchemaTooOld(
            f"{engine.path} has schema version {version}; this mainspring {binary} needs {steps[-1][0]}.",
            remedy="Upgrade it, at a time that suits you: mainspring db upgrade",
        )


def upgrade(engine: PostgresEngine, *, binary: str, steps: Sequence[Step] = ()) -> list[int]:
    """Bring the tables to this version, one transaction for each step; the numbers of the steps that were made.

    Several may try at once: one does it, the others find it done. Raises SchemaTooNew, StoreReadOnly.
    """
    made = []
    steps = steps or migrations("postgres")
    check_not_newer(engine.path, version_of(engine), steps[-1][0], binary)
    with _patient(engine) as connection:
        for step in steps:
            with connection.transaction():
                _enter(connection, engine)
                if _made(connection, engine, step, binary):
                    made.append(step[0])
    return made


def _create(engine: PostgresEngine, *, binary: str, steps: Sequence[Step]) -> None:
    """All tables in one transaction: who dies amid it leaves nothing that would have to be upgraded."""
    with _patient(engine) as connection, connection.transaction():
        _enter(connection, engine)
        for step in steps:
            _made(connection, engine, step, binary)


@contextmanager
def _patient(engine: PostgresEngine) -> Iterator[psycopg.Connection[Any]]:
    """A connection that waits for its answers: building an index may take hours."""
    with translated(engine.path), closing(Session(engine.place.conninfo, None)) as session:
        if session.version < OLDEST_SERVER:
            raise StoreUnreachable(
                f"{engine.path} is PostgreSQL {session.version // 10_000}; 14 is the oldest that is supported.",
                remedy="Upgrade the server.",
            )
        yield session.connection


def _made(connection: psycopg.Connection[Any], engine: PostgresEngine, step: Step, binary: str) -> bool:
    """Make a step inside a transaction; False where somebody else has."""
    number, _, script = step
    if _version(connection)[0] >= number:
        return False
    connection.execute(script.encode())
    _record(connection, engine, number, binary)
    faults.hit(FaultPoint.MIGRATE_BEFORE_COMMIT)
    return True


def version_of(engine: PostgresEngine) -> tuple[int, str]:
    """Version and oldest usable binary; (0, "") where there are no tables."""
    with translated(engine.path), engine.lent() as session, session.connection.transaction():
        session.connection.execute(formatted("session/enter"), {"path": engine.place.search_path})
        return _version(session.connection)


def _enter(connection: psycopg.Connection[Any], engine: PostgresEngine) -> None:
    """Only one upgrades at a time; the schema is made where it is missing."""
    connection.execute(formatted("schema/lock"), {"space": engine.place.upgrade_space})
    if not (connection.execute(formatted("schema/exists"), {"schema": engine.place.schema}).fetchone() or (0,))[0]:
        connection.execute(formatted("schema/name"), {"schema": engine.place.schema})
        connection.execute(statement("schema/create", "postgres").text.encode())
    connection.execute(formatted("session/enter"), {"path": engine.place.search_path})


def _version(connection: psycopg.Connection[Any]) -> tuple[int, str]:
    if not (connection.execute(formatted("schema/known")).fetchone() or (0,))[0]:
        return 0, ""
    version, oldest_binary = connection.execute(formatted("schema/read")).fetchone() or (0, "")
    return version, oldest_binary


def _record(connection: psycopg.Connection[Any], engine: PostgresEngine, number: int, binary: str) -> None:
    if not (connection.execute(formatted("schema/known")).fetchone() or (0,))[0]:
        connection.execute(statement("schema/create_version", "postgres").text.encode())
    values = {"version": number, "oldest_binary": binary, "now": engine.clock.now()}
    connection.execute(formatted("schema/write"), values)
