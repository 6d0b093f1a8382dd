"""The hand of a move on SQLite: two files, of which the second takes the output of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mainspring import faults
from mainspring.faults import FaultPoint
from mainspring.store.shelf import Row, Table
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.sqlite_errors import translated
from mainspring.store.statements import shaped

_LOG = "log"


class SqliteHand:
    """Works on the writing connections of an inline store."""

    def __init__(self, engine: SqliteEngine, logs: SqliteEngine) -> None:
        self._engine = engine
        self._logs = logs

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[None]:
        """All of it or nothing, in the file of the jobs."""
        with translated(self._engine.path), _framed(self._engine, write=write):
            yield
            if write:
                faults.hit(FaultPoint.MOVE_BEFORE_COMMIT)

    def run(self, name: str, *values: Any, **names: str | Sequence[str] | int) -> list[Row]:
        """Run a shape; its rows."""
        engine = self._logs if names.get("table") == _LOG else self._engine
        found = list(engine.raw.execute(shaped(name, "sqlite", **names), values))
        if name == "shape/tables":
            found += [row for row in self._logs.raw.execute(shaped(name, "sqlite")) if row[0] == _LOG]
        return found

    def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows; those of the other file are there before the note of them is, and come again after a kill."""
        text = shaped("shape/put", "sqlite", table=table.name, columns=table.columns, places=len(table.columns))
        if table.name != _LOG:
            self._engine.raw.executemany(text, rows)
            return
        with translated(self._logs.path), _framed(self._logs, write=True):
            self._logs.raw.executemany(text, rows)

    def refuse(self, tables: Iterable[str]) -> None:
        """Have these tables ask the gate; the other file has none, as nobody writes there without a lease here."""
        for table in self._own(tables):
            for shape, verb in _REFUSALS.items():
                self.run(shape, table=table, trigger=f"relocated_{table}_{verb}")

    def admit(self, tables: Iterable[str]) -> None:
        """The opposite."""
        for table in self._own(tables):
            for verb in _REFUSALS.values():
                self.run("shape/admit", trigger=f"relocated_{table}_{verb}")

    def _own(self, tables: Iterable[str]) -> list[str]:
        return [table for table in tables if table != _LOG]

    def go_on(self, next_job: int) -> None:
        """Job ids have a counter; all else is numbered behind the highest by itself."""
        self.run("shape/ids_set", next_job)

    def survey(self, tables: Iterable[str]) -> None:
        """Plans don't depend on sizes here."""


_REFUSALS = {"shape/refuse_insert": "insert", "shape/refuse_update": "update", "shape/refuse_delete": "delete"}


@contextmanager
def _framed(engine: SqliteEngine, *, write: bool) -> Iterator[None]:
    engine.raw.execute("begin immediate" if write else "begin")
    try:
        yield
        engine.raw.execute("commit")
    except BaseException:
        if engine.raw.in_transaction:
            engine.raw.execute("rollback")
        raise
