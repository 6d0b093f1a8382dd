"""Ends that go ahead in a transaction of their own on PostgreSQL, while the next jobs are claimed in another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from mainspring import faults
from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.control import read
from mainspring.domain.attempt import Ending
from mainspring.domain.frame import Ended, Start
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobRequest
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Lodging
from mainspring.engine import ahead
from mainspring.engine.ahead import FEWEST, MOST_BYTES
from mainspring.engine.dispatch import Dispatch
from mainspring.engine.held import Limits, Outbox
from mainspring.engine.timing import Timing
from mainspring.errors import OutcomeUnknown, StoreError
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store.postgres import PostgresEngine
from mainspring.transitions.ended import Report
from tests import postgres
from tests.contract.engines import PostgresBench
from tests.contract.stories import LEASE, Story

ACTOR = "worker:1"
MANY = FEWEST + 2


@pytest.fixture
def story(tmp_path: Path, postgres_databases: postgres.Databases) -> Iterator[Story]:
    bench = PostgresBench(tmp_path, postgres_databases)
    yield Story(bench)
    bench.close()


def running(story: Story, count: int = MANY) -> list[JobId]:
    jobs = story.submit_many([JobRequest("send")] * count)
    story.claim(*jobs)
    return jobs


def reports(story: Story, *endings: Ending) -> list[Report]:
    return story.store.read(lambda tx: [Report(one, story.policy(tx, one.job), alone=False) for one in endings])


def succeeding(story: Story, jobs: list[JobId], **values: object) -> list[Report]:
    return reports(story, *(story.ending(job, Outcome.SUCCEEDED, **values) for job in jobs))


def states(story: Story, jobs: list[JobId]) -> set[State]:
    return {story.state(job) for job in jobs}


def test_ends_are_stored_while_others_write_and_those_that_are_not_what_they_seemed_are_left(story: Story) -> None:
    jobs = running(story)
    cancelled, fenced, *fine = jobs
    story.cancel(cancelled)
    told = [*succeeding(story, [cancelled, *fine]), *succeeding(story, [fenced], claim=1)]
    sent = ahead.send(story.store, told, ACTOR)
    assert sent is not None
    (new,) = running(story, 1)
    assert [one.ending.job for one in sent.left()] == [cancelled, fenced]
    assert states(story, fine) == {State.SUCCEEDED}
    assert states(story, [cancelled, fenced, new]) == {State.RUNNING}
    assert all(len(read.attempts(story.store, job)) == 1 for job in fine)


def test_few_ends_large_ones_and_others_than_successes_go_as_ever(story: Story) -> None:
    jobs = running(story)
    assert ahead.send(story.store, succeeding(story, jobs[: FEWEST - 1]), ACTOR) is None
    large = b'"' + b"x" * (MOST_BYTES // MANY + 1) + b'"'
    assert ahead.send(story.store, succeeding(story, jobs, result=large), ACTOR) is None
    mixed = [*succeeding(story, jobs[1:]), *reports(story, story.ending(jobs[0], Outcome.FAILED))]
    assert ahead.send(story.store, mixed, ACTOR) is None
    assert states(story, jobs) == {State.RUNNING}


def test_a_way_that_is_lost_before_the_answer_leaves_the_outcome_unknown_and_the_ends_can_be_told_again(
    story: Story, postgres_server: postgres.Server
) -> None:
    jobs = running(story)
    engine = story.store.engine
    assert isinstance(engine, PostgresEngine)
    with psycopg.connect(story.bench.url) as other:
        other.execute("set search_path = mainspring")
        other.execute("select 1 from lease where job = %s for update", (jobs[0],))
        before = {session.connection.info.backend_pid for session in engine.sessions.all()}
        sent = ahead.send(story.store, succeeding(story, jobs), ACTOR)
        assert sent is not None
        assert before
        for pid in {session.connection.info.backend_pid for session in engine.sessions.all()}:
            other.execute("select pg_terminate_backend(%s)", (pid,))
        with pytest.raises(OutcomeUnknown):
            sent.left()
    assert states(story, jobs) == {State.RUNNING}
    again = ahead.send(story.store, succeeding(story, jobs), ACTOR)
    assert again is not None
    assert again.left() == []
    assert states(story, jobs) == {State.SUCCEEDED}
    assert all(len(read.attempts(story.store, job)) == 1 for job in jobs)


SPOILED = (
    "create function spoil() returns trigger language plpgsql as $$ begin raise exception 'spoiled'; end $$",
    "create trigger spoiled before insert on attempt for each row execute function spoil()",
)


def test_what_the_server_refuses_is_told_and_nothing_of_it_is_stored(story: Story) -> None:
    jobs = running(story)
    for text in SPOILED:
        story.bench.alter(story.store, text)
    sent = ahead.send(story.store, succeeding(story, jobs), ACTOR)
    assert sent is not None
    with pytest.raises(StoreError, match="spoiled"):
        sent.left()
    assert states(story, jobs) == {State.RUNNING}


def test_a_worker_that_dies_before_the_commit_is_sent_has_stored_nothing(story: Story) -> None:
    jobs = running(story)

    def die(point: FaultPoint) -> None:
        if point is FaultPoint.DISPATCH_BEFORE_COMMIT:
            raise InjectedFault(point)

    faults.arm(die)
    try:
        with pytest.raises(InjectedFault):
            ahead.send(story.store, succeeding(story, jobs), ACTOR)
    finally:
        faults.arm(None)
    assert states(story, jobs) == {State.RUNNING}


# --- a worker's turns -------------------------------------------------------------------------------------------------


def new_dispatch(story: Story) -> Dispatch:
    timing = Timing(LEASE, Duration(5 * SECOND), SECOND, Duration(30 * SECOND))
    dispatch = Dispatch(
        story.store,
        story.clock,
        worker=story.worker,
        app="shop",
        queues=(),
        labels={},
        limits=Limits(MANY, 1),
        timing=timing,
    )
    dispatch.add_runner(1, ["shop.send", "shop.crunch", "shop.once", "shop.mail"], Lodging.SHARED)
    return dispatch


def started(out: Outbox) -> list[Start]:
    return [frame for _, frame in out.frames if isinstance(frame, Start)]


def end_all(dispatch: Dispatch, starts: list[Start]) -> None:
    for start in starts:
        dispatch.receive(1, Ended(start.job, start.claim, Outcome.SUCCEEDED, result=b"1"))  # type: ignore[arg-type]


def test_a_turn_writes_the_ends_that_went_ahead_and_claims_as_many_and_the_next_one_what_was_left(story: Story) -> None:
    story.submit_many([JobRequest("send")] * (3 * MANY))
    dispatch = new_dispatch(story)
    first = started(dispatch.turn())
    assert len(first) == MANY
    dispatch.turn()  # looks, and is at rest
    story.cancel(first[0].job)
    end_all(dispatch, first)
    out = dispatch.turn()
    assert len(started(out)) == MANY
    assert out.wait == 0, "what was left is written at once"
    assert states(story, [one.job for one in first[1:]]) == {State.SUCCEEDED}
    story.clock.forward(MILLISECOND)
    dispatch.turn()
    assert story.state(first[0].job) is State.CANCELLED
    assert states(story, [one.job for one in started(out)]) == {State.RUNNING}
