"""Jobs in the store: births, moves between places, and questions. Each function works inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from mainspring.clock import Instant
from mainspring.domain.attempt import Attempt, Failure, Tally
from mainspring.domain.ids import ClaimId, JobId, LaneId, WorkerId
from mainspring.domain.job import Job, Link
from mainspring.domain.states import PLACE, Cause, Charge, Outcome, Place, State, next_state
from mainspring.domain.task import Lodging
from mainspring.store import alike, moves, rows
from mainspring.store.free_slots import FreeSlots
from mainspring.store.keys import Hold, rejecting
from mainspring.store.lanes import sibling
from mainspring.store.transaction import Transaction, Wanted


class Birth(NamedTuple):
    """All of a job that is written when it is submitted."""

    task: str
    lane: LaneId
    priority: int
    policy: int
    due: Instant
    expires: Instant | None
    parent: JobId | None
    replay_of: JobId | None
    tags: str | None
    meta: str | None
    params: str
    hold: Hold | None = None
    tick: str | None = None
    link: Link | None = None
    wants: str | None = None

    def of_node(self, params: str, link: Link, wants: str | None = None) -> Birth:
        """The same for a node of a run."""
        return Birth(*self[:10], params, None, None, link, wants)


class Left(NamedTuple):
    """A row that was removed from its place: the proof that its remover may move the job on."""

    job: JobId
    lane: LaneId
    priority: int
    attempt: int
    since: Instant
    state: State
    claim: ClaimId | None = None
    worker: WorkerId | None = None
    cancel_at: Instant | None = None
    details: str | None = None


class Grant(NamedTuple):
    """A claim about to be made."""

    left: Left
    claim: ClaimId


class Move(NamedTuple):
    """Where a job goes next. ``due`` for the due place; ``lane`` where it differs from the one it left."""

    left: Left
    cause: Cause
    actor: str
    due: Instant | None = None
    lane: LaneId | None = None
    result: str | None = None
    failure: str | None = None
    detail: str | None = None


class Head(NamedTuple):
    """A job that may be claimed next, in the order of claims."""

    priority: int
    due: Instant
    job: JobId


_NO_LINK = (None, None, None)

FIRST = Head(-(2**62), Instant(0), JobId(0))
"""Before every job."""


class Look(NamedTuple):
    """Lanes whose jobs need the same kind of room; of each at most so many jobs, and of all no more than ``total``."""

    lanes: Mapping[LaneId, int]
    total: int


MOST_LANES = 16
"""Lanes that one look goes into, those with the best first jobs (measured: docs/decisions/0021)."""


class Load(NamedTuple):
    """What is needed to run a job. ``wants``: what its parameters take from its run, as JSON."""

    task: str
    policy: int
    params: str
    expires: Instant | None
    tick: str | None = None
    link: Link | None = None
    wants: str | None = None


def load_of(birth: Birth, tick: str | None) -> Load:
    """What is needed to run a job that was just born. ``tick``: that of its run, where it is of one."""
    return Load(birth.task, birth.policy, birth.params, birth.expires, birth.tick or tick, birth.link, birth.wants)


# --- births -------------------------------------------------------------------------------------------------------


def new_ids(tx: Transaction, count: int) -> list[JobId]:
    """Ids for jobs that are about to be born."""
    return [JobId(number) for number in tx.job_ids(count)]


def insert(
    tx: Transaction, births: Sequence[Birth], actor: str, ids: Sequence[JobId] = (), free: FreeSlots | None = None
) -> list[JobId]:
    """Store new jobs with their places and first events; the ids, in order. ``ids``: where they were taken before.

    ``free``: slots of a worker that are for some of them; who gets one is leased at once, and never in ready.
    """
    ids = list(ids) or new_ids(tx, len(births))
    now = tx.now
    born: dict[tuple[Any, ...], dict[JobId, int | None]] = {}
    ready: dict[tuple[Any, ...], list[JobId]] = {}
    later, expiring = [], []
    grants: list[Grant] = []
    kind, group = None, {}
    first = 0  # claims of one birth are numbers in a row from a random one
    queued, scheduled = next_state(State.NEW, Cause.SUBMIT), next_state(State.NEW, Cause.SCHEDULE)
    submitted = (now, Cause.SUBMIT, State.NEW, queued, 0, actor, None)
    events: dict[tuple[Any, ...], list[JobId]] = {submitted: []}
    for job, birth in zip(ids, births, strict=True):
        task, lane, priority, policy, due, expires, parent, again, tags, meta, params, hold, tick, link, wants = birth
        rule = None if hold is None else hold.document
        run, node, item = link or _NO_LINK
        of = expires, parent, again, tags, meta, params, rule, tick, run, item, wants
        if (of, task, lane, priority, policy, due) != kind:
            kind = of, task, lane, priority, policy, due
            group = born.setdefault((task, lane, priority, policy, due, now, *of), {})
        group[job] = node
        if due <= now:
            events[submitted].append(job)
            if free is not None and free.take(birth):
                first = first or tx.chance.claim_id()
                grants.append(Grant(Left(job, lane, priority, 0, now, State.QUEUED), ClaimId(first + len(grants))))
            else:
                ready.setdefault((lane, priority, due, 0, now), []).append(job)
        else:
            later.append((job, due, State.SCHEDULED, lane, priority, 0, now))
            detail = rows.text({"due": due})
            events.setdefault((now, Cause.SCHEDULE, State.NEW, scheduled, 0, actor, detail), []).append(job)
        if expires is not None:
            expiring.append((job, expires))
    alike.write(tx, "job/insert", born, 0, 16)
    alike.write(tx, "job/enter_ready", ready, 0)
    if later:
        tx.many("job/enter_due", later)
    if expiring:
        tx.many("job/expect", expiring)
    if free is not None and grants:
        free.grants += grants
        events |= _leased(tx, grants, free.worker, Instant(now + free.lasts), actor)
    alike.write(tx, "event/insert", events, 0)
    return ids


# --- leaving a place ----------------------------------------------------------------------------------------------


def leave_waiting(tx: Transaction, job: JobId, cause: Cause) -> Left | None:
    """Take a waiting job out of due or ready; None when it is in neither.

    In this order, as PostgreSQL promotes between two statements: what has left due is found in ready.
    """
    found = tx.row(moves.LEAVE[Place.DUE, cause], job=job)
    if found is not None:
        return _left_waiting(found, State(found[5]))
    found = tx.row(moves.LEAVE[Place.READY, cause], job=job)
    return None if found is None else _left_waiting(found, State.QUEUED)


def _left_waiting(row: tuple[Any, ...], state: State) -> Left:
    job, lane, priority, attempt, since = row[:5]
    return Left(job, lane, priority, attempt, since, state)


def leave_due_come(tx: Transaction, limit: int) -> list[tuple[Left, Instant]]:
    """Take jobs whose due instant has come out of their place, with that instant."""
    found = tx.rows(moves.LEAVE[Place.DUE, Cause.PROMOTE], limit=limit)
    return [(_left_waiting(row, State(row[5])), row[6]) for row in found]


def leave_ready(
    tx: Transaction, jobs: Sequence[JobId], rules: int, born: Mapping[JobId, Load] = {}
) -> tuple[dict[JobId, Left], dict[JobId, Load]]:
    """Take these jobs out of ready, for a claim; those that were there, and what is needed to run them.

    None is taken when the rules of queues are not these any more. ``born``: what was born in this transaction.
    """
    asked: list[Wanted] = [(moves.LEAVE[Place.READY, Cause.CLAIM], {"jobs": rows.text(jobs), "rules": rules})]
    if unread := [job for job in jobs if job not in born]:
        asked.append(("job/load", {"jobs": rows.text(unread)}))
    left, *loads = tx.together(*asked)
    read = {row[0]: _load(*row) for row in loads[0]} if loads else {}
    return {row[0]: _left_waiting(row, State.QUEUED) for row in left}, {**born, **read}


def _load(*row: Any) -> Load:
    _, task, policy, params, expires, tick, run, node, item, wants = row
    return Load(task, policy, params, expires, tick, None if run is None else Link(run, node, item), wants)


def leave_leased(
    tx: Transaction, pairs: Sequence[tuple[JobId, ClaimId]], *also: Wanted
) -> tuple[dict[JobId, Left], list[list[rows.Row]]]:
    """End the leases that these claims still hold. A job that is missing in the answer is fenced.

    ``also``: what else is to be asked, for the same wait; its answers.
    """
    if not pairs:
        return {}, tx.together(*also)
    found, *others = tx.together((moves.LEAVE[Place.LEASED, Cause.SUCCEED], pairs), *also)
    return {row[0]: _left_lease(row) for row in found}, others


def leave_lost(tx: Transaction, job: JobId, claim: ClaimId, until: Instant) -> Left | None:
    """End a lease that has expired by the database's clock and is still as it was seen."""
    found = tx.row(moves.SWEPT, job=job, claim=claim, until=until)
    return None if found is None else _left_lease(found)


def _left_lease(row: tuple[Any, ...]) -> Left:
    job, claim, lane, priority, attempt, since, worker, cancel_at, details = row
    return Left(job, lane, priority, attempt, since, State.RUNNING, claim, worker, cancel_at, details)


# --- entering a place ---------------------------------------------------------------------------------------------


def enter(tx: Transaction, batch: Sequence[Move]) -> None:
    """Put jobs that left a place into the next one and record the events. The table names the target."""
    ready, due, ended, events = [], [], [], []
    now = tx.now
    for move in batch:
        left, cause = move.left, move.cause
        target = next_state(left.state, cause)
        if target is None:
            raise AssertionError(f"the state table has no {cause} from {left.state}")
        at = max(now, left.since)
        events.append((left.job, at, cause, left.state, target, left.attempt, move.actor, move.detail))
        lane = left.lane if move.lane is None else move.lane
        place = PLACE[target]
        if place is Place.ENDED:
            started = left.since if left.state is State.RUNNING else None
            ended.append((target, left.attempt, started, at, left.worker, move.result, move.failure, left.job))
        elif place is Place.READY:
            ready.append((left.job, lane, left.priority, now if move.due is None else move.due, left.attempt, at))
        else:
            due.append((left.job, move.due, target, lane, left.priority, left.attempt, at))
    for name, values in ((Place.READY, ready), (Place.DUE, due), (Place.ENDED, ended)):
        if values:
            tx.many(moves.ENTER[name], values)
    if events:
        tx.many("event/insert", events)


def enter_leased(tx: Transaction, grants: Sequence[Grant], worker: WorkerId, until: Instant, actor: str) -> None:
    """Give these jobs to a worker: lease rows with numbered attempts, and events."""
    alike.write(tx, "event/insert", _leased(tx, grants, worker, until, actor), 0)


def _leased(
    tx: Transaction, grants: Sequence[Grant], worker: WorkerId, until: Instant, actor: str
) -> dict[tuple[Any, ...], list[JobId]]:
    """Lease rows with numbered attempts; the events that are to be recorded of it."""
    leases: dict[tuple[Any, ...], dict[JobId, ClaimId]] = {}
    events: dict[tuple[Any, ...], list[JobId]] = {}
    now = tx.now
    claimed = Cause.CLAIM
    running = next_state(State.QUEUED, Cause.CLAIM)
    queued = State.QUEUED
    for left, claim in grants:
        at = max(left.since, now)
        number = left.attempt + 1
        leases.setdefault((number, worker, until, at, left.lane, left.priority), {})[left.job] = claim
        events.setdefault((at, claimed, queued, running, number, actor, None), []).append(left.job)
    alike.write(tx, moves.ENTER[Place.LEASED], leases, 0, 1)
    return events


Tried = tuple[Left, Outcome, Charge, str, Failure | None, str | None]
"""An attempt at its end: what left, outcome, charge, sandbox, failure, details."""


def insert_attempts(tx: Transaction, batch: Sequence[Tried]) -> None:
    """Write attempts at their end."""
    now = tx.now
    tx.many(
        "attempt/insert",
        [
            (
                left.job,
                left.attempt,
                outcome,
                charge,
                left.worker,
                left.since,
                max(now, left.since),
                sandbox,
                None if failed is None else rows.text(failed),
                left.details if details is None else details,
            )
            for left, outcome, charge, sandbox, failed, details in batch
        ],
    )


# --- leases -------------------------------------------------------------------------------------------------------


def renew(tx: Transaction, pairs: Iterable[tuple[JobId, ClaimId]], until: Instant) -> set[JobId]:
    """Extend these claims' leases; the jobs still held. A job that is missing is fenced."""
    return {row[0] for row in tx.many("job/renew", [(until, job, claim) for job, claim in pairs])}


def leased_by(tx: Transaction, worker: WorkerId) -> list[tuple[JobId, ClaimId, LaneId]]:
    """The claims of a worker, whether it knows them or not."""
    return [(job, claim, lane) for job, claim, lane in tx.rows("job/leased_by", worker=worker)]


def mark_cancel(tx: Transaction, job: JobId, actor: str) -> bool:
    """Ask the holder of the lease to stop. False when the job does not run."""
    return bool(tx.rows("job/mark_cancel", job=job, actor=actor))


def note_details(tx: Transaction, notes: Iterable[tuple[str, JobId, ClaimId]]) -> None:
    """Keep what running code last said of its progress: (details, job, claim)."""
    tx.many("job/note_details", notes)


# --- claims -------------------------------------------------------------------------------------------------------


def heads(
    tx: Transaction, looks: Sequence[Look], marks: Mapping[LaneId, Head], tasks: Sequence[str] | None
) -> list[tuple[LaneId, Head]]:
    """The first jobs that these looks find, best first, held against other workers until this transaction ends.

    ``marks``: where to begin in a lane; ``tasks``: only of these tasks, and then nothing is held. Of many lanes a look
    goes only into those with the best first jobs.
    """
    if tasks is not None:
        return _merged(_known_heads(tx, looks, tasks))
    begins: list[rows.Row] = [(lane, *marks.get(lane, FIRST)) for look in looks for lane in look.lanes]
    if len(begins) > 1:
        begins = tx.rows("lane/firsts", lanes=rows.text(begins))
    asked = []
    for look in looks:
        lanes = [(*begin, look.lanes[begin[0]]) for begin in begins if begin[0] in look.lanes][:MOST_LANES]
        if len(lanes) == 1:
            lane, priority, due, job, limit = lanes[0]
            mark = {"from_priority": priority, "from_due": due, "from_job": job}
            asked.append(("job/reserve", {"lane": lane, "limit": limit, **mark}))
        elif lanes:
            asked.append(("job/heads", {"lanes": rows.text(lanes), "total": look.total}))
    return _merged(tx.together(*asked))


def _known_heads(tx: Transaction, looks: Sequence[Look], tasks: Sequence[str]) -> list[list[rows.Row]]:
    known = rows.text(tasks)
    wanted = [each for look in looks for each in look.lanes.items()]
    return tx.together(*(("job/heads_known", {"lane": lane, "limit": most, "tasks": known}) for lane, most in wanted))


def _merged(answers: Sequence[Sequence[rows.Row]]) -> list[tuple[LaneId, Head]]:
    found = [(lane, Head(priority, due, job)) for answer in answers for lane, priority, due, job in answer]
    if len(answers) > 1:
        found.sort(key=itemgetter(1))
    return found


def ready_lane(tx: Transaction, job: JobId, tasks: Sequence[str] | None) -> LaneId | None:
    """The lane of a job that may start now; None where it may not. With ``tasks``, only of these tasks."""
    found = tx.rows("job/ready_lane", job=job)
    return LaneId(found[0][0]) if found and (tasks is None or found[0][1] in tasks) else None


def tally(tx: Transaction, job: JobId) -> Tally:
    """What the earlier attempts were charged to, counted from their rows."""
    counts = dict(tx.rows("job/tally", job=job))
    return Tally(
        attempts=counts.get(Charge.ATTEMPT, 0),
        losses=counts.get(Charge.LOSS, 0),
        suspects=counts.get(Charge.SUSPECT, 0),
        releases=counts.get(Charge.RELEASE, 0),
    )


def last_details(tx: Transaction, job: JobId) -> str | None:
    """The heartbeat details that an earlier attempt left."""
    found = tx.row("job/last_details", job=job)
    return None if found is None else found[0]


def policy_of(tx: Transaction, job: JobId) -> rows.Policy:
    """How a job is retried and timed."""
    return rows.policy(tx.rows("job/policy_of", job=job)[0][0])


def next_lane(tx: Transaction, left: Left, *, alone: bool) -> LaneId:
    """The lane for the next attempt: alone, or back in the shared one."""
    wanted = Lodging.ALONE if alone else Lodging.SHARED
    lodging = tx.rows("lane/one", lane=left.lane)[0][2]
    if lodging in {Lodging.PROCESS, wanted}:
        return left.lane
    return sibling(tx, left.lane, wanted)


# --- expiry -------------------------------------------------------------------------------------------------------


def expired(tx: Transaction, limit: int) -> list[JobId]:
    """Jobs past their stated expiry."""
    return [row[0] for row in tx.rows("job/expired", limit=limit)]


def forget_expiry(tx: Transaction, jobs: Iterable[JobId]) -> None:
    """Their expiry was acted on or no longer matters."""
    tx.many("job/forget_expiry", [(job,) for job in jobs])


# --- questions ----------------------------------------------------------------------------------------------------


def job(tx: Transaction, number: int) -> Job | None:
    """One job."""
    found = tx.row("job/one", job=number)
    return None if found is None else rows.job(found)


def outside(tx: Transaction, found: Sequence[JobId], queues: Sequence[str] | None) -> set[JobId]:
    """Those of these jobs that are in other queues than these; None: in none, as all are meant."""
    if queues is None or not found:
        return set()
    answers = tx.together(*(("job/one", {"job": job}) for job in found))
    return {
        job for job, answer in zip(found, answers, strict=True) if answer and rows.job(answer[0]).queue not in queues
    }


def where(tx: Transaction, number: int) -> tuple[State, int] | None:
    """State and last attempt number of a job."""
    found = tx.row("job/where", job=number)
    return None if found is None else rows.standing(found)


def unfinished_descendants(tx: Transaction, number: int) -> list[JobId]:
    """Jobs that this one submitted, directly or through others, and that have not ended."""
    return [row[0] for row in tx.rows("job/unfinished_descendants", job=number)]


def due_of(tx: Transaction, job: JobId) -> Instant:
    """When a job was first to run: its place among those that wait."""
    return Instant(tx.rows("job/due_of", job=job)[0][0])


def last_replay(tx: Transaction, number: int) -> tuple[JobId, State | None] | None:
    """The newest replay of a job and its final state (None while it lives)."""
    found = tx.row("job/last_replay", job=number)
    return None if found is None else (found[0], None if found[1] is None else State(found[1]))


def again(tx: Transaction, number: int) -> Birth:
    """The birth that a replay of this job needs. It takes the unique key again, and must not find it held."""
    task, lane, priority, policy, params, tags, meta, _, rule, tick = tx.rows("job/again", job=number)[0]
    hold = None if rule is None else rejecting(rule)
    return Birth(task, lane, priority, policy, tx.now, None, None, JobId(number), tags, meta, params, hold, tick)


def attempts(tx: Transaction, number: int) -> list[Attempt]:
    """The attempts of a job, the running one last."""
    return [rows.attempt(row) for row in tx.rows("attempt/of_job", job=number)]
