"""A database as the first version made it, on either engine, with what its columns hold of jobs of today."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import closing
from typing import Any

import apsw
import psycopg

from mainspring.chance import SystemChance
from mainspring.clock import SystemClock
from mainspring.store import Store, migrate, postgres_engine, postgres_schema
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.statements import migrations
from tests.contract.engines import Bench, PostgresBench, SqliteBench, asked

_OLD = "0.1.0"


class Older(ABC):
    """The database at the address of a bench, as yet empty."""

    always = ""
    """What an insert says where it gives numbers that the database would give."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    @abstractmethod
    def make(self) -> None:
        """The tables of the first migration."""

    @abstractmethod
    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """Run a text of SQL."""

    @abstractmethod
    def columns(self) -> list[tuple[str, str]]:
        """Every table and column."""

    def fill(self, source: Store) -> None:
        """With what is stored there, as far as there are columns for it."""
        tables: dict[str, list[str]] = {}
        for table, column in self.columns():
            tables.setdefault(table, []).append(column)
        del tables["schema_version"]
        for table, names in tables.items():
            listed = ", ".join(names)
            self.ask(f"delete from {table}")
            for row in asked(source, f"select {listed} from {table}"):
                values = ", ".join(map(_quoted, row))
                self.ask(f"insert into {table} ({listed}) {self.always} values ({values})")


class OlderSqlite(Older):
    """A file."""

    def make(self) -> None:
        engine = SqliteEngine(self._path, clock=SystemClock(), chance=SystemChance(), inline=True)
        with closing(engine):
            migrate.upgrade(engine, "sqlite", binary=_OLD, steps=migrations("sqlite")[:1])

    @property
    def _path(self) -> str:
        return self.bench.url.removeprefix("sqlite:///")

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        with closing(apsw.Connection(self._path)) as connection:
            return list(connection.execute(text))

    def columns(self) -> list[tuple[str, str]]:
        return self.ask(
            "select s.name, t.name from sqlite_schema s, pragma_table_info(s.name) t where s.type = 'table'"
        )


class OlderPostgres(Older):
    """A schema, in place of the one that was there."""

    always = "overriding system value"

    def make(self) -> None:
        self.ask("drop schema mainspring cascade")
        with closing(postgres_engine(self.bench.url, None, SystemChance(), inline=True)) as engine:
            postgres_schema.upgrade(engine, binary=_OLD, steps=migrations("postgres")[:1])

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(f"{self.bench.url}&options=-csearch_path%3Dmainspring", autocommit=True) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

    def columns(self) -> list[tuple[str, str]]:
        return self.ask(
            "select relname::text, attname::text from pg_attribute join pg_class on pg_class.oid = attrelid "
            "where relkind in ('r', 'p') and relnamespace = 'mainspring'::regnamespace "
            "and attnum > 0 and not attisdropped"
        )

    def fill(self, source: Store) -> None:
        super().fill(source)
        # The older version has given those numbers.
        self.ask(
            "select setval(format('%I', sequencename)::regclass, 1000) from pg_sequences "
            "where schemaname = current_schema()"
        )


def older(bench: Bench) -> Older:
    """For the database of this bench."""
    assert isinstance(bench, PostgresBench | SqliteBench)
    return OlderPostgres(bench) if isinstance(bench, PostgresBench) else OlderSqlite(bench)


def _quoted(value: object) -> str:
    return "null" if value is None else "'" + str(value).replace("'", "''") + "'"


__all__ = ["Older", "older"]
