"""Drain: how fast one worker process runs jobs that do nothing, every end durable.

The rate is taken from what the database recorded: first start to last end. Raw baseline: the same life cycle in plain
the plain driver, in batches of 100, in the same minute.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.report import Line, paired

Fill = Callable[[Place, int, str], None]


def measure(
    where: type[Place], *, quick: bool, arguments: tuple[str, ...] = (), jobs: int = 0, pairs: int = 0
) -> list[Line]:
    """``arguments`` go to the worker, such as ``--slots 200``."""
    jobs = jobs or (5_000 if quick else 50_000)
    pairs = pairs or (1 if quick else 3)
    found = []
    for _ in range(pairs):
        with where() as place:
            limit = raw_rate(place, jobs)
            found.append((product_rate(place, jobs, arguments), limit))
    words = " ".join(arguments)
    return [
        paired(
            f"drain of {jobs:,} no-op async jobs{' ' if words else ''}{words}",
            "jobs/s",
            found,
            raw_is=f"the same rows, {where.driver}, batches of 100",
            budget=0.5,
            budget_text=">= 0.50 of raw",
            more_is_better=True,
            note=f"one worker, median of {pairs} pairs" if pairs > 1 else "one worker, one pair",
        )
    ]


def product_rate(  # noqa: PLR0913
    place: Place,
    jobs: int,
    arguments: tuple[str, ...],
    *,
    workers: int = 1,
    task: str = "noop",
    after: int = 0,
    store: Fill | None = None,
) -> float:
    """Store the jobs, start the workers, wait for the last end; jobs per second as recorded.

    Counted from the moment when each worker has started a job: with one worker from the first start of all. ``after``:
    the last job that was there before; ``store``: how the jobs are stored.
    """
    (store or fill)(place, jobs, task)
    started = [place.worker(*arguments) for _ in range(workers)]
    with place.reading() as look:
        waiting = "select cast(exists (select 1 from ready) or exists (select 1 from lease) as integer)"
        place.until("the drain", lambda: look(waiting) == 0, within=300, every=0.25)
        ours = f"from attempt where job > {after}"
        count = look(f"select count(*) {ours} and outcome = 'succeeded'")
        took_part = look(f"select count(distinct worker) {ours}")
        since = look(f"select max(began) from (select min(started) as began {ours} group by worker) as worker")
        took = (look(f"select max(ended) {ours}") - since) / 1e6
        counted = look(f"select count(*) {ours} and ended > {since}")
    for worker in started:
        place.stop(worker)
    if count != jobs:
        raise SystemExit(f"{count} of {jobs} jobs succeeded. The worker said:\n{place.said()}")
    if took_part != workers:
        raise SystemExit(f"{took_part} of {workers} workers had a part in {jobs} jobs: a figure needs more jobs")
    return counted / took


def raw_rate(place: Place, jobs: int) -> float:
    """Jobs per second of the raw life cycle, in fresh tables."""
    store = place.raw()
    store.insert(jobs, batch=1000)
    rate = store.drain(jobs)
    store.close()
    return rate


def fill(place: Place, jobs: int, task: str = "noop") -> None:
    """Store jobs of a task through the SDK."""
    with place.sdk():
        app.tasks[task].submit_many({} for _ in range(jobs))
