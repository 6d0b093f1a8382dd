"""How the tests bring jobs where they want them: by legal moves through the real functions, never by writing rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mainspring.clock import HOUR, MINUTE, SECOND, Duration, Instant
from mainspring.control import jobs as control_jobs
from mainspring.control import read, submit
from mainspring.control.catalog import declare
from mainspring.domain.attempt import Ending, Failure
from mainspring.domain.ids import ClaimId, JobId, WorkerId
from mainspring.domain.job import Job, JobRequest
from mainspring.domain.retry import Retry
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.domain.worker import WorkerState
from mainspring.store import Store, Transaction, jobs, lanes, runs, workers
from mainspring.store.jobs import Grant
from mainspring.store.rows import Policy
from mainspring.store.workers import Hello, SeenLease
from mainspring.transitions import ended, waiting
from mainspring.transitions.ended import Report, Settled
from tests.contract.engines import Bench, HandClock

LEASE = Duration(30 * SECOND)
BOOM = Failure("ValueError", "boom", types=("ValueError", "Exception"))
NOBODY = ClaimId(123_456_789)
"""A claim that nobody holds."""


def task(name: str = "shop.send", **values: Any) -> Task:
    """A task of an app, with no parameters asked for."""
    app = name.partition(".")[0]
    fields: dict[str, Any] = {
        "executor": Executor.ASYNC,
        "queue": app,
        "schema": {"type": "object"},
        "retry": Retry(max_attempts=2, max_losses=1, delay="10s", jitter=0).document(),
        "code_hash": "one",
    }
    return Task(name, app, **(fields | values))


def app_of(*tasks: Task, code_hash: str = "one") -> Catalog:
    """What an app with these tasks reports."""
    return Catalog(tasks[0].app, code_hash, tasks)


SHOP = app_of(
    task("shop.send"),
    task("shop.crunch", executor=Executor.PROCESS, sandbox="S1"),
    task("shop.once", retry=Retry(max_attempts=1, max_losses=0).document()),
    task("shop.mail", queue="mail"),
)


class Story:
    """A store with one app, one worker, and the verbs that happen to jobs."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.clock: HandClock = bench.clock
        self.store: Store = bench.open()
        declare(self.store, SHOP)
        self.worker = self.hello("alpha")
        self.claims: dict[JobId, ClaimId] = {}

    def hello(self, name: str, code_hash: str = "one") -> WorkerId:
        """A worker arrives and beats once."""
        hello = Hello(
            f"{name}-incarnation",
            name,
            "host",
            42,
            "shop",
            code_hash,
            "0.1.0",
            ["shop"],
            {"disk": "fast"},
            10,
            ["shop.send"],
            {},
        )

        def work(tx: Transaction) -> WorkerId:
            worker = workers.register(tx, hello)
            workers.beat(tx, worker, WorkerState.ACTIVE, LEASE)
            return worker

        return self.store.write(work)

    # --- what people ask ---------------------------------------------------------------------------------------

    def submit(self, task: str = "shop.send", *, parent: int | None = None, **values: Any) -> JobId:
        """One job."""
        return self.submit_many([JobRequest(task, **values)], parent=parent)[0]

    def submit_many(self, requests: Sequence[JobRequest], *, parent: int | None = None) -> list[JobId]:
        """Several, in one transaction."""
        above = None if parent is None else JobId(parent)
        return [one.job for one in submit.submit(self.store, requests, actor="client", parent=above)]

    def cancel(self, job: int) -> Job:
        return control_jobs.cancel(self.store, job, actor="ann")

    def retry(self, job: int) -> Job:
        return control_jobs.retry(self.store, job, actor="ann")

    # --- what time does ----------------------------------------------------------------------------------------

    def promote(self) -> int:
        return self.store.write(lambda tx: waiting.promote(tx, "sweeper"))

    def expire(self) -> int:
        return self.store.write(lambda tx: waiting.expire(tx, "sweeper"))

    def lose(self, *seen: SeenLease) -> list[JobId]:
        return self.store.write(lambda tx: ended.lose(tx, seen, "sweeper"))

    def lose_expired(self) -> list[JobId]:
        """What a sweep takes that has watched all leases long enough."""
        return self.lose(*self.seen())

    def seen(self) -> list[SeenLease]:
        """All leases, as a sweeper sees them."""
        return self.store.read(lambda tx: workers.sweep_look(tx, Instant(2**62)))[1]

    # --- what a worker does ------------------------------------------------------------------------------------

    def claim(self, *wanted: JobId, worker: WorkerId | None = None) -> dict[JobId, ClaimId]:
        """Claim these jobs, as far as they are in ready."""

        def work(tx: Transaction) -> dict[JobId, ClaimId]:
            left, _ = jobs.leave_ready(tx, wanted, lanes.read_map(tx).rules)
            grants = [Grant(row, ClaimId(tx.chance.claim_id())) for row in left.values()]
            jobs.enter_leased(tx, grants, worker or self.worker, Instant(tx.now + LEASE), "worker:1")
            return {grant.left.job: grant.claim for grant in grants}

        found = self.store.write(work)
        self.claims.update(found)
        return found

    def ending(self, job: JobId, outcome: Outcome, **values: Any) -> Ending:
        """The end of the job's last claim."""
        if outcome is Outcome.SUCCEEDED:
            values.setdefault("result", b"1")
        else:
            values.setdefault("failure", BOOM)
        return Ending(job, values.pop("claim", self.claims.get(job, NOBODY)), outcome, **values)

    def end(self, job: JobId, outcome: Outcome = Outcome.SUCCEEDED, **values: Any) -> Settled:
        """The job's last claim reports its end."""
        return self.end_all([self.ending(job, outcome, **values)])

    def end_all(self, endings: Sequence[Ending], *, alone: bool = False) -> Settled:
        def work(tx: Transaction) -> Settled:
            links = runs.links(tx, [one.job for one in endings])
            reports = [Report(one, self.policy(tx, one.job), alone, links.get(one.job)) for one in endings]
            return ended.end(tx, reports, "worker:1")

        return self.store.write(work)

    def policy(self, tx: Transaction, job: JobId) -> Policy:
        """The job's own policy; where there is no such job, any."""
        if jobs.where(tx, job) is None:
            return lanes.policy(tx, 1)
        return jobs.policy_of(tx, job)

    def renew(self, job: JobId, claim: ClaimId | None = None, until: Instant | None = None) -> bool:
        """The holder renews."""
        pair = (job, self.claims.get(job, NOBODY) if claim is None else claim)
        ends = Instant(self.clock.now() + LEASE) if until is None else until
        return job in self.store.write(lambda tx: jobs.renew(tx, [pair], ends))

    # --- whole ways --------------------------------------------------------------------------------------------

    def running(self, task: str = "shop.send", **values: Any) -> JobId:
        """A job that runs."""
        job = self.submit(task, **values)
        self.claim(job)
        return job

    def bring(self, state: State, **values: Any) -> JobId:
        """A job in this state, by legal moves. For NEW: an id that was never given."""
        job = self._brought(state, values)
        assert self.state(job) is state
        return job

    def _brought(self, state: State, values: dict[str, Any]) -> JobId:
        match state:
            case State.NEW:
                return JobId(999_999)
            case State.SCHEDULED:
                return self.submit(delay="5m", **values)
            case State.QUEUED:
                return self.submit(**values)
            case State.CANCELLED:
                return JobId(self.cancel(self.submit(**values)).id)
            case _:
                job = self.running(**values)
        if state is State.SUCCEEDED:
            self.end(job)
        elif state is not State.RUNNING:
            self.end(job, Outcome.FAILED, final=state is State.DEAD)
        return job

    # --- questions ---------------------------------------------------------------------------------------------

    def job(self, job: int) -> Job:
        return read.job(self.store, job)

    def state(self, job: int) -> State:
        """Where a job stands; NEW when there is none."""
        found = self.store.read(lambda tx: jobs.where(tx, job))
        return State.NEW if found is None else found[0]

    def moves(self, job: int) -> list[tuple[str, str, str]]:
        """A job's history: cause, from, to."""
        history = read.history(self.store, after=0, job=job, kinds=(), limit=1000)
        return [(event.cause.value, event.source.value, event.target.value) for event in history]

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        return self.bench.dump(self.store)


__all__ = ["BOOM", "HOUR", "LEASE", "MINUTE", "NOBODY", "SHOP", "Story", "app_of", "task"]
