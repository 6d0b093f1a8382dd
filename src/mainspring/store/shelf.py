"""A database seen as tables and rows, whatever is in them: what a move reads from and writes to.

Tables and columns come from the engine's own catalog, so what a migration adds is moved without a word here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from mainspring.domain.address import is_postgres
from mainspring.domain.worker import Worker, WorkerState
from mainspring.errors import StoreBusy
from mainspring.store import Store, workers
from mainspring.store.gate import Gate

Row = tuple[Any, ...]

NOT_MOVED = {
    "schema_version": "each database has its own",
    "counter": "the next job id is carried over as a number; the mark of health is of no use elsewhere",
    "relocation": "tells of the move itself",
}
"""Tables that stay where they are, and why."""


_SILENT = {WorkerState.STOPPED, WorkerState.LOST}


class Table(NamedTuple):
    """A table: its columns by name, and those of its key in their order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def key_of(self, row: Row) -> Row:
        """The key of one of its rows."""
        return tuple(row[self.columns.index(column)] for column in self.key)


class Hand(Protocol):
    """What the engines do in ways of their own."""

    def transaction(self, *, write: bool = False) -> AbstractContextManager[None]:
        """All of it or nothing."""
        ...

    def run(self, name: str, *values: Any, **names: str | Sequence[str] | int) -> list[Row]:
        """Run a shape inside a transaction; its rows."""
        ...

    def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows inside a transaction."""
        ...

    def refuse(self, tables: Iterable[str]) -> None:
        """Have these tables ask the gate, inside a transaction."""
        ...

    def admit(self, tables: Iterable[str]) -> None:
        """The opposite."""
        ...

    def go_on(self, next_job: int) -> None:
        """Number what comes behind what is there, inside a transaction."""
        ...

    def survey(self, tables: Iterable[str]) -> None:
        """Whatever the engine wants to be told after so many rows; outside a transaction."""
        ...


class Shelf:
    """One end of a move: the tables of a store."""

    def __init__(self, store: Store, hand: Hand) -> None:
        self.store = store
        path = store.engine.path
        self.shown = path if is_postgres(path) else f"sqlite:///{Path(path).absolute()}"
        self._hand = hand

    def tables(self) -> dict[str, Table]:
        """What is moved, by name."""
        columns: dict[str, list[str]] = {}
        keys: dict[str, list[tuple[int, str]]] = {}
        with self._hand.transaction():
            for table, column, place in self._hand.run("shape/tables"):
                if table not in NOT_MOVED:
                    columns.setdefault(table, []).append(column)
                    keys.setdefault(table, []).extend([(place, column)] if place else [])
        return {
            name: Table(name, tuple(sorted(found)), tuple(column for _, column in sorted(keys[name])))
            for name, found in columns.items()
        }

    def living(self) -> list[Worker]:
        """Workers that may still write."""
        return [worker for worker in self.store.read(workers.all_workers) if worker.state not in _SILENT]

    # --- rows -------------------------------------------------------------------------------------------------

    def page(self, table: Table, after: Row | None, limit: int) -> list[Row]:
        """Rows behind a key, in its order."""
        names = {"table": table.name, "columns": table.columns, "key": table.key}
        with self._hand.transaction():
            if after is None:
                found = self._hand.run("shape/first", limit, **names)
            else:
                found = self._hand.run("shape/next", *after, limit, marks=len(after), **names)
        return [tuple(int(value) if isinstance(value, bool) else value for value in row) for row in found]

    def count(self, table: str) -> int:
        """How many rows there are."""
        with self._hand.transaction():
            return int(self._hand.run("shape/count", table=table)[0][0])

    def next_job(self) -> int:
        """The job id that would be given next."""
        with self._hand.transaction():
            return int(self._hand.run("shape/ids")[0][0])

    def put(self, table: Table, rows: Sequence[Row], before: Gate, after: Gate) -> None:
        """Insert rows together with the note of how far the move is. Raises StoreBusy when another move does it too."""
        with self._hand.transaction(write=True):
            if self._gate() != before:
                raise StoreBusy(f"Another process moves into {self.shown} too.", remedy="Leave it to that one.")
            self._hand.run("shape/gate_open")
            self._hand.put(table, rows)
            self._hand.run("shape/gate_note", after.told, after.progress)

    # --- the gate ---------------------------------------------------------------------------------------------

    def gate(self) -> Gate | None:
        """What is known of a move, if one has begun."""
        with self._hand.transaction():
            return self._gate()

    def _gate(self) -> Gate | None:
        if not self._hand.run("shape/gate_known")[0][0]:
            return None
        return Gate(*self._hand.run("shape/gate_read")[0])

    def shut(self, gate: Gate) -> None:
        """Refuse every write from now on, whoever has the database open."""
        with self._hand.transaction(write=True):
            self._hand.run("shape/gate_make")
            self._hand.refuse(self._refusing())
            self._hand.run("shape/gate_write", *gate)

    def note(self, gate: Gate) -> None:
        """Tell something else at the gate."""
        with self._hand.transaction(write=True):
            self._hand.run("shape/gate_note", gate.told, gate.progress)

    def admit(self, next_job: int | None = None) -> None:
        """Take writes again. ``next_job``: where a move brought everything, and numbers go on behind it."""
        with self._hand.transaction(write=True):
            self._hand.run("shape/gate_open")
            if next_job is not None:
                self._hand.go_on(next_job)
            self._hand.admit(self._refusing())
            self._hand.run("shape/gate_raze")
        if next_job is not None:
            self._hand.survey(self.tables())

    def _refusing(self) -> list[str]:
        """Tables that are shut with the gate: all but the version, which upgrades may write, and the gate's own."""
        found = {row[0] for row in self._hand.run("shape/tables")}
        return sorted(found - {"schema_version", "relocation"})


class Sum(NamedTuple):
    """So many rows, and a checksum that does not depend on their order."""

    rows: int = 0
    digest: int = 0

    def with_rows(self, rows: Iterable[Row]) -> Sum:
        """The sum with these added."""
        count, digest = self
        for row in rows:
            count += 1
            digest += int.from_bytes(blake2b(msgspec.json.encode(row), digest_size=8).digest())
        return Sum(count, digest % 2**64)
