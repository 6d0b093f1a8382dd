"""What is told of seeds: a failure with the fewest faults and its steps, a distribution; the same in every process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mainspring.testing.mischief import Fault, Kind
from mainspring.testing.report import SeedResult, distribution, explain, shortest, try_seed
from mainspring.testing.world import World
from tests.simulation.planted import PLANTS

ROOT = Path(__file__).resolve().parents[2]
DIGEST = "import sys; from mainspring.testing.world import World; print(World(int(sys.argv[1])).run().events)"


def first_failure(name: str, monkeypatch: pytest.MonkeyPatch) -> SeedResult:
    """The first seed that shows a planted fault."""
    plant, rules = PLANTS[name]
    plant(monkeypatch)
    return next(result for result in map(try_seed, range(300)) if result.rule in rules)


def test_a_failing_seed_tells_its_story(monkeypatch: pytest.MonkeyPatch):
    result = first_failure("claim id not matched in end", monkeypatch)
    story = explain(result.seed, result.rule, commit="abc123").splitlines()
    assert story[0].startswith(f"seed {result.seed}  commit abc123  lease ")
    assert story[1].strip().startswith(result.rule)
    header = next(number for number, line in enumerate(story) if line.split() == ["step", "seconds", "actor", "what"])
    steps = [line for line in story[header + 1 :] if line]
    assert len(steps) >= 20
    assert all(line[:5].strip().isdigit() for line in steps), "fixed columns"
    assert all(line[20:22] == "  " for line in steps)


def test_the_fewest_faults_still_fail_and_none_of_them_can_be_left_out(monkeypatch: pytest.MonkeyPatch):
    result = first_failure("claim id not matched in end", monkeypatch)
    faults = shortest(result.seed, result.rule)
    assert 1 <= len(faults) < len(World(result.seed).faults)

    def fails(few: list[Fault]) -> bool:
        return any(one.rule == result.rule for one in World(result.seed, faults=few).run().violations)

    assert fails(faults)
    assert not any(fails([other for other in faults if other is not fault]) for fault in faults)


def test_the_distribution_shows_the_spread_and_each_kind_of_fault():
    results = [try_seed(seed) for seed in range(12)]
    lines = list(distribution(results))
    assert lines[0].split() == ["per", "seed", "least", "median", "most"]
    shown = {line.split()[0]: [int(number) for number in line.split()[1:]] for line in lines[1:8]}
    assert shown["jobs"][0] >= 20
    assert shown["steps"][0] >= 200
    assert shown["busy"][0] >= 3
    kinds = {line.split()[0] for line in lines[9:]}
    assert kinds <= {kind.value for kind in Kind}
    assert len(kinds) >= 8


def test_a_seed_is_the_same_in_another_process():
    def events(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-c", DIGEST, "11"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert events("1") == events("2") == f"{World(11).run().events}\n"


def test_what_a_world_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug in the engine")

    monkeypatch.setattr("mainspring.transitions.due.promote", broken)
    result = try_seed(0)
    assert result.rule == "X"
    assert "ZeroDivisionError: a bug in the engine (" in result.text
