"""Workers in the store: who is there, heartbeats, and the one statement that an idle worker asks each second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mainspring.clock import DAY, Duration, Instant
from mainspring.domain.ids import ClaimId, JobId, LaneId, WorkerId
from mainspring.domain.worker import Worker, WorkerState
from mainspring.store import rows
from mainspring.store.transaction import Transaction

LISTED = Duration(7 * DAY)
"""How long a worker that has ended is listed, and at least kept."""


class Hello(NamedTuple):
    """What a worker says of itself when it starts."""

    incarnation: str
    name: str
    host: str
    pid: int
    app: str
    code_hash: str
    version: str
    queues: Sequence[str]
    labels: dict[str, str]
    slots: int
    tasks: Sequence[str]
    pids: dict[str, Any]


class Other(NamedTuple):
    """Another worker of one's app."""

    queues: Sequence[str]
    labels: dict[str, str]
    slots: int


class SeenLease(NamedTuple):
    """A lease that has expired or soon will."""

    job: JobId
    claim: ClaimId
    until: Instant


class Poll(NamedTuple):
    """Everything an idle worker needs to know.

    ``drain_by``: who wants it to end; ``others``: the live workers of its app, as ``others_of`` reads them.
    """

    next_due: Instant | None
    claimable: bool
    cancels: list[tuple[JobId, ClaimId]]
    expiring: list[SeenLease]
    next_expiry: Instant | None
    lanes: str
    catalog: str
    drain_by: str | None
    others: str


def register(tx: Transaction, hello: Hello) -> WorkerId:
    """Record a worker; its number."""
    values = hello._asdict() | {
        "queues": rows.text(list(hello.queues)),
        "labels": rows.text(hello.labels),
        "tasks": rows.text(list(hello.tasks)),
        "pids": rows.text(hello.pids),
        "started": tx.now,
    }
    return WorkerId(tx.rows("worker/insert", **values)[0][0])


def beat(tx: Transaction, worker: WorkerId, state: WorkerState, lasts: Duration) -> None:
    """A heartbeat: it counts as alive for ``lasts``."""
    tx.rows("worker/beat", worker=worker, state=state.value, lasts=lasts)


def set_pids(tx: Transaction, worker: WorkerId, pids: dict[str, Any]) -> None:
    """The worker's processes have changed."""
    tx.rows("worker/set_pids", worker=worker, pids=rows.text(pids))


def set_slots(tx: Transaction, worker: WorkerId, slots: int) -> None:
    """The worker runs so many jobs at once from now on."""
    tx.rows("worker/set_slots", worker=worker, slots=slots)


def all_workers(tx: Transaction, limit: int = 1000) -> list[Worker]:
    """Workers, newest first: the living, and the newest that ended within LISTED."""
    return [rows.worker(row) for row in tx.rows("worker/all", since=tx.now - LISTED, limit=limit)]


def retire(tx: Transaction, silence: Duration) -> None:
    """Write down of workers that they have ended: those that stopped, and those that were silent for so long."""
    silent = tx.now - silence
    tx.rows("worker/retire", silent=silent)
    tx.rows("worker/hush", silent=silent)


def forget(tx: Transaction) -> int:
    """Take out workers that ended before LISTED, and before any job that is kept was submitted; how many."""
    oldest = tx.row("retention/oldest")
    before = tx.now - LISTED if oldest is None else min(tx.now - LISTED, oldest[0])
    return len(tx.rows("worker/forget", before=before))


def one(tx: Transaction, worker: int) -> Worker | None:
    """One worker."""
    found = tx.row("worker/one", worker=worker)
    return None if found is None else rows.worker(found)


def ask_drain(tx: Transaction, worker: int, actor: str) -> None:
    """Let it claim nothing more, and end when its jobs have; who asked first is kept."""
    tx.rows("worker/ask_drain", worker=worker, actor=actor)


class Question(NamedTuple):
    """What a worker's look is about; leases that end before ``horizon`` are listed.

    ``lanes``: each with where to begin in it: priority, due, job.
    """

    worker: WorkerId
    app: str
    lanes: Sequence[tuple[LaneId, int, Instant, JobId]]
    horizon: Instant


def poll(tx: Transaction, asked: Question) -> Poll:
    """Look at everything that may need this worker."""
    return _poll(tx.rows("worker/poll", **_asking(asked))[0])


def beat_and_poll(tx: Transaction, asked: Question, state: WorkerState, lasts: Duration) -> Poll:
    """A heartbeat and a look, in one statement."""
    return _poll(tx.rows("worker/beat_and_poll", **_asking(asked), state=state.value, lasts=lasts)[0])


def _asking(asked: Question) -> dict[str, Any]:
    return asked._asdict() | {"lanes": rows.text(asked.lanes)}


def _poll(row: rows.Row) -> Poll:
    due, claimable, cancels, expiring, expiry, lanes, generation, drain_by, others = row
    return Poll(
        due,
        bool(claimable),
        [(job, claim) for job, claim in rows.decode(cancels)],
        [SeenLease(*seen) for seen in rows.decode(expiring)],
        expiry,
        lanes,
        generation,
        drain_by,
        others,
    )


def others_of(text: str) -> list[Other]:
    """Read what a poll says of others."""
    return [Other(rows.shown(queues), rows.pairs(labels), slots) for queues, labels, slots in rows.decode(text)]


def sweep_look(tx: Transaction, horizon: Instant) -> tuple[Instant | None, list[SeenLease], Instant | None]:
    """Earliest due instant, leases that end before ``horizon``, earliest expiry."""
    due, expiring, expiry = tx.rows("worker/sweep_look", horizon=horizon)[0]
    return due, [SeenLease(*seen) for seen in rows.decode(expiring)], expiry
