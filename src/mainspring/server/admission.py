"""Who is asking, and whether they may.

A token, or the cookie of a session, is looked up in the store, remembered for two seconds, and counted when wrong.
An answer that goes on asks again as often, and ends with what its asker may.
Addresses that sent ten wrong tokens or passwords within a minute are not listened to for the rest of it, right ones or
not, so that secrets can't be tried out; nor is anybody who gives a name for which thirty wrong passwords came.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

from mainspring.clock import MINUTE, SECOND, Clock, Duration
from mainspring.domain.access import SESSION_PREFIX, Asker, digest, proof
from mainspring.errors import OutOfReach, ProofMissing, TooManyFailures, Unauthenticated
from mainspring.server.exchange import TAKES_BODY, Piece, Stream
from mainspring.server.security import Admitted, Header, check_reach, check_role

REMEMBERED = Duration(2 * SECOND)
"""How long a secret is believed before it is looked up again; a revoked one opens nothing after that."""

MOST_FAILURES = 10
MOST_FAILURES_OF_NAME = 30
COOKIE = "mainspring_session"
PROOF = "X-CSRF-Token"
_WINDOW = MINUTE
_MOST_KEPT = 10_000
_SCHEME = "bearer"


class _Known(NamedTuple):
    asker: Asker
    until: Duration


class _Failures(NamedTuple):
    number: int
    until: Duration


class Shown(NamedTuple):
    """The secret that a request shows; ``cookie``: whether a browser sent it by itself."""

    secret: str
    cookie: bool = False


class Admission:
    """Tells who shows a secret. ``recognise`` looks one up, and raises Unauthenticated. Safe from many threads.

    ``queue_of``: of a job by its number.
    """

    def __init__(
        self, recognise: Callable[[str], Asker], clock: Clock, queue_of: Callable[[int], str] = lambda _: ""
    ) -> None:
        self._recognise = recognise
        self._queue_of = queue_of
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._failures: dict[str, _Failures] = {}
        self._lock = threading.Lock()

    def let_in(self, admitted: Admitted, headers: Sequence[Header], address: str) -> Asker:
        """Whoever asks, if they may have this route.

        Raises Unauthenticated, ProofMissing, RoleTooLow, OutOfReach, TooManyFailures.
        """
        given = shown(headers)
        asker = self.who(given, address)
        if given.cookie and admitted.entry.access in TAKES_BODY:
            check_proof(headers, given.secret)
        check_role(admitted.entry, asker)
        if asker.queues is not None:
            check_reach(admitted.entry, admitted.path, asker, self._queue_of)
        return asker

    def who(self, given: Shown, address: str) -> Asker:
        """Whose secret it is. Raises Unauthenticated, TooManyFailures."""
        self.check_failures(address)
        if given.cookie != given.secret.startswith(SESSION_PREFIX):  # each has its own way, and no other
            self.count(address)
            raise Unauthenticated("This secret is not sent in this way.")
        try:
            return self._remembered(given.secret) or self._looked_up(given.secret)
        except Unauthenticated:
            self.count(address)
            raise

    def while_let_in(self, stream: Stream, admitted: Admitted, headers: Sequence[Header], asker: Asker) -> Stream:
        """The same stream, which ends with Unauthenticated, RoleTooLow or OutOfReach once its asker may not read it.

        From memory as long as the secret is remembered. What is found counts for no address: nobody tries it out.
        """
        secret = shown(headers).secret

        def check(now: Asker) -> None:
            check_role(admitted.entry, now)
            if now.queues != asker.queues:
                raise OutOfReach(
                    f"The queues that {now.name} is kept to have changed.", remedy="Ask again.", field="queue"
                )

        def look() -> Piece:
            check(self._remembered(secret) or self._looked_up(secret))
            return stream.look()

        def at_hand() -> Piece | None:
            known = self._remembered(secret)
            if known is None:
                return None
            check(known)
            return stream.at_hand()

        return Stream(look, at_hand)

    def _remembered(self, secret: str) -> Asker | None:
        now = self._clock.monotonic()
        with self._lock:
            known = self._known.get(digest(secret))
        return known.asker if known is not None and now < known.until else None

    def _looked_up(self, secret: str) -> Asker:
        now = self._clock.monotonic()
        asker = self._recognise(secret)
        with self._lock:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[digest(secret)] = _Known(asker, Duration(now + REMEMBERED))
        return asker

    def forget(self, secret: str) -> None:
        """It is looked up again."""
        with self._lock:
            self._known.pop(digest(secret), None)

    def check_failures(self, address: str, name: str | None = None) -> None:
        """Raise TooManyFailures for whoever, or whatever name, was wrong too often."""
        now = self._clock.monotonic()
        with self._lock:
            failed = [self._failures.get(address), None if name is None else self._failures.get(f"user {name}")]
        for found, most in zip(failed, (MOST_FAILURES, MOST_FAILURES_OF_NAME), strict=True):
            if found is not None and found.number >= most and now < found.until:
                raise TooManyFailures(
                    f"{most} wrong tokens or passwords came from {address}, or for this name, within a minute.",
                    remedy="Try again in a minute.",
                )

    def count(self, address: str, name: str | None = None) -> None:
        """Something was wrong."""
        now = self._clock.monotonic()
        with self._lock:
            for key in (address, *(() if name is None else (f"user {name}",))):
                if len(self._failures) >= _MOST_KEPT:
                    self._failures.clear()
                before = self._failures.get(key)
                if before is None or now >= before.until:
                    before = _Failures(0, Duration(now + _WINDOW))
                self._failures[key] = before._replace(number=before.number + 1)


def shown(headers: Sequence[Header]) -> Shown:
    """The token in the one Authorization header, else the session in the cookie. Raises Unauthenticated."""
    given = [value for name, value in headers if name == "authorization"]
    if not given:
        secret = session_secret([value for name, value in headers if name == "cookie"])
        if secret is None:
            raise Unauthenticated("This server asks who is there, and the request has no token.")
        return Shown(secret, cookie=True)
    scheme, _, secret = given[0].strip().partition(" ")
    if len(given) != 1 or scheme.lower() != _SCHEME or not secret.strip():
        raise Unauthenticated("The Authorization header is not of the form: Bearer TOKEN.")
    return Shown(secret.strip())


def session_secret(cookies: Sequence[str]) -> str | None:
    """The secret in our cookie, if there is one."""
    for text in cookies:
        try:
            found = SimpleCookie(text).get(COOKIE)
        except CookieError:
            continue
        if found is not None and found.value:
            return found.value
    return None


def check_proof(headers: Sequence[Header], secret: str) -> None:
    """Raise ProofMissing for a change that another site's page could have asked for as well."""
    given = [value for name, value in headers if name == PROOF.lower()]
    if len(given) != 1 or not hmac.compare_digest(given[0].encode(), proof(secret).encode()):
        raise ProofMissing(
            f"The change comes with a cookie, and without the right {PROOF}.",
            remedy=f"Send as {PROOF} what the login, or GET /api/v1/session, has answered as csrf.",
            field=PROOF,
        )
