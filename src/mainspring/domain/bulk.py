"""Bulk: one action on all jobs that a filter matches, in bounded steps."""

from __future__ import annotations

from typing import Literal

import msgspec

from mainspring.domain.job import JobFilter
from mainspring.domain.states import State
from mainspring.errors import InvalidCursor, InvalidInput, InvalidOption

MOST = 10_000
"""Jobs of one request."""

Action = Literal["cancel", "retry"]

REACH: dict[str, tuple[State, ...]] = {
    "cancel": (State.SCHEDULED, State.QUEUED, State.RETRYING, State.RUNNING),
    "retry": (State.DEAD, State.CANCELLED),
}
"""The states that an action looks at where the filter names none."""

_ALLOWED = {"cancel": frozenset(REACH["cancel"]), "retry": frozenset({*REACH["retry"], State.SUCCEEDED})}


class Bulk(msgspec.Struct, frozen=True):
    """What to do with the jobs that a filter matches, newest first.

    ``dry_run``: only count them; ``limit``: of jobs looked at in this request; ``cursor``: go on behind another one.
    """

    action: Action
    filter: JobFilter
    dry_run: bool = False
    limit: int = 1_000
    cursor: str | None = None


class BulkDone(msgspec.Struct, frozen=True):
    """What was done: ``matched`` jobs were looked at (or, by a dry run, would be), ``changed`` of them changed.

    ``skipped``: codes of errors, and how many jobs were left as they were for each; ``next``: where to go on, None at
    the end.
    """

    matched: int
    changed: int
    skipped: dict[str, int]
    next: str | None


def states_of(asked: Bulk) -> tuple[State, ...]:
    """The states to look through, in order. Raises InvalidInput for a filter that fits not, or that names nothing."""
    wanted = asked.filter
    if not any((wanted.state, wanted.task, wanted.queue, wanted.tag, wanted.since, wanted.until)):
        raise InvalidInput(
            "The filter is empty; it would match every job.",
            remedy="Name at least one of state, task, queue, tag, since, until.",
            field="filter",
        )
    if not 1 <= asked.limit <= MOST:
        raise InvalidInput(f"limit is {asked.limit}; it must be between 1 and {MOST:,}.", field="limit")
    if wanted.state is None:
        return REACH[asked.action]
    if wanted.state not in _ALLOWED[asked.action]:
        raise InvalidOption(
            f"{asked.action} does not apply to jobs that are {wanted.state}.",
            remedy=f"It does to: {', '.join(sorted(_ALLOWED[asked.action]))}.",
            field="filter.state",
        )
    return (wanted.state,)


def cursor_text(state: State, before: str) -> str:
    """Where a request ended: the state, and the cursor of its list."""
    return f"{state.value}-{before}"


def read_cursor(text: str, states: tuple[State, ...]) -> tuple[State, str]:
    """The state and the list's cursor to go on with. Raises InvalidCursor."""
    name, _, last = text.partition("-")
    if name not in states or not last:
        raise InvalidCursor(
            f"{text[:80]!r} is not a cursor of this request.", remedy="Pass back what 'next' said.", field="cursor"
        )
    return State(name), last
