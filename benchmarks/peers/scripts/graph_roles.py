"""``graph_roles APP SHAPE NODES TIMES LONGEST``: run a graph in an engine that is up and warm; prints seconds as JSON.

An app is a module beside this one with ``ready()``, a context manager that gives a function: it runs a graph and
answers when all of it has ended. Seconds are from before that call to its answer. A graph that takes longer than
LONGEST seconds is given up, and said. Runs in the peers' interpreter.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.scripts.graph_shapes import needs_of

GIVEN_UP = "none within"


@contextmanager
def limited(longest: int) -> Iterator[None]:
    """What takes longer ends this process, with a line that says so."""

    def give_up(*_: object) -> None:
        raise SystemExit(f"{GIVEN_UP} {longest} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(longest)
    try:
        yield
    finally:
        signal.alarm(0)


def main() -> None:
    name, shape, nodes, times, longest = sys.argv[1:]
    app = importlib.import_module(f"{__package__}.{name}")
    needs = needs_of(shape, int(nodes))
    taken = []
    with app.ready() as run:
        run(needs_of("layers", 100), "layers")
        for _ in range(int(times)):
            began = time.monotonic()
            with limited(int(longest)):
                run(needs, shape)
            taken.append(time.monotonic() - began)
    sys.stdout.write(json.dumps(taken) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
