"""An asyncio event loop on a virtual clock: ``await asyncio.sleep(3600)`` costs nothing and takes an hour."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from mainspring.clock import Duration, from_seconds, seconds
from mainspring.errors import WaitTimeout
from mainspring.testing.virtual import NEVER, VirtualClock

_ROUNDS = 20_000
"""Rounds at one instant before we say that the code never waits for anything."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs what is ready when it is told to, and says when it wants to be told again.

    Blocking calls handed to a thread (``asyncio.to_thread``) run in place, as there is but one thread of time.
    ``waits_for_news`` tells a call that would block for hints from the platform: it waits until ``tell`` is called.
    """

    def __init__(self, clock: VirtualClock, waits_for_news: Callable[[Any], bool]) -> None:
        super().__init__()
        self._clock = clock
        self._waits_for_news = waits_for_news
        self._waiters: list[asyncio.Future[None]] = []
        self._news = False
        self._beside: ThreadPoolExecutor | None = None

    def time(self) -> float:
        return seconds(self._clock.monotonic())

    def due_at(self) -> Duration:
        """When it has something to do (monotonic): now, at its first timer, or never."""
        if self._ready or (self._news and self._waiters):  # type: ignore[attr-defined]
            return self._clock.monotonic()
        timers = [handle.when() for handle in self._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        # A microsecond late rather than early: seconds as floats lose the last digit.
        return Duration(from_seconds(min(timers)) + 1) if timers else NEVER

    def tell(self) -> None:
        """Something was recorded: those who wait for news look again."""
        self._news = True

    def spin(self) -> None:
        """Run everything that is ready or due now; in a second thread where another loop runs in this one."""
        if asyncio._get_running_loop() is None:  # noqa: SLF001 - documented as the way for event loops to ask
            self._spin()
            return
        if self._beside is None:
            self._beside = ThreadPoolExecutor(1, "mainspring-harness")
        self._beside.submit(self._spin).result()

    def _spin(self) -> None:
        for _ in range(_ROUNDS):
            if self.due_at() > self._clock.monotonic():
                return
            if self._news:
                self._news = False
                waiters, self._waiters = self._waiters, []
                for waiter in waiters:
                    if not waiter.done():
                        waiter.set_result(None)
            self.call_soon(self.stop)
            self.run_forever()
        raise WaitTimeout(
            f"Async code has gone round {_ROUNDS:,} times without waiting for anything.",
            remedy="Let it await something that takes time, such as asyncio.sleep(1).",
        )

    def run_in_executor(  # type: ignore[override]  # in place, so the future is there at once
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self.create_future()
        if self._waits_for_news(func):
            self._waiters.append(future)
            return future
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits
            future.set_exception(error)
        return future

    def finish(self) -> None:
        """Run what is left of cancelled code, and close."""
        for task in asyncio.all_tasks(self):
            task.cancel()
        self.spin()
        self.close()
        if self._beside is not None:
            self._beside.shutdown()
            self._beside = None


class NewsBell(threading.Event):
    """What rings inside this process when something was recorded."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def set(self) -> None:
        self._loop.tell()
