"""The gate: who may ask, decided in one place on the matched route; what is not declared is refused.

A server that does not ask who is there is for programs on this machine. A web page in a browser on this machine is not
one of them: it is kept out by Host (a name that an attacker points at 127.0.0.1), by Origin and Sec-Fetch-Site (a
foreign page) and by the content type (a form that needs no permission). One that asks needs no Host of its own, as no
such page has a token. There are no CORS headers.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from mainspring.domain.access import Asker
from mainspring.errors import (
    ForeignOrigin,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    RoleTooLow,
    UnsupportedMediaType,
)
from mainspring.server.exchange import MUST_HAVE_BODY, TAKES_BODY, Asked, Entry, Reach

BODY_LIMIT = 4 * 1_048_576
"""Bytes of one body: a MiB of parameters takes three where characters are escaped, and ``meta`` comes on top."""

Header = tuple[str, str]
"""A name in lower case and its value."""

_JSON = "application/json"
_HOLE = re.compile(r"\{(\w+)\}")
_OWN_SITE = {"same-origin", "none"}


class Admitted(NamedTuple):
    """A request that may go on: its route, and the values that its path holds."""

    entry: Entry
    path: Mapping[str, str]


class _Route(NamedTuple):
    """An entry, ready to be matched."""

    pattern: re.Pattern[str]
    methods: frozenset[str]
    entry: Entry


class Gate:
    """Knows all routes and the port that we listen at. Decides on headers alone, before a byte of the body is read.

    ``asks``: whether tokens are asked for, so that the server may be known by any name.
    """

    def __init__(self, entries: Sequence[Entry], port: int, *, asks: bool = False) -> None:
        self._port = port
        self._asks = asks
        self._routes = [_Route(_pattern(entry.path), _methods(entry), entry) for entry in entries]
        self._literal = {(entry.method, entry.path): entry for entry in entries if "{" not in entry.path}

    def admit(self, method: str, path: str, headers: Sequence[Header]) -> Admitted:
        """The matched route.

        Raises ForeignOrigin, NotFound, MethodNotAllowed, UnsupportedMediaType, PayloadTooLarge.
        """
        hosts = _all(headers, "host")
        self._check_host(hosts)
        self._check_origin(_all(headers, "origin"), hosts)
        _check_site(_all(headers, "sec-fetch-site"))
        admitted = self.matched(method, path)
        if admitted.entry.access in TAKES_BODY:
            check_media(headers, required=admitted.entry.access in MUST_HAVE_BODY)
            _check_coding(headers)
            _check_length(headers)
        return admitted

    def matched(self, method: str, path: str) -> Admitted:
        """The route at this address, whoever asks. Raises NotFound, MethodNotAllowed."""
        literally = self._literal.get((method, path))
        if literally is not None:
            return Admitted(literally, {})
        allowed: set[str] = set()
        literal = False
        for pattern, methods, entry in self._routes if not path.endswith("\n") else ():  # no number ends with that
            found = pattern.fullmatch(path)
            if found is None:
                continue
            if method not in methods:
                allowed |= methods
                literal = literal or "{" not in entry.path  # /jobs/batch is no job
            elif not (literal and "{" in entry.path):
                return Admitted(entry, _named(found.groupdict(), path))
        if allowed:
            raise MethodNotAllowed(method, path, allowed)
        raise _nothing(path)

    def _check_host(self, hosts: list[str]) -> None:
        if len(hosts) != 1 or not (self._asks or self._is_ours(hosts[0])):
            raise ForeignOrigin(
                f"The Host header is {_shown(hosts)}; this server answers to loopback names with its port only.",
                remedy=f"Ask for http://127.0.0.1:{self._port} or http://localhost:{self._port}.",
                field="Host",
            )

    def _check_origin(self, origins: list[str], hosts: list[str]) -> None:
        if not all(self._own_page(origin, hosts[0]) for origin in origins):
            raise ForeignOrigin(
                f"The Origin header is {_shown(origins)}; pages of other sites may not use this server.",
                remedy="Programs leave the header out.",
                field="Origin",
            )

    def _own_page(self, origin: str, host: str) -> bool:
        """Whether a page of this origin came from here: from the very name that it asks."""
        scheme, _, authority = origin.partition("://")
        if self._asks:
            return scheme in {"http", "https"} and authority.lower() == host.lower()
        return scheme == "http" and self._is_ours(authority)

    def _is_ours(self, authority: str) -> bool:
        """Whether ``host:port`` is a loopback name or address with our port."""
        name, colon, port = authority.rpartition(":")
        if not colon or authority.endswith("]"):
            name, port = authority, "80"
        return port == str(self._port) and is_loopback(name)


def check_role(entry: Entry, asker: Asker) -> None:
    """Raise RoleTooLow when the asker may not use this route."""
    if entry.needs is not None and not asker.role.covers(entry.needs):
        raise RoleTooLow(
            f"{entry.method} {entry.path} needs the role {entry.needs.value}; {asker.name} is {asker.role.value}.",
            remedy="An admin makes another token: mainspring token create NAME --role ROLE",
            field="Authorization",
        )


def check_reach(entry: Entry, path: Mapping[str, str], asker: Asker, queue_of: Callable[[int], str]) -> None:
    """Raise OutOfReach when the asker is kept to some queues, and the route is about others, or says not about which.

    ``queue_of``: of a job by its number; may raise UnknownJob.
    """
    asked = Asked(path, {}, {}, b"", asker)
    match entry.reach:
        case Reach.ALL:
            asked.keep(None)
        case Reach.QUEUE:
            asked.keep(path["name"])
        case Reach.JOB:
            asked.keep(queue_of(asked.job))
        case Reach.NOTHING | Reach.ASKED:
            return


def is_loopback(host: str) -> bool:
    """Whether a host as written (``localhost``, an IPv4 address, an IPv6 address in brackets) is this machine."""
    if host.lower() == "localhost":
        return True
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return False
    return address.is_loopback and (address.version == 6) == (bare != host)


def check_media(headers: Sequence[Header], *, required: bool) -> None:
    """Only JSON is taken. Raises UnsupportedMediaType; without a body the type may be left out unless ``required``."""
    types = _all(headers, "content-type")
    if not types and not required and not has_body(headers):
        return
    if len(types) == 1 and _is_json(types[0]):
        return
    raise UnsupportedMediaType(
        f"The content type is {_shown(types)}; bodies are JSON.",
        remedy=f"Send the header Content-Type: {_JSON}.",
        field="Content-Type",
    )


def _check_coding(headers: Sequence[Header]) -> None:
    codings = _all(headers, "content-encoding")
    if any(coding.strip().lower() not in {"", "identity"} for coding in codings):
        raise UnsupportedMediaType(
            f"The content encoding is {_shown(codings)}; bodies are taken as they are.",
            remedy="Leave the header Content-Encoding out and send plain JSON.",
            field="Content-Encoding",
        )


def has_body(headers: Iterable[Header]) -> bool:
    """Whether the headers announce a body."""
    return any(name == "transfer-encoding" or (name == "content-length" and value != "0") for name, value in headers)


def _is_json(text: str) -> bool:
    kind, _, rest = text.partition(";")
    charset = rest.strip().lower().replace('"', "")
    return kind.strip().lower() == _JSON and charset in {"", "charset=utf-8", "charset=utf8"}


def _check_length(headers: Sequence[Header]) -> None:
    for text in _all(headers, "content-length"):
        if text.isdigit() and int(text[:19]) > BODY_LIMIT:
            raise PayloadTooLarge("body", int(text[:19]), BODY_LIMIT)


def _check_site(sites: list[str]) -> None:
    if any(site not in _OWN_SITE for site in sites):
        raise ForeignOrigin(
            f"The request comes from another site (Sec-Fetch-Site: {_shown(sites)}).",
            remedy="Programs leave the header out.",
            field="Sec-Fetch-Site",
        )


def _all(headers: Iterable[Header], wanted: str) -> list[str]:
    return [value for name, value in headers if name == wanted]


def _shown(values: list[str]) -> str:
    return repr(", ".join(values)[:200]) if values else "missing"


def _named(parts: dict[str, str], path: str) -> dict[str, str]:
    """What a path names. Raises NotFound for a name that nothing has: PostgreSQL would not even look for one with NUL.

    A number is read by its route, which says what there is none of.
    """
    if "\0" in parts.get("name", ""):
        raise _nothing(path)
    return parts


def _nothing(path: str) -> NotFound:
    return NotFound(f"There is nothing at {path[:200]}.", remedy="The REST API is below /api/v1.")


def _pattern(path: str) -> re.Pattern[str]:
    """What a route matches: a name in braces stands for one part of the address."""
    parts = _HOLE.split(path)
    return re.compile("".join(f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


def _methods(entry: Entry) -> frozenset[str]:
    """Whoever may read may ask for the headers alone."""
    return frozenset({entry.method, "HEAD"} if entry.method == "GET" else {entry.method})
