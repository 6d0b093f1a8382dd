"""``graph_roles APP SHAPE NODES TIMES``: run a graph in an engine that is up and warm; prints seconds as JSON.

An app is a module beside this one with ``ready()``, a context manager that gives a function: it runs a graph and
answers when all of it has ended. Seconds are from before that call to its answer. Runs in the peers' interpreter.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from benchmarks.peers.scripts.graph_shapes import needs_of


def main() -> None:
    name, shape, nodes, times = sys.argv[1:]
    app = importlib.import_module(f"{__package__}.{name}")
    needs = needs_of(shape, int(nodes))
    taken = []
    with app.ready() as run:
        run(needs_of("layers", 100), "layers")
        for _ in range(int(times)):
            began = time.monotonic()
            run(needs, shape)
            taken.append(time.monotonic() - began)
    sys.stdout.write(json.dumps(taken) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
