"""``python -m campaign.move [--jobs 100000] [--target URL]``: a large store moves to PostgreSQL and back.

Builds a SQLite store with jobs in every state, moves it there and back into a new file, and compares what ``export``
and the output of the jobs say in all three. Without ``--target`` it starts a PostgreSQL server of its own, as the tests
do. Exit status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from campaign.simulate import say
from mainspring.client.database import export_events, export_jobs, move
from mainspring.clock import DAY, SECOND, Duration, SystemClock, seconds
from mainspring.domain.job import JobRequest
from mainspring.domain.logline import LogChunk
from mainspring.domain.states import Outcome
from mainspring.domain.worker import WorkerState
from mainspring.store import Store, audit, workers
from tests import postgres
from tests.contract.engines import SqliteBench
from tests.contract.stories import Story

_BATCH = 500


def build(folder: Path, jobs: int) -> str:
    """A store in which jobs have lived; its address."""
    bench = SqliteBench(folder)
    bench.clock.jump(SystemClock().now() - bench.clock.now() - DAY)
    story = Story(bench)
    for number in range(0, jobs, _BATCH):
        _lives(story, number // _BATCH)
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.STOPPED, Duration(0)))
    bench.close()
    return bench.url


def _lives(story: Story, kind: int) -> None:
    """A batch of jobs, brought to one state or another."""
    values = {"params": {"batch": kind, "text": "Zürich 🏔" * 4}, "tags": {"batch": str(kind)}}
    if kind % 8 == 1:
        story.submit_many([JobRequest("shop.send", delay="3d", **values)] * _BATCH)
        return
    found = story.submit_many([JobRequest("shop.once" if kind % 8 == 4 else "shop.send", **values)] * _BATCH)
    if kind % 8 == 0:
        return
    if kind % 8 == 2:
        for job in found:
            story.cancel(job)
        return
    story.claim(*found)
    if kind % 8 == 3:
        return
    outcome = Outcome.FAILED if kind % 8 in {4, 5} else Outcome.SUCCEEDED
    story.end_all([story.ending(job, outcome) for job in found])
    story.store.logs.append([(job, 1, 1, LogChunk(story.clock.now(), "stdout", f"of {job}\n")) for job in found])
    story.clock.forward(SECOND)


def digest(url: str) -> tuple[str, int]:
    """What an export says, as one word, and how many lines it had."""
    said, lines = hashlib.blake2b(), 0

    def take(document: object) -> None:
        nonlocal lines
        said.update(msgspec.json.encode(document))
        lines += 1

    export_jobs(url, take)
    export_events(url, take)
    store = Store.open(url)
    for job in store.read(lambda tx: [one.id for one in audit.written(tx) if one.finished]):
        for line in store.logs.lines(job, attempt=None, after=0, limit=1_000):
            take(line)
    store.close()
    return said.hexdigest()[:16], lines


def timed(what: str, work: Callable[[], object]) -> object:
    """Do it and say how long it took."""
    clock = SystemClock()
    began = clock.monotonic()
    value = work()
    say(f"{what}: {seconds(Duration(clock.monotonic() - began)):.1f} s")
    return value


def main(argv: list[str] | None = None) -> int:
    """There and back; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.move", description="A large store moves there and back.")
    parser.add_argument("--jobs", type=int, default=100_000, help="how many (default 100,000)")
    parser.add_argument("--target", help="an empty PostgreSQL database (default: one of its own)")
    options = parser.parse_args(argv)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        target = options.target
        if target is None:
            server = stack.enter_context(postgres.shared(postgres.unique()))
            target = postgres.new_database(server, "moved")
        here, back = str(timed("built", lambda: build(folder, options.jobs))), f"sqlite:///{folder}/back.db"
        timed("there", lambda: move(here, target, say=lambda *_: None))
        timed("back", lambda: move(target, back, say=lambda *_: None))
        found = [digest(url) for url in (here, target, back)]
    for name, (said, lines) in zip(("source", "there", "back"), found, strict=True):
        say(f"{name:6} {said} {lines:,} lines")
    say("identical" if len(set(found)) == 1 else "NOT identical")
    return 0 if len(set(found)) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
