"""Simulated worlds: no seed breaks an invariant, each does enough to count, and a seed is a story that repeats."""

import pytest

from mainspring.testing.world import LEAST_BUSY, LEAST_JOBS, STEPS, World
from tests.simulation.planted import PLANTS

BLOCKS = 4
SEEDS = 10
"""Per block: the gate's 2,000 seeds run by ``python -m campaign.simulate``, which .ci/run calls."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_seed_breaks_an_invariant(block: int):
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        outcome = World(seed).run()
        assert not outcome.violations, f"seed {seed}: {[str(one) for one in outcome.violations]}"
        assert outcome.counts["jobs"] >= LEAST_JOBS
        assert outcome.counts["steps"] >= STEPS
        assert outcome.counts["actors"] >= 3
        assert outcome.counts["busy"] >= LEAST_BUSY


@pytest.mark.parametrize("seed", [3, 47, 811])
def test_the_same_seed_gives_the_same_event_log(seed: int):
    first, again = World(seed).run(), World(seed).run()
    assert first.events == again.events
    assert first.runs == again.runs
    assert first.events != World(seed + 1).run().events


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch):
    plant, rules = PLANTS[name]
    plant(monkeypatch)
    for seed in range(300):
        found = {violation.rule for violation in World(seed).run().violations}
        if found & rules:
            print(f"{name}: found by {', '.join(sorted(found))} in seed {seed}")
            return
    pytest.fail(f"{name}: not found by {sorted(rules)} in 300 seeds")
