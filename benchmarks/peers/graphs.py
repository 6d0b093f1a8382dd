"""``python -m benchmarks.peers.graphs [NAME ...] [--nodes N] [--times N]``: graphs of no-op nodes, side by side.

A chain of 100, 1 -> 500 -> 1, and 50 layers with two needs each, by mainspring on SQLite and on PostgreSQL and by
Celery's canvas, Luigi, Dagster (in-process), Ray and Dask, in the same run on the same machine. Each is up and warm;
seconds are from before the call that starts a graph to the answer that all of it has ended (of mainspring: to the
recorded end). mainspring writes every end durably; of the others only Celery keeps anything outside its processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import mainspring
from benchmarks import workflows
from benchmarks.peers import environment
from benchmarks.peers.redis_place import RedisPlace
from benchmarks.peers.scripts.graph_roles import GIVEN_UP
from benchmarks.peers.scripts.graph_shapes import CHAIN, LAYERS, WIDTH
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace
from benchmarks.report import figure

_ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("graphs.txt")
SHAPES = ("chain", "fan", "layers")
_LONGEST = 40
"""Seconds after which a graph is given up, as the first of a shape most likely is that is given up at all."""
_TO_START = 60
"""Seconds that an engine may take to be up and warm."""


class Engine(NamedTuple):
    """An engine that runs graphs. ``script``: its app in the folder scripts; ``distribution``: of its version."""

    name: str
    script: str
    distribution: str
    keeps: str


PEERS = (
    Engine("Celery", "celery_graph_app", "celery", "Redis, snapshots; layers wait for whole layers"),
    Engine("Luigi", "luigi_graph_app", "luigi", "nothing: targets in memory"),
    Engine("Dagster", "dagster_graph_app", "dagster", "nothing: in process, ephemeral"),
    Engine("Ray", "ray_graph_app", "ray", "nothing"),
    Engine("Dask", "dask_graph_app", "distributed", "nothing"),
)

Measure = Callable[[str, int, int], list[float]]


def main() -> int:
    """Exit 0 when all that can be installed was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.graphs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="celery, luigi, dagster, ray, dask (default: all)")
    parser.add_argument("--nodes", type=int, default=5_000, help="of the layers (default 5,000)")
    parser.add_argument("--times", type=int, default=3, help="how often each (default 3)")
    chosen = parser.parse_args()
    wanted = {name.lower() for name in chosen.names} or {each.name.lower() for each in PEERS}
    contestants: list[tuple[str, str, Measure]] = [
        (f"mainspring on SQLite ({mainspring.__version__})", "every end, synced", _ours(Place)),
        (f"mainspring on PostgreSQL ({mainspring.__version__})", "every end, synced", _ours(PostgresPlace)),
    ]
    for each in PEERS:
        if each.name.lower() in wanted:
            version = environment.version(each.distribution, REQUIREMENTS)
            contestants.append((f"{each.name} ({version})", each.keeps, _theirs(each)))
    before = os.getloadavg()[0]
    table = Table(title="graphs of no-op nodes, seconds (median)", title_justify="left")
    for heading in ("what", "keeps", f"chain of {CHAIN}", f"1 -> {WIDTH} -> 1", f"{chosen.nodes:,} in {LAYERS} layers"):
        table.add_column(heading)
    for name, keeps, measure in contestants:
        _say(f"{name} ...")
        table.add_row(name, keeps, *_cells(measure, chosen.nodes, chosen.times))
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    _say(f"load of the machine over a minute: {before:.1f} before, {os.getloadavg()[0]:.1f} at the end")
    return 0


def _cells(measure: Measure, nodes: int, times: int) -> list[str]:
    cells = []
    for shape in SHAPES:
        try:
            cells.append(figure(statistics.median(measure(shape, nodes, times))))
        except environment.LeftOut as why:
            _say(f"  {shape}: {why}")
            cells.append(str(why))
    return cells


def _ours(where: type[Place]) -> Measure:
    def measure(shape: str, nodes: int, times: int) -> list[float]:
        document = {
            "chain": lambda: workflows.chain("chain", CHAIN),
            "fan": lambda: workflows.fan("fan", WIDTH),
            "layers": lambda: workflows.layered("layers", LAYERS, nodes // LAYERS),
        }[shape]()
        with where() as place, place.sdk() as client:
            place.up()
            place.until_ready()
            with place.reading() as look:
                stage = workflows.Stage(place, client, look)
                stage.run(workflows.layered("warm", 4, 10))
                return [stage.run(document)[2] for _ in range(times)]

    return measure


def _theirs(engine: Engine) -> Measure:
    def measure(shape: str, nodes: int, times: int) -> list[float]:
        interpreter = environment.python(REQUIREMENTS)
        words = ("-m", "benchmarks.peers.scripts.graph_roles", engine.script, shape, str(nodes), str(times))
        command = [interpreter, *words, str(_LONGEST)]
        within = _TO_START + times * _LONGEST
        if engine.name != "Celery":
            return _answer(command, {}, within)
        environment.redis()
        with RedisPlace() as place:
            return _answer(command, {"BENCH_URL": place.url}, within)

    return measure


def _answer(command: Sequence[str], more: dict[str, str], within: int) -> list[float]:
    quiet = {"PYTHONPATH": str(_ROOT), "PYTHONWARNINGS": "ignore", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    environ = os.environ | quiet | more
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, timeout=within)
    except subprocess.TimeoutExpired:
        raise environment.LeftOut(f"{GIVEN_UP} {within} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        given_up = next((line for line in said if line.startswith(GIVEN_UP)), None)
        raise environment.LeftOut(given_up or f"failed: {''.join(said[-1:])[:100]}")
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
