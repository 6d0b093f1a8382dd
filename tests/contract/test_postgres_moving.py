"""Cancel and expiry of jobs that others are just moving: only PostgreSQL has more than one writer at a time.

A move is held open until the other has to wait for it, and is committed then: what the other looked for has moved on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Duration, SystemClock
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.states import Outcome, State
from mainspring.errors import IllegalState
from mainspring.store import Transaction, jobs, lanes
from mainspring.store.jobs import Grant
from mainspring.transitions import ended, waiting
from mainspring.transitions.ended import Report
from tests import postgres
from tests.contract.engines import PostgresBench, RepeatablePostgresBench, asked
from tests.contract.stories import LEASE, Story

T = TypeVar("T")
Move = Callable[[Story, Transaction, JobId], None]
PATIENCE = 60 * SECOND


@pytest.fixture(params=[PostgresBench, RepeatablePostgresBench], ids=["read-committed", "repeatable-read"])
def story(request: pytest.FixtureRequest, tmp_path: Path, postgres_databases: postgres.Databases) -> Iterator[Story]:
    bench: PostgresBench = request.param(tmp_path, postgres_databases)
    yield Story(bench)
    bench.close()


def amid(story: Story, move: Callable[[Transaction], object], act: Callable[[], T]) -> T:
    """What ``act`` comes to when it has to wait for ``move``, which is committed while it waits."""
    mover = story.bench.open()
    with ThreadPoolExecutor(1) as pool:

        def work(tx: Transaction) -> object:
            move(tx)
            acted = pool.submit(act)
            clock = SystemClock()
            deadline = clock.monotonic() + PATIENCE
            while not asked(story.store, "select 1 from pg_stat_activity where wait_event_type = 'Lock'"):
                assert not acted.done(), "it waited for nobody"
                assert clock.monotonic() < deadline
                clock.wait(Duration(5 * MILLISECOND))
            return acted

        acted = mover.write(work)
        return acted.result(60)  # type: ignore[attr-defined,no-any-return]


def claim(story: Story, tx: Transaction, job: JobId) -> ClaimId:
    left, _ = jobs.leave_ready(tx, [job], lanes.read_map(tx).rules)
    claimed = ClaimId(tx.chance.claim_id())
    jobs.enter_leased(tx, [Grant(left[job], claimed)], story.worker, story.clock.now() + LEASE, "worker:1")  # type: ignore[arg-type]
    return claimed


def end(story: Story, tx: Transaction, job: JobId, outcome: Outcome) -> None:
    ending = story.ending(job, outcome, claim=claim(story, tx, job))
    ended.end(tx, [Report(ending, story.policy(tx, job), alone=False)], "worker:1")


def claimed(story: Story, tx: Transaction, job: JobId) -> None:
    claim(story, tx, job)


def claimed_and_given_back(story: Story, tx: Transaction, job: JobId) -> None:
    end(story, tx, job, Outcome.RELEASED)


def claimed_and_failed(story: Story, tx: Transaction, job: JobId) -> None:
    end(story, tx, job, Outcome.FAILED)


def claimed_and_succeeded(story: Story, tx: Transaction, job: JobId) -> None:
    end(story, tx, job, Outcome.SUCCEEDED)


def cancelled(story: Story, job: JobId) -> bool:
    """Whether it has ended so, or will."""
    found = story.job(job)
    return found.state is State.CANCELLED or found.cancel_requested


@pytest.mark.parametrize("move", [claimed, claimed_and_given_back, claimed_and_failed])
def test_a_cancel_that_is_accepted_reaches_the_job_wherever_it_has_moved(story: Story, move: Move) -> None:
    job = story.submit()
    amid(story, lambda tx: move(story, tx, job), lambda: story.cancel(job))
    assert cancelled(story, job)


def test_a_cancel_that_comes_too_late_is_refused(story: Story) -> None:
    job = story.submit()
    with pytest.raises(IllegalState, match=f"job {job} is succeeded and can't be cancelled"):
        amid(story, lambda tx: claimed_and_succeeded(story, tx, job), lambda: story.cancel(job))


def test_a_job_that_becomes_due_is_cancelled_all_the_same(story: Story) -> None:
    job = story.submit(delay="1m")
    story.clock.forward(MINUTE)
    amid(story, lambda tx: waiting.promote(tx, "sweeper"), lambda: story.cancel(job))
    assert story.state(job) is State.CANCELLED


@pytest.mark.parametrize("move", [claimed, claimed_and_given_back, claimed_and_failed])
def test_a_cancel_reaches_descendants_wherever_they_have_moved(story: Story, move: Move) -> None:
    parent = story.running()
    child = story.submit(parent=parent)
    amid(story, lambda tx: move(story, tx, child), lambda: story.cancel(parent))
    assert cancelled(story, child)


def test_a_job_that_becomes_due_as_its_expiry_comes_expires(story: Story) -> None:
    job = story.submit(delay="1m", expires="2m")
    story.clock.forward(2 * MINUTE)
    amid(story, lambda tx: waiting.promote(tx, "sweeper"), story.expire)
    story.expire()
    assert story.state(job) is State.DEAD
