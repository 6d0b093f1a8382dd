"""Workflows of no-op nodes: a chain, a fan-out that is joined, layers of nodes with two needs each, and how they grow.

A platform is started as a person would (``mainspring up``, one worker) and warm. Instants are those that the database
recorded; what a person waits for is counted from before the submit call.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from benchmarks import drain
from benchmarks.place import Place, memory, role, tree
from benchmarks.report import Line, paired, percentile
from mainspring.client.direct import DirectClient
from mainspring.domain.run import Run, RunRequest
from mainspring.domain.workflow import Node, Workflow

_TASK = "bench.noop"


def measure(where: type[Place], *, quick: bool) -> list[Line]:
    """All of it; the short form leaves out what takes longer than a few seconds."""
    nodes = 1_000 if quick else 5_000
    with where() as place, place.sdk() as client:
        rate = drain.product_rate(place, 2 * nodes if quick else 20_000, ())
        up = place.up()
        place.until_ready()
        with place.reading() as look:
            stage = Stage(place, client, look)
            stage.run(layered("warm", 4, 10))
            lines = [
                _chain(stage, where.hop, times=1 if quick else 5),
                _fan(stage, 500, times=2 if quick else 7),
                _layers(stage, rate, nodes=nodes, times=1 if quick else 3),
            ]
            if not quick:
                lines += _growth(stage, up.pid)
    return lines


def chain(name: str, length: int) -> Workflow:
    """Each node needs the one before."""
    nodes = [_node(number, (number - 1,) if number else ()) for number in range(length)]
    return Workflow(name, tuple(nodes))


def fan(name: str, width: int) -> Workflow:
    """One node, then many, then one that needs all of them."""
    first, last = _node(0, ()), _node(width + 1, range(1, width + 1))
    return Workflow(name, (first, *(_node(number, (0,)) for number in range(1, width + 1)), last))


def layered(name: str, layers: int, width: int) -> Workflow:
    """Each node needs two of the layer above."""
    nodes = []
    for number in range(layers * width):
        layer, place = divmod(number, width)
        above = (layer - 1) * width
        nodes.append(_node(number, {above + place, above + (place + 1) % width} if layer else ()))
    return Workflow(name, tuple(nodes))


def _node(number: int, needs: object) -> Node:
    return Node(f"n{number}", _TASK, needs=tuple(f"n{need}" for need in needs))  # type: ignore[attr-defined]


# --- one run ----------------------------------------------------------------------------------------------------------


class Stage(NamedTuple):
    """A platform that is up, and who asks it."""

    place: Place
    client: DirectClient
    look: Callable[[str], int]

    def run(self, document: Workflow) -> tuple[Run, float, float]:
        """Run it; the run, seconds of the submit call, and seconds from before it to the recorded end."""
        before = time.time()
        began = self.client.start_run(RunRequest(document))
        submitted = time.time() - before
        ended = f"select finished from run where id = {began.id}"
        self.place.until(f"the end of {document.name}", lambda: self.look(ended) > 0, within=600, every=0.02)
        run = self.client.run(began.id)
        if run.state != "succeeded" or run.progress.succeeded != len(document.nodes):
            said = self.place.said()
            raise SystemExit(f"{document.name} is {run.state}: {run.progress}. The processes said:\n{said}")
        return run, submitted, self.look(ended) / 1e6 - before


def _chain(stage: Stage, budget: float, *, times: int) -> Line:
    hops: list[float] = []
    whole: list[float] = []
    for _ in range(times):
        run, _, took = stage.run(chain("chain", 100))
        whole.append(took)
        starts = [job.started_at for node in stage.client.run_nodes(run.id) for job in node.jobs]
        hops += [(later - earlier) / 1e3 for earlier, later in pairwise(starts) if earlier and later]
    return Line(
        "hop in a chain of 100 nodes, p50",
        percentile(hops, 0.5),
        "ms",
        budget=budget,
        budget_text=f"<= {budget:.0f} ms",
        note=f"p99 {percentile(hops, 0.99):.1f} ms; the whole, from the submit: {statistics.median(whole):.2f} s",
    )


def _fan(stage: Stage, width: int, *, times: int) -> Line:
    taken = [stage.run(fan("fan", width))[2] for _ in range(times)]
    later = taken[1:] or taken
    return Line(
        f"fan-out 1 -> {width} -> 1",
        statistics.median(later),
        "s",
        budget=0.3,
        budget_text="<= 0.3 s",
        samples=tuple(later),
        note=f"from before the submit to the recorded end; the first, whose definition was new: {taken[0]:.2f} s",
    )


def _layers(stage: Stage, rate: float, *, nodes: int, times: int) -> Line:
    rates = [nodes / stage.run(layered(f"layers{nodes}", 50, nodes // 50))[2] for _ in range(times)]
    return paired(
        f"{nodes:,} nodes in 50 layers",
        "nodes/s",
        [(one, rate) for one in rates],
        raw_is="drain of plain jobs in the same place",
        budget=0.5,
        budget_text=">= 0.50 of drain",
        more_is_better=True,
        note="from before the submit to the recorded end",
    )


# --- growth -----------------------------------------------------------------------------------------------------------


def _growth(stage: Stage, up: int) -> list[Line]:
    """1,000 beside 10,000, then 100,000."""
    small = statistics.median(stage.run(layered("k1", 20, 50))[2] for _ in range(3))
    large = stage.run(layered("k10", 20, 500))[2]
    run, submitted, took = stage.run(layered("k100", 100, 1_000))
    tenth = _tenths(stage, run)
    server = next(pid for pid in tree(up) if role(pid) == "server")
    return [
        Line(
            "10,000 nodes beside 1,000",
            large / small,
            "times",
            budget=12,
            budget_text="<= 12 times",
            note=f"{small:.2f} s and {large:.2f} s, from before the submit to the recorded end",
        ),
        Line("submit of 100,000 nodes", submitted, "s", budget=15, budget_text="<= 15 s", note="a new definition"),
        Line(
            "cost of a node in 100,000: last tenth beside second",
            tenth[-1] / tenth[1],
            "times",
            budget=1.25,
            budget_text="<= 1.25",
            note=f"{took:.1f} s in all; ms a node by tenths: {', '.join(f'{one:.2f}' for one in tenth)}",
        ),
        Line(
            "server memory behind it",
            memory(server)[1],
            "MB",
            budget=300,
            budget_text="< 300 MB",
            note="resident",
        ),
    ]


def _tenths(stage: Stage, run: Run) -> list[float]:
    """Milliseconds a node in each tenth of its ends."""
    ended = f"from node where run = {run.id} order by finished limit 1 offset"
    nodes = run.nodes
    marks = [stage.look(f"select finished {ended} {min(nodes - 1, nodes * part // 10)}") for part in range(11)]
    return [(later - earlier) / 1e3 / (nodes / 10) for earlier, later in pairwise(marks)]
