"""Rows that are alike but for a number or two go as one statement, where nobody waits for a server.

To bind and run a statement for each row costs SQLite as much as the writing (docs/decisions/0043, 0047). A server is
sent all of them in one piece, where that is so by itself. What is written is the same both ways.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mainspring.store import rows
from mainspring.store.statements import statement
from mainspring.store.transaction import Transaction

FEWEST = 4
"""Rows from which a statement for all of them costs less than one for each."""

FOR_GROUPS = {
    "event/insert": "event/insert_alike",
    "job/enter_lease": "job/enter_lease_alike",
    "job/enter_ready": "job/enter_ready_alike",
    "job/insert": "job/insert_alike",
    "node/end": "node/end_alike",
    "node/insert": "node/insert_alike",
}
"""By a statement for one row, that for a whole group."""

Lists = Mapping[tuple[Any, ...], Collection[int]]
"""By the values that rows have in common, the value at the place in which they differ."""

Pairs = Mapping[tuple[Any, ...], Mapping[int, int | None]]
"""The same for two places: by the value at the first, which no two rows share, the one at the second."""


def write(tx: Transaction, name: str, groups: Lists | Pairs, *places: int) -> None:
    """Run a statement for each row. ``places``: of its parameters, those in which rows of a group differ, rising.

    The statement for a group is given the numbers by the name of the first of these, as JSON: a list, or an object
    where there are two.
    """
    single = []
    for common, some in groups.items():
        if tx.one_writer and len(some) >= FEWEST:
            _write_group(tx, name, common, some, places)
        else:
            single += _single(common, some, places)
    if single:
        tx.many(name, single)


def write_rows(tx: Transaction, name: str, batch: Sequence[tuple[Any, ...]], place: int) -> None:
    """The same for rows as they are; ``place``: where those may differ that are alike."""
    if not tx.one_writer or len(batch) < FEWEST:
        tx.many(name, batch)
        return
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row in batch:
        groups.setdefault(row[:place] + row[place + 1 :], []).append(row[place])
    write(tx, name, groups, place)


def _write_group(
    tx: Transaction, name: str, common: tuple[Any, ...], some: Collection[int], places: tuple[int, ...]
) -> None:
    names = list(statement(name, "sqlite").parameters)
    numbers = names[places[0]]
    for place in reversed(places):
        del names[place]
    tx.rows(FOR_GROUPS[name], **dict(zip(names, common, strict=True)), **{numbers: rows.text(some)})


def _single(
    common: tuple[Any, ...], some: Collection[int] | Mapping[int, int | None], places: tuple[int, ...]
) -> list[tuple[Any, ...]]:
    first = places[0]
    before, after = common[:first], common[first:]
    if not isinstance(some, Mapping):
        return [(*before, one, *after) for one in some]
    between = places[1] - first - 1
    after, last = after[:between], after[between:]
    return [(*before, one, *after, other, *last) for one, other in some.items()]
