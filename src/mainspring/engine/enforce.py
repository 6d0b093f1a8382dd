"""Enforcement: timeouts, and what happens to attempts that were asked to end and do not.

Ask first, then kill: a job with a process of its own is killed by its runner; one in a thread can only end with its
runner, which is replaced and ended when its other jobs are done, or at once when it no longer answers.
"""

from __future__ import annotations

import heapq
from collections.abc import Container

from mainspring.clock import SECOND, Clock, Duration, seconds
from mainspring.domain.frame import Cancel, Ping
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.held import Custody, Held, RunnerView

PATIENCE = Duration(2 * SECOND)
"""How long after its grace an attempt may take to say that it ended, and a runner to answer a ping."""


class Enforcer:
    """Watches the clock over running attempts."""

    def __init__(self, custody: Custody, clock: Clock) -> None:
        self._custody = custody
        self._clock = clock
        self._timers: list[tuple[Duration, ClaimId, JobId]] = []

    @property
    def next_check(self) -> Duration | None:
        """When ``check_timers`` has something to do (monotonic)."""
        return self._timers[0][0] if self._timers else None

    def limit(self, held: Held, at: Duration) -> None:
        """Look at this attempt then: its time is over, or it has not heeded."""
        heapq.heappush(self._timers, (at, held.claim, held.job))

    def ask(self, held: Held, outcome: Outcome, grace: Duration, monotonic: Duration) -> None:
        """Ask an attempt to end with this outcome; look after it when its grace is over."""
        held.asked = outcome
        held.check_at = Duration(monotonic + grace + PATIENCE)
        self._custody.out.frames.append((held.runner, Cancel(held.job, held.claim, outcome, seconds(grace))))
        self.limit(held, held.check_at)

    def fence(self, still_held: Container[JobId], monotonic: Duration) -> None:
        """Stop attempts whose leases were taken away; nothing of them will be written."""
        for held in list(self._custody.held.values()):
            if held.job not in still_held and not held.fenced:
                held.fenced = True
                self._custody.out.notes.append(
                    f"job {held.job}: the lease of attempt {held.attempt} was taken away; stopping it"
                )
                self.ask(held, Outcome.LOST, Duration(min(held.policy.grace, SECOND)), monotonic)

    def check_timers(self, monotonic: Duration) -> None:
        """Ask attempts whose timeout is over; look after those that were asked."""
        while self._timers and self._timers[0][0] <= monotonic:
            _, claim, job = heapq.heappop(self._timers)
            held = self._custody.held.get(job)
            if held is None or held.claim != claim:
                continue
            if held.asked is None:
                self.ask(held, Outcome.TIMED_OUT, held.policy.grace, monotonic)
            elif held.check_at is not None and held.check_at <= monotonic:
                self._check_heeded(held, monotonic)

    def _check_heeded(self, held: Held, monotonic: Duration) -> None:
        """It was asked and has not ended: see whether its runner is alive at all."""
        runner = self._custody.runners.get(held.runner)
        if runner is None or held.stuck:
            return
        if runner.pinged_at is None:
            runner.pinged_at = monotonic
            runner.pings += 1
            self._custody.out.frames.append((runner.number, Ping(runner.pings)))
        elif monotonic - runner.pinged_at >= PATIENCE:
            self.doom(runner)
            return
        held.check_at = Duration(monotonic + PATIENCE)
        self.limit(held, held.check_at)

    def answered(self, runner: RunnerView) -> None:
        """A pong: its loop turns, so those that did not heed are stuck by themselves."""
        runner.pinged_at = None
        monotonic = self._clock.monotonic()
        for held in list(runner.jobs.values()):
            late = held.check_at is not None and held.check_at - PATIENCE <= monotonic
            if held.asked is not None and late and held.lodging is not Lodging.PROCESS:
                self.recycle(runner, held)

    def recycle(self, runner: RunnerView, held: Held) -> None:
        """The runner of a stuck attempt takes no more jobs, and ends when only stuck ones are left in it."""
        if not held.stuck:
            held.stuck = True
            self._custody.out.notes.append(
                f"job {held.job}: attempt {held.attempt} does not heed; its runner will be replaced"
            )
        if not runner.recycling:
            runner.recycling = True
            if runner.lodging is Lodging.SHARED:
                self._custody.out.replace.append(runner.number)
        self.left(runner)

    def left(self, runner: RunnerView) -> None:
        """One of its jobs has ended or is stuck: end a replaced runner that has only stuck ones, or none any more."""
        if runner.recycling and all(other.stuck for other in runner.jobs.values()):
            self.doom(runner)

    def doom(self, runner: RunnerView) -> None:
        """End a runner, and start nothing more in it; its other jobs are innocent."""
        if not runner.doomed:
            runner.doomed = True
            runner.recycling = True
            self._custody.out.kill.append(runner.number)
