"""A coordinator for tests: it starts a real runner under a real guard and speaks the protocol with it by hand."""

from __future__ import annotations

import json
import select
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Raw

from mainspring.clock import Duration
from mainspring.domain.frame import (
    INLINE_LIMIT,
    Answer,
    Cancel,
    Credit,
    Ended,
    FromRunner,
    Hello,
    Log,
    Params,
    Ping,
    Pong,
    Progress,
    Request,
    Start,
    Stop,
    Stuck,
    Unusable,
)
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.logline import LOG_LIMIT, LogChunk
from mainspring.domain.states import Outcome
from mainspring.worker.forensics import RunnerDeath
from mainspring.worker.runners import RunnerProcess, RunnerSpec
from tests.patience import Limit, ended

APPS = Path(__file__).parent / "apps"
SOURCE = Path(__file__).parents[3] / "src"
ENV = {"PYTHONPATH": str(SOURCE)}
FIRST_CLAIM = 2**61
"""Beyond what a JavaScript number holds, as real claims are."""

T = TypeVar("T")


def eventually(look: Callable[[], T | None], *, within: float = 10.0, what: str = "it") -> T:
    """The first true answer of ``look``; fails when none comes in time."""
    limit = Limit(within)
    while True:
        found = look()
        if found:
            return found
        assert not limit.over(), f"{what} did not happen within {within} s"
        select.select([], [], [], 0.01)


class Driver:
    """One runner, and what it has said."""

    def __init__(self, process: RunnerProcess) -> None:
        self.process = process
        self.frames: list[FromRunner] = []
        self.ends: dict[ClaimId, Ended] = {}
        self.chunks: dict[ClaimId, list[LogChunk]] = defaultdict(list)
        self.pays = True
        """Whether credit is given back for logs."""
        self.desk: Callable[[Request], Answer] = lambda request: Answer(request.number)
        self.app = "jobs"
        self._next = 0

    # --- saying -----------------------------------------------------------------------------------------------

    def start(
        self, task: str, *, room: int = LOG_LIMIT, attempt: int = 1, details: Any = None, trace: str = "", **params: Any
    ) -> ClaimId:
        """Start a job of this task; its claim."""
        self._next += 1
        job, claim = JobId(self._next), ClaimId(FIRST_CLAIM + self._next)
        data = json.dumps(params).encode()
        large = len(data) > INLINE_LIMIT
        inline = Raw(b"{}" if large else data)
        told = Raw(json.dumps(details).encode())
        self.process.control.put(
            Start(
                *(job, claim, attempt, f"{self.app}.{task}", inline),
                bulk=large,
                log_room=room,
                details=told,
                trace=trace,
            )
        )
        if large:
            self.process.bulk.put(Params(job, claim, Raw(data)))
        return claim

    def cancel(self, claim: ClaimId, outcome: Outcome = Outcome.CANCELLED, *, grace: float = 5.0) -> None:
        """Ask it to end."""
        self.process.control.put(Cancel(JobId(claim - FIRST_CLAIM), claim, outcome, grace))

    def stop(self) -> None:
        """No more starts will come."""
        self.process.control.put(Stop())

    def ping(self, number: int) -> None:
        """Ask whether its loop turns."""
        self.process.control.put(Ping(number))

    def live_for(self, length: float) -> None:
        """Let its guard wait this long from now, in seconds."""
        self.process.extend(Duration(time.monotonic_ns() // 1000 + round(length * 1_000_000)))

    # --- hearing ----------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Move the bytes that can be moved within a moment."""
        channels = [channel for channel in (self.process.control, self.process.bulk) if not channel.closed]
        for channel in channels:
            channel.flush()
        writing = [channel for channel in channels if channel.pending]
        waiting: list[Any] = [self.process.guard_fd, *channels]
        select.select(waiting, writing, [], 0.02)
        self.process.poll_death()
        for channel in channels:
            for frame in channel.read():
                self._take(frame)
        for channel in channels:
            channel.flush()

    def _take(self, frame: FromRunner) -> None:
        self.frames.append(frame)
        match frame:
            case Ended():
                assert frame.claim not in self.ends, "ended twice"
                self.ends[frame.claim] = frame
            case Log():
                assert frame.claim not in self.ends, "a log behind the end"
                self.chunks[frame.claim] += frame.chunks
                if self.pays:
                    self.process.control.put(Credit(sum(len(chunk.text.encode()) for chunk in frame.chunks)))
            case Request():
                self.process.bulk.put(self.desk(frame))
            case _:
                pass

    def until(self, look: Callable[[], T | None], *, within: float = 10.0, what: str = "it") -> T:
        """Turn until ``look`` answers something true."""
        limit = Limit(within)
        while not (found := look()):
            assert not limit.over(), f"{what} did not happen within {within} s; heard {self._heard()}"
            self.turn()
        return found

    def _heard(self) -> str:
        return "; ".join(str(frame)[:300] for frame in self.frames[-5:])

    def hello(self) -> Hello | Unusable:
        """Its first frame."""
        self.until(lambda: self.frames, within=20, what="hello")
        first = self.frames[0]
        assert isinstance(first, Hello | Unusable)
        return first

    def end(self, claim: ClaimId, *, within: float = 10.0) -> Ended:
        """How it ended."""
        return self.until(lambda: self.ends.get(claim), within=within, what="the end")

    def run(self, task: str, *, within: float = 10.0, **params: Any) -> Ended:
        """Start it and wait for its end."""
        return self.end(self.start(task, **params), within=within)

    def text(self, claim: ClaimId, stream: str | None = None) -> str:
        """What it has printed so far."""
        return "".join(chunk.text for chunk in self.chunks[claim] if stream in (None, chunk.stream))

    def printed(self, claim: ClaimId, word: str, *, within: float = 10.0) -> str:
        """Wait until it has printed this; all that it has printed."""
        self.until(lambda: word in self.text(claim), within=within, what=f"{word!r} in its log")
        return self.text(claim)

    def said(self, kind: type[T]) -> list[T]:
        """The frames of one type."""
        return [frame for frame in self.frames if isinstance(frame, kind)]

    def stuck(self, claim: ClaimId) -> bool:
        return any(frame.claim == claim for frame in self.said(Stuck))

    def pongs(self) -> list[int]:
        return [frame.number for frame in self.said(Pong)]

    def progress(self, claim: ClaimId) -> list[Any]:
        return [json.loads(bytes(frame.details)) for frame in self.said(Progress) if frame.claim == claim]

    def death(self, *, within: float = 10.0) -> RunnerDeath:
        """How the runner ended."""
        return self.until(self.process.poll_death, within=within, what="the death of the runner")

    def close(self) -> None:
        """End it, with all its descendants."""
        if self.process.poll_death() is None:
            self.process.kill()
            self.death()
        let_go(self.process)


def let_go(process: RunnerProcess) -> None:
    """Close one that is dead, and wait until its guard has gone too: a coordinator sees to that with its next one."""
    process.close()
    ended(process._guard, 10)


def python_runner(target: str) -> tuple[str, ...]:
    """The command of a Python runner."""
    return (sys.executable, "-m", "mainspring", "runner", target)


@contextmanager
def driving(
    target: str | Path = APPS / "jobs.py",
    *,
    argv: tuple[str, ...] | None = None,
    env: dict[str, str] | None = None,
    cwd: str = "",
    greet: bool = True,
) -> Iterator[Driver]:
    """A runner that has said hello; ended afterwards, and nothing of it may be left."""
    spec = RunnerSpec(app=str(target), argv=argv, env=ENV | (env or {}), cwd=cwd)
    driver = Driver(RunnerProcess.start(spec, 1))
    try:
        if greet:
            assert isinstance(driver.hello(), Hello), driver.frames
        yield driver
    finally:
        driver.close()


def spin_up(driver: Driver, claim: ClaimId, count: int = 1) -> list[int]:
    """The pids that a job printed as ``pid N``, once there are so many."""

    def pids() -> list[int]:
        lines = driver.text(claim).splitlines()
        found = [int(line.split()[1]) for line in lines if line.startswith("pid ")]
        return found if len(found) >= count else []

    return driver.until(pids, what=f"{count} pids in its log")
