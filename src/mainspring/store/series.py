"""Metrics in the store: what is unread of the event history, and what was made of it."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from mainspring.clock import Duration, Instant
from mainspring.domain.metric import KEPT, METRICS, Amount, Flow, Key, Point, Points, SeriesWanted, stretched
from mainspring.store import events, rows
from mainspring.store.transaction import Transaction


class Stretch(NamedTuple):
    """Events behind ``before`` up to ``until``, as moves; ``full``: there may be more."""

    before: int
    until: int
    flows: list[Flow]
    full: bool


def cursor(tx: Transaction, reader: str) -> int | None:
    """How far a reader is; None for one that has never begun."""
    found = tx.row("reader/one", name=reader)
    return None if found is None else int(found[0])


def begin(tx: Transaction, reader: str) -> None:
    """A reader is there from now on, before the first event."""
    tx.rows("reader/begin", name=reader)


def go_on(tx: Transaction, reader: str, before: int, until: int) -> bool:
    """Move a reader on, in the transaction of what it makes of it. False where another process has done it."""
    return tx.row("reader/advance", name=reader, before=before, cursor=until) is not None


def unread(tx: Transaction, before: int, limit: int) -> Stretch:
    """What has happened to jobs behind a cursor. Asked in a ``latest`` look."""
    ((until, number),) = tx.rows("event/reach", after=before, bound=events.last(tx), limit=limit)
    flows = [Flow(*row) for row in tx.rows("series/flow", after=before, until=until)] if number else []
    return Stretch(before, until, flows, number == limit)


def add(tx: Transaction, points: Points) -> None:
    """Keep what happened, by minute, hour and day: one statement, as an idle server asks no more than one a second."""
    told = [(step, at, *key, *amount) for step in KEPT for (at, key), amount in sorted(stretched(points, step).items())]
    if told:
        tx.rows("series/add", points=rows.text(told))


def add_totals(tx: Transaction, points: Points) -> None:
    """Add it to all that ever happened."""
    whole: dict[Key, Amount] = {}
    for (_, key), amount in points.items():
        whole[key] = whole.get(key, Amount()) + amount
    tx.many("total/add", [(*key, amount.number, amount.total) for key, amount in sorted(whole.items())])


def totals(tx: Transaction) -> list[tuple[Key, Amount]]:
    """All that ever happened."""
    return [(Key(*row[:5]), Amount(*row[5:])) for row in tx.rows("total/all")]


def between(tx: Transaction, wanted: SeriesWanted) -> list[Point]:
    """The points of a series, in order of time; stretches in which nothing happened have none."""
    found = tx.rows(
        "series/between",
        step=wanted.step,
        metric=wanted.metric,
        first=wanted.first,
        until=wanted.until,
        queue=wanted.queue,
        task=wanted.task,
        label=wanted.label,
        by_queue=int("queue" in wanted.by),
        by_task=int("task" in wanted.by),
        by_label=int("label" in wanted.by),
    )
    points = []
    adds = METRICS[wanted.metric].adds
    for (at, queue, task, label), stretch in groupby(found, key=lambda row: row[:4]):
        amount, counts = Amount(), []
        for *_, bucket, number, total, most, together, looks in stretch:
            amount += Amount(looks, total, together) if adds else Amount(number, total, most)
            if bucket >= 0:
                counts.append((bucket, number))
        points.append(Point(at, queue, task, label, amount, tuple(counts)))
    return points


def forget(tx: Transaction, step: Duration, before: Instant) -> None:
    """Drop stretches of this length that began before an instant."""
    tx.rows("series/forget", step=step, before=before)
