"""Idle: what a tree without work costs: CPU, wake-ups, questions to the database, memory.

CPU is the time of all processes from /proc, over 20 s. Questions are counted in a second, equal tree, whose server and
worker are started by counted.py: it asks apsw to call it for each statement. Memory is that of a tree that has run
1,000 jobs.
"""

from __future__ import annotations

import time

from benchmarks.app import app
from benchmarks.place import APP, Place, cpu_seconds, free_port, memory, role, tree, wakeups
from benchmarks.report import Line

SETTLE = 3.0
_MEMORY = {"worker": 80, "server": 150, "runner": 40}


def measure(*, quick: bool) -> list[Line]:
    """CPU, wake-ups, questions and memory."""
    span = 5.0 if quick else 20.0
    with Place() as place:
        up = place.up()
        place.until_ready()
        with place.sdk():
            handles = app.tasks["noop"].submit_many({} for _ in range(1_000))
            handles[-1].result(timeout="60s")
        time.sleep(SETTLE)
        lines = _idle(up.pid, span)
        lines += _memory(up.pid)
    return [*lines, *_questions(span)]


def _idle(root: int, span: float) -> list[Line]:
    pids = tree(root)
    before = {pid: (cpu_seconds(pid), wakeups(pid)) for pid in pids}
    started = time.monotonic()
    time.sleep(span)
    took = time.monotonic() - started
    if tree(root) != pids:
        raise SystemExit("the idle tree changed while it was watched")
    shares = {pid: (cpu_seconds(pid) - before[pid][0]) / took for pid in pids}
    woken = {pid: (wakeups(pid) - before[pid][1]) / took for pid in pids}
    told = ", ".join(f"{role(pid)} {shares[pid]:.2%}" for pid in pids if shares[pid])
    return [
        Line(
            "idle CPU, whole tree",
            sum(shares.values()) * 100,
            "% of a core",
            budget=1,
            budget_text="< 1 %",
            note=f"over {took:.0f} s, {len(pids)} processes; {told}",
        ),
        Line(
            "idle wake-ups, whole tree",
            sum(woken.values()),
            "/s",
            note=", ".join(f"{role(pid)} {woken[pid]:.1f}" for pid in pids),
        ),
    ]


def _questions(span: float) -> list[Line]:
    """Statements per second of server and worker, as apsw counts them."""
    with Place() as place:
        counts = {name: place.folder / f"asked-{name}" for name in ("server", "worker")}
        launcher = ("-m", "benchmarks.counted")
        place.start(str(counts["server"]), "server", "--port", str(free_port()), launcher=launcher)
        place.start(str(counts["worker"]), "worker", "--app", str(APP), launcher=launcher)
        place.until_ready()
        time.sleep(SETTLE)
        before = {name: path.stat().st_size for name, path in counts.items()}
        time.sleep(span)
        asked = {name: (path.stat().st_size - before[name]) / span for name, path in counts.items()}
    return [
        Line(
            f"idle questions of the {name}",
            rate,
            "/s",
            budget=1.05,
            budget_text="<= 1 /s",
            note="SQL statements, transaction frames not counted",
        )
        for name, rate in asked.items()
    ]


def _memory(root: int) -> list[Line]:
    found = []
    for pid in tree(root):
        name, (shared, resident) = role(pid), memory(pid)
        limit = _MEMORY.get(name)
        label = {"worker": "coordinator"}.get(name, name)
        found.append(
            Line(
                f"memory of the {label}",
                resident,
                "MB",
                budget=limit,
                budget_text=f"<= {limit} MB" if limit else "",
                note=f"resident after 1,000 jobs; its share of shared pages counted once: {shared:.0f} MB",
            )
        )
    return found
