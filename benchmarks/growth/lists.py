"""How long a list takes over REST when ten million jobs have ended and a million runs: each filter, rare and common.

What is rare stands at the far end of what is common, where a walk comes last. Where an answer says where it goes on, it
is followed for some steps, as each of them is an answer that somebody waits for.
"""

from __future__ import annotations

import http.client
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.app import app
from benchmarks.growth import population
from benchmarks.place import Place, free_port
from benchmarks.report import Line, percentile
from mainspring.client.direct import DirectClient
from mainspring.domain.run import RunRequest
from mainspring.domain.workflow import Node, Workflow

_MOST = 200
_FEW = 20
_BYTES = 1_500
"""Of a job with its attempt and events, with some room."""

_STEPS = 5
"""Answers of one list that are followed."""

_JOBS = (
    *("limit=50", "state=succeeded", "state=dead", "state=queued", "state=scheduled", "state=running"),
    *("task=noop_thread", "queue=rare", "tag=team%3Drare", "until=2020-01-01T00:00:00Z"),
    *("state=succeeded&task=noop_thread", "state=dead&queue=rare", "state=queued&tag=team%3Drare"),
    *("task=noop&queue=default", "state=succeeded&since=2020-01-01T00:00:00Z"),
)
_LISTS = (
    *(f"jobs?{query}" for query in _JOBS),
    *("jobs/count", "jobs/count?state=dead", "jobs/count?task=noop", "jobs/count?tag=team%3Drare"),
    *("jobs/count?since=2020-01-01T00:00:00Z", "jobs/count?state=succeeded&tag=team%3Drare"),
    *("jobs/events", "jobs/events?kind=dead", "jobs/events?kind=succeeded", "jobs/{job}/events", "jobs/{job}/attempts"),
    *("runs", "runs?state=failed", "runs?state=live", "runs?state=running", "runs?workflow=rare"),
    *("runs?workflow=flow", "runs?workflow=rare&state=failed", "runs?workflow=rare&state=succeeded"),
    *("queues", "tasks", "workers", "workflows", "schedules", "audit", "series?metric=moved"),
)


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """A line for each list: p99 of its answers."""
    jobs, runs, rounds = (100_000, 10_000, 20) if short else (10_000_000, 1_000_000, 100)
    with where() as place:
        if shutil.disk_usage(place.folder).free < jobs * _BYTES:
            raise SystemExit(f"{jobs:,} jobs take {jobs * _BYTES / 1e9:.0f} GB of {place.folder}, which has less.")
        one = _fill(place, jobs, runs)
        with _served(place) as server:
            return [_line(path, _taken(server, path.format(job=one), rounds), jobs) for path in _LISTS]


def _fill(place: Place, jobs: int, runs: int) -> int:
    """The rare ones first; the number of one of them."""
    rare = app.tasks["noop_thread"].options(queue="rare", tags={"team": "rare"})
    with place.sdk() as client:
        numbers = [rare.submit().id for _ in range(2 * _FEW)]
        begun = [_run(client, name) for name in ["rare"] * _FEW + ["flow"]]
    population.end_by_hand(place, numbers[:_FEW], begun[: _FEW // 2])
    population.finished(place, jobs)
    population.ran(place, begun[-1], runs)
    population.waiting(place, jobs // 100)
    with place.sdk():
        for _ in range(_FEW):
            app.tasks["noop"].options(delay="7d").submit()
    return numbers[0]


def _run(client: DirectClient, name: str) -> int:
    return client.start_run(RunRequest(Workflow(name, (Node("one", task="noop"),)))).id


@contextmanager
def _served(place: Place) -> Iterator[http.client.HTTPConnection]:
    """A connection to a server on this place."""
    port = free_port()
    process = place.start("server", "--port", str(port))
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=_MOST)

    def answers() -> bool:
        try:
            return _asked(server, "jobs?limit=1")[0] == http.HTTPStatus.OK
        except OSError:
            server.close()
            return False

    place.until("the server's first answer", answers)
    try:
        yield server
    finally:
        server.close()
        place.stop(process)


def _asked(server: http.client.HTTPConnection, path: str) -> tuple[int, Any]:
    server.request("GET", f"/api/v1/{path}")
    answer = server.getresponse()
    return answer.status, json.loads(answer.read())


def _taken(server: http.client.HTTPConnection, path: str, rounds: int) -> list[float]:
    """Milliseconds of each answer."""
    taken: list[float] = []
    for number in range(rounds + 1):
        cursor: str | None = None
        for _ in range(_STEPS):
            going_on = "" if cursor is None else f"{'&' if '?' in path else '?'}cursor={cursor}"
            began = time.perf_counter()
            status, found = _asked(server, path + going_on)
            if number:  # the first one fills caches
                taken.append((time.perf_counter() - began) * 1e3)
            if status != http.HTTPStatus.OK:
                raise SystemExit(f"{path} was answered with {status}: {found}")
            cursor = found.get("next")
            if cursor is None:
                break
    return taken


def _line(path: str, taken: list[float], jobs: int) -> Line:
    return Line(
        f"GET {path.replace('%3D', '=')}, p99",
        percentile(taken, 0.99),
        "ms",
        budget=_MOST,
        budget_text=f"<= {_MOST} ms",
        note=f"{jobs:,} ended jobs; {len(taken)} answers, p50 {percentile(taken, 0.5):.1f} ms",
    )
