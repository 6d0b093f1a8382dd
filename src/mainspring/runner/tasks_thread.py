"""Plain functions, each in a thread of the runner while it runs.

Threads are made when there is no idle one, and are daemons: one that is stuck must not hold up the exit. A thread can't
be killed; it can be interrupted, once, between two of its bytecodes.
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from mainspring.domain.frame import Ended
from mainspring.runner.conclusion import JobInterrupted, raised, returned
from mainspring.runner.running import Running, here
from mainspring.sdk.context import enter

_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in_thread.argtypes = (ctypes.c_ulong, ctypes.py_object)


class _Call:
    """One call of a user's function in a thread."""

    __slots__ = ("arguments", "context", "ended", "entered", "function", "lock", "over", "running", "thread")

    def __init__(self, running: Running, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self.running, self.function, self.arguments = running, function, arguments
        self.context = contextvars.copy_context()
        self.lock = threading.Lock()
        self.thread = 0
        self.entered = False
        self.over = False
        self.ended: Ended | None = None

    def run(self) -> None:
        """In the thread: find out how the call ends. May be run again when it was interrupted outside the function."""
        self.thread = threading.get_ident()
        if not self.over:
            self.ended = self.context.run(self._make)
            self._leave()

    def _make(self) -> Ended:
        running = self.running
        if self.ended is not None:
            return self.ended
        if self.entered or running.asked is not None:
            return raised(running, JobInterrupted())
        self.entered = True
        try:
            here.set(running)
            if running.context is not None:
                enter(running.context)
            value = self.function(**self.arguments)
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its end, not ours
            return raised(running, error)
        return returned(running, value)

    def interrupt(self) -> None:
        """Raise JobInterrupted in the thread, if the function has not returned by now."""
        with self.lock:
            if self.thread and not self.over:
                _raise_in_thread(self.thread, JobInterrupted)

    def _leave(self) -> None:
        """No interruption comes after this; one that was raised and has not arrived is taken back."""
        with self.lock:
            self.over = True
        _raise_in_thread(self.thread, ctypes.py_object())


class Threads:
    """The threads of a runner. ``over`` is called on the loop with each attempt's end."""

    def __init__(self, over: Callable[[Running, Ended], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = over
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._idle = 0
        self._made = 0
        self._lock = threading.Lock()
        self._done: deque[_Call] = deque()

    def start(self, running: Running, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        """Run it in a thread, under a copy of the context of this call."""
        call = _Call(running, function, arguments)
        running.handle = call
        if self._idle:
            self._idle -= 1
        else:
            self._made += 1
            threading.Thread(target=self._work, name=f"mainspring-{self._made}", daemon=True).start()
        self._calls.put(call)

    def interrupt(self, running: Running) -> None:
        """Ask it to end: an exception in its thread. It arrives when the thread next runs Python code."""
        call: _Call = running.handle
        call.interrupt()

    def _work(self) -> None:
        """The life of one thread."""
        while True:
            call = self._calls.get()
            try:
                call.run()
            except JobInterrupted:  # it came outside the function, and comes once only
                call.run()
            with self._lock:
                first = not self._done
                self._done.append(call)
            if first:
                try:
                    self._loop.call_soon_threadsafe(self._collect)
                except RuntimeError:
                    return  # the loop is closed: the runner exits

    def _collect(self) -> None:
        """On the loop: report what has ended."""
        while self._done:
            call = self._done.popleft()
            self._idle += 1
            if call.ended is not None:
                self._over(call.running, call.ended)
