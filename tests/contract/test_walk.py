"""Random walks: whatever happens in whatever order, the store agrees with a model made of the state table alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from mainspring.clock import HOUR, SECOND, Duration, Instant
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.retry import MOST_RELEASES
from mainspring.domain.states import FINAL, TABLE, Cause, Charge, Outcome, State
from mainspring.errors import IllegalState, ReplayLive
from mainspring.store import jobs
from mainspring.store.workers import SeenLease
from tests.contract.engines import ENGINES, Bench, unsound
from tests.contract.stories import LEASE, NOBODY, Story

MOVES = {(row.source, row.cause): row.target for row in TABLE}
MOST_ATTEMPTS, MOST_LOSSES = 2, 1  # of the story's task


class Model:
    """One job as the table has it, with the few facts that decide which cause applies."""

    def __init__(self, due: Instant, expires: Instant | None, now: Instant) -> None:
        self.state = State.NEW
        self.history: list[tuple[str, str, str]] = []
        self.due = due
        self.expires = expires
        self.until: Instant | None = None
        self.marked = False
        self.charges: list[Charge] = []
        self.replay: Model | None = None
        self.move(Cause.SUBMIT if due <= now else Cause.SCHEDULE)

    def move(self, cause: Cause) -> None:
        """What the table says; a move that it does not have fails the test."""
        target = MOVES[self.state, cause]
        self.history.append((cause.value, self.state.value, target.value))
        self.state = target

    def ended(self, outcome: Outcome, *, shared: bool, final: bool, now: Instant) -> None:
        """The end of an attempt, by the rules of DESIGN, written down a second time."""
        count = self.charges.count
        lost = count(Charge.LOSS) + count(Charge.SUSPECT) >= MOST_LOSSES
        if self.marked:
            cause, charge = Cause.CANCEL, Charge.NOTHING
        elif outcome is Outcome.SUCCEEDED:
            cause, charge = Cause.SUCCEED, Charge.ATTEMPT
        elif outcome is Outcome.CRASHED and shared:
            cause, charge = (Cause.EXHAUST if lost else Cause.REQUEUE), Charge.SUSPECT
        elif outcome is Outcome.LOST:
            cause, charge = (Cause.EXHAUST if lost else Cause.LOSE), Charge.LOSS
        elif outcome is Outcome.RELEASED:
            over = count(Charge.RELEASE) >= MOST_RELEASES
            cause, charge = (Cause.EXHAUST if over else Cause.RELEASE), Charge.RELEASE
        else:
            over = final or count(Charge.ATTEMPT) + 1 >= MOST_ATTEMPTS
            cause, charge = (Cause.EXHAUST if over else Cause.RETRY), Charge.ATTEMPT
            self.due = Instant(now + 10 * SECOND)
        self.charges.append(charge)
        self.until, self.marked = None, False
        self.move(cause)


class Walk(RuleBasedStateMachine):
    """Rules are what may happen; after each, the store and the model are compared."""

    bench_type: type[Bench]
    ids: Bundle[JobId] = Bundle("ids")
    stale: Bundle[tuple[JobId, ClaimId]] = Bundle("stale")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.bench = self.bench_type(Path(self.folder.name))
        self.story = Story(self.bench)
        self.model: dict[JobId, Model] = {}

    def teardown(self) -> None:
        self.bench.close()
        self.folder.cleanup()

    @property
    def now(self) -> Instant:
        return self.story.clock.now()

    # --- people ------------------------------------------------------------------------------------------------

    @rule(
        target=ids,
        delay=st.sampled_from([None, 0, 1, 10, 3600]),
        expires=st.sampled_from([None, None, 20, 7200]),
        priority=st.integers(1, 3),
    )
    def submit(self, delay: int | None, expires: int | None, priority: int) -> JobId:
        job = self.story.submit(delay=delay, expires=expires, priority=priority)
        due = Instant(self.now + (delay or 0) * SECOND)
        ends = None if expires is None else Instant(self.now + expires * SECOND)
        self.model[job] = Model(due, ends, self.now)
        return job

    @rule(job=ids)
    def cancel(self, job: JobId) -> None:
        model = self.model[job]
        if model.state in FINAL:
            self.refused(IllegalState, self.story.cancel, job)
        elif model.state is State.RUNNING:
            assert self.story.cancel(job).cancel_requested
            model.marked = True
        else:
            self.story.cancel(job)
            model.move(Cause.CANCEL)

    @rule(target=ids, job=ids)
    def retry(self, job: JobId) -> JobId:
        model = self.model[job]
        if model.state not in FINAL:
            self.refused(IllegalState, self.story.retry, job)
            return job
        if model.replay is not None and model.replay.state not in FINAL:
            self.refused(ReplayLive, self.story.retry, job)
            return job
        new = self.story.retry(job).id
        model.replay = self.model[new] = Model(self.now, None, self.now)
        return new

    def refused(self, error: type[Exception], ask: Any, job: JobId) -> None:
        before = self.story.dump()
        try:
            ask(job)
        except error:
            assert self.story.dump() == before
        else:
            raise AssertionError(f"{ask.__name__} of job {job} in {self.model[job].state} was not refused")

    # --- time --------------------------------------------------------------------------------------------------

    @rule(length=st.sampled_from([1, SECOND, 9 * SECOND, LEASE, HOUR]))
    def wait(self, length: Duration) -> None:
        self.story.clock.forward(length)

    @rule()
    def promote(self) -> None:
        come = [
            model
            for model in self.model.values()
            if model.state in {State.SCHEDULED, State.RETRYING} and model.due <= self.now
        ]
        assert self.story.promote() == len(come)
        for model in come:
            model.move(Cause.PROMOTE)

    @rule()
    def expire(self) -> None:
        late = [model for model in self.model.values() if model.expires is not None and model.expires <= self.now]
        waiting = [model for model in late if model.state in {State.SCHEDULED, State.QUEUED, State.RETRYING}]
        assert self.story.expire() == len(waiting)
        for model in waiting:
            model.move(Cause.EXPIRE)
        for model in late:
            model.expires = None  # looked at once

    # --- workers -----------------------------------------------------------------------------------------------

    @rule(job=ids)
    def claim(self, job: JobId) -> None:
        model = self.model[job]
        got = self.story.claim(job)
        assert bool(got) == (model.state is State.QUEUED)
        if got:
            model.move(Cause.CLAIM)
            model.until = Instant(self.now + LEASE)

    @rule(
        target=stale,
        job=ids,
        outcome=st.sampled_from(Outcome),
        shared=st.booleans(),
        final=st.sampled_from([False, False, False, True]),
    )
    def end(self, job: JobId, outcome: Outcome, *, shared: bool, final: bool) -> tuple[JobId, ClaimId]:
        model, pair = self.model[job], (job, self.story.claims.get(job, NOBODY))
        settled = self.story.end(job, outcome, shared=int(shared), final=final)
        if model.state is State.RUNNING:
            model.ended(outcome, shared=shared, final=final, now=self.now)
            assert settled.fenced == []
        else:
            assert settled.fenced == [pair]
        return pair

    @rule(pair=consumes(stale), outcome=st.sampled_from(Outcome))
    def end_again(self, pair: tuple[JobId, ClaimId], outcome: Outcome) -> None:
        """A worker that woke up late."""
        job, claim = pair
        before = self.story.dump()
        assert self.story.end(job, outcome, claim=claim).fenced == [pair]
        assert not self.story.renew(job, claim)
        assert self.story.lose(SeenLease(job, claim, self.now)) == []
        assert self.story.dump() == before

    @rule(job=ids)
    def renew(self, job: JobId) -> None:
        model = self.model[job]
        assert self.story.renew(job) == (model.state is State.RUNNING)
        if model.until is not None:
            model.until = max(model.until, Instant(self.now + LEASE))

    @precondition(lambda self: any(model.until is not None for model in self.model.values()))
    @rule()
    def sweep(self) -> None:
        gone = {job: model for job, model in self.model.items() if model.until is not None and model.until < self.now}
        assert sorted(self.story.lose_expired()) == sorted(gone)
        for model in gone.values():
            model.ended(Outcome.LOST, shared=False, final=False, now=self.now)

    # --- what always holds ---------------------------------------------------------------------------------------

    @invariant()
    def every_job_is_where_the_model_has_it(self) -> None:
        for job, model in self.model.items():
            assert self.story.store.read(lambda tx, job=job: jobs.where(tx, job)) == (  # type: ignore[misc]
                model.state,
                len(model.charges) + (model.state is State.RUNNING),
            )
        assert unsound(self.story.store) == []

    def check_histories(self) -> None:
        for job, model in self.model.items():
            assert self.story.moves(job) == model.history
            found = self.story.store.read(lambda tx, job=job: jobs.attempts(tx, job))  # type: ignore[misc]
            charges = [attempt.charge for attempt in found]
            assert charges == [*model.charges, *[None] * (model.state is State.RUNNING)]
            assert [attempt.number for attempt in found] == list(range(1, len(found) + 1))

    @rule()
    def look_at_all_histories(self) -> None:
        self.check_histories()


def walk_on(engine: str) -> Any:
    """The walk on one engine, as a test case."""
    machine: Any = type(f"WalkOn{engine.title().replace('-', '')}", (Walk,), {"bench_type": ENGINES[engine]})
    case = machine.TestCase
    case.settings = settings(max_examples=80 if engine == "memory" else 15, stateful_step_count=40)
    return case


TestWalkOnSqlite = walk_on("sqlite")
TestWalkInMemory = walk_on("memory")

__all__ = ["TestWalkInMemory", "TestWalkOnSqlite"]
