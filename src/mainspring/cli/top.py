"""``mainspring top``: queues and workers as they are, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.operating import OperatingClient
from mainspring.client.wire import queue_wire, worker_wire
from mainspring.clock import MINUTE, SECOND, Duration, Instant, SystemClock, duration, length_text, seconds
from mainspring.domain.metric import Point, SeriesWanted, quantile
from mainspring.domain.queue import Queue
from mainspring.domain.states import State
from mainspring.domain.worker import Worker, WorkerState
from mainspring.errors import InvalidOption, of_field

if TYPE_CHECKING:
    from rich.console import RenderableType

_SPAN = Duration(5 * MINUTE)
"""What rates and lengths are of."""

_GONE = frozenset({WorkerState.STOPPED, WorkerState.LOST})
_QUEUES = ("QUEUE", "QUEUED", "RUNNING", "SCHEDULED", "RETRYING", "ENDED/MIN", "DEAD/MIN", "WAIT P95", "RUN P95")
_WORKERS = ("WORKER", "STATE", "APP", "RUNNING", "SLOTS", "HOST", "SINCE")


class _Seen(NamedTuple):
    """One look. By queue: jobs that ended, and died, per minute; 95 of 100 waits, and attempts, were not longer."""

    at: Instant
    queues: list[Queue]
    workers: list[Worker]
    ended: dict[str, float]
    died: dict[str, float]
    waits: dict[str, Duration]
    runs: dict[str, Duration]


def top(
    *,
    every: Annotated[str, option("How long between two looks.", "DURATION")] = "2s",
    once: Annotated[bool, option("Look once, and end.", name="--once")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Show queues and workers live, until Ctrl-C. Where output is no terminal, and in JSON, once.

    Rates and lengths are of the last five minutes, as far as a server has counted them.
    """
    pause = of_field("every", duration, every)
    if not SECOND // 2 <= pause <= 10 * MINUTE:
        raise InvalidOption(f"--every is {every}; it must be from 500ms to 10m.", field="every")
    with access.client() as client:
        if access.json:
            show.as_json(_wire(_look(client)))
        elif once or not show.on_terminal():
            show.draw(*_drawn(_look(client)))
        else:
            _live(client, pause)
    return 0


def _live(client: OperatingClient, pause: Duration) -> None:
    from rich.console import Group
    from rich.live import Live

    clock = SystemClock()
    with Live(console=show.console(), screen=True, auto_refresh=False) as screen:
        while True:
            screen.update(Group(*_drawn(_look(client))), refresh=True)
            clock.wait(pause)


def _look(client: OperatingClient) -> _Seen:
    now = SystemClock().now()
    first = Instant(now - _SPAN)

    def points(metric: str, *by: str) -> list[Point]:
        return client.series(SeriesWanted(metric, first, Instant(now + MINUTE), by=("queue", *by)))

    ended: Counter[str] = Counter()
    died: Counter[str] = Counter()
    for point in points("moved", "label"):
        if point.label in {State.SUCCEEDED, State.DEAD, State.CANCELLED}:
            ended[point.queue] += point.amount.number
        if point.label == State.DEAD:
            died[point.queue] += point.amount.number
    minutes = _SPAN / MINUTE
    return _Seen(
        now,
        client.queues(),
        [one for one in client.workers() if one.state not in _GONE],
        {name: number / minutes for name, number in ended.items()},
        {name: number / minutes for name, number in died.items()},
        _lengths(points("wait")),
        _lengths(points("duration")),
    )


def _lengths(points: list[Point]) -> dict[str, Duration]:
    counts: dict[str, Counter[int]] = {}
    most: dict[str, int] = {}
    for point in points:
        found = counts.setdefault(point.queue, Counter())
        for bucket, number in point.counts:
            found[bucket] += number
        most[point.queue] = max(most.get(point.queue, 0), point.amount.most)
    lengths = {name: quantile(list(found.items()), 0.95, most[name]) for name, found in counts.items()}
    return {name: length for name, length in lengths.items() if length is not None}


def _drawn(seen: _Seen) -> list[RenderableType]:
    from rich.text import Text

    slots, used = sum(one.slots for one in seen.workers), sum(one.running for one in seen.workers)
    waiting = sum(queue.queued for queue in seen.queues)
    head = (
        f"mainspring {looks.moment(seen.at)}  {looks.counted(waiting, 'job')} queued, {used:,} of "
        f"{looks.counted(slots, 'slot')} used, {sum(seen.ended.values()):.0f} ended/min"
    )
    queues = [_queue_row(queue, seen) for queue in seen.queues]
    workers = [
        (
            one.name,
            looks.worker_look(one.state).text,
            one.app,
            f"{one.running:,}",
            f"{one.slots:,}",
            one.host,
            looks.age(seen.at, one.started_at),
        )
        for one in seen.workers
    ]
    return [
        Text(head, style="bold"),
        Text(),
        _table(_QUEUES, queues, right=range(1, 9)) if queues else Text("No queues yet."),
        Text(),
        _table(_WORKERS, workers, right=(3, 4)) if workers else Text("No worker is there."),
    ]


def _queue_row(queue: Queue, seen: _Seen) -> tuple[str, ...]:
    name = queue.name
    return (
        name if queue.paused_at is None else f"{name} (paused)",
        f"{queue.queued:,}",
        f"{queue.running:,}",
        f"{queue.scheduled:,}",
        f"{queue.retrying:,}",
        f"{seen.ended.get(name, 0):.1f}",
        f"{seen.died.get(name, 0):.1f}",
        length_text(seen.waits[name]) if name in seen.waits else "-",
        length_text(seen.runs[name]) if name in seen.runs else "-",
    )


def _table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: Any) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for index, name in enumerate(titles):
        drawn.add_column(name, justify="right" if index in right else "left", no_wrap=True)
    for row in rows:
        drawn.add_row(*[Text(looks.one_line(cell)) for cell in row])
    return drawn


def _wire(seen: _Seen) -> dict[str, Any]:
    return {
        "queues": [
            queue_wire(queue)
            | {
                "ended_per_minute": round(seen.ended.get(queue.name, 0), 3),
                "dead_per_minute": round(seen.died.get(queue.name, 0), 3),
                "wait_p95": seconds(seen.waits[queue.name]) if queue.name in seen.waits else None,
                "duration_p95": seconds(seen.runs[queue.name]) if queue.name in seen.runs else None,
            }
            for queue in seen.queues
        ],
        "workers": [worker_wire(worker) for worker in seen.workers],
    }
