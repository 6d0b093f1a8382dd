"""Latency: from a submit in another process to the first line of the job on an idle worker, and the hop in a chain.

Raw baseline: the two commits (submit, claim) that lie between, through the plain driver, after the same rest: one
process, no wake-up, no check.
"""

from __future__ import annotations

import random
import time
from itertools import pairwise

from benchmarks.app import app
from benchmarks.place import Place, Raw
from benchmarks.report import Line, percentile


def pickup(where: type[Place], *, quick: bool) -> list[Line]:
    """Two lines: p50 and p99."""
    samples = 40 if quick else 200
    with where() as place, place.sdk():
        place.worker()
        place.until_ready()
        app.tasks["stamp"].submit(number=-1).result(timeout="30s")  # everything is loaded now
        submitted, disk = {}, []
        store = place.raw()
        for number in range(samples):
            _rest()
            submitted[number] = time.monotonic_ns()
            app.tasks["stamp"].submit(number=number).result(timeout="30s")
            _rest()
            disk.append(two_commits(store))
        store.close()
        taken = [(at - submitted[number]) / 1e6 for number, at in place.stamps() if number >= 0]
    floor = percentile(disk, 0.5)
    if len(taken) != samples:
        raise SystemExit(f"{len(taken)} of {samples} samples arrived")
    return [
        Line(
            "pick-up on an idle worker, p50",
            percentile(taken, 0.5),
            "ms",
            raw=floor,
            raw_is="its two commits alone",
            budget=where.pickup[0],
            budget_text=f"<= {where.pickup[0]} ms",
            note=f"{samples} samples, from before submit to the first line of the job",
        ),
        Line(
            "pick-up on an idle worker, p99",
            percentile(taken, 0.99),
            "ms",
            raw=percentile(disk, 0.99),
            raw_is="its two commits alone",
            budget=where.pickup[1],
            budget_text=f"<= {where.pickup[1]} ms",
            note=f"worst {max(taken):.1f} ms",
        ),
    ]


def chain(where: type[Place], *, quick: bool) -> list[Line]:
    """One line: the median hop."""
    hops = 50 if quick else 500
    with where() as place, place.sdk():
        store = place.raw()
        disk = [two_commits(store) for _ in range(hops)]  # hot, as a chain is
        store.close()
        place.worker()
        place.until_ready()
        app.tasks["stamp"].submit(number=-1).result(timeout="30s")
        app.tasks["hop"].submit(left=hops)
        place.until("the chain", lambda: place.stamps()[-1][0] == 0, within=120)
        times = [at for number, at in place.stamps() if number >= 0]
    lengths = [(later - earlier) / 1e6 for earlier, later in pairwise(times)]
    return [
        Line(
            "hop in a chain of jobs, p50",
            percentile(lengths, 0.5),
            "ms",
            raw=percentile(disk, 0.5),
            raw_is="its two commits alone",
            budget=where.hop,
            budget_text=f"<= {where.hop} ms",
            note=f"{hops} hops, each submitted by the one before; p99 {percentile(lengths, 0.99):.1f} ms",
        )
    ]


def _rest() -> None:
    """Until everything is idle and caches are cold, and never in step with a poll."""
    time.sleep(random.uniform(0.01, 0.04))


def two_commits(store: Raw) -> float:
    """Milliseconds for a job to be stored and claimed; its end is not counted."""
    started = time.perf_counter()
    store.insert(1, batch=1)
    claims = store.claim(1)
    took = (time.perf_counter() - started) * 1e3
    store.end(claims)
    return took
