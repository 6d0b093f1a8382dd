"""Requests to a server and its answers: a refusal becomes the error that it was, a lost answer says what is known.

A verb is written once, as steps that yield requests and take their answers (``verbs/``). Who takes the steps is one of
two, Blocking and Awaiting; only these know that there is a network, and neither knows anything of jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import httpx2
import msgspec

from mainspring.clock import SECOND, Duration, seconds
from mainspring.domain.address import shown
from mainspring.errors import (
    IllegalState,
    InvalidOption,
    KeyHeld,
    MainspringError,
    NotFound,
    OutcomeUnknown,
    ServerUnreachable,
    Unauthenticated,
)

PATIENCE = Duration(30 * SECOND)
"""How long an answer may take."""

API = "/api/v1"
_IDLE = 2.0
"""Seconds after which a connection is not used again: servers close theirs after five, and what is sent just then is
lost."""

_TRIES = 3
"""Of what changes nothing, or may be sent twice."""

T = TypeVar("T")


class Request(NamedTuple):
    """What is sent. ``key``: by it the server knows a request that it has had already; ``query``: None is left out."""

    method: str
    path: str
    body: object = None
    key: str = ""
    query: Mapping[str, object] = {}

    @property
    def tries(self) -> int:
        """How often it may be sent."""
        return _TRIES if self.method == "GET" or self.key else 1

    def options(self) -> dict[str, Any]:
        """The rest of it, as httpx2 takes it."""
        content = b"" if self.body is None else msgspec.json.encode(self.body)
        headers = {"Content-Type": "application/json"} if content else {}
        if self.key:
            headers["Idempotency-Key"] = self.key
        params = {name: str(value) for name, value in self.query.items() if value is not None}
        return {"params": params, "content": content, "headers": headers}


Steps = Generator[Request, Any, T]
"""A verb: it yields requests, is sent the value of each answer (or thrown the error), and returns what was asked."""


def get(path: str, **query: object) -> Request:
    """What is there."""
    return Request("GET", path, query=query)


def send(method: str, path: str, body: object = None, *, key: str = "", **query: object) -> Request:
    """Have something changed. Without a key it is never sent twice: where no answer came that is OutcomeUnknown."""
    return Request(method, path, body, key, query)


def items(path: str, **query: object) -> Steps[list[Any]]:
    """The items of a list, one page of it."""
    found: list[Any] = (yield get(path, **query))["items"]
    return found


def pages(path: str, **query: object) -> Steps[list[Any]]:
    """All items of a list, page by page."""
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = yield get(path, **query, cursor=cursor)
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found


def part(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


class Server:
    """One server, and what its answers mean. ``token``: who we are, an empty text where nobody asks."""

    def __init__(self, url: str, token: str, patience: Duration) -> None:
        self.url = url.rstrip("/")
        self.options: dict[str, Any] = {
            "base_url": self.url,
            "headers": {"Accept": "application/json"} | _bearer(token),
            "timeout": seconds(patience),
            "trust_env": False,
            "follow_redirects": False,
            "limits": httpx2.Limits(keepalive_expiry=_IDLE),
        }

    def opened(self, kind: Callable[..., T]) -> T:
        """A client of httpx2. Raises ServerUnreachable for what is no address, and for certificates that can't be read.

        Trusted are those in SSL_CERT_FILE, else in SSL_CERT_DIR, else those that the machine trusts.
        """
        is_plain = self.url.startswith("http://")  # to read all certificates takes longer than to ask
        try:
            return kind(**self.options, verify=False if is_plain else httpx2.create_ssl_context())
        except OSError as error:
            raise ServerUnreachable(
                f"The certificates to trust can't be read: {error}.",
                remedy="SSL_CERT_FILE names a file of certificates in PEM, or SSL_CERT_DIR a directory of them.",
            ) from error
        except (ValueError, httpx2.InvalidURL) as error:
            raise ServerUnreachable(f"{self.url!r} is no address of a server: {error}.", remedy=_RIGHT) from error

    def read(self, answer: httpx2.Response, request: Request) -> Any:
        """The value of an answer, or the error that it tells of."""
        try:
            value = msgspec.json.decode(answer.content)
        except msgspec.DecodeError:
            value = None
        if answer.is_success and value is not None:
            return value
        if isinstance(value, dict) and isinstance(value.get("code"), str):
            return self._refusal(value, request.path)
        return self._gone(f"it answers {answer.status_code} and is no server of mainspring")

    def lost(self, error: httpx2.TransportError, request: Request, tried: int) -> MainspringError | None:
        """What it means that no answer came; None: it may be sent again."""
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol):
            return self._unanswered(error)  # nothing was sent
        if tried < request.tries:
            return None
        return self._unanswered(error) if request.method == "GET" else OutcomeUnknown(f"The server at {self.url}")

    def _unanswered(self, error: httpx2.TransportError) -> ServerUnreachable:
        """With what is most likely right: of TLS most is a matter of the address or of whom we trust."""
        why, rest = str(error).strip().rstrip("."), self.url.partition("://")[2]
        if isinstance(error, httpx2.UnsupportedProtocol):
            return self._gone("its address begins with neither http:// nor https://", f"Write it as {_ADDRESS}")
        if "CERTIFICATE_VERIFY_FAILED" in why:
            return self._gone(why, "If the certificate is one of yours, say so: SSL_CERT_FILE=cert.pem in front.")
        if self.url.startswith("https://") and any(word in why for word in _NO_TLS):
            return self._gone(f"it speaks no TLS there ({why})", f"--api http://{shown(rest)}")
        if self.url.startswith("http://") and isinstance(error, httpx2.RemoteProtocolError):
            return self._gone(why, f"If it speaks TLS: --api https://{shown(rest)}")
        return self._gone(why)

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
        if kind is Unauthenticated:  # of REST it tells the header, which we send
            error.remedy = _VALID
        if isinstance(error, IllegalState):
            error.state = problem.get("state", "")
        if isinstance(error, KeyHeld):
            error.job = problem.get("job", 0)
        if kind is MainspringError:  # one of a newer server
            error.code, error.http_status = problem["code"], int(problem.get("status", 500))
        return error

    def _gone(self, why: str, remedy: str = "") -> ServerUnreachable:
        return ServerUnreachable(
            f"The server at {shown(self.url)} can't be used: {why or 'no answer'}.", remedy=remedy or _RIGHT
        )


def _bearer(token: str) -> dict[str, str]:
    """The header that says who we are. Raises InvalidOption for what can't be a token, and does not show it."""
    if not all("!" <= character <= "~" for character in token):
        raise InvalidOption(
            "The token has a character in it that no token has, such as a space or the end of a line.",
            remedy="Give it as it was printed: mst_ and what follows, in MAINSPRING_TOKEN.",
            field="token",
        )
    return {"Authorization": f"Bearer {token}"} if token else {}


class Blocking:
    """Takes the steps of verbs, and waits for each answer."""

    def __init__(self, url: str, token: str = "", *, patience: Duration = PATIENCE) -> None:
        self._server = Server(url, token, patience)
        self._http = self._server.opened(httpx2.Client)

    def take(self, steps: Steps[T]) -> T:
        """What the verb was asked for. Raises the error of an answer that the verb does not catch."""
        said: Any = None
        try:
            while True:
                said = self._answer(_next(steps, said))
        except StopIteration as over:
            found: T = over.value
            return found

    def _answer(self, request: Request) -> Any:
        for tried in range(1, request.tries + 1):
            try:
                answer = self._http.request(request.method, f"{API}{request.path}", **request.options())
            except httpx2.TransportError as error:
                if (lost := self._server.lost(error, request, tried)) is not None:
                    return lost
            else:
                return self._server.read(answer, request)
        raise AssertionError(request)

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()


class Awaiting:
    """The same in asynchronous code: it awaits each answer. Many may ask at once."""

    def __init__(self, url: str, token: str = "", *, patience: Duration = PATIENCE) -> None:
        self._server = Server(url, token, patience)
        self._http = self._server.opened(httpx2.AsyncClient)

    async def take(self, steps: Steps[T]) -> T:
        """What the verb was asked for. Raises the error of an answer that the verb does not catch."""
        said: Any = None
        try:
            while True:
                said = await self._answer(_next(steps, said))
        except StopIteration as over:
            found: T = over.value
            return found

    async def _answer(self, request: Request) -> Any:
        for tried in range(1, request.tries + 1):
            try:
                answer = await self._http.request(request.method, f"{API}{request.path}", **request.options())
            except httpx2.TransportError as error:
                if (lost := self._server.lost(error, request, tried)) is not None:
                    return lost
            else:
                return self._server.read(answer, request)
        raise AssertionError(request)

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.aclose()


def _next(steps: Steps[Any], said: Any) -> Request:
    """The next request of a verb, once it has heard what became of the one before."""
    return steps.throw(said) if isinstance(said, MainspringError) else steps.send(said)


_VALID = "Set MAINSPRING_TOKEN to one that is valid; an admin makes it: mainspring token create NAME --role ROLE"
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "HTTP_REQUEST")
"""What versions of OpenSSL call an answer in plain text."""

_ADDRESS = "--api http://127.0.0.1:8750"
_RIGHT = f"Start one (mainspring server), or name the address of one: {_ADDRESS}"


def _all_below(kind: type[MainspringError]) -> Iterator[type[MainspringError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _all_below(below)


_KINDS = {kind.code: kind for kind in reversed(list(_all_below(MainspringError)))}
"""By code the class; the one that is nearest to the root where several have one code."""
