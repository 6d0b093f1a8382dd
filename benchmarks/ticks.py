"""Ticks: how late the jobs of many schedules are that are due in the same second.

One server's firing loop, on the database of the platform; a tick is as late as the commit that made its job.
"""

from __future__ import annotations

import time

from benchmarks.place import Place
from benchmarks.report import Line
from mainspring.clock import Duration, Instant, instant_text, seconds
from mainspring.control.catalog import declare
from mainspring.domain.plan import Plan, ready_text
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.domain.timetable import Origin
from mainspring.engine.fire import Fire
from mainspring.process import collect_less
from mainspring.store import Store, Transaction
from mainspring.transitions.said import said

_TASK = Task("bench.noop", "bench", Executor.ASYNC, "bench", {"type": "object"}, {})
_SOON = Duration(3_000_000)


def measure(where: type[Place], *, quick: bool) -> list[Line]:
    """One line for each number of schedules: the lateness that 99 of 100 ticks keep."""
    lines = []
    for count, budget in ((1_000, 500), (10_000, 1_000)) if not quick else ((1_000, 500),):
        with where() as place:
            late = _late(place.url, count)
        lines.append(
            Line(
                f"tick lateness p99, {count:,} due at once",
                late[int(count * 0.99)] * 1_000,
                "ms",
                budget=budget,
                budget_text=f"{budget} ms",
                note=f"p50 {late[count // 2] * 1_000:.0f} ms",
            )
        )
    return lines


def _late(url: str, count: int) -> list[float]:
    """Of each tick, in seconds, the earliest first. The database is asked for the time, as schedulers do."""
    store = Store.open(url)
    try:
        declare(store, Catalog("bench", "one", (_TASK,)))
        clock = store.clock
        due = Instant(clock.now() + _SOON + count * 1_000)
        for start in range(0, count, 500):
            store.write(lambda tx, start=start: _make(tx, due, range(start, min(count, start + 500))))  # type: ignore[misc]
        ready_text.cache_clear()  # as in a server that has just started
        collect_less()
        fire = Fire(store, store.clock)
        late: list[float] = []
        before = 0
        while len(late) < count:
            pause = fire.turn()
            made = fire.made
            late += [seconds(Duration(clock.now() - due))] * (made - before)
            before = made
            if pause:
                time.sleep(seconds(pause))
        return late
    finally:
        store.close()


def _make(tx: Transaction, due: Instant, numbers: range) -> None:
    for number in numbers:
        plan = Plan({"at": instant_text(due)}, task="bench.noop", params={"number": number})
        said(tx, f"s{number}", plan, origin=Origin.API, actor="bench")
