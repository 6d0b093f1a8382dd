"""The past of a schedule: ticks that were due before something else is said of it are recorded as what they were."""

from __future__ import annotations

from mainspring.clock import Instant
from mainspring.domain.catchup import due
from mainspring.domain.plan import ready_text
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
    while nominal is not None and nominal <= tx.now:
        spans, following = due(found, nominal, tx.now)
        last, count = spans[-1].last, sum(span.ticks for span in spans)
        ticks.insert(tx, [Record(kept.id, nominal, REGULAR, count, last, outcome, why, None, None, tx.now, actor)])
        nominal = following
    return last
