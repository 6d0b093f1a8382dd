"""The clients of the load: one that submits at a steady rate, those who listen to events, those who look at lists.

They speak HTTP over plain sockets, so that little of the machine that they measure is theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from mainspring.chance import SystemChance
from mainspring.clock import SECOND, SystemClock, instant

_LISTS = (
    "/jobs?limit=50",
    "/jobs?task=noop&state=succeeded&limit=50",
    "/queues",
    "/workers",
    "/jobs?queue=bench&limit=50",
)
_BETWEEN = 0.5
"""Seconds from an answer to the next look."""

_MOST_KNOWN = 5_000
"""Events whose meaning is kept: those of some seconds."""

_HANDS = 24
"""Connections of the one who submits."""


class Rest:
    """Requests over one connection, one after the other."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._pipe: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None, key: str = "") -> tuple[int, bytes]:
        """Status and body of the answer. Raises ConnectionError where there is none.

        A connection that the server has let go of meanwhile, as it was idle, is made anew.
        """
        for left in (1, 0):
            fresh = self._pipe is None
            if self._pipe is None:
                self._pipe = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._pipe
            try:
                writer.write(request(self._port, method, path, body, key))
                status, length = await head(reader)
                return status, await reader.readexactly(length)
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                self.close()
                if fresh or not left:
                    raise ConnectionError(f"{method} {path} was not answered: {error}") from error
        raise AssertionError

    def close(self) -> None:
        """Hang up."""
        if self._pipe is not None:
            self._pipe[1].close()
            self._pipe = None


def request(port: int, method: str, path: str, body: object = None, key: str = "") -> bytes:
    """A request as bytes. ``key``: by it the server knows one that it has had already."""
    data = b"" if body is None else msgspec.json.encode(body)
    lines = [f"{method} /api/v1{path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    if data:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    lines += [f"Idempotency-Key: {key}"] if key else []
    return "\r\n".join([*lines, "", ""]).encode() + data


async def head(reader: asyncio.StreamReader) -> tuple[int, int]:
    """Status of an answer, and the bytes that follow; 0 where that is not told."""
    lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    told = [line.partition(b":")[2] for line in lines if line.startswith(b"content-length:")]
    return int(lines[0].split()[1]), int(told[0]) if told else 0


class Submitter:
    """Submits at a steady rate, whatever the answers take. ``took``: from when each was due to its answer."""

    def __init__(self, port: int, rate: int, length: float) -> None:
        self._port = port
        self._rate = rate
        self._name = SystemChance().incarnation()
        self._numbers: Iterator[int] = iter(range(int(rate * length)))
        self.jobs: list[int] = []
        self.took: list[float] = []
        self.amiss: list[str] = []

    async def submit(self) -> None:
        """All of them."""
        begin = asyncio.get_running_loop().time()
        await asyncio.gather(*(self._hand(begin) for _ in range(_HANDS)))

    async def _hand(self, begin: float) -> None:
        loop, rest = asyncio.get_running_loop(), Rest(self._port)
        for number in self._numbers:
            due = begin + number / self._rate
            await asyncio.sleep(max(0.0, due - loop.time()))
            try:
                status, answer = await rest.ask("POST", "/jobs", {"task": "noop"}, f"{self._name}-{number}")
            except ConnectionError as error:
                self.amiss.append(str(error))
                continue
            self.took.append(loop.time() - due)
            if status == 201:
                self.jobs.append(msgspec.json.decode(answer)["id"])
            else:
                self.amiss.append(f"a submit was answered with {status}: {answer[:200]!r}")
        rest.close()


class _Told(msgspec.Struct):
    """What of an event is looked at."""

    seq: int
    at: str
    cause: str
    job: int | None = None


class _Dictionary:
    """What events mean, read once by the first who hears one: all listeners hear the same bytes, and share a core."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, int, int | None]] = {}

    def read(self, text: bytes) -> tuple[int, int, int | None] | None:
        """Number and time of an event, and the job where it was born then; None for what is none."""
        known = self._known.get(text)
        if known is None:
            _, found, data = text.partition(b"\ndata: ")
            if not found:
                return None
            told = msgspec.json.decode(data, type=_Told)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[text] = told.seq, instant(told.at), told.job if told.cause == "submit" else None
        return known


class Listener:
    """Hears all events. ``delays``: from when each happened to when it came; ``born``: jobs that it heard of."""

    _meaning = _Dictionary()

    def __init__(self, port: int) -> None:
        self._port = port
        self._clock = SystemClock()
        self.delays: list[float] = []
        self.born: set[int] = set()
        self.told = 0
        self.in_order = True
        self._last = 0

    async def begin(self) -> None:
        """Come back when the server has told where it begins."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(request(self._port, "GET", "/events"))
        await head(self._reader)
        await self._reader.readuntil(b"id: ")

    async def listen(self) -> None:
        """Until it is cancelled; begun before."""
        rest = b""
        try:
            while piece := await self._reader.read(1 << 20):
                now = self._clock.now()
                *whole, rest = (rest + piece).split(b"\n\n")
                for one in whole:
                    self._hear(one, now)
        finally:
            self._writer.close()

    def _hear(self, text: bytes, now: int) -> None:
        told = self._meaning.read(text)
        if told is None:
            return
        seq, at, job = told
        self.told += 1
        self.in_order = self.in_order and seq > self._last
        self._last = seq
        self.delays.append((now - at) / SECOND)
        if job is not None:
            self.born.add(job)


class Poller:
    """Looks at one list again and again."""

    def __init__(self, port: int, number: int) -> None:
        self._path = _LISTS[number % len(_LISTS)]
        self._rest = Rest(port)
        self.took: list[float] = []
        self.amiss: list[str] = []

    async def look(self) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                began = loop.time()
                status, answer = await self._rest.ask("GET", self._path)
                self.took.append(loop.time() - began)
                if status != 200:
                    self.amiss.append(f"{self._path} was answered with {status}: {answer[:200]!r}")
                await asyncio.sleep(_BETWEEN)
        finally:
            self._rest.close()
