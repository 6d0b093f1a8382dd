"""One, two and four workers on one database: jobs that do nothing, and jobs that sleep 5 ms with 10 slots a worker."""

from __future__ import annotations

from benchmarks import drain
from benchmarks.place import Place
from benchmarks.report import Line, paired

_BUDGETS = {("noop", 2): 0.95, ("sleep", 2): 1.8}
_SLOTS = ("--slots", "10")


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """Four lines: two and four workers, each against one."""
    pairs = 1 if short else 3
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for _ in range(pairs):
        for task, jobs, arguments in (
            ("noop", 10_000 if short else 50_000, ()),
            ("sleep", 4_000 if short else 20_000, _SLOTS),
        ):
            rates = {}
            for workers in (1, 2, 4):
                with where() as place:
                    rates[workers] = drain.product_rate(place, jobs, arguments, workers=workers, task=task)
            for workers in (2, 4):
                found.setdefault((task, workers), []).append((rates[workers], rates[1]))
    return [
        paired(
            f"{workers} workers, {'jobs that sleep 5 ms, 10 slots each' if task == 'sleep' else 'no-op jobs'}",
            "jobs/s",
            each,
            raw_is="one worker",
            budget=_BUDGETS.get((task, workers)),
            budget_text=f">= {_BUDGETS[task, workers]:.2f} x one" if (task, workers) in _BUDGETS else "",
            more_is_better=True,
        )
        for (task, workers), each in found.items()
    ]
