"""The past of a schedule: ticks that were due before something else is said of it are recorded as what they were."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.clock import Instant
from mainspring.domain.catchup import Span, due
from mainspring.domain.plan import ready_text
from mainspring.domain.recorded import NOTHING, Recorded
from mainspring.domain.timetable import REGULAR, Outcome
from mainspring.errors import MainspringError
from mainspring.store import ticks
from mainspring.store.schedules import Kept
from mainspring.store.ticks import Record
from mainspring.store.transaction import Transaction


def settle_past(tx: Transaction, kept: Kept, actor: str) -> Instant | None:
    """Record the ticks that are due and undecided; the last one that is decided now. None of them fires any more."""
    if kept.nominal is None or kept.nominal > tx.now:
        return kept.last
    try:
        found = ready_text(kept.declaration, kept.override, kept.created)
    except MainspringError:
        return kept.last
    nominal: Instant | None = kept.nominal
    last = kept.last
    paused = kept.paused_at is not None
    outcome = Outcome.SKIPPED if paused else Outcome.MISSED
    why = "paused" if paused else "the schedule was changed before it was decided"
    recorded = recorded_of(tx, kept, kept.nominal)
    while nominal is not None and nominal <= tx.now:
        spans, following = due(found, nominal, tx.now, recorded=recorded)
        for row in _together(spans):
            count, end = sum(span.ticks for span in row), row[-1].last
            ticks.insert(
                tx, [Record(kept.id, row[0].first, REGULAR, count, end, outcome, why, None, None, tx.now, actor)]
            )
        last = max(spans[-1].last, last or spans[-1].last)
        nominal = following
    return last


def _together(spans: Sequence[Span]) -> list[list[Span]]:
    """In rows without recorded ticks between them."""
    found: list[list[Span]] = []
    for span in spans:
        if span.apart or not found:
            found.append([])
        found[-1].append(span)
    return found


def recorded_of(tx: Transaction, kept: Kept, after: Instant) -> Recorded:
    """Its ticks behind an instant that are recorded already, as a clock was ahead; most often none."""
    if kept.last is None or kept.last <= after:
        return NOTHING
    return Recorded((first, last) for first, last, _ in ticks.recorded(tx, kept.id, after))
