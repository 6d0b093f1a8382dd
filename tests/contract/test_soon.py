"""Claims that go to PostgreSQL together with their commit, and submits of one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring import faults
from mainspring.clock import HOUR, SECOND
from mainspring.control import submit
from mainspring.domain.frame import Start
from mainspring.domain.job import JobRequest
from mainspring.domain.states import Cause, Outcome, State
from mainspring.engine.ahead import FEWEST
from mainspring.engine.held import Outbox
from mainspring.errors import OutcomeUnknown
from mainspring.faults import FaultPoint
from mainspring.store import Transaction
from tests import postgres
from tests.contract.engines import Dump, PostgresBench
from tests.contract.stories import Story
from tests.contract.test_ahead import MANY, end_all, new_dispatch, started
from tests.contract.test_at_once import StepByStep, plainly
from tests.contract.test_postgres_waits import parts


@pytest.fixture
def new_story(tmp_path: Path, postgres_databases: postgres.Databases) -> Iterator[Callable[[], Story]]:
    benches: list[PostgresBench] = []

    def make() -> Story:
        benches.append(PostgresBench(tmp_path, postgres_databases))
        return Story(benches[-1])

    yield make
    for bench in benches:
        bench.close()


@pytest.fixture
def story(new_story: Callable[[], Story]) -> Story:
    return new_story()


class Hand:
    """A worker at rest that has run one job, so that it knows all there is to know."""

    def __init__(self, story: Story) -> None:
        self.dispatch = new_dispatch(story)
        story.submit()
        self.dispatch.turn()
        for _ in range(3):
            self.dispatch.turn()  # looks, and is at rest
        self.said: list[Start] = []

    def rung(self) -> Outbox:
        """Somebody rings; what it starts then."""
        self.dispatch.hint()
        out = self.dispatch.turn()
        self.said = started(out)
        return out


def test_a_worker_at_rest_waits_once_for_a_job_and_its_commit(story: Story, tmp_path: Path) -> None:
    hand = Hand(story)
    story.submit()
    hand.rung()
    job = story.submit()
    assert parts(story, tmp_path, hand.rung) == ["Sync"]
    assert [(one.job, one.attempt) for one in hand.said] == [(job, 1)]
    assert story.state(job) is State.RUNNING


def test_beside_ends_that_go_ahead_a_worker_waits_once_for_the_next_jobs_and_their_commit(
    story: Story, tmp_path: Path
) -> None:
    hand = Hand(story)
    story.submit_many([JobRequest("send")] * (3 * MANY))
    hand.rung()
    first = hand.said
    end_all(hand.dispatch, first)
    hand.rung()
    end_all(hand.dispatch, hand.said)
    assert parts(story, tmp_path, hand.rung) == ["Sync"]
    assert len(hand.said) > FEWEST
    assert {story.state(one.job) for one in first} == {State.SUCCEEDED}


def test_what_a_start_needs_beyond_is_asked_behind_the_claim(story: Story) -> None:
    hand = Hand(story)
    job = story.running()
    story.end(job, Outcome.RELEASED, failure=None, details=b"7")
    hand.rung()
    assert [(one.job, one.attempt, bytes(one.details)) for one in hand.said] == [(job, 2, b"7")]


def test_a_job_whose_expiry_has_come_is_left_for_those_who_end_it(story: Story) -> None:
    hand = Hand(story)
    late, fine = story.submit(expires="1m"), story.submit(expires="2h")
    story.clock.forward(HOUR)
    hand.dispatch.turn()  # renews what runs, and looks
    hand.rung()
    for _ in range(3):
        story.clock.forward(SECOND)
        hand.dispatch.turn()
    assert (story.state(late), story.state(fine)) == (State.DEAD, State.RUNNING)
    assert story.moves(late)[-1][0] == Cause.EXPIRE


def test_what_a_lost_answer_may_have_taken_is_given_back_and_taken_again(story: Story) -> None:
    hand = Hand(story)
    job = story.submit()

    def lose(point: FaultPoint) -> None:
        if point is FaultPoint.DISPATCH_AFTER_COMMIT:
            raise OutcomeUnknown(story.bench.url)

    faults.arm(lose)
    try:
        with pytest.raises(OutcomeUnknown):
            hand.rung()
    finally:
        faults.arm(None)
    assert story.state(job) is State.RUNNING, "though nobody runs it"
    hand.rung()
    story.clock.forward(SECOND)
    again = [*hand.said, *started(hand.dispatch.turn())]
    assert [(one.job, one.attempt) for one in again] == [(job, 2)]
    assert [move[0] for move in story.moves(job)] == [Cause.SUBMIT, Cause.CLAIM, Cause.RELEASE, Cause.CLAIM]


# --- submits ----------------------------------------------------------------------------------------------------------

REQUESTS = [
    JobRequest("shop.send", {"x": 'a"\\'}, priority=3, tags={"team": "mail"}, meta={"k": [None]}),
    JobRequest("shop.send"),
    JobRequest("shop.send", {"x": "\U0001f600"}),
]


def stored(story: Story, how: Callable[[Transaction], Any]) -> tuple[Dump, list[int]]:
    """What three submits store; the first has made lane and policy."""
    first = story.submit()
    ready = submit.prepared(story.store, REQUESTS)

    def work(tx: Transaction) -> list[int]:
        told = submit._born(how(tx), prepared=ready, by=submit._By("client", first, None), once=None, first=True)
        assert told is not None
        return [one.job for one in told.receipts]

    ids = story.store.write(work)
    dump = story.bench.dump(story.store)
    return {name: dump[name] for name in ("job", "ready", "due", "expiry", "event")}, ids


def test_a_submit_of_one_statement_stores_what_one_of_several_does(new_story: Callable[[], Story]) -> None:
    (at_once, ids), (stepwise, ids_so) = stored(new_story(), plainly), stored(new_story(), StepByStep)
    assert at_once == stepwise
    assert ids == ids_so
    assert len(set(ids)) == len(REQUESTS)


def test_a_submit_that_was_checked_against_what_is_not_declared_any_more_stores_nothing(story: Story) -> None:
    story.submit()
    ready = [one._replace(declaration="{}") for one in submit.prepared(story.store, REQUESTS)]
    before = story.bench.dump(story.store)

    def work(tx: Transaction) -> object:
        return submit._born(tx, prepared=ready, by=submit._By("client", None, None), once=None, first=True)

    assert story.store.write(work) is None
    assert story.bench.dump(story.store) == before
