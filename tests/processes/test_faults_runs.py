"""Runs of workflows whose workers and servers die under them; the long form is ``python -m campaign.killed``."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from campaign.killed import murderous_run
from mainspring.domain.run import RunRequest
from mainspring.domain.states import Outcome
from mainspring.domain.workflow import Node, Workflow
from tests.processes.world.apps import ledgers
from tests.processes.world.driver import World
from tests.processes.world.engines import both_engines


@both_engines
def test_a_run_whose_worker_and_server_are_killed_ends_as_it_would_have(world: World) -> None:
    world.up(slots=30)
    murderous_run(world, nodes=200, kills=2)


@both_engines
def test_the_late_end_of_a_node_whose_worker_was_frozen_changes_nothing(world: World) -> None:
    world.client.declare(ledgers.app.catalog())
    frozen = world.worker("frozen")
    nodes = (
        Node("first", "ledgers.quick"),
        Node("second", "ledgers.nap", needs=("first",), params={"seconds": 1}),
        Node("third", "ledgers.quick", needs=("second",)),
    )
    run = world.client.start_run(RunRequest(Workflow("three", nodes))).id
    world.eventually(lambda: world.client.run(run).progress.succeeded == 1)
    second = world.eventually(lambda: world.client.run_nodes(run)[1].jobs)[0].id
    world.started(second)
    world.freeze(frozen.pid)
    world.worker("other")
    world.eventually(lambda: world.client.run(run).done, within=30)
    os.kill(frozen.pid, signal.SIGCONT)
    world.eventually(lambda: "refused" in frozen.said, what="the word of the woken worker")
    assert str(world.client.run(run).state) == "succeeded"
    assert world.outcomes(second) == [Outcome.LOST, Outcome.SUCCEEDED]
    assert [len(node.jobs) for node in world.client.run_nodes(run)] == [1, 1, 1]


@both_engines
def test_a_shutdown_that_is_cut_short_amid_a_fan_in_leaves_a_run_that_goes_on(world: World) -> None:
    """B147: Ctrl-C, and while the drain goes on kill -9 of everything."""
    up = world.up("--slots", "4")
    parts = [Node(f"part-{number}", "ledgers.nap", params={"seconds": 1.5}) for number in range(6)]
    join = Node("join", "ledgers.nap", needs=tuple(part.name for part in parts), params={"seconds": 0})
    run = world.client.start_run(RunRequest(Workflow("fan", (*parts, join)))).id
    world.eventually(lambda: len(world.ledger(kind="start")) == 4, what="the first parts")
    os.killpg(up.pid, signal.SIGINT)
    world.eventually(lambda: "a second signal" in up.said, what="the word that it drains")
    for pid in world.alive():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    up.wait()
    world.up("--slots", "4")
    world.eventually(lambda: world.client.run(run).done)
    assert str(world.client.run(run).state) == "succeeded"
    nodes = {node.name: node for node in world.client.run_nodes(run)}
    assert {len(node.jobs) for node in nodes.values()} == {1}
    (began,) = world.ledger(nodes["join"].jobs[0].id, "start")
    ends = [world.ledger(nodes[part.name].jobs[0].id, "end")[-1].at for part in parts]
    assert max(ends) <= began.at


@both_engines
def test_runs_that_have_ended_stay_so_when_everything_starts_again(world: World) -> None:
    """B039: no node of a hundred finished runs begins once more."""
    up = world.up(slots=50)
    pair = Workflow("pair", (Node("first", "ledgers.quick"), Node("second", "ledgers.quick", needs=("first",))))
    runs = [world.client.start_run(RunRequest(pair)).id for _ in range(100)]
    world.eventually(lambda: all(world.client.run(run).done for run in runs), what="the end of all runs")
    before = world.ledger()
    assert len(before) == 2 * 2 * len(runs)
    assert up.stop() == 0
    world.up(slots=50)
    after = world.client.start_run(RunRequest(pair)).id
    world.eventually(lambda: world.client.run(after).done)
    new = [line.job for line in world.ledger()[len(before) :]]
    assert set(new) == {node.jobs[0].id for node in world.client.run_nodes(after)}
    assert {str(world.client.run(run).state) for run in runs} == {"succeeded"}
