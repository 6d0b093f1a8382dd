"""The courier: takes deliveries of webhooks to their receivers, each try on its own, in one thread with one event loop.

A name is resolved once, every address is judged, and the connection goes to one that was judged: nobody can change the
name in between. No redirect is followed, no proxy asked, no more of an answer read than is kept, nothing waited for
longer than PATIENCE.
"""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mainspring.clock import Clock, Duration, seconds
from mainspring.domain.outward import Address, Destination, Network, address_of, destination, permit
from mainspring.domain.webhook import PATIENCE, Parcel, Sent
from mainspring.errors import DestinationRefused

if TYPE_CHECKING:  # it is loaded when there is a first delivery
    from mainspring.server.posting import Poster

_MOST_ADDRESSES = 2
"""Of a name; the second where the first does not take a connection."""

_LONGEST_ERROR = 300
_PATIENCE_AT_END = 1.0


class Courier:
    """Tries deliveries. ``returned`` is called when one is over, from another thread; ``inside``: see permit."""

    def __init__(self, clock: Clock, told: Callable[[], None], inside: Sequence[Network] = ()) -> None:
        self._clock = clock
        self._told = told
        self._inside = tuple(inside)
        self._over: queue.SimpleQueue[Sent] = queue.SimpleQueue()
        self._poster: Poster | None = None
        self._loop = asyncio.new_event_loop()
        self._under_way: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="mainspring-courier")
        self._thread.start()

    def send(self, parcels: Sequence[Parcel]) -> None:
        """Try these, each on its own."""
        for parcel in parcels:
            self._loop.call_soon_threadsafe(self._begin, parcel)

    def returned(self) -> list[Sent]:
        """What tries came to since somebody last asked."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._over.get_nowait())
        return found

    def close(self) -> None:
        """Wait a moment for what is under way, and give up the rest: it is tried again later, by whoever is there."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._end())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _end(self) -> None:
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_PATIENCE_AT_END)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _begin(self, parcel: Parcel) -> None:
        task = self._loop.create_task(self._try(parcel))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _try(self, parcel: Parcel) -> None:
        from mainspring.server.posting import FAILURES

        at, began = self._clock.now(), self._clock.monotonic()
        status, answer, error = None, "", ""
        try:
            async with asyncio.timeout(seconds(PATIENCE)):
                status, answer = await self._post(parcel)
            if status // 100 != 2:
                error = f"the receiver answered {status}"
        except TimeoutError:
            error = f"no answer within {seconds(PATIENCE):g} s"
        except DestinationRefused as refusal:
            error = refusal.message
        except FAILURES as failure:
            error = f"{type(failure).__name__}: {failure}"
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is this try's alone, and its log has it
            error = f"fault of the courier: {type(fault).__name__}: {fault}"
        lasted = Duration(self._clock.monotonic() - began)
        sent = Sent(parcel.delivery, parcel.claim, at, lasted, status, answer, error[:_LONGEST_ERROR].replace("\0", ""))
        self._over.put(sent)
        self._told()

    async def _post(self, parcel: Parcel) -> tuple[int, str]:
        """Status and beginning of the answer. Raises DestinationRefused, OSError and the errors of HTTP."""
        where = destination(parcel.url)
        addresses = await self._addresses(where)
        for address in addresses:
            permit(where, address, self._inside)
        if self._poster is None:
            from mainspring.server.posting import Poster

            self._poster = Poster()
        return await self._poster.post(where, addresses[:_MOST_ADDRESSES], parcel, self._clock.now())

    async def _addresses(self, where: Destination) -> list[Address]:
        """All addresses of the host, in the resolver's order."""
        if where.literal is not None:
            return [where.literal]
        answer: asyncio.Future[list[Address]] = self._loop.create_future()

        def settle(found: list[Address], error: Exception | None) -> None:
            if not answer.done():
                answer.set_result(found) if error is None else answer.set_exception(error)

        def look() -> None:
            found: list[Address] = []
            failure: Exception | None = None
            try:
                found = _resolved(where)
            except (OSError, UnicodeError, DestinationRefused) as error:
                failure = error
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(settle, found, failure)

        # A thread of its own that nobody waits for: a resolver that hangs must not hold up other names, or our end.
        threading.Thread(target=look, name="mainspring-resolver", daemon=True).start()
        return await answer


def _resolved(where: Destination) -> list[Address]:
    """All addresses of a name, in the resolver's order. Raises OSError, DestinationRefused."""
    found: dict[Address, None] = {}
    for *_, place in socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM):
        address = address_of(str(place[0]))
        if address is None:
            raise DestinationRefused(f"{where.host} leads to {place[0]}, which is not a public address.")
        found[address] = None
    return list(found)
