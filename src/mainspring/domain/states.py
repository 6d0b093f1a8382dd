"""The state machine of a job, written once: cause x from -> to.

Guards of the store, the drawing in the docs, the sentences of ``explain`` and the exhaustive test all read TABLE.
The state of a job is the place its row is in; a transition is a move from one place to another.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """Where a job stands."""

    NEW = "new"  # before its birth is committed; never stored
    SCHEDULED = "scheduled"
    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


class Place(StrEnum):
    """The table that holds a job in a state; the deleted row is the guard of every move."""

    NOWHERE = "nowhere"
    DUE = "due"
    READY = "ready"
    LEASED = "leased"
    ENDED = "ended"


PLACE: dict[State, Place] = {
    State.NEW: Place.NOWHERE,
    State.SCHEDULED: Place.DUE,
    State.QUEUED: Place.READY,
    State.RUNNING: Place.LEASED,
    State.RETRYING: Place.DUE,
    State.SUCCEEDED: Place.ENDED,
    State.DEAD: Place.ENDED,
    State.CANCELLED: Place.ENDED,
}

FINAL: frozenset[State] = frozenset({State.SUCCEEDED, State.DEAD, State.CANCELLED})
LIVE: frozenset[State] = frozenset(State) - FINAL - {State.NEW}


class Cause(StrEnum):
    """Why a job moved. The verbs of the store."""

    SUBMIT = "submit"
    SCHEDULE = "schedule"
    PROMOTE = "promote"
    CLAIM = "claim"
    SUCCEED = "succeed"
    RETRY = "retry"
    EXHAUST = "exhaust"
    CANCEL = "cancel"
    EXPIRE = "expire"
    LOSE = "lose"
    REQUEUE = "requeue"
    RELEASE = "release"


class Transition(NamedTuple):
    """One row of the table."""

    cause: Cause
    source: State
    target: State
    sentence: str


TABLE: tuple[Transition, ...] = (
    Transition(Cause.SUBMIT, State.NEW, State.QUEUED, "submitted; it may be claimed now"),
    Transition(Cause.SCHEDULE, State.NEW, State.SCHEDULED, "submitted with a due time in the future"),
    Transition(Cause.PROMOTE, State.SCHEDULED, State.QUEUED, "its due time came"),
    Transition(Cause.PROMOTE, State.RETRYING, State.QUEUED, "its backoff is over"),
    Transition(Cause.CLAIM, State.QUEUED, State.RUNNING, "a worker claimed it"),
    Transition(Cause.SUCCEED, State.RUNNING, State.SUCCEEDED, "its code returned"),
    Transition(Cause.RETRY, State.RUNNING, State.RETRYING, "the attempt failed; it waits for the next one"),
    Transition(Cause.EXHAUST, State.RUNNING, State.DEAD, "the attempt failed and no further one is allowed"),
    Transition(Cause.CANCEL, State.SCHEDULED, State.CANCELLED, "cancelled before it was due"),
    Transition(Cause.CANCEL, State.QUEUED, State.CANCELLED, "cancelled before it was claimed"),
    Transition(Cause.CANCEL, State.RETRYING, State.CANCELLED, "cancelled while it waited for its next attempt"),
    Transition(Cause.CANCEL, State.RUNNING, State.CANCELLED, "cancelled while it ran, and its attempt has ended"),
    Transition(Cause.EXPIRE, State.SCHEDULED, State.DEAD, "its stated expiry came before it was due"),
    Transition(Cause.EXPIRE, State.QUEUED, State.DEAD, "its stated expiry came before a worker took it"),
    Transition(Cause.EXPIRE, State.RETRYING, State.DEAD, "its stated expiry came before its next attempt"),
    Transition(Cause.LOSE, State.RUNNING, State.QUEUED, "its worker was lost; it runs again at once"),
    Transition(Cause.REQUEUE, State.RUNNING, State.QUEUED, "it went down with a shared runner; it runs again alone"),
    Transition(Cause.RELEASE, State.RUNNING, State.QUEUED, "its worker drained and gave it back"),
)

_BY_CAUSE: dict[tuple[State, Cause], Transition] = {(row.source, row.cause): row for row in TABLE}


def next_state(source: State, cause: Cause) -> State | None:
    """The state that the cause leads to, or None where the table has no such move."""
    row = _BY_CAUSE.get((source, cause))
    return row.target if row else None


def sentence(source: State, cause: Cause) -> str:
    """What docs and ``explain`` say of this move; an empty text where there is none."""
    row = _BY_CAUSE.get((source, cause))
    return row.sentence if row else ""


class Outcome(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"
    RELEASED = "released"


class Charge(StrEnum):
    """What an attempt counts to."""

    ATTEMPT = "attempt"  # max_attempts
    LOSS = "loss"  # max_losses
    SUSPECT = "suspect"  # went down with a shared runner: a loss, until the job is found to be the culprit
    RELEASE = "release"  # the cap on releases
    NOTHING = "nothing"
