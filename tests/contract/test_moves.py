"""The locks on the state machine: headers of statements, every state x every cause, the trigger on ended rows.

The walk of random moves against a model is in test_walk.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from mainspring.clock import DAY, MINUTE
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId, LaneId
from mainspring.domain.states import FINAL, PLACE, TABLE, Cause, Outcome, Place, State, next_state
from mainspring.errors import IllegalState, StoreError, UnknownJob
from mainspring.store import Transaction, jobs, moves, rows
from mainspring.store.jobs import Left, Move
from mainspring.store.statements import ENGINES, Statement, names, statement
from mainspring.store.workers import SeenLease
from tests.contract.engines import Dump
from tests.contract.stories import LEASE, NOBODY, Story

# --- headers, without a database ------------------------------------------------------------------------------------


def all_statements() -> Iterator[Statement]:
    """Every statement of every engine."""
    for engine in ENGINES:
        for name in names(engine):
            yield statement(name, engine)


def moving_statements() -> list[Statement]:
    """Those whose header says that they move jobs."""
    return [found for found in all_statements() if found.header]


def test_each_statement_that_moves_jobs_says_what_the_state_table_says() -> None:
    wanted = moves.expected_headers()
    for found in moving_statements():
        assert found.name in wanted, f"{found.name} moves jobs, and the state table knows nothing of it"
        leaves, enters, causes = wanted[found.name]
        assert found.header.get("leaves", "") == leaves, found.name
        assert found.header.get("enters", "") == enters, found.name
        assert {cause.strip() for cause in found.header["causes"].split(",")} == causes, found.name


def test_each_move_of_the_state_table_has_its_statement() -> None:
    assert set(moves.expected_headers()) == {found.name for found in moving_statements()}


def test_each_statement_that_deletes_from_or_inserts_into_a_place_has_a_header() -> None:
    moving = {found.name for found in moving_statements()}
    writes = [f"{verb} {table} " for verb in ("delete from", "insert into") for table in ("due", "ready", "lease")]
    for found in all_statements():
        text = found.text.lower() + " "
        assert found.name in moving or not any(write in text for write in writes), f"{found.name} has no header"


def test_the_table_of_leaving_statements_covers_each_move_and_nothing_more() -> None:
    wanted = {(PLACE[row.source], row.cause) for row in TABLE if row.source is not State.NEW}
    assert set(moves.LEAVE) == wanted
    assert set(moves.ENTER) == set(Place) - {Place.NOWHERE}


# --- the matrix -----------------------------------------------------------------------------------------------------


def _end_with(outcome: Outcome, **values: object) -> Callable[[Story, int], None]:
    def apply(story: Story, job: int) -> None:
        settled = story.end_all([story.ending(JobId(job), outcome, **values)])
        assert bool(settled.verdicts) != bool(settled.fenced)

    return apply


def _cancel(story: Story, job: int) -> None:
    """A wish for a running job, which its end then reads."""
    state = story.state(job)
    if state is State.NEW or state in FINAL:
        with pytest.raises(UnknownJob if state is State.NEW else IllegalState):
            story.cancel(job)
        return
    running = state is State.RUNNING
    assert story.cancel(job).cancel_requested is running
    if running:
        assert story.state(job) is State.RUNNING
        story.end(JobId(job))


def _claim(story: Story, job: int) -> None:
    story.claim(JobId(job))


def _promote(story: Story, job: int) -> None:
    story.clock.forward(10 * MINUTE)
    story.promote()


def _expire(story: Story, job: int) -> None:
    story.clock.forward(2 * DAY)
    story.expire()


def _lose(story: Story, job: int) -> None:
    story.clock.forward(2 * LEASE)
    number = JobId(job)
    seen = story.seen() or [SeenLease(number, story.claims.get(number, NOBODY), story.clock.now())]
    story.lose(*seen)


def _birth(story: Story, job: int) -> None:
    """Nothing can be born twice: the row of a job that is stored refuses another one."""
    number = JobId(job)

    def again(tx: Transaction) -> None:
        born = (number, "shop.send", 1, 5, 1, tx.now, tx.now, None, None, None, None, None, "{}", *[None] * 6)
        tx.many("job/insert", [born])
        tx.many(moves.ENTER[Place.READY], [(number, 1, 5, tx.now, 0, tx.now)])

    with pytest.raises(StoreError):
        story.store.write(again)


APPLY: dict[Cause, Callable[[Story, int], None]] = {
    Cause.SUBMIT: _birth,
    Cause.SCHEDULE: _birth,
    Cause.PROMOTE: _promote,
    Cause.CLAIM: _claim,
    Cause.SUCCEED: _end_with(Outcome.SUCCEEDED),
    Cause.RETRY: _end_with(Outcome.FAILED),
    Cause.EXHAUST: _end_with(Outcome.FAILED, final=True),
    Cause.CANCEL: _cancel,
    Cause.EXPIRE: _expire,
    Cause.LOSE: _lose,
    Cause.REQUEUE: _end_with(Outcome.CRASHED, shared=2),
    Cause.RELEASE: _end_with(Outcome.RELEASED),
}

UNPLACED = ("expiry",)
"""An expiry that came while the job ran or after it ended is forgotten; that is no move."""


def moved(before: Dump, after: Dump) -> bool:
    """Whether anything that says where a job stands, or what happened to it, has changed."""
    return any(before[name] != after[name] for name in before if name not in UNPLACED)


def test_the_matrix_knows_how_to_apply_each_cause() -> None:
    assert set(APPLY) == set(Cause)


@pytest.mark.parametrize("state", State)
def test_a_cause_moves_a_job_as_the_table_says_or_changes_nothing(story: Story, state: State) -> None:
    """Every cause, each on a job of its own."""
    story.submit(delay="90d")  # a neighbour that must not be touched either
    for cause in Cause:
        if state is State.NEW and cause in {Cause.SUBMIT, Cause.SCHEDULE}:
            job = story.bring(State.QUEUED if cause is Cause.SUBMIT else State.SCHEDULED)
            (born,) = story.moves(job)
            target = next_state(State.NEW, cause)
            assert target is not None
            assert born == (cause.value, "new", target.value)
        else:
            job = story.bring(state, expires="1d")
            apply(cause, story, job, state)
        conclude(story, job)


def apply(cause: Cause, story: Story, job: JobId, state: State) -> None:
    """It happens to a job in this state: the job is where the table says, and nothing else has changed."""
    before, history = story.dump(), story.moves(job) if state is not State.NEW else []

    APPLY[cause](story, job)

    target = next_state(state, cause)
    after = story.dump()
    if target is None:
        assert not moved(before, after), f"{cause} from {state} must change nothing"
    else:
        assert story.state(job) is target, f"{cause} from {state}"
        assert story.moves(job) == [*history, (cause.value, state.value, target.value)]
        place_rows = {"due": "due", "ready": "ready", "leased": "lease"}
        inside = {place for place, table in place_rows.items() if any(row[0] == job for row in after[table])}
        assert inside == ({PLACE[target].value} if target not in FINAL else set()), f"{cause} from {state}"
    neighbours = {
        name: [row for row in rows if row[0] != job] for name, rows in after.items() if name in ("due", "job")
    }
    assert neighbours == {name: [row for row in before[name] if row[0] != job] for name in neighbours}, (
        f"{cause} from {state} must touch no other job"
    )


def conclude(story: Story, job: JobId) -> None:
    """Nothing happens to it any more, whatever is tried on the next."""
    state = story.state(job)
    if state is State.RUNNING:
        story.end(job)
    elif state is not State.NEW and state not in FINAL:
        story.cancel(job)


def test_a_move_that_the_table_does_not_have_can_not_be_entered(story: Story) -> None:
    """The last lock before the rows: a caller that forges what left is stopped by the table."""
    for state in State:
        job = story.bring(state)
        before = story.dump()
        left = Left(job, LaneId(1), 5, 1, story.clock.now(), state)
        for cause in Cause:
            if next_state(state, cause) is None:
                move = Move(left, cause, "mallory", due=story.clock.now())
                with pytest.raises(AssertionError, match="state table"):
                    story.store.write(partial(jobs.enter, batch=[move]))
        assert story.dump() == before, state


# --- the trigger ----------------------------------------------------------------------------------------------------


CHANGES = (
    "state = 'dead'",
    "state = null, finished = null",
    "result = '2'",
    "finished = finished + 1",
    "params = '{}'",
    "id = id + 1",
)


@pytest.mark.parametrize("state", sorted(FINAL))
def test_an_ended_row_never_changes(story: Story, state: State) -> None:
    job = story.bring(state)
    before = story.dump()
    for change in CHANGES:
        with pytest.raises(StoreError, match="ended job never changes"):
            story.bench.alter(story.store, f"update job set {change} where id = {job}")
        assert story.dump() == before, change


def test_a_state_that_is_not_final_can_not_be_written_as_an_end(story: Story) -> None:
    job = story.submit()
    for state in ("queued", "running", "done"):
        with pytest.raises(StoreError):
            story.bench.alter(story.store, f"update job set state = '{state}', finished = 1 where id = {job}")
    with pytest.raises(StoreError):
        story.bench.alter(story.store, f"update job set state = 'dead' where id = {job}")


def test_the_end_of_a_job_that_was_entered_again_by_mistake_is_refused_by_the_database(story: Story) -> None:
    """Even code that forged a lease row could not end a job a second time."""
    job = story.bring(State.SUCCEEDED)
    before = story.dump()
    forged = Left(job, LaneId(1), 5, 2, story.clock.now(), State.RUNNING, NOBODY, story.worker)
    failed = Move(forged, Cause.EXHAUST, "mallory", failure=rows.text(Failure("X", "y")))
    with pytest.raises(StoreError, match="ended job never changes"):
        story.store.write(lambda tx: jobs.enter(tx, [failed]))
    assert story.dump() == before
