"""Who is asking: the token of a request, looked up in the store, remembered for two seconds, and counted when wrong.

The gate decides what a route needs; this says who is there. Addresses that sent ten wrong tokens within a minute are
not listened to for the rest of it, right tokens or not, so that secrets can't be tried out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from mainspring.clock import MINUTE, SECOND, Clock, Duration
from mainspring.domain.access import Asker, digest
from mainspring.errors import TooManyFailures, Unauthenticated

REMEMBERED = Duration(2 * SECOND)
"""How long a token is believed before it is looked up again; a revoked one opens nothing after that."""

MOST_FAILURES = 10
_WINDOW = MINUTE
_MOST_ADDRESSES = 10_000
_SCHEME = "bearer"


class _Known(NamedTuple):
    asker: Asker
    until: Duration


class _Failures(NamedTuple):
    number: int
    until: Duration


class Admission:
    """Tells who shows a token. ``recognise`` looks a secret up, and raises Unauthenticated. Safe from many threads."""

    def __init__(self, recognise: Callable[[str], Asker], clock: Clock) -> None:
        self._recognise = recognise
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._failures: dict[str, _Failures] = {}
        self._lock = threading.Lock()

    def who(self, authorization: list[str], address: str) -> Asker:
        """The asker that these headers name. Raises Unauthenticated, TooManyFailures."""
        now = self._clock.monotonic()
        with self._lock:
            failed = self._failures.get(address)
        if failed is not None and failed.number >= MOST_FAILURES and now < failed.until:
            raise TooManyFailures(
                f"{MOST_FAILURES} wrong tokens came from {address} within a minute.", remedy="Try again in a minute."
            )
        secret = _secret(authorization)
        kept = digest(secret)
        with self._lock:
            known = self._known.get(kept)
        if known is not None and now < known.until:
            return known.asker
        try:
            asker = self._recognise(secret)
        except Unauthenticated:
            self._count(address, now)
            raise
        with self._lock:
            if len(self._known) >= _MOST_ADDRESSES:
                self._known.clear()
            self._known[kept] = _Known(asker, Duration(now + REMEMBERED))
        return asker

    def _count(self, address: str, now: Duration) -> None:
        with self._lock:
            if len(self._failures) >= _MOST_ADDRESSES:
                self._failures.clear()
            before = self._failures.get(address)
            if before is None or now >= before.until:
                before = _Failures(0, Duration(now + _WINDOW))
            self._failures[address] = before._replace(number=before.number + 1)


def _secret(authorization: list[str]) -> str:
    """The token in the one Authorization header. Raises Unauthenticated."""
    if len(authorization) != 1:
        raise Unauthenticated("This server asks who is there, and the request has no token.")
    scheme, _, secret = authorization[0].strip().partition(" ")
    if scheme.lower() != _SCHEME or not secret.strip():
        raise Unauthenticated("The Authorization header is not of the form: Bearer TOKEN.")
    return secret.strip()
