"""Waiting for news of jobs: blocking and in an event loop, in slices, as a hint may get lost.

Callers look first and wait then; nothing here knows what they look for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from mainspring.clock import SECOND, Clock, Duration, SystemClock, duration, seconds
from mainspring.errors import MainspringError
from mainspring.sdk.context import current

if TYPE_CHECKING:
    import asyncio

    from mainspring.client import Client

P = ParamSpec("P")
T = TypeVar("T")

SLICE = Duration(SECOND // 2)
"""The longest wait for one hint."""

AT_ONCE = Duration(0)
"""The first wait: it only sets up the listener, so that what comes after the next look is heard."""

_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[int, int], asyncio.Task[None]]] = WeakKeyDictionary()


class _Pace:
    """By which clock waits are timed, and the longest one for a single hint."""

    def __init__(self) -> None:
        self.clock: Clock = SystemClock()
        self.slice = SLICE


_pace = _Pace()


def use_clock(clock: Clock | None, longest: Duration = SLICE) -> None:
    """For the harness: time waits by this clock, each so long, as no hint gets lost there. None: as before."""
    _pace.clock, _pace.slice = (SystemClock(), SLICE) if clock is None else (clock, longest)


class Deadline:
    """The end of a wait, or none."""

    def __init__(self, timeout: str | float | None) -> None:
        self.length = None if timeout is None else duration(timeout)
        self._until = None if self.length is None else _pace.clock.monotonic() + self.length

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return self._until is not None and _pace.clock.monotonic() >= self._until

    def slice(self) -> Duration:
        """How long to wait for the next hint."""
        if self._until is None:
            return _pace.slice
        return Duration(max(0, min(_pace.slice, self._until - _pace.clock.monotonic())))


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call what blocks without blocking the loop; the context (``current()``) goes along."""
    import asyncio  # 30 ms that a program without async code need not pay

    return await asyncio.to_thread(function, *args, **kwargs)


async def news(client: Client, length: Duration) -> None:
    """Wait for a hint without blocking the loop.

    All that wait in one loop share one thread, so that a thousand waiters leave the pool to those who work.
    """
    import asyncio

    if length == AT_ONCE:
        with suppress(MainspringError):
            await in_thread(client.await_news, AT_ONCE)
        return
    loop = asyncio.get_running_loop()
    waits = _shared.setdefault(loop, {})
    key = (id(client), current().job_id)
    task = waits.get(key)
    if task is None or task.done():
        task = waits[key] = loop.create_task(_one_wait(client))
        task.add_done_callback(lambda _: waits.pop(key, None))
    await asyncio.wait({task}, timeout=seconds(length))


async def _one_wait(client: Client) -> None:
    try:
        await in_thread(client.await_news, _pace.slice)
    except MainspringError:
        # The next look tells the caller what is wrong; until then don't look all the time.
        await in_thread(_pace.clock.wait, SLICE)
