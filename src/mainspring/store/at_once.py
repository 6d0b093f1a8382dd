"""Moves that are made whole, with all that is written of them, where the engine can (``tx.at_once``).

Step by step (jobs.py) each row is read, decided about, and written again in up to three places. What needs no decision
in between is moved as a set. On PostgreSQL that is one statement, as each that waits for the one before costs two
switches between processes. SQLite waits for nobody, but each row that is bound and written by itself costs as much as
the writing: there it is one statement for each place, by the numbers of the jobs, and as nobody else writes meanwhile
what the first has read is true for all. Both ways write the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from mainspring.clock import Duration, Instant
from mainspring.domain.attempt import Ending
from mainspring.domain.ids import ClaimId, JobId, WorkerId
from mainspring.domain.job import Link
from mainspring.domain.states import State
from mainspring.store import rows
from mainspring.store.catalog import Ground
from mainspring.store.jobs import Head, Left, Load
from mainspring.store.lanes import Lane
from mainspring.store.transaction import Transaction

Told = Callable[[], set[tuple[JobId, ClaimId]]]
"""Asked later, those of which that was true."""

LONGEST = 65_536
"""Bytes of a result that goes with others; a longer one is better written by itself."""


class Wish(NamedTuple):
    """What a worker wants: so many jobs of a lane from a mark on, under these rules, but none that it holds."""

    lane: Lane
    mark: Head
    limit: int
    rules: int
    held: Collection[JobId]


class Taken(NamedTuple):
    """A job that was taken out of ready. ``claim`` None: its stated expiry has come, and nobody holds it."""

    left: Left
    due: Instant
    claim: ClaimId | None
    load: Load

    @property
    def head(self) -> Head:
        """Its place in the order of claims."""
        return Head(self.left.priority, self.due, self.left.job)


class Order(NamedTuple):
    """Jobs of one kind that are to run now. ``declaration``: what they were checked against.

    ``jobs``: of each its priority, tags, metadata and parameters.
    """

    ground: Ground
    declaration: str
    parent: JobId | None
    jobs: Sequence[tuple[int, str | None, str | None, str]]


def submit(tx: Transaction, order: Order, actor: str) -> list[JobId]:
    """Store them where all that they stand on is there already, and as it was; their ids. Else none, and no row."""
    ground = order.ground
    answer = tx.ask(
        "job/submit",
        order.jobs,
        task=ground.task,
        declaration=order.declaration,
        document=ground.policy,
        parent=order.parent,
        actor=actor,
        **ground.kind.values(),
    )
    return [row[0] for row in answer()]


def claim(tx: Transaction, wish: Wish, worker: WorkerId, lasts: Duration, actor: str) -> list[Taken]:
    """Lease the first jobs of a lane, best first. None when there are none, and under other rules."""
    if tx.one_writer:
        return _claim_as_set(tx, wish, worker, lasts, actor)
    return _asked(tx, wish, worker, lasts, actor, late=True)()


def claim_blindly(
    tx: Transaction, wish: Wish, worker: WorkerId, lasts: Duration, actor: str
) -> Callable[[], list[Taken]]:
    """The same for a transaction that is committed before anybody has seen what it took; to ask waits for it.

    Jobs whose stated expiry has come are left where they are, as somebody must end them.
    """
    return _asked(tx, wish, worker, lasts, actor, late=False)


def _asked(  # noqa: PLR0913 - a statement
    tx: Transaction, wish: Wish, worker: WorkerId, lasts: Duration, actor: str, *, late: bool
) -> Callable[[], list[Taken]]:
    owner = {"first": tx.chance.claim_id(), "worker": worker, "lasts": lasts, "late": late}
    answer = tx.ask("job/claim", (), **_wanted(wish), **owner, actor=actor)
    return lambda: [_taken(row, row[6]) for row in answer()]


def _wanted(wish: Wish) -> dict[str, Any]:
    priority, due, job = wish.mark
    return {
        "lane": wish.lane.id,
        "from_priority": priority,
        "from_due": due,
        "from_job": job,
        "limit": wish.limit,
        "rules": wish.rules,
        "held": rows.text(list(wish.held)),
    }


def _claim_as_set(tx: Transaction, wish: Wish, worker: WorkerId, lasts: Duration, actor: str) -> list[Taken]:
    """The same where nobody else writes meanwhile."""
    first = tx.chance.claim_id()
    taken: list[Taken] = []
    fresh: list[JobId] = []
    for row in tx.rows("job/claimable", **_wanted(wish)):
        lives = row[10] is None or row[10] > tx.now
        taken.append(_taken(row, ClaimId(first + len(fresh)) if lives else None))
        if lives:
            fresh.append(row[0])
    if not taken:
        return []
    leased = rows.text(fresh)
    every = leased if len(fresh) == len(taken) else rows.text([one.left.job for one in taken])
    tx.rows("job/enter_lease_set", jobs=leased, first=first, worker=worker, lasts=lasts)
    tx.rows("event/insert_claims", jobs=leased, actor=actor)
    tx.rows("job/leave_ready_set", jobs=every)
    return taken


def _taken(row: rows.Row, claim: ClaimId | None) -> Taken:
    """A row of ``job/claim`` or of ``job/claimable``."""
    job, lane, priority, due, attempt, since, _, task, policy, params, expires, tick, run, node, item, wants = row
    link = None if run is None else Link(run, node, item)
    load = Load(task, policy, params, expires, tick, link, wants)
    return Taken(Left(job, lane, priority, attempt, since, State.QUEUED), due, claim, load)


def succeed(tx: Transaction, endings: Sequence[Ending], actor: str) -> Told:
    """End these attempts as succeeded; asked later, those of which that was true.

    The others are fenced, or somebody has asked to cancel them.
    """
    if tx.one_writer:
        told = _succeed_as_set(tx, {one.job: one for one in endings}, actor)
        return lambda: told
    batch = [(one.job, one.claim, _result(one), one.sandbox, _details(one)) for one in endings]
    answer = tx.ask("job/succeed", batch, actor=actor)
    return lambda: set(answer())


def _succeed_as_set(tx: Transaction, endings: dict[JobId, Ending], actor: str) -> set[tuple[JobId, ClaimId]]:
    """The same where nobody else writes meanwhile; of two ends of a job only the last is looked at."""
    holding = tx.rows("job/holding", claims=rows.text({job: one.claim for job, one in endings.items()}))
    good = [endings[row[0]] for row in holding]
    if not good:
        return set()
    alike: dict[tuple[str, str | None], list[JobId]] = {}
    for one in good:
        alike.setdefault((one.sandbox, _details(one)), []).append(one.job)
    for (sandbox, details), these in alike.items():
        tx.rows("attempt/insert_set", jobs=rows.text(these), sandbox=sandbox, details=details)
    tx.rows("job/enter_ended_set", results=rows.text({one.job: _result(one) for one in good}))
    every = rows.text([one.job for one in good])
    tx.rows("event/insert_successes", jobs=every, actor=actor)
    tx.rows("job/leave_lease_set", jobs=every)
    return {(one.job, one.claim) for one in good}


def _result(one: Ending) -> str:
    return (one.result or b"null").decode()


def _details(one: Ending) -> str | None:
    return None if one.details is None else one.details.decode()
