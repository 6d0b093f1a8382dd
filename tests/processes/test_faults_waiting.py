"""Jobs that wait for jobs while no slot is free: what they wait for runs in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mainspring.domain.states import Outcome, State
from tests.processes.world.driver import World


@pytest.fixture(scope="module")
def narrow() -> Iterator[World]:
    """A world whose worker runs one job at a time; each test has it run its own."""
    with World() as one:
        one.worker(slots=1)
        yield one
        one.judge()


@pytest.mark.parametrize("task", ["wait_deep", "wait_deep_process"])
def test_a_chain_of_jobs_that_wait_for_each_other_needs_one_slot(narrow: World, task: str) -> None:
    job = narrow.submit(task, depth=5)
    assert narrow.until_state(job, State.SUCCEEDED, within=20).result == 6


def test_more_parents_than_slots_do_not_stand_in_the_way_of_their_children(world: World) -> None:
    world.worker(slots=2)
    parents = world.submit_many("wait_deep", [{"depth": 1}] * 8)
    assert set(world.until_ended(parents, within=25).values()) == {State.SUCCEEDED}
    assert all(world.outcomes(job) == [Outcome.SUCCEEDED] for job in parents)


@pytest.mark.parametrize("task", ["wait_deep", "wait_deep_process"])
def test_a_parent_that_waits_for_many_at_once_gets_all_of_them_done(narrow: World, task: str) -> None:
    job = narrow.submit("wait_for_many", count=4, task=task)
    assert narrow.until_state(job, State.SUCCEEDED, within=25).result == 8


def test_no_more_jobs_do_something_than_there_are_slots(narrow: World) -> None:
    others: list[dict[str, Any]] = [{"seconds": 0.2}] * 6
    first = narrow.submit("wait_deep", depth=2)
    jobs = [first, *narrow.submit_many("nap", others), narrow.submit("wait_deep", depth=2)]
    assert set(narrow.until_ended(jobs, within=25).values()) == {State.SUCCEEDED}
    naps = set(jobs[1:7])
    ledger = [line for line in narrow.ledger() if line.job in naps]
    assert [line.kind for line in ledger] == ["start", "end"] * 6, "a slot that is lent is taken by one job only"
