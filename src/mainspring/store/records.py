"""What processes say of themselves, in the store: numbered in the order of the commits, so that readers pass none."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.clock import Instant
from mainspring.domain.record import Bound, Entry, Record, RecordFilter, level_of
from mainspring.store.transaction import Transaction


def add(tx: Transaction, entries: Sequence[Entry]) -> None:
    """Keep these, in this order."""
    ((following,),) = tx.rows("record/take", count=len(entries))
    first = following - len(entries)
    tx.many("record/insert", [(first + at, *_row(entry)) for at, entry in enumerate(entries)])


def found(tx: Transaction, wanted: RecordFilter) -> list[Record]:
    """Those that fit, oldest first. Raises InvalidInput."""
    values = {
        "level": level_of(wanted.level),
        "process": wanted.process,
        "job": wanted.job,
        "run": wanted.run,
        "worker": wanted.worker,
        "since": wanted.since,
        "until": wanted.until,
        "limit": wanted.limit,
    }
    if wanted.after is None:
        return [_record(row) for row in reversed(tx.rows("record/newest", **values))]
    return [_record(row) for row in tx.rows("record/after", after=wanted.after, **values)]


def forget(tx: Transaction, before: Instant, kept: int, most: int) -> int:
    """Drop what is older, or more than so many; how many, at most so many at once."""
    return len(tx.rows("record/forget", before=before, kept=kept, most=most))


def _row(entry: Entry) -> tuple[object, ...]:
    about = entry.bound
    ids = about.job, about.attempt, about.run, about.worker, about.trace, about.request
    return entry.at, entry.process, entry.pid, entry.level, entry.source, entry.message, *ids


def _record(row: tuple[object, ...]) -> Record:
    seq, at, process, pid, level, source, message, *ids = row
    return Record(seq, Entry(at, process, pid, level, source, message, Bound(*ids)))  # type: ignore[arg-type]
