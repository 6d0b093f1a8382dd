"""Attempt: one try at running a job, and how it ended."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Duration, Instant
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.states import Charge, Outcome


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong in an attempt, in JSON-ready form.

    ``types``: names of the error's class and its bases, for retry rules; ``evidence``: signal, exit_code, peak_memory
    (bytes), last_output and the like.
    """

    type: str
    message: str
    traceback: str = ""
    types: tuple[str, ...] = ()
    evidence: dict[str, Any] = {}


class Ending(msgspec.Struct, frozen=True):
    """That an attempt ended: what a runner reported, or what its coordinator saw.

    ``result`` is JSON, for a success. ``retry_after`` is the delay that the error chose. ``shared`` counts the other
    jobs that went down with the same runner; ``final`` forbids a retry whatever the policy says; ``unfit``: its
    parameters don't fit the code that it met, so that no other code than newer code can run it.
    """

    job: JobId
    claim: ClaimId
    outcome: Outcome
    result: bytes | None = None
    failure: Failure | None = None
    retry_after: Duration | None = None
    shared: int = 0
    final: bool = False
    unfit: bool = False
    sandbox: str = "S0"
    details: bytes | None = None


class Tally(msgspec.Struct, frozen=True):
    """What the earlier attempts of a job were charged to."""

    attempts: int = 0
    losses: int = 0
    suspects: int = 0
    releases: int = 0


class Attempt(msgspec.Struct, frozen=True):
    """One attempt, as history shows it; ``outcome`` is None while it runs."""

    job: JobId
    number: int
    outcome: Outcome | None
    worker: str
    started_at: Instant
    ended_at: Instant | None
    sandbox: str
    charge: Charge | None
    failure: Failure | None
    details: bytes | None = None
