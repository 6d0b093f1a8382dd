"""Pick-up while two hundred jobs a second come in, one by one, each acknowledged once it is durable."""

from __future__ import annotations

import threading
import time

from benchmarks import latency
from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.report import Line, percentile

_RATE = 200
_SUBMITTERS = 4


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """Two lines: p50 and p99."""
    count = _RATE * (10 if short else 60)
    with where() as place, place.sdk():
        place.worker()
        place.until_ready()
        app.tasks["stamp"].submit(number=-1).result(timeout="30s")
        store = place.raw()
        alone = [latency.two_commits(store) for _ in range(200)]
        store.close()
        submitted: dict[int, int] = {}
        began = time.monotonic() + 0.1
        crew = [threading.Thread(target=_submit, args=(submitted, part, count, began)) for part in range(_SUBMITTERS)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()
        rate = count / (time.monotonic() - began)
        place.until("the last start", lambda: len(place.stamps()) > count)
        taken = [(at - submitted[number]) / 1e6 for number, at in place.stamps() if number >= 0]
    return [
        Line(
            f"pick-up at {_RATE} submits a second, p{share * 100:.0f}",
            percentile(taken, share),
            "ms",
            raw=percentile(alone, share),
            raw_is="its two commits alone",
            note=f"{count:,} jobs of {_SUBMITTERS} threads, {rate:.0f} a second",
        )
        for share in (0.5, 0.99)
    ]


def _submit(submitted: dict[int, int], part: int, count: int, began: float) -> None:
    """Every fourth of them, each at its time; one that is late does not push the others."""
    for number in range(part, count, _SUBMITTERS):
        time.sleep(max(0.0, began + number / _RATE - time.monotonic()))
        submitted[number] = time.monotonic_ns()
        app.tasks["stamp"].submit(number=number)
