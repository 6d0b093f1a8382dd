"""What is shown of a run that goes on is what happened, at every look (field report B205)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import httpx2

from mainspring.domain.run import RunRequest
from mainspring.domain.workflow import Node, Workflow
from tests.processes.world.driver import World
from tests.processes.world.engines import both_engines

STEPS, ITEMS, LIMIT = 5, 20, 2
RANKS = {"waiting": 0, "active": 1, "succeeded": 2}


@both_engines
def test_a_chain_over_20_items_shows_its_steps_one_by_one_and_counts_that_add_up(world: World) -> None:
    up = world.up("--slots", str(LIMIT))
    address = world.eventually(lambda: re.search(r"listening at (http\S+:\d+)", up.said))[1]
    names = [f"step-{number}" for number in range(STEPS)]
    nodes = [
        Node(
            name, task="ledgers.nap", needs=tuple(names[at - 1 : at]), params={"seconds": 0.03}, map=list(range(ITEMS))
        )
        for at, name in enumerate(names)
    ]
    run = world.client.start_run(RunRequest(Workflow("chain", tuple(nodes))))
    shown: dict[str, int] = dict.fromkeys(names, 0)
    with httpx2.Client(base_url=f"{address}/api/v1/runs/", trust_env=False, timeout=30) as http:
        ended = False
        while not ended:
            told = http.get(str(run.id)).json()
            ended = told["state"] != "running"
            assert sum(told["progress"].values()) == told["nodes"] == STEPS
            found: list[dict[str, Any]] = http.get(f"{run.id}/nodes").json()["items"]
            for node in found:
                rank = RANKS[node["state"]]
                assert shown[node["name"]] <= rank, "nothing that was done is undone"
                shown[node["name"]] = rank
                if node["state"] == "succeeded":
                    assert node["items_ended"] == node["items"] == ITEMS
            states = [node["state"] for node in found]
            assert states == sorted(states, key=RANKS.__getitem__, reverse=True), "a step waits for the one before it"
            assert states.count("active") <= 1
            assert world.client.queue("ledgers").running <= LIMIT
        edges = http.get(f"{run.id}/graph").json()["edges"]
        events = http.get(f"{run.id}/events?limit=1000").json()["items"]
    assert set(shown.values()) == {RANKS["succeeded"]}
    assert edges == [list(pair) for pair in pairwise(names)]
    assert sum(event["to"] == "succeeded" and event["job"] is not None for event in events) == STEPS * ITEMS
    world.stays(lambda: world.client.run(run.id).state.value == "succeeded", 0.1)
