"""The state table against the drawing of the design, written down here a second time by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from mainspring.domain.states import (
    FINAL,
    LIVE,
    PLACE,
    TABLE,
    Cause,
    Charge,
    Outcome,
    Place,
    State,
    next_state,
    sentence,
)

DRAWING = {
    "new": {"scheduled", "queued"},
    "scheduled": {"queued", "cancelled", "dead"},
    "queued": {"running", "cancelled", "dead"},
    "running": {"succeeded", "retrying", "dead", "cancelled", "queued"},
    "retrying": {"queued", "cancelled", "dead"},
    "succeeded": set(),
    "dead": set(),
    "cancelled": set(),
}


@pytest.mark.parametrize("state", State)
def test_a_state_leads_exactly_where_the_drawing_says(state: State) -> None:
    assert {row.target.value for row in TABLE if row.source is state} == DRAWING[state.value]


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("cause", Cause)
def test_next_state_says_what_the_table_says_and_nothing_else(state: State, cause: Cause) -> None:
    rows = [row for row in TABLE if (row.source, row.cause) == (state, cause)]
    assert len(rows) <= 1, "one cause leads from a state to one place"
    assert next_state(state, cause) is (rows[0].target if rows else None)
    assert sentence(state, cause) == (rows[0].sentence if rows else "")


def test_an_end_is_final() -> None:
    assert {State.SUCCEEDED, State.DEAD, State.CANCELLED} == FINAL
    assert not [row for row in TABLE if row.source in FINAL]


def test_every_state_is_new_live_or_final() -> None:
    assert {State.NEW} | LIVE | FINAL == set(State)
    assert not LIVE & FINAL
    assert State.NEW not in LIVE


def reachable(start: State) -> set[State]:
    found, to_look = {start}, [start]
    while to_look:
        here = to_look.pop()
        for row in TABLE:
            if row.source is here and row.target not in found:
                found.add(row.target)
                to_look.append(row.target)
    return found


def test_every_state_can_be_reached_from_new() -> None:
    assert reachable(State.NEW) == set(State)


@pytest.mark.parametrize("state", sorted(LIVE))
def test_every_live_job_can_still_end_in_each_way(state: State) -> None:
    assert reachable(state) >= FINAL


@pytest.mark.parametrize("state", sorted(LIVE))
def test_every_live_job_can_be_cancelled(state: State) -> None:
    assert next_state(state, Cause.CANCEL) is State.CANCELLED


def test_only_waiting_jobs_expire() -> None:
    assert {row.source for row in TABLE if row.cause is Cause.EXPIRE} == LIVE - {State.RUNNING}


def test_every_cause_is_used_and_says_what_it_means() -> None:
    assert {row.cause for row in TABLE} == set(Cause)
    assert all(row.sentence and row.sentence == row.sentence.strip(". ") for row in TABLE)
    assert Counter(row.sentence for row in TABLE).most_common(1)[0][1] == 1


def test_every_state_has_a_place_and_no_move_stays_in_one() -> None:
    assert set(PLACE) == set(State)
    assert set(PLACE.values()) == set(Place)
    assert all(PLACE[row.source] is not PLACE[row.target] for row in TABLE)


def test_the_words_are_those_of_the_manual() -> None:
    assert {outcome.value for outcome in Outcome} == {
        "succeeded",
        "failed",
        "crashed",
        "timed_out",
        "cancelled",
        "lost",
        "released",
    }
    assert {charge.value for charge in Charge} == {"attempt", "loss", "suspect", "release", "nothing"}
