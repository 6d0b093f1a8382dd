"""Throughput while a stranger's snapshot stays open, which keeps every dead row.

The last fifth of the time it was held against the same fifth of a run without; jobs are fed, so that some always wait.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

from benchmarks import drain
from benchmarks.growth import population
from benchmarks.place import Place
from benchmarks.report import Line, paired

_AHEAD = 10_000
_FED = 2_000


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """One line."""
    held = 20 if short else 300
    without = _rate(where, held, stranger=False)
    return [
        paired(
            f"drain with a foreign snapshot held for {held} s",
            "jobs/s",
            [(_rate(where, held, stranger=True), without)],
            raw_is="without the snapshot",
            budget=0.6,
            budget_text=">= 0.60 of without",
            more_is_better=True,
            note=f"the last {held // 5} s of each; jobs are submitted beside it",
        )
    ]


def _rate(where: type[Place], seconds: int, *, stranger: bool) -> float:
    """Jobs a second that ended in the last fifth of so many seconds."""
    with where() as place, ExitStack() as stack:
        drain.fill(place, _AHEAD)
        if stranger:
            run = stack.enter_context(population.executing(place))
            run("begin isolation level repeatable read" if where is not Place else "begin")
            run("select count(*) from ready")
        place.worker()
        place.until_ready()
        stop = threading.Event()
        feeder = threading.Thread(target=_feed, args=(place, stop))
        feeder.start()
        try:
            ends = []
            with place.reading() as look:
                for share in (0.8, 0.2):
                    time.sleep(seconds * share)
                    ends.append((time.perf_counter(), look("select count(*) from job where state = 'succeeded'")))
        finally:
            stop.set()
            feeder.join()
        (began, before), (ended, behind) = ends
        return (behind - before) / (ended - began)


def _feed(place: Place, stop: threading.Event) -> None:
    with place.reading() as look:
        while not stop.is_set():
            if look(f"select count(*) from (select 1 from ready limit {_AHEAD}) as ahead") < _AHEAD:
                drain.fill(place, _FED)
            else:
                time.sleep(0.02)
