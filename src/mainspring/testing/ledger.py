"""The ledger: what clients were told and what simulated code did, kept outside the product. The judge compares.

Nothing here is read from the store. Times are of the world's monotonic clock.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Duration
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.states import State


class Wish(msgspec.Struct):
    """One submit of one job. ``token`` is in its parameters.

    ``job``: the id in the answer; ``known``: whether an answer or a refusal came; ``may_exist``: not after a refusal.
    """

    token: int
    task: str
    by: str
    parent: JobId | None = None
    job: JobId | None = None
    known: bool = False
    may_exist: bool = True


class Run(msgspec.Struct):
    """One attempt's code.

    ``vouched``: until when its worker had last told the guard to wait; ``how``: ``succeeded``, ``failed``, ``killed``
    ...; ``stubborn``: code in the runner that heeded nobody, so that only the end of the runner ends it; ``lost``:
    since when its lease is gone; ``told``: when its worker has seen that.
    """

    job: JobId
    attempt: int
    claim: ClaimId
    worker: str
    runner: str
    started: Duration
    vouched: Duration
    ended: Duration | None = None
    how: str = ""
    result: bytes = b""
    retry_after: Duration | None = None
    stubborn: bool = False
    lost: Duration | None = None
    told: Duration | None = None


class CancelTold(msgspec.Struct):
    """A cancel that was answered: what the answer said, and how far history was."""

    job: JobId
    state: State
    seq: int
    at: Duration


class Jump(msgspec.Struct):
    """The wall clock was set."""

    at: Duration
    length: Duration


class Ledger:
    """Everything that outsiders know."""

    def __init__(self) -> None:
        self.wishes: dict[int, Wish] = {}
        self.runs: list[Run] = []
        self.by_claim: dict[ClaimId, Run] = {}
        self.of_job: dict[JobId, list[Run]] = {}
        self.cancels: list[CancelTold] = []
        self.replays: list[tuple[JobId, JobId]] = []
        self.jumps: list[Jump] = []
        self.last_jump: Duration | None = None
        self._stalls: list[tuple[Duration, Duration]] = []

    def wish(self, task: str, by: str, parent: JobId | None = None) -> Wish:
        """A submit is about to be made."""
        wish = Wish(len(self.wishes) + 1, task, by, parent)
        self.wishes[wish.token] = wish
        return wish

    def begin(self, run: Run) -> None:
        """An attempt's code starts."""
        self.runs.append(run)
        self.by_claim[run.claim] = run
        self.of_job.setdefault(run.job, []).append(run)

    def jump(self, at: Duration, length: Duration) -> None:
        """The wall clock was set."""
        self.jumps.append(Jump(at, length))
        self.last_jump = at

    def stall(self, at: Duration, length: Duration) -> None:
        """The whole world stood still from then on, as one transaction took so long."""
        self._stalls.append((at, length))

    def lived(self, since: Duration, until: Duration) -> Duration:
        """Time between two moments in which others could have acted."""
        return Duration(until - since - sum(length for at, length in self._stalls if since <= at < until))

    def jumped_since(self, at: Duration) -> bool:
        """Whether the wall clock was set at or after this instant."""
        return self.last_jump is not None and self.last_jump >= at

    def digest(self) -> list[tuple[Any, ...]]:
        """All runs as plain values: the same seed gives the same ones."""
        return [(run.job, run.attempt, run.claim, run.runner, run.started, run.ended, run.how) for run in self.runs]


def signature(job: int, attempt: int, claim: int) -> bytes:
    """What a simulated success returns: which attempt it was."""
    return msgspec.json.encode([job, attempt, claim])
