"""Follows a run until it has ended, and says what came of it: its result, or which nodes failed and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mainspring.cli import looks, show
from mainspring.client import Client
from mainspring.clock import SECOND, Clock, Duration, Instant, SystemClock, length_text
from mainspring.domain.job import Job
from mainspring.domain.joins import NodeState
from mainspring.domain.run import Run, RunNode
from mainspring.domain.states import State
from mainspring.errors import UnknownJob

_SHOWN = 5
"""Failed nodes that are told of."""


def followed(client: Client, number: int, *, quiet: bool) -> Run:
    """Wait for the end with progress on standard error: a line that changes on a terminal, elsewhere one a second."""
    screen = show.console(error=True)
    clock = SystemClock()
    if quiet:
        return _until_ended(client, number, lambda _: None)
    if not screen.is_terminal:
        return _until_ended(client, number, _Paced(clock).tell)
    with screen.status("waiting") as status:
        return _until_ended(client, number, lambda run: status.update(_status(run, clock.now())))


def _until_ended(client: Client, number: int, look: Callable[[Run], None]) -> Run:
    client.await_news(Duration(0))  # hints count from here on
    while True:
        found = client.run(number)
        look(found)
        if found.done:
            return found
        client.await_news(SECOND)


class _Paced:
    """Lines of progress, at most one a second, and one when it has ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told = ""
        self._next = clock.monotonic()

    def tell(self, run: Run) -> None:
        text = f"run {run.id} {run.state.value}: {counts(run)}"
        if text != self._told and (run.done or self._clock.monotonic() >= self._next):
            show.note(text)
            self._told = text
            self._next = Duration(self._clock.monotonic() + SECOND)


def _status(run: Run, now: Instant) -> str:
    """The line that changes."""
    return f"run {run.id} {run.state.value} · {counts(run)} · {length_text(Duration(now - run.created_at))}"


def counts(run: Run) -> str:
    """``12 of 40 nodes: 3 active, 10 succeeded, 2 failed · 340 of 500 items``."""
    tally = run.progress
    parts = [f"{count:,} {name}" for name, count in tally._asdict().items() if count and name != "waiting"]
    over = run.nodes - tally.waiting - tally.active
    items = f" · {run.items_ended:,} of {looks.counted(run.items, 'item')}" if run.items else ""
    return f"{over:,} of {looks.counted(run.nodes, 'node')}" + (f": {', '.join(parts)}" if parts else "") + items


def result_lines(run: Run) -> list[str]:
    """What the run has given, where it has."""
    return [] if run.result is None else [f"result  {looks.cut(looks.one_line(looks.compact(run.result)), 2_000)}"]


def failure_lines(client: Client, nodes: Iterable[RunNode]) -> list[str]:
    """Which nodes failed, and why: ``load failed: ValueError: no rows (job 10482)``."""
    failed = [node for node in nodes if node.state is NodeState.FAILED]
    lines = [f"{node.name} failed: {_why(client, node)}" for node in failed[:_SHOWN]]
    return [*lines, f"… and {len(failed) - _SHOWN:,} more failed"] if len(failed) > _SHOWN else lines


def _why(client: Client, node: RunNode) -> str:
    if node.error is not None:
        return looks.cut(looks.one_line(f"{node.error.type}: {node.error.message}"), 300)
    dead = next((one.id for one in node.jobs if one.state == State.DEAD), None)
    if dead is None:
        return f"see its runs {', '.join(map(str, node.runs[:_SHOWN]))}" if node.runs else "see mainspring export run"
    try:
        job: Job = client.job(dead)
    except UnknownJob:
        return f"job {dead}, which is not kept any more"
    error = "" if job.error is None else f"{job.error.type}: {job.error.message} "
    return f"{looks.cut(looks.one_line(error), 300)}(job {dead})"
