"""Simulated worlds of workflows: no seed breaks what must hold of runs, and planted faults are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from mainspring.domain.joins import Rule
from mainspring.store import Transaction, runs
from mainspring.testing.flows import FlowWorld
from mainspring.transitions import advance
from tests.simulation.planted import say_instead

BLOCKS, SEEDS = 3, 4
"""Few of the gate's, which run by ``python -m campaign.simulate --flows``."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_seed_of_workflows_breaks_an_invariant(block: int) -> None:
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        outcome = FlowWorld(seed).run()
        assert not outcome.violations, f"seed {seed}: {[str(one) for one in outcome.violations]}"
        assert outcome.counts["runs"] >= 4


def a_need_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    say_instead(monkeypatch, "node/count_needs", "open = node_waiting.open -", "open = node_waiting.open - 1 -")


def ends_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth end of a node is told to nobody."""
    sound = advance.Wave.tell

    def deaf(wave: advance.Wave, run: int, node: int, *rest: object) -> None:
        if node % 5 != 4:
            sound(wave, run, node, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(advance.Wave, "tell", deaf)


def a_stop_that_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "AFTER_TROUBLE", frozenset(Rule))


def an_end_of_a_node_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = runs.end_nodes

    def forgetful(tx: Transaction, ends: Sequence[tuple[object, ...]]) -> None:
        sound(tx, ends[1:])  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "end_nodes", forgetful)


PLANTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], set[str]]] = {
    "a need counted twice": (a_need_counted_twice, {"W3"}),
    "ends not told": (ends_not_told, {"V2"}),
    "a stop that stops nothing": (a_stop_that_stops_nothing, {"W4"}),
    "an end of a node forgotten": (an_end_of_a_node_forgotten, {"W1", "W2"}),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_fault_planted_in_runs_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, rules = PLANTS[name]
    plant(monkeypatch)
    for seed in range(7, 60):
        found = {violation.rule for violation in FlowWorld(seed).run().violations}
        if found & rules:
            print(f"{name}: found by {', '.join(sorted(found))} in seed {seed}")
            return
    pytest.fail(f"{name}: not found by {sorted(rules)} in 53 seeds")
