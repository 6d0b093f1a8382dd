"""One delivery over HTTP, to an address that was judged; see courier.py, which alone decides where it may go.

A module of its own, as HTTP costs a server a tenth of a second and ten megabytes: it is loaded when there is something
to deliver.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence

import httpx2

from mainspring.clock import Instant, seconds
from mainspring.domain.outward import Address, Destination
from mainspring.domain.webhook import LONGEST_ANSWER, PATIENCE, Parcel, signed

FAILURES = (OSError, httpx2.HTTPError, httpx2.InvalidURL, UnicodeError)
"""What a delivery may fail with."""

_CONNECT = 5.0
_MOST_BYTES = 16_384
"""Of an answer; the connection is closed behind them."""


class Poster:
    """Posts parcels. What is costly to make is kept from one to the next; no connection is."""

    def __init__(self) -> None:
        self._tls: ssl.SSLContext | None = None

    async def post(
        self, where: Destination, addresses: Sequence[Address], parcel: Parcel, now: Instant
    ) -> tuple[int, str]:
        """Status and beginning of the answer, from the first address that takes a connection. Raises FAILURES."""
        last: httpx2.TransportError | None = None
        for address in addresses:
            try:
                return await self._post_to(where, address, parcel, now)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                last = error
        raise last or httpx2.ConnectError(f"{where.host} has no address")

    async def _post_to(self, where: Destination, address: Address, parcel: Parcel, now: Instant) -> tuple[int, str]:
        host = f"[{address}]" if address.version == 6 else str(address)
        headers = {
            "host": where.authority,
            "content-type": "application/json",
            "user-agent": "mainspring-webhooks",
            "accept-encoding": "identity",
            "connection": "close",
            **signed(parcel.secrets, parcel.delivery, now, parcel.body),
        }
        timeout = httpx2.Timeout(seconds(PATIENCE), connect=_CONNECT)
        # A client of its own, so that no connection is shared by names that lead to one address.
        async with httpx2.AsyncClient(
            verify=self._context(), trust_env=False, follow_redirects=False, timeout=timeout
        ) as client:
            request = client.build_request(
                "POST",
                f"{where.scheme}://{host}:{where.port}{where.target}",
                content=parcel.body.encode(),
                headers=headers,
                extensions={"sni_hostname": where.host},
            )
            answer = await client.send(request, stream=True)
            try:
                return answer.status_code, await _beginning(answer)
            finally:
                await answer.aclose()

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx2.create_ssl_context()
        return self._tls


async def _beginning(answer: httpx2.Response) -> str:
    """As much of an answer as is kept."""
    found = b""
    async for some in answer.aiter_raw():
        found += some
        if len(found) >= _MOST_BYTES:
            break
    return found[:_MOST_BYTES].decode(errors="replace").replace("\0", "")[:LONGEST_ANSWER]
