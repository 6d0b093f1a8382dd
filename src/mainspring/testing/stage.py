"""The stage of a harness: one worker, its runners and the user's async code, driven in the order of virtual time.

Time in which everybody only polls and renews is left out, so that a month costs a few turns. A machine that sleeps does
that too, except that here nobody's guard strikes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mainspring.chance import SeededChance
from mainspring.clock import DAY, Duration, Instant
from mainspring.domain.task import Lodging
from mainspring.engine.fire import Fire
from mainspring.errors import WaitTimeout
from mainspring.runner.running import here
from mainspring.store import audit, schedules, workers
from mainspring.testing.coderunner import CodeRunner
from mainspring.testing.desk import waits_for_news
from mainspring.testing.image import fresh_store
from mainspring.testing.loop import NewsBell, VirtualLoop
from mainspring.testing.runners import Runner
from mainspring.testing.virtual import NEVER, VirtualClock
from mainspring.testing.worker import SimulatedWorker, WorkerPlan

if TYPE_CHECKING:
    from mainspring.sdk.app import Mainspring

MOST_TURNS = 1_000_000
"""Turns in one call before we say that the code under test never comes to rest."""
LONGEST_STEP = Duration(366 * DAY)
"""What a wait without an end waits for at most."""


class Stage:
    """Everything that moves in a harness.

    ``replaced``: functions of the test, by full task name; ``notes``: what the worker would have written to its log;
    ``frozen_until``: the worker gets no turns before (monotonic).
    """

    def __init__(self, app: Mainspring, start: Instant, seed: int, plan: WorkerPlan) -> None:
        self.app = app
        self.clock = VirtualClock(start)
        self.chance = SeededChance(seed)
        self.store = fresh_store(self.clock, self.chance)
        self.loop = VirtualLoop(self.clock, waits_for_news)
        self.plan = plan
        self.replaced: dict[str, Callable[..., object]] = {}
        self.notes: list[str] = []
        self.frozen_until = Duration(0)
        self._turns = threading.RLock()
        self._bell = self.store.work_bell.listen("harness")
        self.store.news_bell.enroll(NewsBell(self.loop))
        self._fire = Fire(self.store, self.clock)
        self.worker = self._new_worker()

    def close(self) -> None:
        """Stop all code."""
        for runner in self.worker.crash():
            runner.die("coordinator")
        self.loop.finish()

    # --- time -------------------------------------------------------------------------------------------------

    def until(self, end: Duration, unless: Callable[[], bool] = lambda: False) -> None:
        """Everything that happens up to this instant (monotonic), each thing at its own, in order.

        ``unless``: stop short of it once this holds.
        """
        with self._one_at_a_time():
            for _ in range(MOST_TURNS):
                soonest = self._soonest()
                self._pass(Duration(min(soonest, end) - self.clock.monotonic()))
                if soonest > end:
                    return
                self._act()
                if unless():
                    return
        raise WaitTimeout(
            f"{MOST_TURNS:,} turns have not brought the platform to rest.", remedy="Does a job resubmit itself?"
        )

    def step(self, most: Duration = LONGEST_STEP) -> bool:
        """Everything that is due now; when that is nothing, the next thing that will be. False when there is none."""
        with self._one_at_a_time():
            soonest, now = self._soonest(), self.clock.monotonic()
            if soonest >= NEVER:
                self._pass(most if most < LONGEST_STEP else Duration(0))
                return most < LONGEST_STEP
            self.until(Duration(min(max(soonest, now), now + most)))
            return True

    def idle(self) -> bool:
        """Whether nothing is due now."""
        return self._soonest() > self.clock.monotonic()

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Threads of an async test take turns; code that runs inside a turn has it already."""
        if self.loop.is_running():
            yield
            return
        with self._turns:
            yield

    def _soonest(self) -> Duration:
        """When the next thing happens; NEVER when only a new wish can bring one."""
        if self._bell.wait(Duration(0)):
            self.worker.ring()
        now = self.clock.monotonic()
        moments = [runner.needs_at() for runner in self._runners()]
        if not self.loop.is_running():
            moments.append(self.loop.due_at())
        if self._steady():
            moments += [self.worker.needs_at(), self._next_due()]
        else:
            moments += [runner.wakes_at() for runner in self._runners()]
            moments.append(max(self.worker.wakes_at(), self.frozen_until))
        moments.append(self._tick_due())
        return max(now, min(moments))

    def _steady(self) -> bool:
        """Whether all leases are in good hands and the worker only polls and renews."""
        now, worker = self.clock.monotonic(), self.worker
        if worker.dispatch is None or now < self.frozen_until or worker.needs_at() <= now:
            return False
        return len(self.store.read(audit.leased)) == len(worker.dispatch.held)

    def _next_due(self) -> Duration:
        """When the store next has something to promote or to expire."""
        now = self.clock.now()
        due, _, expiry = self.store.read(lambda tx: workers.sweep_look(tx, now))
        soonest = min((at for at in (due, expiry) if at is not None), default=None)
        return NEVER if soonest is None else Duration(self.clock.monotonic() + max(0, soonest - now))

    def _tick_due(self) -> Duration:
        """When a schedule next has a tick to decide."""
        at = self.store.read(schedules.soonest)
        return NEVER if at is None else Duration(self.clock.monotonic() + max(0, at - self.clock.now()))

    def _pass(self, length: Duration) -> None:
        """Time goes by; where turns were left out, a look and the renewals are due at its end."""
        if length <= 0:
            return
        if self._steady():
            for runner in self._runners():
                runner.extend(Duration(self.clock.monotonic() + length + self.plan.timing.lease))
            self.clock.advance(length)
            self.worker.ring()
        else:
            self.clock.advance(length)

    def _act(self) -> None:
        """One turn of whoever wants it now: runners and their code first, as they are faster than a commit."""
        now = self.clock.monotonic()
        if self._tick_due() <= now:
            self._fire.turn()
            return
        for runner in self._runners():
            if runner.wakes_at() <= now:
                runner.act()
                return
        if not self.loop.is_running() and self.loop.due_at() <= now:
            self.loop.spin()
        elif max(self.worker.wakes_at(), self.frozen_until) <= now:
            self.worker.act()
            self._fire.turn()  # what waited for a job to end

    def _runners(self) -> list[Runner]:
        return list(self.worker.runners.values())

    # --- what the worker needs of its world -------------------------------------------------------------------

    def start_runner(self, worker: SimulatedWorker, number: int, lodging: Lodging) -> Runner:
        """A new runner in this process."""
        return CodeRunner(
            number,
            self.clock,
            self.app.catalog(),
            self.app,
            self.loop,
            self.replaced,
            lambda length, unless: self.until(Duration(self.clock.monotonic() + length), unless),
            lodging=lodging,
        )

    def may_read(self) -> int:
        """How many frames the worker takes in before its turn."""
        return 1_000_000

    def note(self, worker: SimulatedWorker, text: str) -> None:
        """A sentence for the worker's log."""
        self.notes.append(text)

    def _new_worker(self) -> SimulatedWorker:
        return SimulatedWorker("harness", self, self.store, self.clock, self.chance, self.plan)

    # --- levers -----------------------------------------------------------------------------------------------

    def crash_worker(self) -> None:
        """As kill -9; a new worker starts at once."""
        for runner in self.worker.crash():
            runner.die("coordinator")
        self.worker = self._new_worker()

    def crash_runner(self) -> None:
        """As if the job that asks, or else some job in a shared runner, had killed the process that it runs in."""
        asking = here.get()
        for runner in self._runners():
            if runner.runs(asking.claim) if asking else runner.lodging is Lodging.SHARED:
                runner.die(None, {"signal": "SIGKILL"})
