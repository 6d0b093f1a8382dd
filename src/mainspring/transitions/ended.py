"""End of an attempt: verdict, move, attempt row, event, all in one transaction. Used by dispatch and by the sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from mainspring.clock import instant_text
from mainspring.domain.attempt import Ending, Failure, Tally
from mainspring.domain.ids import ClaimId, JobId, WorkerId
from mainspring.domain.job import Link
from mainspring.domain.states import Cause, Charge, Outcome
from mainspring.domain.task import Lodging
from mainspring.domain.verdicts import SUCCESS, Verdict, after_ending, after_loss
from mainspring.domain.worker import WorkerState
from mainspring.store import at_once, jobs, lanes, rows, runs, workers
from mainspring.store.free_slots import FreeSlots
from mainspring.store.jobs import Left, Move
from mainspring.store.rows import Policy
from mainspring.store.runs import Glance
from mainspring.store.shapes import Shapes
from mainspring.store.transaction import Transaction
from mainspring.store.workers import SeenLease
from mainspring.transitions.advance import BUDGET, NOWHERE, Advanced
from mainspring.transitions.cancelled import cancel_below
from mainspring.transitions.moved import Known, enter

_FIRST = Tally()


class Report(NamedTuple):
    """An ending with what its holder knows of the job. ``link``: what it is in a run, if it is of one."""

    ending: Ending
    policy: Policy
    alone: bool
    link: Link | None = None


class Settled(NamedTuple):
    """What became of a batch of endings. ``fenced``: the claims that no longer owned their jobs; ``advanced``: runs."""

    verdicts: dict[JobId, Verdict]
    fenced: list[tuple[JobId, ClaimId]]
    advanced: Advanced = NOWHERE


def end(tx: Transaction, reports: Sequence[Report], actor: str, shapes: Shapes | None = None) -> Settled:
    """End these attempts where their claims still hold the leases; the others change nothing.

    ``shapes``: what was read of definitions before.
    """
    return Ends(tx, reports, actor, shapes).settle()


class Ends:
    """Ends that a transaction writes. ``advanced``: what they have led to in runs, before they are settled.

    Successes are sent on their way without waiting for the answer, where that can be, as the rest of the transaction
    needs it only where a run goes on. ``settle`` reads it: whoever makes these ends calls it before the commit.
    ``free``: slots for the jobs that runs let go.
    """

    def __init__(
        self,
        tx: Transaction,
        reports: Sequence[Report],
        actor: str,
        shapes: Shapes | None = None,
        free: FreeSlots | None = None,
    ) -> None:
        self._tx, self._actor = tx, actor
        self._free = free
        self._good, rest = _parted(reports) if tx.at_once else ([], reports)
        self._told = at_once.succeed(tx, [one.ending for one in self._good], actor) if self._good else set
        self._settled = Settled({}, [])
        self._alike: dict[WorkerId, bool] = {}
        self._links = {one.ending.job: one.link for one in reports if one.link is not None}
        if rest or self._links:
            left, seen = _leave(tx, _pairs(rest), list(self._links.values()), shapes or Shapes(), free)
            self._write(rest, left, seen)

    @property
    def advanced(self) -> Advanced:
        """What may be claimed in this transaction."""
        return self._settled.advanced

    def settle(self) -> Settled:
        """All of them are written."""
        if self._good:
            self._write([], {}, None)
        return self._settled

    def _write(self, rest: Sequence[Report], left: dict[JobId, Left], seen: Glance | None) -> None:
        """Write what was not written with the answer; ``rest`` has ``left`` its leases."""
        verdicts, fenced, advanced = self._settled
        succeeded, others = self._heard()
        verdicts.update(dict.fromkeys(succeeded, SUCCESS))
        if others:
            left |= jobs.leave_leased(self._tx, _pairs(others))[0]
        moves: list[Move] = []
        attempts: list[jobs.Tried] = []
        for report in (*rest, *others):
            ending = report.ending
            row = left.get(ending.job)
            if row is None or row.claim != ending.claim:
                fenced.append((ending.job, ending.claim))
                continue
            del left[ending.job]  # a report that came twice counts once
            verdict = verdicts[ending.job] = _verdict(self._tx, report, row, self._alike)
            details = None if ending.details is None else ending.details.decode()
            attempts.append((row, ending.outcome, verdict.charge, ending.sandbox, ending.failure, details))
            moves.append(_move(self._tx, row, verdict, ending, self._actor))
        of_runs = [job for job in succeeded if job in self._links]
        if moves or of_runs:
            advanced = _settle(self._tx, moves, attempts, self._actor, Known(self._links, seen, of_runs, self._free))
        self._settled = Settled(verdicts, fenced, advanced)

    def _heard(self) -> tuple[list[JobId], list[Report]]:
        """The jobs that have succeeded, and the reports of those of which something else is true."""
        good, self._good = self._good, []
        told = self._told() if good else set()
        succeeded: list[JobId] = []
        others: list[Report] = []
        for report in good:
            pair = report.ending.job, report.ending.claim
            if pair in told:
                told.discard(pair)  # a report that came twice counts once
                succeeded.append(report.ending.job)
            else:
                others.append(report)
        return succeeded, others


def _parted(reports: Sequence[Report]) -> tuple[list[Report], list[Report]]:
    """Successes with results of common length, and all others."""
    parts: tuple[list[Report], list[Report]] = [], []
    for one in reports:
        ending = one.ending
        common = ending.outcome is Outcome.SUCCEEDED and len(ending.result or b"") <= at_once.LONGEST
        parts[not common].append(one)
    return parts


def _pairs(reports: Sequence[Report]) -> list[tuple[JobId, ClaimId]]:
    return [(one.ending.job, one.ending.claim) for one in reports]


def _verdict(tx: Transaction, report: Report, row: Left, alike: dict[WorkerId, bool]) -> Verdict:
    return after_ending(
        _judged(tx, report.ending, row, alike),
        report.policy.retry,
        _FIRST if row.attempt == 1 else jobs.tally(tx, row.job),
        cancelled=row.cancel_at is not None,
        alone=report.alone,
        now=tx.now,
        fraction=tx.chance.fraction(),
    )


def _leave(
    tx: Transaction,
    pairs: Sequence[tuple[JobId, ClaimId]],
    links: Sequence[Link],
    shapes: Shapes,
    free: FreeSlots | None,
) -> tuple[dict[JobId, Left], Glance | None]:
    """End the leases, and look at what will most likely come next in the runs of their jobs, and under which rules."""
    if not links:
        return jobs.leave_leased(tx, pairs)[0], None
    nodes = list(dict.fromkeys((one.run, one.node) for one in links if one.item is None))
    tx.expect_ids(len(nodes))
    known = {key: below for key in nodes if (below := shapes.below(key)) is not None}
    unread = [key for key in nodes if key not in known]
    wanted = runs.glancing(tx, {one.run for one in links}, unread, BUDGET)
    if free is not None:
        wanted.append(lanes.asking_rules())
    left, answers = jobs.leave_leased(tx, pairs, *wanted)
    if free is not None:
        free.heed(lanes.rules_of(answers.pop()))
    seen = runs.glance(answers, unread, BUDGET)
    if seen.below is None:
        return left, seen
    shapes.learn(seen.held, seen.below)
    return left, seen._replace(below=seen.below | known)


def _judged(tx: Transaction, ending: Ending, row: Left, alike: dict[WorkerId, bool]) -> Ending:
    """Parameters that don't fit the code are refused again: no retry helps, unless it could meet other code."""
    if not ending.unfit or row.worker is None:
        return ending
    if row.worker not in alike:
        alike[row.worker] = _is_alike(tx, row.worker)
    return msgspec.structs.replace(ending, final=ending.final or alike[row.worker])


def _is_alike(tx: Transaction, worker: WorkerId) -> bool:
    """Whether all who could run a job of its app have the code of this worker, and no newer code is known."""
    own = workers.one(tx, worker)
    if own is None or own.outdated:
        return False
    active = (one for one in workers.all_workers(tx) if one.app == own.app and one.state is WorkerState.ACTIVE)
    return all(one.code_hash == own.code_hash for one in active)


def lose(tx: Transaction, seen: Sequence[SeenLease], actor: str) -> list[JobId]:
    """Take these jobs away from owners that stopped renewing; the jobs that were really lost."""
    moves: list[Move] = []
    attempts: list[jobs.Tried] = []
    for job, claim, until in seen:
        row = jobs.leave_lost(tx, job, claim, until)
        if row is None:
            continue  # renewed, ended or swept by another in the meantime
        alone = lanes.lodging_of(tx, row.lane) is Lodging.ALONE
        verdict = after_loss(
            jobs.policy_of(tx, job).retry, jobs.tally(tx, job), cancelled=row.cancel_at is not None, alone=alone
        )
        evidence = {"lease_ended": instant_text(until)}
        failure = Failure("LostWorker", "its worker stopped renewing the lease", evidence=evidence)
        attempts.append((row, Outcome.LOST, verdict.charge, "", failure, None))
        moves.append(_move(tx, row, verdict, None, actor))
    _settle(tx, moves, attempts, actor)
    return [move.left.job for move in moves]


def _settle(
    tx: Transaction,
    moves: Sequence[Move],
    attempts: Sequence[jobs.Tried],
    actor: str,
    known: Known | None = None,
) -> Advanced:
    """Write the attempts and make the moves; what a cancelled one had submitted ends with it."""
    if moves:
        jobs.insert_attempts(tx, attempts)
    advanced = enter(tx, moves, actor, known)
    for move in moves:
        if move.cause is Cause.CANCEL:
            cancel_below(tx, move.left.job, actor)
    return advanced


def _move(tx: Transaction, row: Left, verdict: Verdict, ending: Ending | None, actor: str) -> Move:
    """The move that a verdict asks for."""
    if verdict.cause is Cause.SUCCEED and ending is not None:
        return Move(row, Cause.SUCCEED, actor, result=(ending.result or b"null").decode())
    failure = None if verdict.failure is None else rows.text(verdict.failure)
    lane, due = None, verdict.due
    if verdict.cause in _GO_ON:
        lane = jobs.next_lane(tx, row, alone=verdict.alone)
        if due is None:  # no backoff: it keeps its place before those that came after it
            due = jobs.due_of(tx, row.job)
    return Move(row, verdict.cause, actor, due, lane, None, failure, _detail(verdict, ending))


_GO_ON = frozenset({Cause.RETRY, Cause.REQUEUE, Cause.RELEASE, Cause.LOSE})


def _detail(verdict: Verdict, ending: Ending | None) -> str | None:
    """What the event says beside the move."""
    values: dict[str, object] = {}
    if ending is not None:
        values["outcome"] = ending.outcome.value
    elif verdict.charge is Charge.LOSS:
        values["outcome"] = Outcome.LOST.value
    if verdict.due is not None:
        values["due"] = verdict.due
    if verdict.failure is not None:
        values["error"] = f"{verdict.failure.type}: {verdict.failure.message}"[:500]
    return rows.text(values) if values else None
