"""``python -m campaign.reload [--engine ENGINE]``: limits that are changed while jobs run, judged by the jobs' ledger.

Two workers run short jobs all the time. The limit of their queue is raised and lowered by the file, by the command line
and over REST, and in between the file is made wrong. From the starts and ends that the jobs themselves wrote down the
table tells how long after each change another limit held: at most 2 s. Exit status 1 when one took longer, or when more
jobs ran at once than were allowed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import NamedTuple

import httpx2

from benchmarks import report
from benchmarks.postgres import PostgresPlace
from benchmarks.report import Line
from campaign.simulate import say
from mainspring.clock import from_seconds
from mainspring.domain.queue import QueueChange
from tests.processes.world.driver import World

_NAP = 0.1
_BUDGET = 2.0
_AT_FIRST = 40
"""Slots of both workers."""

_HELD = 4.0
"""Seconds for which each change is watched."""

_WORDS = {"file": "the file", "command": "the command", "rest": "REST", "wrong": "a wrong file"}
_CHANGES = (
    *(("file", 2), ("command", 6), ("rest", 3), ("wrong", 3), ("rest", None), ("file", 7), ("command", 4), ("rest", 8)),
    ("wrong", 8),
)
"""How, and the limit that is to hold; None: what people have set is taken back, so that the file's holds."""


class Change(NamedTuple):
    """A change as it was made: how, by the ledger's clock from when to when, and the limit before and from then on."""

    how: str
    begun: float
    at: float
    before: int
    limit: int


def run(world: World) -> tuple[list[Change], list[tuple[float, int]]]:
    """Make all changes while jobs run; when how many ran at once, from each instant on."""
    up = world.up("--workers", "2", "--name", "w", "--slots", "20", ready=False)
    world.eventually(lambda: len(world.active()) == 2 or up.status is not None, what="two workers")
    queue = world.client.tasks()[0].queue
    address = world.eventually(lambda: re.search(r"listening at (http\S+:\d+)", up.said))[1]
    file = world.folder / "mainspring.toml"
    key = f"queue.{queue}.limit"
    world.submit_many("nap", [{"seconds": _NAP}] * 4_000)
    ways: dict[str, Callable[[int | None], object]] = {
        "file": lambda limit: file.write_text(f"[queue.{queue}]\nlimit = {limit}\n"),
        "command": lambda limit: world.command("config", "set", f"{key}={limit}").check_returncode(),
        "rest": lambda limit: httpx2.patch(
            f"{address}/api/v1/config", json={key: limit}, trust_env=False
        ).raise_for_status(),
        "wrong": lambda _: file.write_text(f"[queue.{queue}]\nlimit = 1\nlimits = 1\n"),
    }
    made: list[Change] = []
    in_file = held = _AT_FIRST
    for how, wanted in _CHANGES:
        limit = in_file if wanted is None else wanted
        begun = world.now()
        ways[how](wanted)
        in_file = limit if how == "file" else in_file
        made.append(Change(how, begun, world.now(), held, limit))
        held = limit
        world.clock.wait(from_seconds(_HELD))
    made.append(Change("", world.now(), world.now(), held, held))
    world.client.change_queue(queue, QueueChange(paused=True))
    up.stop()
    depths = accumulate(1 if one.kind == "start" else -1 for one in world.ledger())
    return made, list(zip((one.at for one in world.ledger()), depths, strict=True))


def judged(change: Change, until: float, depths: Sequence[tuple[float, int]]) -> tuple[float, str]:
    """Seconds until the new limit held, and what is wrong with it.

    A higher one holds when so many run; a lower one when no more than that do any more.
    """
    watched = [
        (max(at, change.at), min(end, until), depth)
        for (at, depth), (end, _) in pairwise(depths)
        if end > change.at and at < until
    ]
    most = max((depth for at, _, depth in watched if at >= change.at + _BUDGET), default=0)
    if most != change.limit:
        return _HELD, f"{most} jobs ran at once where {change.limit} were allowed"
    if change.limit > change.before:
        return min(at for at, _, depth in watched if depth >= change.limit) - change.at, ""
    return max((end for _, end, depth in watched if depth > change.limit), default=change.at) - change.at, ""


def main(argv: list[str] | None = None) -> int:
    """Change and judge; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.reload", description="Limits changed while jobs run.")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append", help="default: both")
    options = parser.parse_args(argv)
    lines: list[Line] = []
    amiss: list[str] = []
    for engine in options.engine or ("sqlite", "postgres"):
        say(f"{engine}: {len(_CHANGES)} changes, {_HELD:.0f} s each")
        with address_of(engine) as url, World(url) as world:
            made, depths = run(world)
        for change, later in pairwise(made):
            took, wrong = judged(change, later.begun, depths)
            name = f"{engine}: {change.before} to {change.limit} by {_WORDS[change.how]}"
            lines.append(Line(name, took, "s", budget=_BUDGET, budget_text=f"<= {_BUDGET:.0f} s", note=wrong))
            amiss += [f"{name}: {wrong}"] if wrong else []
    report.show(lines, folder="a ledger that the jobs write", against="baseline")
    return int(bool(amiss) or any(line.verdict == "short" for line in lines))


@contextmanager
def address_of(engine: str) -> Iterator[str]:
    """The address of an empty store; an empty text for a file of the world's own."""
    if engine == "sqlite":
        yield ""
        return
    with PostgresPlace() as place:
        yield place.url


if __name__ == "__main__":
    sys.exit(main())
