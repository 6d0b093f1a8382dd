"""Which ended jobs may go, and taking them out with all that belongs to them. Ages and pace are the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import JobId
from mainspring.domain.states import State
from mainspring.store.transaction import Transaction


class Look(NamedTuple):
    """What a look found. ``after``: where the next one starts, None behind the last job of this state."""

    jobs: list[JobId]
    after: JobId | None


def old(  # noqa: PLR0913 - a question with bounds
    tx: Transaction, state: State, before: Instant, *, after: int, look: int, most: int
) -> Look:
    """Jobs behind ``after`` that ended in this state before an instant and that nothing unfinished needs.

    ``look``: how many ended jobs are looked at; ``most``: how many of them are answered.
    """
    found: list[JobId] = []
    looked = tx.rows("retention/old", state=state.value, before=before, after=after, limit=look)
    for job, may_go in looked:
        if may_go:
            found.append(JobId(job))
            if len(found) == most:
                return Look(found, JobId(job))
    return Look(found, JobId(looked[-1][0]) if len(looked) == look else None)


def forget(tx: Transaction, jobs: Sequence[JobId]) -> int:
    """Take out jobs with their attempts and events; how many were still there."""
    batch = [(job,) for job in jobs]
    tx.many("retention/forget_attempts", batch)
    tx.many("retention/forget_events", batch)
    tx.many("retention/forget_expiries", batch)
    return len(tx.many("retention/forget_jobs", batch))
