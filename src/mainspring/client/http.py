"""Requests to a server and its answers: a refusal becomes the error that it was, a lost answer says what is known.

Knows HTTP and nothing of jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import msgspec

from mainspring.clock import SECOND, Duration, seconds
from mainspring.domain.address import shown
from mainspring.errors import (
    IllegalState,
    KeyHeld,
    MainspringError,
    NotFound,
    OutcomeUnknown,
    ServerUnreachable,
)

PATIENCE = Duration(30 * SECOND)
"""How long an answer may take."""

API = "/api/v1"
_IDLE = 2.0
"""Seconds after which a connection is not used again: servers close theirs after five, and what is sent just then is
lost."""

_TRIES = 3
"""Of what changes nothing, or may be sent twice."""


class Rest:
    """One server. ``token``: what shows who we are, an empty text where nobody asks; ``patience``: for one answer."""

    def __init__(self, url: str, token: str = "", *, patience: Duration = PATIENCE) -> None:
        self.url = url.rstrip("/")
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            self._http = httpx2.Client(
                base_url=self.url,
                headers=headers,
                timeout=seconds(patience),
                trust_env=False,
                follow_redirects=False,
                limits=httpx2.Limits(keepalive_expiry=_IDLE),
            )
        except (ValueError, httpx2.InvalidURL) as error:
            raise ServerUnreachable(f"{self.url!r} is no address of a server: {error}.", remedy=_RIGHT) from error

    def get(self, path: str, **query: object) -> Any:
        """What is there."""
        return self._ask("GET", path, query=query, twice=True)

    def items(self, path: str, **query: object) -> list[Any]:
        """The items of a list, one page of it."""
        found: list[Any] = self.get(path, **query)["items"]
        return found

    def pages(self, path: str, **query: object) -> Iterator[Any]:
        """All items of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(path, **query, cursor=cursor)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def change(self, method: str, path: str, body: object = None, *, key: str = "", **query: object) -> Any:
        """Have something changed. ``key``: by it the server knows a request that it has had already.

        Raises OutcomeUnknown where it was sent, there was no answer, and it must not be sent twice.
        """
        return self._ask(method, path, body=body, key=key, query=query, twice=bool(key))

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()

    def _ask(  # noqa: PLR0913 - all of a request
        self, method: str, path: str, *, twice: bool, query: Mapping[str, object], body: object = None, key: str = ""
    ) -> Any:
        content = b"" if body is None else msgspec.json.encode(body)
        headers = ({"Content-Type": "application/json"} if content else {}) | ({"Idempotency-Key": key} if key else {})
        params = {name: str(value) for name, value in query.items() if value is not None}
        for left in reversed(range(_TRIES if twice else 1)):
            try:
                answer = self._http.request(method, f"{API}{path}", params=params, content=content, headers=headers)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as error:
                raise self._gone(str(error)) from error  # nothing was sent
            except httpx2.TransportError as error:
                if not left:
                    raise (self._gone(str(error)) if method == "GET" else self._unknown()) from error
            else:
                return self._read(answer, path)
        raise self._unknown()

    def _read(self, answer: httpx2.Response, path: str) -> Any:
        try:
            value = msgspec.json.decode(answer.content)
        except msgspec.DecodeError:
            value = None
        if answer.is_success and value is not None:
            return value
        if isinstance(value, dict) and isinstance(value.get("code"), str):
            raise self._refusal(value, path)
        raise self._gone(f"it answers {answer.status_code} and is no server of mainspring")

    def _refusal(self, problem: dict[str, Any], path: str) -> MainspringError:
        """The error that the server had."""
        kind = _KINDS.get(problem["code"], MainspringError)
        if kind is NotFound:  # no such job, run ... has a code of its own
            return self._gone(f"it has nothing at {API}{path}, so it is of another version")
        error = kind.__new__(kind)
        index = problem.get("index")
        detail = str(problem.get("detail", "")).removeprefix(f"Item {index}: ")
        MainspringError.__init__(error, detail, remedy=problem.get("remedy", ""), field=problem.get("field", ""))
        error.index = index if isinstance(index, int) else None
        if isinstance(error, IllegalState):
            error.state = problem.get("state", "")
        if isinstance(error, KeyHeld):
            error.job = problem.get("job", 0)
        if kind is MainspringError:  # one of a newer server
            error.code, error.http_status = problem["code"], int(problem.get("status", 500))
        return error

    def _gone(self, why: str) -> ServerUnreachable:
        return ServerUnreachable(
            f"The server at {shown(self.url)} can't be used: {why.strip() or 'no answer'}.", remedy=_RIGHT
        )

    def _unknown(self) -> OutcomeUnknown:
        return OutcomeUnknown(f"The server at {self.url}")


_RIGHT = "Start one (mainspring server), or name the address of one: --api http://127.0.0.1:8750"


def _all_below(kind: type[MainspringError]) -> Iterator[type[MainspringError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _all_below(below)


_KINDS = {kind.code: kind for kind in reversed(list(_all_below(MainspringError)))}
"""By code the class; the one that is nearest to the root where several have one code."""
