"""Birth: insert jobs, and settle who holds the unique keys. For submits, replays, and (later) schedules and runs."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.clock import Instant
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, Receipt
from mainspring.domain.states import Cause, State, next_state
from mainspring.errors import InvalidOption, KeyHeld, StoreBusy
from mainspring.store import jobs, keys, rows
from mainspring.store.catalog import Ground
from mainspring.store.jobs import Birth
from mainspring.store.keys import Holder, Key, Wanted
from mainspring.store.transaction import Transaction
from mainspring.transitions.cancelled import cancel_below
from mainspring.transitions.waiting import cancel_waiting

__all__ = ["Birth", "as_born", "born"]

_TRIES = 5
"""How often a key is looked at again that others let go and took in between."""


def born(tx: Transaction, births: Sequence[Birth], actor: str, kept_to: Sequence[str] | None = None) -> list[Receipt]:
    """Store the jobs, all in this transaction, and answer in order which job each birth led to.

    ``kept_to``: the queues that whoever asks is kept to, so that they are shown no job of another one; None: to none.
    Raises KeyHeld for a unique key that another job holds and that was to be free, or that a job out of their reach
    holds; it has the ``index`` of the birth.
    """
    if not births:
        return []
    if all(birth.hold is None for birth in births):
        return [Receipt(job) for job in jobs.insert(tx, births, actor)]
    ids = jobs.new_ids(tx, len(births))
    leads, wanted = _within(births, ids)
    held = _settled(tx, wanted, ids, actor, kept_to) if wanted else {}
    stored = [
        (birth, job)
        for birth, job in zip(births, ids, strict=True)
        if leads[job] == job and (birth.hold is None or (birth.task, birth.hold.key) not in held)
    ]
    if stored:
        jobs.insert(tx, [birth for birth, _ in stored], actor, [job for _, job in stored])
    new = {job for _, job in stored}
    receipts = []
    for birth, job in zip(births, ids, strict=True):
        holder = None if birth.hold is None else held.get((birth.task, birth.hold.key))
        receipts.append(Receipt(leads[job] if holder is None else holder, job in new))
    return receipts


def as_born(job: JobId, birth: Birth, ground: Ground, at: Instant) -> Job:
    """A job that was born at an instant, as a question would have shown it then. Not for jobs of runs."""
    policy = rows.policy(ground.policy).document
    born = next_state(State.NEW, Cause.SUBMIT if birth.due <= at else Cause.SCHEDULE)
    if born is None:
        raise AssertionError("the state table has no birth")
    return Job(
        id=job,
        task=birth.task,
        state=born,
        queue=ground.kind.queue,
        priority=birth.priority,
        params=rows.shown(birth.params),
        result=None,
        error=None,
        attempt=0,
        max_attempts=policy["retry"]["max_attempts"],
        retry=dict(policy["retry"]),
        timeout=policy["timeout"],
        run_at=birth.due,
        created_at=at,
        started_at=None,
        finished_at=None,
        expires_at=birth.expires,
        worker=None,
        tags=rows.pairs(birth.tags),
        meta=rows.shown(birth.meta),
        parent=birth.parent,
        replay_of=birth.replay_of,
        replayed_by=None,
        cancel_requested=False,
        tick=rows.tick(birth.tick),
    )


def _within(births: Sequence[Birth], ids: Sequence[JobId]) -> tuple[dict[JobId, JobId], dict[Key, Wanted]]:
    """Births of one submit with the same key: by id the one that is stored in its place, and who wants which key."""
    leads = {job: job for job in ids}
    wanted: dict[Key, Wanted] = {}
    for index, (birth, job) in enumerate(zip(births, ids, strict=True)):
        if birth.hold is None:
            continue
        key = (birth.task, birth.hold.key)
        earlier = wanted.get(key)
        if earlier is None or birth.hold.on_conflict == "replace":
            wanted[key] = Wanted(job, birth.hold)
        elif birth.hold.on_conflict == "reject":
            doubled = InvalidOption(
                f"Two jobs of this submit have the unique key {birth.hold.key!r}.",
                remedy="Leave one out, or choose on_conflict='return'.",
                field="unique",
            )
            doubled.index = index
            raise doubled
    for birth, job in zip(births, ids, strict=True):
        if birth.hold is not None:
            leads[job] = wanted[birth.task, birth.hold.key].job
    return leads, dict(sorted(wanted.items()))  # one order for all, so that none waits for another in a ring


def _settled(
    tx: Transaction, wanted: dict[Key, Wanted], ids: Sequence[JobId], actor: str, kept_to: Sequence[str] | None
) -> dict[Key, JobId]:
    """Take the keys; the holders of those that are given back to the submitter as they are."""
    held: dict[Key, JobId] = {}
    open_ = dict(wanted)
    for _ in range(_TRIES):
        for key in keys.take(tx, open_):
            del open_[key]
        free: dict[Key, tuple[Wanted, JobId]] = {}
        found = keys.look(tx, open_) if open_ else []
        foreign = jobs.outside(tx, [holder.job for holder in found if not holder.released], kept_to)
        for holder in found:
            key = (holder.task, holder.key)
            try:
                if holder.job in foreign:
                    raise _held_elsewhere(holder)
                room = holder.released or _replaced(tx, open_[key], holder, actor)
            except KeyHeld as error:
                error.index = ids.index(open_[key].job)
                raise
            if room:
                free[key] = open_[key], holder.job
            elif open_[key].hold.on_conflict == "return":
                held[key] = holder.job
                del open_[key]
        for key in keys.retake(tx, free) if free else ():
            del open_[key]
        if not open_:
            return held
    raise StoreBusy("The unique keys of this submit kept changing hands.", remedy="Try again.")


def _held_elsewhere(holder: Holder) -> KeyHeld:
    """Neither which job it is, nor whether it runs: that is not for whoever asks."""
    return KeyHeld(
        f"a job outside your queues holds the unique key {holder.key!r} of {holder.task}.",
        job=0,
        remedy="Use another key, or submit again when that job has ended.",
    )


def _replaced(tx: Transaction, wanted: Wanted, holder: Holder, actor: str) -> bool:
    """Whether the holder has made room. Raises KeyHeld where it must stay. False as well when it has just started."""
    rule = wanted.hold.on_conflict
    if rule == "replace" and holder.waits:
        if not cancel_waiting(tx, holder.job, actor, replaced_by=wanted.job):
            return False
        cancel_below(tx, holder.job, actor)  # what its earlier attempts had submitted
        return True
    if rule == "return":
        return False
    why = "" if rule == "reject" else " and has started"
    raise KeyHeld(
        f"job {holder.job} holds the unique key {holder.key!r} of {holder.task}{why}.",
        job=holder.job,
        remedy=f"See: mainspring job {holder.job}",
    )
