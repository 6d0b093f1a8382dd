"""A runner of the harness: it runs the user's real functions, in this process and under the virtual clock."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from mainspring.clock import MILLISECOND, SECOND, Duration, duration
from mainspring.domain.attempt import Failure
from mainspring.domain.frame import Cancel, Ended, Log, Progress, Start, Stuck
from mainspring.domain.ids import ClaimId
from mainspring.domain.states import Outcome
from mainspring.domain.task import Catalog, Executor, Lodging
from mainspring.errors import MainspringError
from mainspring.runner.conclusion import raised, refused, returned, stopped
from mainspring.runner.output import JobLog
from mainspring.runner.running import Running, here
from mainspring.sdk.context import Context, enter
from mainspring.testing.loop import VirtualLoop
from mainspring.testing.runners import Runner, at_once
from mainspring.testing.virtual import NEVER, VirtualClock

if TYPE_CHECKING:
    from mainspring.sdk.app import Mainspring

_OFTEN = 100
_A_WHILE = Duration(10 * MILLISECOND)
Pause = Callable[[Duration, Callable[[], bool]], None]
"""Lets so much virtual time pass, or less once the condition holds."""

_COMMAND_RAN = b'{"exit_code":0}'


class VirtualContext(Context):
    """A job's Context whose waits take virtual time.

    Code that asks ``cancelled`` over and over without waiting lets a little time pass, or it would ask for ever.
    """

    pause: Pause
    asked_often = 0

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was asked to stop."""
        self.asked_often += 1
        if self.asked_often % _OFTEN == 0:
            self.pause(_A_WHILE, lambda: False)
        return self._cancelled

    def wait(self, length: str | float) -> bool:
        """Let virtual time pass, with everything else that happens in it. True if the attempt was asked to stop."""
        self.pause(duration(length), lambda: self._cancelled)
        return self._cancelled


class CodeRunner(Runner):
    """Runs tasks of an app: plain functions in place, async ones on the virtual loop.

    Commands are not executed: they succeed with exit code 0 unless the test replaced them.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - composition
        self,
        number: int,
        clock: VirtualClock,
        catalog: Catalog,
        app: Mainspring,
        loop: VirtualLoop,
        replaced: dict[str, Callable[..., Any]],
        pause: Pause,
        *,
        lodging: Lodging,
    ) -> None:
        self._tasks = {task.name: task for task in app.tasks.values()}
        self._loop = loop
        self._replaced = replaced
        self._pause = pause
        self._running: dict[ClaimId, Running] = {}
        self._heed_by: dict[ClaimId, Duration] = {}
        super().__init__(number, f"runner {number}", clock, catalog, lodging=lodging, delay=at_once)

    # --- Desk: output and reports of running code -------------------------------------------------------------

    def open_log(self, running: Running) -> JobLog:
        """A log for its output."""
        running.log = JobLog(running.start.log_room, self.clock, lambda: None)
        return running.log

    def report(self, running: Running, details: bytes) -> None:
        """Its newest progress and details."""
        running.details = details
        self.say(Progress(running.job, running.claim, Raw(details)))

    # --- attempts ---------------------------------------------------------------------------------------------

    def start(self, frame: Start, params: bytes) -> None:
        task = self._tasks.get(frame.task)
        if task is None:
            failure = Failure("UnknownTask", f"this app has no task {frame.task!r}", types=("UnknownTask",))
            self.say(Ended(frame.job, frame.claim, Outcome.FAILED, failure=failure))
            return
        running = self._running[frame.claim] = Running(frame, task, self)
        function = self._replaced.get(frame.task, task.function)
        if function is None:
            self._over(running, Ended(frame.job, frame.claim, Outcome.SUCCEEDED, Raw(_COMMAND_RAN)))
            return
        try:
            arguments = task.bind_stored(params)
        except MainspringError as error:
            self._over(running, refused(running, error))
            return
        context = VirtualContext(
            job_id=frame.job,
            attempt=frame.attempt,
            task=frame.task,
            earlier=bytes(frame.details),
            report=running.report,
            made_by=frame.tick,
        )
        context.pause = self._pause
        running.context = context
        self._place_context(function, arguments, task.context_parameter, context)
        contextvars.copy_context().run(self._launch, running, function, arguments)

    def _place_context(
        self, function: Callable[..., Any], arguments: dict[str, Any], name: str | None, context: Context
    ) -> None:
        """Hand over the Context where this function takes one; a replacement may do without."""
        if name is not None and name in inspect.signature(function).parameters:
            arguments[name] = context

    def _launch(self, running: Running, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        here.set(running)
        if running.context is not None:
            enter(running.context)
        if inspect.iscoroutinefunction(function):
            running.handle = self._loop.create_task(self._run_async(running, function, arguments))
            return
        running.began = True
        try:
            value = function(**arguments)
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its end
            self._over(running, raised(running, error))
        else:
            self._over(running, returned(running, value))

    async def _run_async(self, running: Running, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        running.began = True
        try:
            value = await function(**arguments)
        except BaseException as error:  # noqa: BLE001
            self._over(running, raised(running, error))
        else:
            self._over(running, returned(running, value))

    def _over(self, running: Running, ended: Ended) -> None:
        """Say how it ended, behind its output; code of a dead runner says nothing."""
        self._heed_by.pop(running.claim, None)
        if self._running.pop(running.claim, None) is None or self.death is not None:
            return
        if running.log is not None:
            running.log.close()
            while chunks := running.log.take():
                self.say(Log(running.job, running.claim, chunks))
        self.say(ended)

    def cancel(self, frame: Cancel) -> None:
        running = self._running.get(frame.claim)
        if running is None or running.asked is not None:
            return
        running.asked = frame.outcome
        if running.context is not None:
            running.context.ask_to_stop()
        if isinstance(running.handle, asyncio.Task):
            if running.began:
                running.handle.cancel()
            else:
                self._over(running, stopped(running, frame.outcome))
        grace = Duration(max(SECOND // 2, round(frame.grace * SECOND)))
        self._heed_by[frame.claim] = Duration(self.clock.monotonic() + grace)

    # --- as an actor ------------------------------------------------------------------------------------------

    def due_at(self) -> Duration:
        return min(self._heed_by.values(), default=NEVER)

    def work(self, now: Duration) -> None:
        """Those that did not heed in time: in a process of their own they are killed, else they are stuck."""
        for claim in [claim for claim, at in self._heed_by.items() if at <= now]:
            del self._heed_by[claim]
            running = self._running.get(claim)
            if running is None:
                continue
            if running.task.declaration.executor in (Executor.PROCESS, Executor.COMMAND):
                self._over(running, stopped(running, running.asked or Outcome.CANCELLED))
            else:
                self.say(Stuck(running.job, claim))

    def runs(self, claim: ClaimId) -> bool:
        return claim in self._running

    def idle(self) -> bool:
        return not self._running

    def dropped(self) -> None:
        gone, self._running = list(self._running.values()), {}
        self._heed_by.clear()
        for running in gone:
            if isinstance(running.handle, asyncio.Task):
                running.handle.cancel()
