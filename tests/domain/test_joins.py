from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainspring.domain.joins import (
    EARLY,
    GO,
    WAIT,
    Needs,
    NodeState,
    Reason,
    Rule,
    RunState,
    Skip,
    Stop,
    Tally,
    Weight,
    decide,
    run_state,
    weight,
)

# The trigger-rule table of the field, restated: rule, (succeeded, skipped, failed, upstream_failed, open), outcome.
# Two rows are about instances that were removed from a mapped task, which runs here never do; one names no rule.
FIELD = """
all_success  1 0 0 0 0  run
all_success  1 0 1 0 0  upstream_failed
all_success  1 1 0 0 0  rule
one_success  0 1 1 1 0  upstream_failed
one_success  0 2 0 0 0  rule
one_failed   2 0 0 0 0  rule
one_failed   0 2 2 0 0  run
one_failed   0 2 0 2 0  run
all_failed   0 0 2 0 0  run
all_failed   2 0 0 0 0  rule
all_failed   0 0 3 0 0  run
all_done     2 0 0 0 0  run
all_done     1 0 0 0 1  wait
none_failed  1 1 0 0 0  run
none_failed  1 1 1 0 0  upstream_failed
none_failed  1 1 0 1 0  upstream_failed
none_failed  3 0 0 0 0  run
always       0 0 0 0 1  run
all_done     0 0 0 0 0  run
"""


@pytest.mark.parametrize("row", FIELD.strip().splitlines())
def test_a_row_of_the_trigger_rule_table_is_met(row: str) -> None:
    rule, succeeded, skipped, failed, upstream_failed, open_, outcome = row.split()
    needs = Needs(int(open_), int(succeeded), int(failed) + int(upstream_failed), int(skipped))
    expected = {"run": GO, "wait": WAIT}.get(outcome) or Skip(Reason(outcome))
    assert decide(Rule(rule), needs) == expected


def oracle(rule: Rule, ends: tuple[Weight, ...]) -> Any:
    """The end of all needs, read from the sentence of each rule."""
    good, bad, none = (ends.count(one) for one in (Weight.SUCCEEDED, Weight.FAILED, Weight.SKIPPED))
    met = {
        Rule.ALL_SUCCESS: good == len(ends),
        Rule.ALL_DONE: True,
        Rule.ALL_FAILED: bad == len(ends),
        Rule.ALL_SKIPPED: none == len(ends),
        Rule.ONE_SUCCESS: good > 0,
        Rule.ONE_FAILED: bad > 0,
        Rule.ONE_DONE: good + bad > 0,
        Rule.NONE_FAILED: bad == 0,
        Rule.NONE_SKIPPED: none == 0,
        Rule.NONE_FAILED_MIN_ONE_SUCCESS: bad == 0 and good > 0,
        Rule.ALWAYS: True,
    }[rule]
    if met or not ends:
        return GO
    wants_success = rule in {Rule.ALL_SUCCESS, Rule.ONE_SUCCESS, Rule.NONE_FAILED, Rule.NONE_FAILED_MIN_ONE_SUCCESS}
    return Skip(Reason.UPSTREAM_FAILED if wants_success and bad else Reason.RULE)


def counted(ends: tuple[Weight, ...], open_: int) -> Needs:
    return Needs(open_, *(ends.count(one) for one in (Weight.SUCCEEDED, Weight.FAILED, Weight.SKIPPED)))


@pytest.mark.parametrize("rule", Rule)
def test_the_end_of_all_needs_decides_as_the_rule_says(rule: Rule) -> None:
    for count in range(5):
        for ends in itertools.product(Weight, repeat=count):
            assert decide(rule, counted(ends, 0)) == oracle(rule, ends), ends


@given(st.sampled_from(Rule), st.lists(st.sampled_from(Weight), min_size=1, max_size=8))
def test_a_decision_holds_whatever_comes_after_and_is_no_later_than_it_could_be(rule: Rule, ends: list[Weight]) -> None:
    for done in range(len(ends) + 1):
        told = decide(rule, counted(tuple(ends[:done]), len(ends) - done))
        rest = itertools.product(Weight, repeat=min(len(ends) - done, 4))
        could = {oracle(rule, (*ends[:done], *more)) for more in rest}
        if told != WAIT:
            assert could == {told}
        else:
            assert len(could) > 1 or rule not in EARLY


def test_early_rules_do_not_wait_for_the_last_need() -> None:
    assert decide(Rule.ONE_SUCCESS, Needs(open=99, succeeded=1)) == GO
    assert decide(Rule.ONE_FAILED, Needs(open=99, failed=1)) == GO
    assert decide(Rule.ONE_DONE, Needs(open=99, failed=1)) == GO
    assert decide(Rule.ONE_DONE, Needs(open=1, skipped=9)) == WAIT


def test_a_cancelled_need_and_one_below_a_failure_count_as_failed() -> None:
    assert weight(NodeState.CANCELLED) is Weight.FAILED
    assert weight(NodeState.SKIPPED, Reason.UPSTREAM_FAILED) is Weight.FAILED
    assert weight(NodeState.SKIPPED, Reason.RULE) is weight(NodeState.SKIPPED, Reason.CONDITION) is Weight.SKIPPED
    assert weight(NodeState.ACTIVE) is weight(NodeState.WAITING) is None


@pytest.mark.parametrize(
    ("tally", "stop", "state"),
    [
        (Tally(waiting=3), None, RunState.PENDING),
        (Tally(waiting=3, succeeded=1), None, RunState.RUNNING),
        (Tally(active=1), None, RunState.RUNNING),
        (Tally(active=1, failed=2), Stop.FAIL_FAST, RunState.RUNNING),
        (Tally(succeeded=3), None, RunState.SUCCEEDED),
        (Tally(skipped=3), None, RunState.SUCCEEDED),
        (Tally(succeeded=3, failed=1), None, RunState.FAILED),
        (Tally(succeeded=3, excused=1), None, RunState.SUCCEEDED),
        (Tally(succeeded=3, failed=1, cancelled=9), Stop.FAIL_FAST, RunState.FAILED),
        (Tally(succeeded=3, failed=1, cancelled=9), Stop.CANCEL, RunState.CANCELLED),
        (Tally(succeeded=3, cancelled=1), Stop.TIMEOUT, RunState.FAILED),
        (Tally(succeeded=3, cancelled=1), None, RunState.CANCELLED),
        (Tally(succeeded=3), Stop.CANCEL, RunState.SUCCEEDED),
        (Tally(succeeded=3), Stop.TIMEOUT, RunState.SUCCEEDED),
        (Tally(succeeded=3, failed=1), Stop.CANCEL, RunState.FAILED),
    ],
)
def test_the_state_of_a_run_follows_from_its_nodes(tally: Tally, stop: Stop | None, state: RunState) -> None:
    assert run_state(tally, stop) is state
