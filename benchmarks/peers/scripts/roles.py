"""``roles APP prepare | fill N | worker | pickup N``: what each app of a peer can be asked for.

An app is a module beside this one with ``prepare()``, ``fill(count)``, ``submit()`` and ``WORKER``: the words behind
``python`` that start the peer's own worker. Standard library only: it runs in the peers' interpreter.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers.scripts.ledger import marks


def main() -> None:
    name, *role = sys.argv[1:]
    app = importlib.import_module(f"{__package__}.{name}")
    match role:
        case ["prepare"]:
            app.prepare()
        case ["fill", count]:
            app.fill(int(count))
        case ["worker"]:
            os.execv(sys.executable, [sys.executable, *app.WORKER])  # so that it gets the signals itself
        case ["pickup", samples]:
            print(json.dumps(_pickup(int(samples), app.submit)))
        case _:
            sys.exit(__doc__)


def _pickup(samples: int, submit: Callable[[], object]) -> list[float]:
    """Milliseconds from before each submit to the first line of its job, on a worker that has nothing else to do."""
    folder = Path(os.environ["BENCH_LEDGER"])
    submit()
    _next_mark(1, folder)  # everything is loaded now
    found: list[float] = []
    for number in range(samples):
        time.sleep(random.uniform(0.02, 0.08))  # until everything is idle, and never in step with a poll
        started = time.monotonic_ns()
        submit()
        found.append((_next_mark(number + 2, folder) - started) / 1e6)
    return found


def _next_mark(count: int, folder: Path) -> int:
    """The newest mark, once there are so many."""
    deadline = time.monotonic() + 60
    while True:
        found = [at for each in marks(folder) for at in each]
        if len(found) >= count:
            return max(found)
        if time.monotonic() > deadline:
            sys.exit("a job did not start within 60 s")
        time.sleep(0.002)


if __name__ == "__main__":
    main()
