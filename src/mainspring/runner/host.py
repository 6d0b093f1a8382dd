"""The host: frames in, attempts in their executors, frames out. Knows who runs and who was asked to end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from mainspring.clock import Clock
from mainspring.domain.attempt import Failure
from mainspring.domain.frame import Answer, Cancel, Credit, Ended, Params, Ping, Pong, Start, Stop, Stuck, ToRunner
from mainspring.domain.ids import ClaimId
from mainspring.domain.secrecy import Mask
from mainspring.domain.states import Outcome
from mainspring.domain.task import Executor
from mainspring.errors import MainspringError
from mainspring.runner.conclusion import refused, stopped
from mainspring.runner.hiding import Hiding, hidden
from mainspring.runner.link import Link
from mainspring.runner.outlet import Outlet
from mainspring.runner.processes import Processes
from mainspring.runner.running import Running
from mainspring.runner.tasks_async import ASK_AGAIN, Tasks
from mainspring.runner.tasks_thread import Threads
from mainspring.sdk.context import Context

if TYPE_CHECKING:
    from mainspring.runner.client import Answers
    from mainspring.runner.running import Registered

LEAST_GRACE = 0.5
"""Seconds before an attempt is called stuck, which costs its runner: even code that heeds at once needs a moment."""

Launch = Callable[[Running, bytes], None]


class Host:
    """All attempts of one runner. ``finished`` is set when it was told to stop and all has been said."""

    def __init__(
        self,
        target: str,
        tasks: Mapping[str, Registered],
        link: Link,
        answers: Answers,
        clock: Clock,
    ) -> None:
        self._link = link
        self._answers = answers
        self._loop = asyncio.get_running_loop()
        self._hiding = Hiding(os.environ)
        self._outlet = Outlet(link, clock, self._mask)
        self._async = Tasks(self.over)
        self._threads = Threads(self.over)
        self._processes = Processes(target, link, answers, self._outlet, self.over)
        launchers: dict[Executor, Launch] = {
            Executor.ASYNC: self._launch_async,
            Executor.THREAD: self._launch_thread,
            Executor.PROCESS: self._processes.start,
            Executor.COMMAND: self._processes.start,
        }
        self._tasks = {name: (task, launchers[task.declaration.executor]) for name, task in tasks.items()}
        self._running: dict[ClaimId, Running] = {}
        self._early: dict[ClaimId, bytes] = {}
        self._stopping = False
        self.finished = asyncio.Event()

    def receive(self, frame: ToRunner) -> None:
        """A frame from the coordinator."""
        match frame:
            case Start():
                self._start(frame)
            case Params():
                self._params(frame)
            case Credit():
                self._outlet.credit(frame.bytes)
            case Cancel():
                self._cancel(frame)
            case Answer():
                self._answers.receive(frame)
            case Ping():
                # By the loop, not from here: a blocking SDK call on the loop's thread reads frames, but nothing turns.
                self._loop.call_soon(self._link.urgent, Pong(frame.number))
            case Stop():
                self._stopping = True
        if self._stopping:
            self._look_whether_finished()

    # --- starting ---------------------------------------------------------------------------------------------

    def _start(self, start: Start) -> None:
        if start.claim in self._running:
            return
        known = self._tasks.get(start.task)
        if known is None:
            text = f"this runner's app has no task {start.task!r}"
            failure = Failure("UnknownTask", text, types=("UnknownTask",))
            self._link.send(Ended(start.job, start.claim, Outcome.FAILED, failure=failure))
            return
        running = self._running[start.claim] = Running(start, known[0], self._outlet)
        if start.bulk:
            data = self._early.pop(start.claim, None)
            if data is None:
                return  # its parameters are still on their way
        else:
            data = bytes(start.params)
        self._launch(running, known[1], data)

    def _launch(self, running: Running, launch: Launch, params: bytes) -> None:
        running.params = params
        launch(running, params)

    def _mask(self, running: Running) -> Mask:
        if running.mask is None:
            running.mask = self._hiding.mask(running.params)
        return running.mask

    def _params(self, frame: Params) -> None:
        running = self._running.get(frame.claim)
        if running is None:
            self._early[frame.claim] = bytes(frame.params)  # bulk was faster than control
        elif running.handle is None and running.start.bulk:
            self._launch(running, self._tasks[running.start.task][1], bytes(frame.params))

    def _launch_async(self, running: Running, params: bytes) -> None:
        arguments = self._arguments(running, params)
        if arguments is not None and running.task.function is not None:
            self._async.start(running, running.task.function, arguments)

    def _launch_thread(self, running: Running, params: bytes) -> None:
        arguments = self._arguments(running, params)
        if arguments is not None and running.task.function is not None:
            self._threads.start(running, running.task.function, arguments)

    def _arguments(self, running: Running, params: bytes) -> dict[str, Any] | None:
        """Its Context and arguments; None when it has ended, as they don't fit."""
        start, task = running.start, running.task
        try:
            arguments = task.bind_stored(params)
        except MainspringError as error:
            self.over(running, refused(running, error))
            return None
        running.context = Context(
            job_id=start.job,
            attempt=start.attempt,
            task=start.task,
            earlier=bytes(start.details),
            report=running.report,
            made_by=start.tick,
            traceparent=start.trace,
        )
        if task.context_parameter is not None:
            arguments[task.context_parameter] = running.context
        return arguments

    # --- ending -----------------------------------------------------------------------------------------------

    def over(self, running: Running, ended: Ended) -> None:
        """An attempt has ended."""
        if self._running.pop(running.claim, None) is not None:
            if ended.failure is not None:
                ended = msgspec.structs.replace(ended, failure=hidden(ended.failure, self._mask(running)))
            self._outlet.finish(running, ended)
            if self._stopping:
                self._look_whether_finished()

    def _cancel(self, frame: Cancel) -> None:
        running = self._running.get(frame.claim)
        if running is None:
            self._early.pop(frame.claim, None)
            return  # it has ended by itself
        again = running.asked is not None
        running.asked = frame.outcome
        if running.handle is None:
            self.over(running, stopped(running, frame.outcome))
        elif again:
            return
        elif running.task.declaration.executor in (Executor.PROCESS, Executor.COMMAND):
            self._processes.interrupt(running, frame.grace)
        else:
            if running.context is not None:
                running.context.ask_to_stop()
            if running.task.declaration.executor is Executor.ASYNC:
                self._async.interrupt(running)
            else:
                self._threads.interrupt(running)
            self._loop.call_later(max(frame.grace, LEAST_GRACE), self._did_not_heed, running)

    def _did_not_heed(self, running: Running) -> None:
        """Its grace is over. Code on the loop is cancelled again and again, a thread can't be helped."""
        if running.claim not in self._running:
            return
        self._link.urgent(Stuck(running.job, running.claim))
        self._ask_again(running)

    def _ask_again(self, running: Running) -> None:
        if running.claim in self._running and running.task.declaration.executor is Executor.ASYNC:
            self._async.interrupt(running)
            self._loop.call_later(ASK_AGAIN, self._ask_again, running)

    def _look_whether_finished(self) -> None:
        if not self._running and self._outlet.idle:
            self.finished.set()
