"""The hand of a move on PostgreSQL: rows go in by COPY, sequences are set behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from mainspring import faults
from mainspring.faults import FaultPoint
from mainspring.store.postgres import PostgresEngine
from mainspring.store.postgres_errors import translated
from mainspring.store.shelf import Row, Table
from mainspring.store.statements import formatted, shaped


class PostgresHand:
    """Works on one session after the other, each lent for one transaction."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self._lent: psycopg.Connection[Any] | None = None

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[None]:
        """All of it or nothing."""
        with translated(self._engine.path), self._engine.lent() as session, session.connection.transaction():
            self._lent = session.connection
            try:
                self._lent.execute(formatted("session/enter"), {"path": self._engine.place.search_path})
                yield
                if write:
                    faults.hit(FaultPoint.MOVE_BEFORE_COMMIT)
            finally:
                self._lent = None

    def run(self, name: str, *values: Any, **names: str | Sequence[str] | int) -> list[Row]:
        """Run a shape; its rows."""
        cursor = self._connection.execute(shaped(name, "postgres", **names).encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows."""
        text = shaped("shape/put", "postgres", table=table.name, columns=table.columns)
        with self._connection.cursor() as cursor, cursor.copy(text.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def refuse(self, tables: Iterable[str]) -> None:
        """Have these tables ask the gate; waits for those who write right now."""
        self.run("shape/refusal")
        for table in tables:
            self.run("shape/refuse", table=table)

    def admit(self, tables: Iterable[str]) -> None:
        """The opposite."""
        for table in tables:
            self.run("shape/admit", table=table)
        self.run("shape/refusal_raze")

    def go_on(self, next_job: int) -> None:
        """Every sequence goes on behind the highest number of its column, job ids where the source would have."""
        for sequence, table, column in self.run("shape/sequences"):
            self.run("shape/advance", sequence, table=table, column=column)
        self.run("shape/ids_set", next_job)

    def survey(self, tables: Iterable[str]) -> None:
        """Have the server count, so that it plans for what is there now."""
        for table in tables:
            with self.transaction():
                self.run("shape/survey", table=table)

    @property
    def _connection(self) -> psycopg.Connection[Any]:
        assert self._lent is not None, "inside a transaction only"  # noqa: S101 - a fault of ours
        return self._lent
