"""The engines that the suite runs on. A further one needs a Bench here, and nothing else in this folder.

A bench is what the suite must know of an engine beside the Store: how to open one, how to see everything that it holds,
and what it says of a statement. The tests themselves know the Store and the functions of store, transitions and
control; the files that are about one engine alone carry its name (test_sqlite_*.py).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import apsw.ext
from psycopg.pq import ExecStatus

from mainspring.chance import Chance, SeededChance
from mainspring.clock import SECOND, Duration, Instant
from mainspring.store import Store, Transaction
from mainspring.store.postgres import PostgresEngine
from mainspring.store.postgres_transaction import PostgresTransaction
from mainspring.store.sqlite import SqliteEngine, SqliteTransaction
from mainspring.store.statements import formatted, statement
from mainspring.testing.image import fresh_store
from tests import blank, pooler, postgres

Dump = dict[str, list[tuple[Any, ...]]]
"""Every row of every table."""

START = Instant(1_790_000_000_000_000)


class HandClock:
    """A clock that stands still until it is moved. To wait is to move it."""

    def __init__(self, start: Instant = START) -> None:
        self._now = start
        self._monotonic = Duration(0)

    def now(self) -> Instant:
        return self._now

    def monotonic(self) -> Duration:
        return self._monotonic

    def wait(self, length: Duration) -> None:
        self.forward(length)

    def forward(self, length: int = SECOND) -> Instant:
        """Time passes; the new now."""
        self._now = Instant(self._now + length)
        self._monotonic = Duration(self._monotonic + length)
        return self._now

    def jump(self, length: int) -> None:
        """Somebody set the wall clock; no time has passed."""
        self._now = Instant(self._now + length)


class Bench(ABC):
    """One engine under test. ``lasting``: a second Store may be opened on the same data."""

    name: ClassVar[str]
    dialect: ClassVar[str]
    lasting: ClassVar[bool]
    address: ClassVar[str] = ""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.url = self.address.format(place)
        self.clock = HandClock()
        self.chance: Chance = SeededChance(1)
        self._opened: list[Store] = []

    @abstractmethod
    def open(self) -> Store:
        """Open the database of this bench, made where it is missing."""

    def several(self, count: int) -> list[Store]:
        """So many on the same data, by the machine's clock, as those who wait for each other need one that goes on."""
        if not self.lasting:
            return self._opened[:1] * count
        stores = [Store.open(self.url) for _ in range(count)]
        self._opened += stores
        return stores

    @abstractmethod
    def dump(self, store: Store) -> Dump:
        """Everything that is stored, to compare before with after."""

    @abstractmethod
    def columns(self, store: Store, name: str) -> tuple[str, ...]:
        """The names of what a statement answers, as the engine describes them."""

    @abstractmethod
    def plan(self, store: Store, name: str) -> list[str]:
        """How the engine will run a statement, one line for each step."""

    @abstractmethod
    def alter(self, store: Store, text: str) -> None:
        """Run a text of SQL by hand, as a person with a shell would. Raises what the store would raise."""

    def close_stores(self) -> None:
        """Close every store that this bench opened."""
        for store in self._opened:
            store.close()

    def close(self) -> None:
        """What is left behind goes too."""
        self.close_stores()


class SqliteBench(Bench):
    """A SQLite file with its writer thread, as servers and programs open it."""

    name = "sqlite"
    dialect = "sqlite"
    lasting = True
    inline = False
    address = "sqlite:///{}/m.db"

    def open(self) -> Store:
        blank.lay(self.place / "m.db")
        store = Store.open(self.url, clock=self.clock, chance=self.chance, inline=self.inline)
        self._opened.append(store)
        return store

    def dump(self, store: Store) -> Dump:
        def look(tx: Any) -> Dump:
            tables = connection_of(tx).execute("select name from sqlite_schema where type = 'table' order by name")
            return {
                name: list(connection_of(tx).execute(f"select * from {name}")) for name in [row[0] for row in tables]
            }

        return store.read(look)

    def columns(self, store: Store, name: str) -> tuple[str, ...]:
        info = apsw.ext.query_info(_connection(store, name), statement(name, self.dialect).text)
        return tuple(column for column, _ in info.description)

    def plan(self, store: Store, name: str) -> list[str]:
        found, connection = statement(name, self.dialect), _connection(store, name)
        list(connection.execute("select count(*) from schema_version"))  # so that it hears of changes by others
        query = f"explain query plan {found.text}"
        values = dict.fromkeys(found.parameters)
        return [row[3] for row in connection.execute(query, values, can_cache=False)]

    def alter(self, store: Store, text: str) -> None:
        store.write(lambda tx: list(connection_of(tx).execute(text)))


class InlineSqliteBench(SqliteBench):
    """A SQLite file that is written on the caller's thread, as a coordinator does."""

    name = "sqlite-inline"
    inline = True


class MemoryBench(SqliteBench):
    """SQLite in memory, as the simulated world and the Harness have it."""

    name = "memory"
    lasting = False
    address = "sqlite://:memory:"

    def open(self) -> Store:
        store = fresh_store(self.clock, self.chance)
        self._opened.append(store)
        return store


def asked(store: Store, text: str) -> list[tuple[Any, ...]]:
    """The rows that a text of SQL answers: for what no function of the store asks."""
    return store.read(lambda tx: by_hand(tx, text))


def by_hand(tx: Transaction, text: str, *values: object) -> list[tuple[Any, ...]]:
    """Run a text of SQL inside a transaction, as no function of the store does; its rows."""
    if isinstance(tx, SqliteTransaction):
        return list(tx._connection.execute(text, values))
    assert isinstance(tx, PostgresTransaction)
    asked = tx._pipe.ask(text.encode(), values)
    tx._pipe.hear()
    return asked.rows()


def unsound(store: Store) -> list[tuple[Any, ...]]:
    """Jobs that are in no place or in several, and rows that belong to no job. A sound store has none."""
    return asked(store, _MISPLACED) + asked(store, _STRAYS)


_MISPLACED = """
select 'misplaced', id, places from (
  select job.id, cast(job.state is not null as integer) + cast(ready.job is not null as integer)
    + cast(due.job is not null as integer) + cast(lease.job is not null as integer) as places
  from job left join ready on ready.job = job.id left join due on due.job = job.id left join lease on lease.job = job.id
) as counted
where places <> 1
"""
_STRAYS = """
select 'ready', job from ready where job not in (select id from job)
union all select 'due', job from due where job not in (select id from job)
union all select 'lease', job from lease where job not in (select id from job)
union all select 'expiry', job from expiry where job not in (select id from job)
union all select 'attempt', job from attempt where job not in (select id from job)
union all select 'event', job from event where job not in (select id from job)
"""


def engine_of(store: Store) -> SqliteEngine:
    """The engine of a store on SQLite."""
    assert isinstance(store.engine, SqliteEngine)
    return store.engine


def connection_of(tx: Transaction) -> apsw.Connection:
    """The connection of a transaction on SQLite."""
    assert isinstance(tx, SqliteTransaction)
    return tx._connection


def _connection(store: Store, name: str) -> apsw.Connection:
    """The connection that has the tables of this statement: logs are in a file of their own."""
    engine = store.logs.engine if name.startswith("log/") else store.engine
    assert isinstance(engine, SqliteEngine)
    return engine.raw


class PostgresBench(Bench):
    """A database of its own on the server of this test run."""

    name = "postgres"
    dialect = "postgres"
    lasting = True
    settings: ClassVar[dict[str, str]] = {}
    pooled: ClassVar[bool] = False

    def __init__(self, place: Path, databases: postgres.Databases | None = None) -> None:
        super().__init__(place)
        assert databases is not None, "this bench needs the fixture postgres_databases"
        self._databases = databases
        self.server = databases.server
        self.database = databases.take(self.settings, pooled=self.pooled)
        self.url = self.server.url(self.database)
        self._reshaped = False

    def open(self) -> Store:
        store = Store.open(self.url, clock=self.clock, chance=self.chance)
        self._opened.append(store)
        return store

    def dump(self, store: Store) -> Dump:
        def look(tx: Transaction) -> Dump:
            tables = by_hand(tx, "select tablename from pg_tables where schemaname = current_schema() order by 1")
            return {name: by_hand(tx, f"select * from {name} order by {name}::text") for (name,) in tables}

        return store.read(look)

    def columns(self, store: Store, name: str) -> tuple[str, ...]:
        text = self._numbered(name)
        if text.startswith(("do", "listen")):
            return ()  # these can't be prepared
        engine = store.engine
        assert isinstance(engine, PostgresEngine)
        with engine.lent() as session, session.connection.transaction(force_rollback=True):
            session.connection.execute(formatted("session/enter"), {"path": engine.place.search_path})
            prepared = session.connection.pgconn.prepare(b"", text.encode())
            assert prepared.status == ExecStatus.COMMAND_OK, f"{name}: {prepared.error_message.decode()}"
            described = session.connection.pgconn.describe_prepared(b"")
            return tuple((described.fname(column) or b"").decode() for column in range(described.nfields))

    def _numbered(self, name: str) -> str:
        """The statement with numbers for its parameters, as the server knows them."""
        found = statement(name, self.dialect)
        text = found.text
        for number, parameter in enumerate(found.parameters, 1):
            text = re.sub(rf"(?<!:):{parameter}\b", f"${number}", text)
        return text

    def plan(self, store: Store, name: str) -> list[str]:
        nothing = ", ".join("null" for _ in statement(name, self.dialect).parameters)

        def look(tx: Transaction) -> list[tuple[Any, ...]]:
            by_hand(tx, f"prepare asked as {self._numbered(name)}")
            rows = by_hand(tx, f"explain (costs off) execute asked{f'({nothing})' if nothing else ''}")
            by_hand(tx, "deallocate asked")
            return rows

        return [line.strip() for (line,) in store.write(look)]

    def alter(self, store: Store, text: str) -> None:
        self._reshaped = self._reshaped or text.startswith(("create", "drop", "alter"))
        store.write(lambda tx: by_hand(tx, text) and None)

    def close(self) -> None:
        super().close()
        if self._reshaped:  # emptied, it would still not be what others expect
            self._databases.drop(self.database)
        else:
            self._databases.give_back(self.database, self.settings, pooled=self.pooled)


class RepeatablePostgresBench(PostgresBench):
    """The same on a server whose transactions are REPEATABLE READ by default."""

    name = "postgres-repeatable"
    settings: ClassVar[dict[str, str]] = {"default_transaction_isolation": "repeatable read"}


class PooledPostgresBench(RepeatablePostgresBench):
    """That again, through a pooler that gives each transaction another session: see conftest.py."""

    name = "postgres-pooled"
    pooled = True

    def __init__(
        self, place: Path, databases: postgres.Databases | None = None, behind: pooler.Pooler | None = None
    ) -> None:
        super().__init__(place, databases)
        assert behind is not None, "this bench needs the fixture pooler"
        self.url = f"{behind.url(self.database)}?listen_url={quote(self.url, safe='')}"


_BENCHES = (SqliteBench, InlineSqliteBench, MemoryBench, PostgresBench, RepeatablePostgresBench, PooledPostgresBench)
ENGINES: dict[str, type[Bench]] = {
    bench.name: bench for bench in _BENCHES if bench is not PooledPostgresBench or pooler.binary()
}
"""Every test of the contract runs on every engine: ask for ``bench`` (the engine) or ``story`` (a store with life)."""
