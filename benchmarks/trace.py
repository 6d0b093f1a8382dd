"""Where the time of one pick-up goes: stamps at each stage in the submitter, the worker and its runner.

``python -m benchmarks.trace [--postgres] [--samples N]`` prints, for each stage, the median time since the submit
began. The product knows nothing of it: methods are wrapped from outside, where BENCH_TRACE names a file for the stamps.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace
from benchmarks.report import percentile

_FILE = "BENCH_TRACE"


class _Pen:
    """Writes one line for each stamp; several processes share the file."""

    def __init__(self, role: str, path: str) -> None:
        self._role = role
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def stamp(self, what: str) -> None:
        at = time.monotonic_ns()
        os.write(self._file, f"{at} {self._role}.{what}\n".encode())

    def around(self, owner: Any, name: str, what: str, *, before: bool = True, after: bool = True) -> None:
        """Stamp before and behind each call of a method."""
        kept: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(kept)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if before:
                self.stamp(f"{what} >")
            try:
                return kept(*args, **kwargs)
            finally:
                if after:
                    self.stamp(f"{what} <")

        setattr(owner, name, wrapped)


def arm(role: str) -> None:
    """Wrap the stages of this process."""
    pen = _Pen(role, os.environ[_FILE])
    if role == "runner":
        _arm_runner(pen)
        return
    from mainspring.store import Store
    from mainspring.store.doorbell import Doorbell
    from mainspring.store.sqlite import SqliteEngine, SqliteTransaction

    pen.around(Store, "write", "write")
    pen.around(SqliteEngine, "_attempt", "work")
    pen.around(Doorbell, "ring", "ring")
    if os.environ.get("BENCH_TRACE_SQL"):
        _arm_statements(pen, SqliteTransaction)
    if role == "worker":
        _arm_worker(pen)
    else:
        from mainspring.control import submit

        pen.around(submit, "prepared", "prepared")


def _arm_statements(pen: _Pen, owner: Any) -> None:
    for method in ("rows", "many"):
        kept = getattr(owner, method)

        def wrapped(self: Any, name: str, /, *args: Any, _kept: Any = kept, **kwargs: Any) -> Any:
            try:
                return _kept(self, name, *args, **kwargs)
            finally:
                pen.stamp(f"sql {name}")

        setattr(owner, method, wrapped)


def _arm_worker(pen: _Pen) -> None:
    from mainspring.engine.claiming import Claimer
    from mainspring.engine.dispatch import Dispatch
    from mainspring.worker.coordinator import Coordinator
    from mainspring.worker.frames import Channel

    pen.around(Coordinator, "_rung", "rung")
    pen.around(Dispatch, "turn", "turn")
    pen.around(Claimer, "claim", "claim")
    pen.around(Channel, "flush", "flush")


def _arm_runner(pen: _Pen) -> None:
    from mainspring.runner.host import Host
    from mainspring.runner.link import Link

    pen.around(Link, "_read", "read")
    pen.around(Host, "_start", "start")


def _postgres_stages(pen: _Pen) -> None:
    from mainspring.store.postgres import PostgresEngine
    from mainspring.store.postgres_bell import Notices
    from mainspring.store.postgres_transaction import PostgresTransaction

    pen.around(PostgresEngine, "_write", "transaction")
    pen.around(PostgresTransaction, "_answer", "answer")
    pen.around(PostgresTransaction, "together", "together")
    pen.around(Notices, "_tell_now", "tell")
    pen.around(Notices, "hear", "hear")


def main() -> object:
    """Measure, or be a worker that is measured."""
    if sys.argv[1:2] == ["worker"]:
        arm("worker")
        if "postgres" in os.environ["MAINSPRING_DATABASE_URL"]:
            _postgres_stages(_Pen("worker", os.environ[_FILE]))
        sys.argv[0] = "mainspring"
        from mainspring.cli.main import main as command

        return command()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace", description=__doc__)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--samples", type=int, default=100)
    chosen = parser.parse_args()
    _show(*_measure(PostgresPlace if chosen.postgres else Place, chosen.samples))
    return 0


def _measure(where: type[Place], samples: int) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    """Begin and first line of each job, and all stamps."""
    with where() as place, place.sdk():
        stamps = place.folder / "trace"
        os.environ[_FILE] = str(stamps)
        place.start("worker", "--app", str(Path(__file__).with_name("app.py")), launcher=("-m", "benchmarks.trace"))
        place.until_ready()
        app.tasks["stamp"].submit(number=-1).result(timeout="30s")
        arm("submitter")
        if where is PostgresPlace:
            _postgres_stages(_Pen("submitter", str(stamps)))
        begun = {}
        for number in range(samples):
            time.sleep(random.uniform(0.02, 0.06))
            begun[number] = time.monotonic_ns()
            app.tasks["stamp"].submit(number=number).result(timeout="30s")
        spans = [(begun[number], at) for number, at in place.stamps() if number >= 0]
        lines = [line.split(" ", 1) for line in stamps.read_text().splitlines()]
    return spans, sorted((int(at), what) for at, what in lines)


def _show(spans: list[tuple[int, int]], stamps: list[tuple[int, str]]) -> None:
    """Each stage by its median time; how many samples had it."""
    taken: dict[str, list[float]] = defaultdict(list)
    for begin, end in spans:
        seen: dict[str, int] = defaultdict(int)
        for at, what in stamps:
            if begin <= at <= end + 300_000:
                seen[what] += 1
                taken[f"{what} #{seen[what]}"].append((at - begin) / 1e6)
        taken["runner.FIRST LINE"].append((end - begin) / 1e6)
    rows = sorted((percentile(times, 0.5), what, len(times)) for what, times in taken.items())
    for median, what, count in rows:
        if count >= len(spans) // 2:
            print(f"{median:8.3f} ms  {what:40} {count}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())  # type: ignore[arg-type]
