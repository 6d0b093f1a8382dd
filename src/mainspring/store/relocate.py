"""``db move``: everything of a store into an empty one of either engine, page by page, verified, resumable.

The source is shut before the first row is read, so there is nothing to catch up with; the target is shut until the last
one is checked, so nobody works on half of it. How far the move is stands in the target, in the transaction of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import msgspec

from mainspring.clock import MILLISECOND, Duration, SystemClock
from mainspring.errors import MoveRefused, StoreCorrupt, StoreMoved
from mainspring.store import Store, workers
from mainspring.store.check import Finding, Level
from mainspring.store.gate import Gate, refusal, telling
from mainspring.store.shelf import Row, Shelf, Sum, Table

Say = Callable[[str, int, int], None]
"""Told after each page: the table, how many rows of it are there, and of how many."""

_LOOK_AGAIN = Duration(500 * MILLISECOND)
_MOST_ROWS = 5_000
_FIRST_ROWS = 200
_MOST_BYTES = 4 * 1_048_576
"""Of a page; the next one is made smaller or larger by it."""


class _Place(msgspec.Struct, array_like=True):
    """How far a table is: the key of its last row, and the sum of what was brought."""

    last: list[Any] | None = None
    rows: int = 0
    digest: int = 0
    done: bool = False

    @property
    def sum(self) -> Sum:
        return Sum(self.rows, self.digest)


class _End(msgspec.Struct):
    """What the source's gate knows: where to, and whether everything is there."""

    to: str
    done: bool = False


def move(source_url: str, target_url: str, *, say: Say, drain: Duration | None = None) -> dict[str, int]:
    """Move a store; how many rows of each table. Begun before and not finished, it goes on where it was.

    ``drain``: workers that run are asked to end and waited for so long, where they are a reason to refuse otherwise.
    Raises MoveRefused when things don't allow it (workers run, the target holds something else, tables differ),
    StoreMoved when it was done before, and the StoreError that fits.
    """
    with ExitStack() as stack:
        source = stack.enter_context(_shelf(source_url))
        target = stack.enter_context(_shelf(target_url))
        if source.shown == target.shown:
            raise MoveRefused(f"Source and target are both {source.shown}.", remedy="Name another target.")
        if drain is not None and source.gate() is None:
            _drained(source, drain)
        return _Move(source, target, say).run()


def _drained(source: Shelf, patience: Duration) -> None:
    """Ask the workers to end, and those that come meanwhile, until none is left or there is no more patience."""
    store, clock = source.store, SystemClock()
    began = clock.monotonic()
    while (living := source.living()) and clock.monotonic() - began < patience:
        for worker in living:
            store.write(lambda tx, number=worker.id: workers.ask_drain(tx, number, "db move"))  # type: ignore[misc]
        store.work_bell.ring()
        clock.wait(_LOOK_AGAIN)


def abandon(source_url: str) -> str:
    """Give up a move that is not finished: the source takes writes again. Answers where it was to go.

    Raises MoveRefused when there is none, StoreMoved when it is finished.
    """
    with _shelf(source_url) as source:
        gate = source.gate()
        if gate is None:
            raise MoveRefused(f"{source.shown} is not on the move.", remedy="There is nothing to give up.")
        end = _read_end(gate)
        if end.done:
            raise refusal(gate.told)
        source.admit()
        return end.to


def standing(url: str) -> Finding:
    """What a check says of a move: none, under way or broken off at either end, or done."""
    with _shelf(url) as shelf:
        gate = shelf.gate()
    if gate is None:
        return Finding("move", Level.OK, "It is not on the move.")
    told = refusal(gate.told)
    return Finding("move", Level.WARNING, told.message, [told.remedy])


@contextmanager
def _shelf(url: str) -> Iterator[Shelf]:
    store = Store.open(url, inline=True)
    try:
        yield Shelf(store, _hand(store))
    finally:
        store.close()


def _hand(store: Store) -> Any:
    from mainspring.store.sqlite import SqliteEngine
    from mainspring.store.sqlite_shelf import SqliteHand

    logs = store.logs.engine
    if isinstance(store.engine, SqliteEngine) and isinstance(logs, SqliteEngine):
        return SqliteHand(store.engine, logs)
    from mainspring.store.postgres import PostgresEngine
    from mainspring.store.postgres_shelf import PostgresHand

    assert isinstance(store.engine, PostgresEngine), "there are two engines"  # noqa: S101 - for the type checker
    return PostgresHand(store.engine)


class _Move:
    """One move between two shelves."""

    def __init__(self, source: Shelf, target: Shelf, say: Say) -> None:
        self._source = source
        self._target = target
        self._say = say

    def run(self) -> dict[str, int]:
        left, entered = self._source.gate(), self._target.gate()
        if left is not None and _read_end(left).done and (entered is None or entered.move != left.move):
            raise refusal(left.told)
        tables = self._same_tables()
        left = self._leave(left, entered)
        if entered is None:
            entered = self._enter(left, tables)
        places = {name: self._bring(table, entered.move) for name, table in tables.items()}
        if not _read_end(left).done:
            self._verify(tables, places)
            self._source.note(self._gate(left.move, done=True))
        self._target.admit(self._source.next_job())
        return {name: place.rows for name, place in places.items()}

    def _same_tables(self) -> dict[str, Table]:
        here, there = self._source.tables(), self._target.tables()
        for name in sorted({*here, *there}):
            if here.get(name) != there.get(name):
                raise MoveRefused(
                    f"{self._source.shown} and {self._target.shown} differ in the table {name}.",
                    remedy="Bring both to the same version: mainspring db upgrade",
                )
        return here

    # --- leaving and entering ---------------------------------------------------------------------------------

    def _leave(self, left: Gate | None, entered: Gate | None) -> Gate:
        """Shut the source, or find it shut by the same move."""
        if left is not None:
            if entered is None and _read_end(left).to != self._target.shown:
                raise refusal(left.told)
            if entered is not None and entered.move != left.move:
                raise self._taken()
            return left
        if entered is not None:
            raise self._taken()
        self._refuse_workers()
        self._refuse_rows()
        gate = self._gate(self._source.store.chance.incarnation(), done=False)
        self._source.shut(gate)
        try:
            self._refuse_workers()  # one may have come in between; from here on none can
        except MoveRefused:
            self._source.admit()
            raise
        return gate

    def _enter(self, left: Gate, tables: dict[str, Table]) -> Gate:
        """Shut the target, which must be empty."""
        self._refuse_rows()
        told = telling(
            f"A move from {self._source.shown} into {self._target.shown} is not finished.",
            "Go on with it: mainspring db move, with the same source and target.",
        )
        gate = Gate(left.move, told, _written({name: _Place() for name in tables}))
        self._target.shut(gate)
        return gate

    def _gate(self, name: str, *, done: bool) -> Gate:
        """What the source tells."""
        to = self._target.shown
        if done:
            told = telling(f"{self._source.shown} was moved to {to}.", f"Use that one: --db {to}")
        else:
            told = telling(
                f"{self._source.shown} is being moved to {to}.",
                f"Go on with it: mainspring db move {to}; or give it up: mainspring db move --abandon",
            )
        return Gate(name, told, msgspec.json.encode(_End(to, done)).decode())

    def _refuse_workers(self) -> None:
        living = [worker.name for worker in self._source.living()]
        if living:
            raise MoveRefused(
                f"Workers run on {self._source.shown}: {', '.join(living[:5])}.",
                remedy="Stop them, or have them drained by this command: --drain",
            )

    def _refuse_rows(self) -> None:
        for name in self._target.tables():
            count = self._target.count(name)
            if count:
                raise MoveRefused(
                    f"{self._target.shown} is not empty: its table {name} has {count:,} rows.",
                    remedy="Name an empty database, or an empty schema (?schema=).",
                )

    def _taken(self) -> MoveRefused:
        return MoveRefused(
            f"{self._target.shown} holds half of another move.", remedy="Finish that one, or name an empty database."
        )

    # --- rows -------------------------------------------------------------------------------------------------

    def _bring(self, table: Table, name: str) -> _Place:
        """The rows of a table that are not there yet."""
        total = self._source.count(table.name)
        entered, places = self._entered(name)
        place = places[table.name]
        for rows, last in _pages(self._source, table, place.last) if not place.done else ():
            places[table.name] = place = _behind(place, table, rows, last=last)
            noted = entered._replace(progress=_written(places))
            self._target.put(table, rows, entered, noted)
            entered = noted
            self._say(table.name, place.rows, total)
        return place

    def _entered(self, name: str) -> tuple[Gate, dict[str, _Place]]:
        entered = self._target.gate()
        if entered is None or entered.move != name:
            raise StoreMoved(f"Another process has finished this move into {self._target.shown}.")
        return entered, msgspec.json.decode(entered.progress, type=dict[str, _Place])

    def _verify(self, tables: dict[str, Table], places: dict[str, _Place]) -> None:
        """What is there now is what was read, all of it."""
        for name, table in tables.items():
            there = Sum()
            for rows, _ in _pages(self._target, table, None):
                there = there.with_rows(rows)
            here = self._source.count(name)
            if there != places[name].sum or there.rows != here:
                raise StoreCorrupt(
                    f"The move is not sound: {name} has {here:,} rows in {self._source.shown} and {there.rows:,} in "
                    f"{self._target.shown}, or rows that differ.",
                    remedy="The source has everything. Give it up (mainspring db move --abandon) and move again.",
                )


def _pages(shelf: Shelf, table: Table, after: list[Any] | None) -> Iterator[tuple[list[Row], bool]]:
    """The rows behind a key, in pages of bounded size, and whether each page is the last."""
    key, limit = None if after is None else tuple(after), _FIRST_ROWS
    while True:
        rows = shelf.page(table, key, limit)
        yield rows, len(rows) < limit
        if len(rows) < limit:
            return
        key = table.key_of(rows[-1])
        size = sum(len(value) for row in rows for value in row if isinstance(value, str))
        limit = max(1, min(_MOST_ROWS, 4 * limit, len(rows) * _MOST_BYTES // (size + 1)))


def _behind(place: _Place, table: Table, rows: list[Row], *, last: bool) -> _Place:
    total = place.sum.with_rows(rows)
    key = list(table.key_of(rows[-1])) if rows else place.last
    return _Place(key, total.rows, total.digest, last)


def _written(places: dict[str, _Place]) -> str:
    return msgspec.json.encode(places).decode()


def _read_end(gate: Gate) -> _End:
    """Raises MoveRefused for the gate of a target, out of which nothing can be moved yet."""
    try:
        return msgspec.json.decode(gate.progress, type=_End)
    except msgspec.ValidationError:
        raise refusal(gate.told) from None
