"""Operators: clients with random wishes. They submit, cancel, retry and ask, and write down what they were told."""

from __future__ import annotations

from collections.abc import Callable

from mainspring.chance import SeededChance
from mainspring.client.direct import DirectClient
from mainspring.clock import MILLISECOND, Duration
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.domain.states import State
from mainspring.errors import IllegalState, ReplayLive, StoreError, UnknownJob
from mainspring.faults import InjectedFault
from mainspring.store import Store
from mainspring.testing.judge import Judge
from mainspring.testing.ledger import CancelTold, Ledger
from mainspring.testing.mischief import BEFORE_COMMIT
from mainspring.testing.virtual import NEVER, VirtualClock

SUBMITTED_BY_ONE = 11
"""Jobs that each operator submits; two of them make at least the twenty that a seed needs."""


class Operator:
    """One client with a will of its own."""

    def __init__(  # noqa: PLR0913, PLR0917 - a client and what it writes down
        self,
        name: str,
        store: Store,
        clock: VirtualClock,
        chance: SeededChance,
        ledger: Ledger,
        judge: Judge,
        deal: Deal,
    ) -> None:
        self.name = name
        self._client = DirectClient(store, actor=f"client:{name}")
        self._clock = clock
        self._chance = chance
        self._ledger = ledger
        self._judge = judge
        self._deal = deal
        self._known: list[int] = []
        self._left = SUBMITTED_BY_ONE
        self._next = clock.monotonic()
        self.quiet = False

    def wakes_at(self) -> Duration:
        return NEVER if self.quiet else self._next

    def act(self) -> None:
        """One wish."""
        self._next = Duration(self._clock.monotonic() + self._chance.whole(5, 900) * MILLISECOND)
        roll = self._chance.fraction()
        if self._left > 0 and (roll < 0.7 or not self._known):
            self._submit()
        elif not self._known:
            return
        elif roll < 0.83:
            self._cancel(self._chance.pick(self._known))
        elif roll < 0.92:
            self._retry(self._chance.pick(self._known))
        else:
            self._ask(self._chance.pick(self._known))

    def _submit(self) -> None:
        """One or several jobs in one request; what was not answered may exist or not."""
        count = min(self._left, self._chance.pick((1, 1, 2, 5)))
        self._left -= count
        requests = [self._deal(self._chance) for _ in range(count)]
        wishes = [self._ledger.wish(request.task, self.name) for request in requests]
        for request, wish in zip(requests, wishes, strict=True):
            request.params["token"] = wish.token
        try:
            ids = [receipt.job for receipt in self._client.submit(requests)]
        except StoreError:
            refused = True
            self._left += count
        except InjectedFault as fault:
            refused = str(fault) in BEFORE_COMMIT
            for wish in wishes:
                wish.may_exist = not refused
            raise
        else:
            self._known += ids
            for wish, job in zip(wishes, ids, strict=True):
                wish.known, wish.job = True, JobId(job)
            return
        for wish in wishes:
            wish.known, wish.may_exist = True, not refused

    def _cancel(self, job: int) -> None:
        try:
            told = self._client.cancel(job)
        except (IllegalState, StoreError):
            return
        except UnknownJob:
            self._judge.accuse("I1", job, f"{self.name} was told that it is stored; a cancel does not find it")
            return
        self._judge.look()
        self._judge.tracks[JobId(job)].cancelled_at = self._judge.seq
        self._ledger.cancels.append(CancelTold(JobId(job), told.state, self._judge.seq, self._clock.monotonic()))
        if told.state not in (State.CANCELLED, State.RUNNING):
            self._judge.accuse("I11", job, f"a cancel was answered with the state {told.state}")

    def _retry(self, job: int) -> None:
        try:
            new = self._client.retry(job)
        except (IllegalState, ReplayLive, StoreError):
            return
        except UnknownJob:
            self._judge.accuse("I1", job, f"{self.name} was told that it is stored; a retry does not find it")
            return
        self._ledger.replays.append((JobId(job), JobId(new.id)))
        self._known.append(new.id)

    def _ask(self, job: int) -> None:
        """A question: the answers of one moment agree with each other and with history."""
        try:
            shown = self._client.job(job)
            attempts = self._client.attempts(job)
            count = self._client.count(JobFilter())
            page = self._client.jobs(JobFilter(limit=5))
        except StoreError:
            return
        except UnknownJob:
            self._judge.accuse("I1", job, f"{self.name} was told that it is stored; a question does not find it")
            return
        self._judge.look()
        if [attempt.number for attempt in attempts] != list(range(1, len(attempts) + 1)):
            self._judge.accuse("I4", job, f"its attempts are shown as {[attempt.number for attempt in attempts]}")
        if sum(attempt.outcome is None for attempt in attempts) > 1:
            self._judge.accuse("I4", job, "two attempts are shown as running")
        if count != len(self._judge.tracks) or len(page.items) != min(5, count):
            self._judge.accuse("I2", job, f"{count} jobs are counted, history knows {len(self._judge.tracks)}")
        if shown.id != job:
            self._judge.accuse("I1", job, f"asked for it, job {shown.id} was shown")


Deal = Callable[[SeededChance], JobRequest]
