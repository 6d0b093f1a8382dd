"""Harness: a whole platform in one process, in memory, under a virtual clock. For the tests of those who write tasks.

It is the simulated world without faults: the real engine and store, the user's real functions, and time that only moves
when the test moves it. docs/guides/testing.md shows how.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mainspring.chance import SeededChance
from mainspring.client.direct import DirectClient
from mainspring.clock import DAY, SECOND, Duration, Instant, duration, instant
from mainspring.domain.event import Event
from mainspring.domain.job import Job, JobFilter, JobRequest
from mainspring.domain.states import State
from mainspring.engine.dispatch import Timing
from mainspring.errors import InvalidOption, WaitTimeout, near
from mainspring.runner.capture import JobHandler, JobStream
from mainspring.runner.running import here
from mainspring.sdk.connection import Using, use_client
from mainspring.store import Store, workers
from mainspring.testing.coderunner import CodeRunner
from mainspring.testing.loop import VirtualLoop
from mainspring.testing.runners import Runner
from mainspring.testing.virtual import NEVER, START, VirtualClock
from mainspring.testing.worker import SimulatedWorker, WorkerPlan

if TYPE_CHECKING:
    from mainspring.sdk.app import Mainspring
    from mainspring.sdk.handle import Handle
    from mainspring.sdk.task import RegisteredTask

_TURNS = 1_000_000
"""Turns at one instant before we say that the code under test never comes to rest."""
_LONGEST_WAIT = Duration(366 * DAY)


class _HarnessClient(DirectClient):
    """A client for which waiting means that virtual time goes on."""

    def __init__(self, harness: Harness) -> None:
        super().__init__(harness.store, actor="client")
        self._harness = harness

    def submit(self, requests: Sequence[JobRequest]) -> list[int]:
        """What a job submits has that job as its parent, as everywhere."""
        running = here.get()
        if running is None:
            return super().submit(requests)
        return DirectClient(self.store, actor=f"job:{running.job}", parent=running.job).submit(requests)

    def await_news(self, timeout: Duration) -> None:
        """Let everything that is due happen; when that is nothing, go on to the next thing that will."""
        if timeout > 0:
            self._harness.step()


class Harness:
    """``with Harness(app) as h:``: inside it, SDK calls of this process go to the harness's own platform.

    ``seed``: the same seed, code and calls give the same events; ``start``: the first instant (default 2026-01-01
    00:00 UTC; an ISO 8601 text or a datetime with a zone); ``lease``, ``sweep``, ``slots``: as of a worker.
    """

    def __init__(  # noqa: PLR0913 - each is a documented option
        self,
        app: Mainspring,
        *,
        seed: int = 0,
        start: str | datetime | None = None,
        lease: str = "30s",
        sweep: str = "5s",
        slots: int = 100,
    ) -> None:
        self.app = app
        self.clock = VirtualClock(_first(start))
        self._chance = SeededChance(seed)
        self.store = Store.open("sqlite://:memory:", clock=self.clock, chance=self._chance, inline=True)
        timing = Timing(duration(lease), duration(sweep), SECOND, Duration(30 * SECOND))
        self._plan = WorkerPlan(timing=timing, slots=slots, processes=slots)
        self._replaced: dict[str, Callable[..., Any]] = {}
        self._loop = VirtualLoop(self.clock, _waits_for_news)
        self._bell = self.store.work_bell.listen("harness")
        self._frozen_until = Duration(0)
        self._orphans: list[Runner] = []
        self._depth = 0
        self.notes: list[str] = []
        """What the worker would have written to its log."""
        self.client = _HarnessClient(self)
        self.client.declare(app.catalog())
        self._worker = self._new_worker()
        self._using: Using | None = None
        self._streams: tuple[Any, Any] | None = None
        self._handler = JobHandler(_into_the_job)

    # --- in and out -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._using = use_client(self.client)
        self._streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = JobStream("stdout", sys.stdout), JobStream("stderr", sys.stderr)
        logging.getLogger(self.app.name).addHandler(self._handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger(self.app.name).removeHandler(self._handler)
        if self._streams is not None:
            sys.stdout, sys.stderr = self._streams
        if self._using is not None:
            self._using.__exit__(kind, error, trace)
        for runner in [*self._worker.crash(), *self._orphans]:
            runner.die("coordinator")
        self._loop.spin()
        self._loop.close()
        self.client.close()

    # --- time -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The virtual time, in UTC."""
        return datetime.fromtimestamp(self.clock.now() / 1_000_000, UTC)

    def advance(self, length: str | float) -> None:
        """Let this much virtual time pass, with everything that is due in it, each at its instant and in order."""
        self._until(Duration(self.clock.monotonic() + duration(length)))

    def run_until_idle(self) -> None:
        """Let everything happen that is due now. No time passes: what is due later waits."""
        self._until(self.clock.monotonic())

    def run_until(self, wanted: Callable[[], bool] | Handle[Any], *, within: str = "1h") -> None:
        """Let virtual time pass until a condition holds or a job has ended. Raises WaitTimeout after ``within``."""
        condition = wanted if callable(wanted) else lambda: wanted.refresh().done
        deadline = Duration(self.clock.monotonic() + duration(within))
        self.run_until_idle()
        while not condition():
            if self.clock.monotonic() >= deadline:
                raise WaitTimeout(f"It did not come true within {within} of virtual time.")
            self.step(most=Duration(deadline - self.clock.monotonic()))

    def step(self, *, most: Duration = _LONGEST_WAIT) -> None:
        """Everything that is due now, or, when that is nothing, the next thing that will be (at most so far ahead)."""
        self._heed_bell()
        soonest = self._soonest()
        now = self.clock.monotonic()
        if soonest > now:
            self._wake(Duration(min(soonest - now, most)))
        self._until(self.clock.monotonic())

    def _until(self, end: Duration) -> None:
        self._depth += 1
        try:
            for _ in range(_TURNS):
                self._heed_bell()
                soonest = self._soonest()
                if soonest > end:
                    self._wake(Duration(end - self.clock.monotonic()))
                    return
                self._wake(Duration(soonest - self.clock.monotonic()))
                self._act()
        finally:
            self._depth -= 1
        raise WaitTimeout(f"{_TURNS:,} turns have not brought the platform to rest.", remedy="A job resubmits itself?")

    def _heed_bell(self) -> None:
        if self._bell.wait(Duration(0)):
            self._worker.ring()

    def _soonest(self) -> Duration:
        if self._dormant():
            return self._next_due()
        moments = [max(self._worker.wakes_at(), self._frozen_until), *(one.wakes_at() for one in self._runners())]
        if not self._loop.is_running():
            moments.append(self._loop.due_at())
        return max(min(moments), self.clock.monotonic()) if min(moments) < NEVER else NEVER

    def _dormant(self) -> bool:
        """Whether the platform only polls and beats: then time may jump to the next due job, be it in a month."""
        worker, now = self._worker, self.clock.monotonic()
        quiet = (
            worker.dispatch is not None and not worker.busy and now < worker.wakes_at() and now >= self._frozen_until
        )
        return quiet and not self._orphans and (self._loop.is_running() or self._loop.due_at() == NEVER)

    def _next_due(self) -> Duration:
        now = self.clock.now()
        due, _, expiry = self.store.read(lambda tx: workers.sweep_look(tx, now))
        soonest = min((at for at in (due, expiry) if at is not None), default=None)
        return NEVER if soonest is None else Duration(self.clock.monotonic() + max(0, soonest - now))

    def _wake(self, jump: Duration) -> None:
        """Behind a jump of time: nobody beat meanwhile, and nobody needed to."""
        if jump > 0 and self._dormant():
            for runner in self._worker.runners.values():
                runner.extend(Duration(self.clock.monotonic() + jump + self._plan.timing.lease))
            self.clock.advance(jump)
            self._worker.ring()
        else:
            self.clock.advance(jump)

    def _act(self) -> None:
        """One turn of whoever wants it now: runners and their code first, as they are faster than a commit."""
        now = self.clock.monotonic()
        for runner in self._runners():
            if runner.wakes_at() <= now:
                runner.act()
                return
        if not self._loop.is_running() and self._loop.due_at() <= now:
            self._loop.spin()
        elif max(self._worker.wakes_at(), self._frozen_until) <= now:
            self._worker.act()

    def _runners(self) -> list[Runner]:
        return [*self._worker.runners.values(), *self._orphans]

    def _pause(self, length: Duration) -> None:
        """A plain function waits: everybody else goes on meanwhile."""
        self._until(Duration(self.clock.monotonic() + length))

    # --- what the worker needs of its world -------------------------------------------------------------------

    def start_runner(self, worker: SimulatedWorker, number: int, *, alone: bool) -> Runner:
        """A new runner in this process."""
        catalog = self.app.catalog()
        return CodeRunner(number, self.clock, catalog, self.app, self._loop, self._replaced, self._pause, alone=alone)

    def may_read(self) -> int:
        """How many frames the worker takes in before its turn."""
        return 1_000_000

    def note(self, worker: SimulatedWorker, text: str) -> None:
        """A sentence for the worker's log."""
        self.notes.append(text)

    def _new_worker(self) -> SimulatedWorker:
        return SimulatedWorker("harness", self, self.store, self.clock, self._chance, self._plan)

    # --- looking ----------------------------------------------------------------------------------------------

    def jobs(self, state: State | str | None = None, *, task: str | None = None, queue: str | None = None) -> list[Job]:
        """Jobs, oldest first, at most 1,000."""
        wanted = JobFilter(state=None if state is None else State(state), task=task, queue=queue, limit=1000)
        return list(reversed(self.client.jobs(wanted).items))

    def events(self, job: int | None = None) -> list[Event]:
        """Events in order, of one job or of all."""
        found: list[Event] = []
        while page := self.client.events(after=found[-1].seq if found else 0, job=job):
            found += page
        return found

    # --- levers -----------------------------------------------------------------------------------------------

    def replace(self, task: str | RegisteredTask[..., Any, Any], function: Callable[..., Any]) -> _Replacement:
        """From now on this task runs the test's function (same parameters). As a context manager: until its end."""
        name = task if isinstance(task, str) else task.name
        full = next((one.name for short, one in self.app.tasks.items() if name in (short, one.name)), None)
        if full is None:
            remedy = near(name, self.app.tasks) or f"It has: {', '.join(self.app.tasks)}."
            raise InvalidOption(f"{self.app.name} has no task {name!r}.", remedy=remedy, field="task")
        before = self._replaced.get(full)
        self._replaced[full] = function
        return _Replacement(self._replaced, full, before)

    def crash_worker(self) -> None:
        """As kill -9: the worker and all its running code are gone; a new one starts at once."""
        for runner in self._worker.crash():
            runner.die("coordinator")
        self._worker = self._new_worker()

    def crash_runner(self) -> None:
        """As if a job had killed the shared process that it ran in."""
        for runner in self._worker.runners.values():
            runner.die(None, {"signal": "SIGKILL"})

    def freeze_worker(self, length: str) -> None:
        """As SIGSTOP and, after this long, SIGCONT: it gets no turns, and its leases run out."""
        self._frozen_until = Duration(self.clock.monotonic() + duration(length))


class _Replacement:
    """What ``replace`` answers; at the end of a ``with`` block the task is what it was."""

    def __init__(self, replaced: dict[str, Callable[..., Any]], name: str, before: Callable[..., Any] | None) -> None:
        self._replaced, self._name, self._before = replaced, name, before

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is None:
            self._replaced.pop(self._name, None)
        else:
            self._replaced[self._name] = self._before


def _into_the_job(level: str, text: str) -> None:
    """What a job logs becomes its log lines; what is logged elsewhere is the test's own business."""
    running = here.get()
    if running is not None:
        running.write("log", text, level)


def _waits_for_news(function: Any) -> bool:
    """Whether a call that async code hands to a thread is a wait for hints."""
    inner = getattr(function, "args", (function,))[0] if hasattr(function, "func") else function
    return isinstance(getattr(inner, "__self__", None), _HarnessClient) and inner.__name__ == "await_news"


def _first(start: str | datetime | None) -> Instant:
    if start is None:
        return START
    if isinstance(start, datetime):
        return instant(start.isoformat())
    return instant(start)
