"""Realigned: a clock that was ahead has gone back, and what it has left behind is set right.

A schedule that was made in a time that has not come counts as made now. What was recorded as missed of ticks that are
yet to come is taken back; what has fired or was skipped stays, and does not come again. The next tick is the first
behind now that is not recorded.
"""

from __future__ import annotations

from mainspring.clock import Instant, instant_text
from mainspring.domain.plan import ready_text
from mainspring.domain.timetable import Outcome
from mainspring.errors import MainspringError
from mainspring.store import schedules, ticks, trail
from mainspring.store.schedules import Kept
from mainspring.store.trail import Deed
from mainspring.store.transaction import Transaction
from mainspring.transitions.said import coming, held


def realign(tx: Transaction, actor: str) -> list[str]:
    """Set right what is ahead of the clock; the names of the schedules that go on at another tick."""
    return [one.name for one in schedules.ahead(tx) if _realigned(tx, one.name, actor)]


def _realigned(tx: Transaction, name: str, actor: str) -> bool:
    kept = held(tx, name)
    assert kept is not None, "its row never goes"  # noqa: S101 - for the type checker
    if kept.nominal is not None and kept.nominal <= tx.now:
        return False  # a tick is due and undecided; what comes behind it is found when it is decided
    new = kept
    if kept.created > tx.now:
        schedules.made_now(tx, kept.id)
        new = new._replace(created=tx.now)
    new = new._replace(last=_taken_back(tx, new))
    nominal, at = coming(tx, new)
    if (kept.created, kept.last, kept.nominal) == (new.created, new.last, nominal):
        return False
    schedules.put(tx, new._replace(nominal=nominal, at=at))
    before, after = (None if one is None else instant_text(one) for one in (kept.nominal, nominal))
    trail.note(tx, actor, Deed("schedule.realign", f"schedule {name}", {"next_at": before}, {"next_at": after}))
    return True


def _taken_back(tx: Transaction, kept: Kept) -> Instant | None:
    """Forget what was missed of ticks that have not come yet; the last tick that is recorded now."""
    if kept.last is None or kept.last <= tx.now:
        return kept.last
    ticks.take_back(tx, kept.id)
    found = ticks.recorded(tx, kept.id, tx.now)
    for first, last, outcome in found:
        if first <= tx.now < last and outcome is Outcome.MISSED:
            count, end = _come(kept, first, tx.now)
            ticks.shorten(tx, kept.id, first, count=count, last=end)
            found = [one if one.first != first else one._replace(last=end) for one in found]
    return found[-1].last if found else None


def _come(kept: Kept, first: Instant, now: Instant) -> tuple[int, Instant]:
    """How many ticks from ``first`` up to now have come, and the last of them."""
    count, tick = 1, first
    try:
        rule = ready_text(kept.declaration, kept.override, kept.created).rule
    except MainspringError:
        return count, tick
    while (following := rule.next_after(tick)) is not None and following <= now:
        count, tick = count + 1, following
    return count, tick
