"""Harness: a whole platform in one process, in memory, under a virtual clock. For the tests of those who write tasks.

It is the simulated world without faults: the real engine and store, the user's real functions, and time that only moves
when the test moves it. docs/guides/testing.md shows how.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mainspring.clock import SECOND, Duration, Instant, duration, instant
from mainspring.domain.event import Event
from mainspring.domain.job import Job, JobFilter
from mainspring.domain.states import State
from mainspring.engine.timing import Timing
from mainspring.errors import InvalidOption, WaitTimeout, near
from mainspring.runner.capture import JobHandler, JobStream
from mainspring.runner.running import here
from mainspring.sdk.connection import Using, use_client
from mainspring.sdk.waiting import use_clock
from mainspring.testing.desk import HarnessClient
from mainspring.testing.stage import LONGEST_STEP, Stage
from mainspring.testing.virtual import START
from mainspring.testing.worker import WorkerPlan

if TYPE_CHECKING:
    from mainspring.sdk.app import Mainspring
    from mainspring.sdk.handle import Handle
    from mainspring.sdk.task import RegisteredTask


class Harness:
    """``with Harness(app) as h:``: inside it, SDK calls of this process go to the harness's own platform.

    ``seed``: the same seed, code and calls give the same events; ``start``: the first instant (default 2026-01-01
    00:00 UTC; an ISO 8601 text or a datetime with a zone); ``lease``, ``sweep``, ``slots``, ``labels``: as of a worker
    (labels: by default those that the tasks require).
    ``client``: asks the platform anything that the SDK can't; ``notes``: what the worker would have written to its log.
    """

    def __init__(  # noqa: PLR0913 - each is a documented option
        self,
        app: Mainspring,
        *,
        seed: int = 0,
        start: str | datetime | None = None,
        lease: str | float = "30s",
        sweep: str | float = "5s",
        slots: int = 100,
        labels: dict[str, str] | None = None,
    ) -> None:
        timing = Timing(duration(lease), duration(sweep), SECOND, Duration(30 * SECOND))
        self.app = app
        has = _every_label(app) if labels is None else labels
        plan = WorkerPlan(timing=timing, slots=slots, processes=slots, labels=has)
        self._stage = Stage(app, _first(start), seed, plan)
        self.clock = self._stage.clock
        self.store = self._stage.store
        self.notes = self._stage.notes
        self.client = HarnessClient(self.store, self._wait)
        self.client.declare(app.catalog())
        self._capture = _Capture(app.name)
        self._using: Using | None = None

    # --- in and out -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._using = use_client(self.client)
        use_clock(self.clock, LONGEST_STEP)
        self._capture.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stage.close()
        finally:
            self._capture.end()
            use_clock(None)
            if self._using is not None:
                self._using.__exit__(kind, error, trace)
            self.client.close()

    # --- time -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The virtual time, in UTC."""
        return datetime.fromtimestamp(self.clock.now() / 1_000_000, UTC)

    def advance(self, length: str | float) -> None:
        """Let this much virtual time pass, with everything that is due in it, each at its instant and in order."""
        self._stage.until(Duration(self.clock.monotonic() + duration(length)))

    def run_until_idle(self) -> None:
        """Let everything happen that is due now. No time passes: what is due later waits."""
        self._stage.until(self.clock.monotonic())

    def run_until(self, wanted: Callable[[], object] | Handle[Any], *, within: str | float = "1h") -> None:
        """Let virtual time pass until a condition holds or a job has ended. Raises WaitTimeout after ``within``."""
        condition = wanted if callable(wanted) else lambda: wanted.refresh().done
        deadline = Duration(self.clock.monotonic() + duration(within))
        self.run_until_idle()
        while not condition():
            left = Duration(deadline - self.clock.monotonic())
            if left <= 0:
                raise WaitTimeout(
                    f"It did not come true within {within} of virtual time.", remedy="Give it longer: within="
                )
            self._stage.step(left)

    def _wait(self, most: Duration) -> None:
        """What waiting for a job's news does here. Raises WaitTimeout where nothing could ever come."""
        if not self._stage.step(most):
            raise WaitTimeout(
                "Nothing is due, and nothing runs that could bring news: this would wait for ever.",
                remedy="See h.jobs(): which job is waited for, and what does it wait for?",
            )

    # --- looking ----------------------------------------------------------------------------------------------

    def jobs(self, state: State | str | None = None, *, task: str | None = None, queue: str | None = None) -> list[Job]:
        """Jobs, oldest first, at most 1,000."""
        wanted = JobFilter(state=None if state is None else State(state), task=task, queue=queue, limit=1000)
        return list(reversed(self.client.jobs(wanted).items))

    def events(self, job: int | Handle[Any] | None = None) -> list[Event]:
        """Events in order, of one job or of all."""
        number = job if isinstance(job, int | None) else job.id
        found: list[Event] = []
        while page := self.client.events(after=found[-1].seq if found else 0, job=number):
            found += page
        return found

    # --- levers -----------------------------------------------------------------------------------------------

    def replace(self, task: str | RegisteredTask[..., Any, Any], function: Callable[..., Any]) -> Replacement:
        """From now on this task runs the test's function (same parameters). As a context manager: until its end."""
        name = task if isinstance(task, str) else task.name
        full = next((one.name for short, one in self.app.tasks.items() if name in (short, one.name)), None)
        if full is None:
            remedy = near(name, self.app.tasks) or f"It has: {', '.join(self.app.tasks)}."
            raise InvalidOption(f"{self.app.name} has no task {name!r}.", remedy=remedy, field="task")
        replaced = self._stage.replaced
        before = replaced.get(full)
        replaced[full] = function
        return Replacement(replaced, full, before)

    def crash_worker(self) -> None:
        """As kill -9: the worker and all its running code are gone; a new one starts at once.

        Its jobs run again once their leases have run out and were swept: ``h.advance("36s")`` by default.
        """
        self._stage.crash_worker()

    def crash_runner(self) -> None:
        """As if a job had killed the shared process that it ran in."""
        self._stage.crash_runner()

    def freeze_worker(self, length: str | float) -> None:
        """As SIGSTOP and, after this long, SIGCONT: it gets no turns meanwhile, and its leases run out."""
        self._stage.frozen_until = Duration(self.clock.monotonic() + duration(length))


class Replacement:
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


def _every_label(app: Mainspring) -> dict[str, str]:
    """What all tasks together require; where two want one label differently, the later one gets it."""
    return {name: value for task in app.catalog().tasks for name, value in task.requires.items()}


class _Capture:
    """Leads what jobs print and log into their logs, while a harness is in use; all else goes where it always went."""

    def __init__(self, app: str) -> None:
        self._handler = JobHandler(_into_the_job)
        self._logger = logging.getLogger(app)
        self._level = logging.NOTSET
        self._streams: tuple[Any, Any] | None = None

    def begin(self) -> None:
        self._streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = JobStream("stdout", sys.stdout), JobStream("stderr", sys.stderr)
        self._level = self._logger.level
        if self._level == logging.NOTSET:
            self._logger.setLevel(logging.INFO)
        logging.getLogger().addHandler(self._handler)

    def end(self) -> None:
        logging.getLogger().removeHandler(self._handler)
        self._logger.setLevel(self._level)
        if self._streams is not None:
            sys.stdout, sys.stderr = self._streams


def _into_the_job(level: str, text: str) -> None:
    """What a job logs becomes its log lines; what is logged elsewhere is the test's own business."""
    running = here.get()
    if running is not None:
        running.write("log", text, level)


def _first(start: str | datetime | None) -> Instant:
    if start is None:
        return START
    if isinstance(start, datetime):
        return instant(start.isoformat())
    return instant(start)
