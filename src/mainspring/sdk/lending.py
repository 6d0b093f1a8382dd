"""A connection of async code, lent to a submit that runs in a thread: its statements are awaited in the caller's task.

So they run where the caller would have run them, and a cancel of that task reaches the statement that is under way; the
submit then undoes what it has begun before the cancel goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mainspring.domain.borrowed import Borrowed
from mainspring.sdk.waiting import in_thread

T = TypeVar("T")


class _Interrupted(Exception):
    """The caller's task is cancelled."""


async def lend(connection: Any, submit: Callable[[Borrowed], T]) -> T:
    """Call ``submit`` with the connection, without blocking the loop; what it answers."""
    import asyncio
    from concurrent.futures import Future

    loop = asyncio.get_running_loop()
    wishes: asyncio.Queue[tuple[Awaitable[Any], Future[Any]] | None] = asyncio.Queue()

    def wait(awaitable: Awaitable[Any]) -> Any:
        answer: Future[Any] = Future()
        loop.call_soon_threadsafe(wishes.put_nowait, (awaitable, answer))
        return answer.result()

    working = asyncio.ensure_future(in_thread(submit, Borrowed(connection, wait)))
    working.add_done_callback(lambda _: wishes.put_nowait(None))
    cancelled, told = False, False
    while True:
        answer: Future[Any] | None = None
        try:
            wish = await wishes.get()
            if wish is None:
                break
            awaitable, answer = wish
            if cancelled and not told:
                told = True
                _drop(awaitable)
                answer.set_exception(_Interrupted())
                continue
            answer.set_result(await awaitable)
        except asyncio.CancelledError:
            cancelled = True
            if answer is not None:
                told = True
                answer.set_exception(_Interrupted())
        except Exception as error:  # noqa: BLE001 - it is the thread's
            if answer is not None:
                answer.set_exception(error)
    if cancelled:
        working.exception()  # heard of
        raise asyncio.CancelledError
    return working.result()


def _drop(awaitable: Awaitable[Any]) -> None:
    """A coroutine that nobody will wait for."""
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
