"""``python -m campaign.killed [--rounds 10] [--nodes 2000] [--on postgres]``: workers and servers die amid a run.

Each round runs a layered graph and kills workers and servers (kill -9) while it goes on. The run must end as it would
have without, each node with one job and one recorded end, none before its needs, by a ledger outside the product.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from benchmarks.workflows import layered
from mainspring.chance import SeededChance, SystemChance
from mainspring.domain.run import RunNode, RunRequest
from mainspring.domain.states import FINAL
from mainspring.domain.workflow import Workflow
from tests import postgres
from tests.processes.world.apps import ledgers
from tests.processes.world.driver import World, command, is_zombie

LAYERS = 10


def murderous_run(world: World, nodes: int, kills: int) -> None:
    """One run in a platform that is up, with so many processes killed. Raises AssertionError for what does not hold.

    The victims are workers and servers by turns; each dies when a further part of the run has ended.
    """
    world.client.declare(ledgers.app.catalog())
    document = _document(nodes)
    run = world.client.start_run(RunRequest(document)).id
    before = len(world.ledger(kind="end"))
    for number in range(kills):
        wanted = nodes * (number + 1) // (kills + 2)
        world.eventually(lambda wanted=wanted: len(world.ledger(kind="end")) - before >= wanted, within=120)  # type: ignore[misc]
        _kill(world, "worker" if number % 2 == 0 else "server")
    world.eventually(lambda: world.client.run(run).done, within=180, what=f"the end of run {run}")
    _judge(world, run, document)


def _document(nodes: int) -> Workflow:
    """Layers of short naps."""
    drawn = layered("killed", LAYERS, nodes // LAYERS)
    task, params = "ledgers.nap", {"seconds": 0.01}
    return msgspec.structs.replace(
        drawn, nodes=tuple(msgspec.structs.replace(node, task=task, params=params) for node in drawn.nodes)
    )


def _kill(world: World, what: str) -> None:
    def found() -> int | None:
        return next((pid for pid in world.alive() if f"mainspring {what}" in command(pid) and not is_zombie(pid)), None)

    os.kill(world.eventually(found, what=f"a {what}"), signal.SIGKILL)


def _judge(world: World, run: int, document: Workflow) -> None:
    """Every node once, after its needs, by the ledger; one end of each job in history."""
    shown = world.client.run(run)
    _hold(str(shown.state) == "succeeded", f"run {run} is {shown.state}: {shown.progress}")
    nodes = {node.name: node for node in _nodes(world, run)}
    _hold(len(nodes) == len(document.nodes), f"{len(nodes)} nodes are shown")
    ended: dict[int, int] = {}
    after = 0
    while page := world.client.events(after=after, limit=5_000):
        after = page[-1].seq
        for event in page:
            ended[event.job] = ended.get(event.job, 0) + (event.target in FINAL)
    lines: dict[tuple[str, int], list[float]] = {}
    for line in world.ledger():
        lines.setdefault((line.kind, line.job), []).append(line.at)
    for one in document.nodes:
        jobs = nodes[one.name].jobs
        _hold([ended[job.id] for job in jobs] == [1], f"node {one.name} has jobs {jobs}, each with ends: {ended}")
        began = min(lines["start", jobs[0].id])
        for need in one.needs:
            over = min(lines["end", nodes[need].jobs[0].id])
            _hold(over <= began, f"node {one.name} began before {need} had ended")


def _hold(holds: bool, otherwise: str) -> None:  # noqa: FBT001
    if not holds:
        raise AssertionError(otherwise)


def _nodes(world: World, run: int) -> Iterator[RunNode]:
    after = -1
    while page := world.client.run_nodes(run, after=after, limit=1000, jobs=5):
        yield from page
        after = page[-1].number


@contextmanager
def _world(engine: str) -> Iterator[World]:
    if engine == "sqlite":
        with World() as world:
            yield world
        return
    with postgres.shared(postgres.unique()) as server:
        name = f"killed_{postgres.unique()}"
        postgres.new_database(server, name)
        with World(server.url(name)) as world:
            yield world


def main() -> int:
    """The rounds; exit status 1 when anything did not hold."""
    parser = argparse.ArgumentParser(prog="python -m campaign.killed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--on", choices=("sqlite", "postgres"), default="sqlite")
    chosen = parser.parse_args()
    chance, failed = SeededChance(SystemChance().claim_id()), 0
    for number in range(1, chosen.rounds + 1):
        with _world(chosen.on) as world:
            world.up("--workers", "2", slots=50)
            kills = chance.whole(1, 4)
            try:
                murderous_run(world, chosen.nodes, kills)
                world.judge()
            except AssertionError as error:
                failed += 1
                sys.stdout.write(f"round {number}, {kills} kills: {error}\n")
            else:
                sys.stdout.write(f"round {number}, {kills} kills: {chosen.nodes:,} nodes, each once\n")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
