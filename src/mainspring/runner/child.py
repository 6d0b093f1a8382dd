"""A Python task in a process of its own: what the forked child does, from fork to exit.

Its standard output and error are pipes to the runner. On its socket come its ``start``, and answers; there go its log
records, reports, SDK requests and its ``ended``. Without that, its death is a crash.
"""

from __future__ import annotations

import asyncio
import faulthandler
import inspect
import os
import signal
import socket
import sys
import threading
import traceback
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Raw

from mainspring import process
from mainspring.clock import SystemClock
from mainspring.domain.frame import Answer, Ended, Frame, Log, Progress, Request, Start
from mainspring.domain.logline import LogChunk
from mainspring.errors import MainspringError, StoreUnreachable
from mainspring.runner.capture import capture_logging
from mainspring.runner.client import FrameClient
from mainspring.runner.conclusion import JobInterrupted, raised, refused, returned
from mainspring.runner.output import JobLog, clean
from mainspring.runner.running import Running, here
from mainspring.sdk import connection
from mainspring.sdk import context as sdk_context
from mainspring.worker.frames import Channel, encoder, to_runner

if TYPE_CHECKING:
    from mainspring.domain.frame import ToRunner
    from mainspring.runner.running import Registered


def run(task: Registered, descriptors: tuple[int, int, int], env: dict[str, str], work: str, parent: int) -> NoReturn:
    """Become the job's process, run the task, say how it ended. Never returns."""
    code = 70
    try:
        os.setsid()
        process.die_with_parent(signal.SIGKILL, parent)
        os.umask(0o077)
        output, errors, frames = descriptors
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.close(output)
        os.close(errors)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(env)
        sys.path[:] = [str(Path(place or ".").resolve()) for place in sys.path]  # before we move
        os.chdir(work)
        _fresh_streams()
        faulthandler.enable(2)
        Child(task, socket.socket(fileno=frames)).run()
        code = 0
    except BaseException:  # noqa: BLE001 - this fork must not return, whatever happens
        traceback.print_exc()
    finally:
        _flush_streams()
        os._exit(code)


class Child:
    """The one attempt of this process."""

    def __init__(self, task: Registered, end: socket.socket) -> None:
        self._task = task
        self._channel: Channel[ToRunner] = Channel(end, to_runner)
        end.setblocking(True)
        self._socket = end
        self._inbox: deque[ToRunner] = deque()
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._requests = 0
        self._interruptible = False
        self._context: sdk_context.Context | None = None
        self._coroutine: asyncio.Task[Any] | None = None

    def run(self) -> None:
        """Take the ``start``, run, send the ``ended``."""
        signal.signal(signal.SIGTERM, self._stop)
        start = self._receive()
        if not isinstance(start, Start):
            raise TypeError(f"{type(start).__name__} came where a start was due")
        self._running = Running(start, self._task, self)
        here.set(self._running)
        connection.use_client(FrameClient(self.ask))
        capture_logging(self._task.app, self._log)
        self._put(self._ended())

    def _ended(self) -> Ended:
        running, task = self._running, self._task
        try:
            arguments = task.bind_stored(bytes(running.start.params))
        except MainspringError as error:
            return refused(running, error)
        self._context = running.context = sdk_context.Context(
            job_id=running.job,
            attempt=running.start.attempt,
            task=task.name,
            earlier=bytes(running.start.details),
            report=running.report,
            made_by=running.start.tick,
            traceparent=running.start.trace,
        )
        if task.context_parameter is not None:
            arguments[task.context_parameter] = running.context
        try:
            try:
                sdk_context.enter(running.context)
                value = self._call(arguments)
            finally:
                self._interruptible = False
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its end
            return raised(running, error)
        return returned(running, value)

    def _call(self, arguments: dict[str, Any]) -> Any:
        function = self._task.function
        assert function is not None  # noqa: S101 - a command has no child
        if inspect.iscoroutinefunction(function):
            return asyncio.run(self._call_async(function(**arguments)))
        self._interruptible = True
        if self._context is not None and self._context.cancelled:
            raise JobInterrupted
        return function(**arguments)

    async def _call_async(self, coroutine: Any) -> Any:
        self._coroutine = asyncio.current_task()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._cancel)
        if self._context is not None and self._context.cancelled:
            self._cancel()
        return await coroutine

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """The job is to end: tell its code, in the main thread, between two of its lines."""
        if self._context is not None:
            self._context.ask_to_stop()
        if self._interruptible:
            self._interruptible = False  # once: what it does on its way out must not be interrupted again
            raise JobInterrupted(signal.Signals(number).name)
        if self._context is None:
            os._exit(128 + number)  # it has not begun

    def _cancel(self) -> None:
        if self._context is not None:
            self._context.ask_to_stop()
        if self._coroutine is not None:
            self._coroutine.cancel()

    # --- what it says -----------------------------------------------------------------------------------------

    def open_log(self, running: Running) -> JobLog:
        """Never asked: this process has pipes of its own."""
        return JobLog(0, SystemClock(), lambda: None)

    def report(self, running: Running, details: bytes) -> None:
        """Its newest progress and details."""
        running.details = details
        self._put(Progress(running.job, running.claim, Raw(details)))

    def _log(self, level: str, text: str) -> None:
        chunk = LogChunk(SystemClock().now(), "log", clean(text), level)
        self._put(Log(self._running.job, self._running.claim, [chunk]))

    def ask(self, verb: str, body: bytes) -> Answer:
        """An SDK call: a request, then its answer. One at a time."""
        with self._asking:
            self._requests += 1
            number = self._requests
            self._put(Request(number, self._running.job, self._running.claim, verb, Raw(body)))
            while True:
                answer = self._receive()
                if isinstance(answer, Answer) and answer.number == number:
                    return answer

    def _put(self, frame: Frame) -> None:
        with self._sending:
            self._socket.sendall(encoder.encode(frame) + b"\n")

    def _receive(self) -> ToRunner:
        while not self._inbox:
            data = self._socket.recv(262_144)
            if not data:
                raise StoreUnreachable("The runner of this job is gone.")
            self._inbox += self._channel.decode(data)
        return self._inbox.popleft()


def _fresh_streams() -> None:
    """Text streams on the pipes: by the line, and never an encoding error."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115 - a descriptor, kept open
        setattr(sys, name, stream)


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with suppress(Exception):  # a stream that user code put there, or closed
            if stream is not None:
                stream.flush()
