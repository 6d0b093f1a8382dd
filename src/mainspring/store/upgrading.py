"""``db upgrade``: bring the tables of a database to this version, whatever its engine, and tell what was done."""

from __future__ import annotations

from mainspring.chance import SystemChance
from mainspring.clock import SystemClock
from mainspring.domain.address import is_postgres
from mainspring.store import BINARY, database_path, postgres_engine
from mainspring.store.log_file import log_place
from mainspring.store.migrate import Upgraded, upgrade
from mainspring.store.sqlite import SqliteEngine


def upgrade_at(url: str) -> list[Upgraded]:
    """Upgrade what is there: tables and, beside SQLite, the file with the output of jobs.

    Empty databases get their tables. Several may try at once. Raises SchemaTooNew and the StoreError that fits.
    """
    if is_postgres(url):
        return [_on_postgres(url)]
    path = database_path(url)
    return [_on_sqlite(path, "sqlite"), _on_sqlite(log_place(path), "logs")]


def _on_sqlite(path: str, kind: str) -> Upgraded:
    engine = SqliteEngine(path, clock=SystemClock(), chance=SystemChance(), inline=True)
    try:
        return upgrade(engine, kind, binary=BINARY)
    finally:
        engine.close()


def _on_postgres(url: str) -> Upgraded:
    engine = postgres_engine(url, None, SystemChance(), inline=False)
    from mainspring.store import postgres_schema

    try:
        found, _ = postgres_schema.version_of(engine)
        return Upgraded(engine.path, found, postgres_schema.upgrade(engine, binary=BINARY))
    finally:
        engine.close()
