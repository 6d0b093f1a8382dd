"""Which ended jobs and runs may go, and taking them out with all that is theirs. Ages and pace are the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.joins import RunState
from mainspring.domain.states import State
from mainspring.store import depths
from mainspring.store.rows import Row
from mainspring.store.transaction import Transaction


class Look(NamedTuple):
    """What a look found. ``after``: where the next one starts, None behind the last one of this state."""

    found: list[int]
    after: int | None


def old(  # noqa: PLR0913 - a question with bounds
    tx: Transaction, state: State, before: Instant, *, after: int, look: int, most: int
) -> Look:
    """Jobs behind ``after`` that ended in this state before an instant and that nothing unfinished needs.

    ``look``: how many ended jobs are looked at; ``most``: how many of them are answered.
    """
    return _look(tx.rows("retention/old", state=state.value, before=before, after=after, limit=look), look, most)


def old_runs(  # noqa: PLR0913 - a question with bounds
    tx: Transaction, state: RunState, before: Instant, *, after: int, look: int, most: int
) -> Look:
    """The same for runs; one that others have results from stays, and a nested one as long as the outer one."""
    return _look(tx.rows("retention/old_runs", state=state.value, before=before, after=after, limit=look), look, most)


def _look(looked: list[Row], look: int, most: int) -> Look:
    found: list[int] = []
    for number, may_go in looked:
        if may_go:
            found.append(number)
            if len(found) == most:
                return Look(found, number)
    return Look(found, looked[-1][0] if len(looked) == look else None)


def forget(tx: Transaction, jobs: Sequence[int]) -> int:
    """Take out jobs with their attempts and events; how many were still there."""
    batch = [(job,) for job in jobs]
    held = depths.hold(tx)
    tx.many("retention/forget_attempts", batch)
    moves = tx.many("retention/forget_events", batch)
    tx.many("retention/forget_expiries", batch)
    gone = tx.many("retention/forget_jobs", batch)
    depths.forget(tx, held, gone, moves)
    return len(gone)


def idle_version(tx: Transaction, before: Instant) -> int | None:
    """A version that no name, run or resume has referred to since before an instant; which those are is noted."""
    tx.rows("retention/mark_used")
    tx.rows("retention/mark_idle")
    found = tx.row("retention/idle_version", before=before)
    return None if found is None else int(found[0])


def forget_version(tx: Transaction, version: int, before: Instant, most: int) -> Taken:
    """Take out the next rows of a version, at most so many, itself last. Whole, without rows: it is used again."""
    if not tx.rows("retention/begin_version", version=version, before=before):
        return Taken(0, whole=True)
    for statement in ("retention/forget_edges", "retention/forget_steps"):
        taken = len(tx.rows(statement, version=version, limit=most))
        if taken:
            return Taken(taken, whole=False)
    return Taken(len(tx.rows("retention/forget_version", version=version)), whole=True)


class Taken(NamedTuple):
    """How many rows of a run, or a version, were taken out, and whether that was the whole of it."""

    rows: int
    whole: bool


def forget_run(tx: Transaction, run: int, most: int) -> Taken:
    """Take out the next rows of a run, at most so many, the run itself last.

    Resumes of nested runs that were to begin in it, and never did, go before it.
    """
    below = tx.rows("retention/unborn_below", run=run)[0][0]
    for statement in ("retention/forget_nodes", "retention/forget_parts", "retention/forget_run_events"):
        taken = len(tx.rows(statement, run=below, limit=most))
        if taken:
            return Taken(taken, whole=False)
    if below != run:
        return Taken(len(tx.rows("retention/forget_part_of", again=below)), whole=False)
    tx.rows("retention/forget_waiting", run=run)
    return Taken(len(tx.rows("retention/forget_run", run=run)), whole=True)
