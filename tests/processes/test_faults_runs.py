"""Runs of workflows whose workers and servers die under them; the long form is ``python -m campaign.killed``."""

from __future__ import annotations

import os
import signal

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
    frozen.send(signal.SIGSTOP)
    world.worker("other")
    world.eventually(lambda: world.client.run(run).done, within=30)
    os.kill(frozen.pid, signal.SIGCONT)
    world.eventually(lambda: "refused" in frozen.said, what="the word of the woken worker")
    assert str(world.client.run(run).state) == "succeeded"
    assert world.outcomes(second) == [Outcome.LOST, Outcome.SUCCEEDED]
    assert [len(node.jobs) for node in world.client.run_nodes(run)] == [1, 1, 1]
