"""The events of all jobs as one ordered stream, for as long as somebody listens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from mainspring.domain.event import Event
from mainspring.sdk.waiting import AT_ONCE, SLICE, in_thread, news

if TYPE_CHECKING:
    from mainspring.client import Client

_PAGE = 1000


def stream(
    client: Callable[[], Client], kinds: tuple[str, ...], after: int | None, *, forever: bool
) -> Iterator[Event]:
    """Events behind the cursor (None: from now on, or from the first when not for ever)."""
    start = _start(client(), after, forever=forever)
    client().events(after=start, kinds=kinds, limit=1)  # so that a wrong kind is refused here, not at the first step
    return _pages(client, kinds, start, forever=forever)


def _pages(client: Callable[[], Client], kinds: tuple[str, ...], after: int, *, forever: bool) -> Iterator[Event]:
    wait = AT_ONCE
    while True:
        page = client().events(after=after, kinds=kinds, limit=_PAGE)
        for event in page:
            after = event.seq
            yield event
        if page:
            wait = AT_ONCE
        elif not forever:
            return
        else:
            client().await_news(wait)
            wait = SLICE


async def stream_async(
    client: Callable[[], Client], kinds: tuple[str, ...], after: int | None, *, forever: bool
) -> AsyncIterator[Event]:
    """The same without blocking the loop."""
    opened = await in_thread(client)
    cursor = await in_thread(_start, opened, after, forever=forever)
    wait = AT_ONCE
    while True:
        page = await in_thread(client().events, after=cursor, kinds=kinds, limit=_PAGE)
        for event in page:
            cursor = event.seq
            yield event
        if page:
            wait = AT_ONCE
        elif not forever:
            return
        else:
            await news(client(), wait)
            wait = SLICE


def _start(client: Client, after: int | None, *, forever: bool) -> int:
    if after is not None:
        return after
    return client.last_event() if forever else 0
