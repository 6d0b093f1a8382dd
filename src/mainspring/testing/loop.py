"""An asyncio event loop on a virtual clock: ``await asyncio.sleep(3600)`` costs nothing and takes an hour."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from mainspring.clock import Duration, from_seconds, seconds
from mainspring.testing.virtual import NEVER, VirtualClock

_PATIENCE = 0.01  # seconds of virtual time between two looks of async code that waits for news


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs what is ready when it is told to, and says when it wants to be told again.

    Blocking calls handed to a thread (``asyncio.to_thread``) run in place, as there is but one thread of time.
    ``waits_for_news``: tells a call that would block for hints from the platform; it becomes a short virtual wait.
    """

    def __init__(self, clock: VirtualClock, waits_for_news: Callable[[Any], bool]) -> None:
        super().__init__()
        self._clock = clock
        self._waits_for_news = waits_for_news

    def time(self) -> float:
        return seconds(self._clock.monotonic())

    def due_at(self) -> Duration:
        """When it has something to do (monotonic): now, at its first timer, or never."""
        if self._ready:  # type: ignore[attr-defined]
            return self._clock.monotonic()
        timers = [handle.when() for handle in self._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        # A microsecond late rather than early: seconds as floats lose the last digit.
        return Duration(from_seconds(min(timers)) + 1) if timers else NEVER

    def spin(self) -> None:
        """Run everything that is ready or due now. May be called while another loop runs in this thread."""
        outer = asyncio._get_running_loop()  # noqa: SLF001 - the one way to run a loop inside another's callback
        asyncio._set_running_loop(None)  # noqa: SLF001
        try:
            while self.due_at() <= self._clock.monotonic():
                self.call_soon(self.stop)
                self.run_forever()
        finally:
            asyncio._set_running_loop(outer)  # noqa: SLF001

    def run_in_executor(  # type: ignore[override]  # in place, so the future is there at once
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self.create_future()
        if self._waits_for_news(func):
            self.call_later(_PATIENCE, lambda: None if future.done() else future.set_result(None))
            return future
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits
            future.set_exception(error)
        return future
