"""What is checked at rest, when every fault is over and every job should have ended: tables against the ledger."""

from __future__ import annotations

import itertools

import msgspec

from mainspring.clock import SECOND, Duration, duration_text
from mainspring.domain.ids import JobId
from mainspring.domain.retry import MOST_RELEASES
from mainspring.domain.states import FINAL, Cause, Charge, Outcome, State
from mainspring.engine.enforce import PATIENCE
from mainspring.store import Store, Transaction, audit
from mainspring.store.audit import Tried, Written
from mainspring.testing.judge import Judge
from mainspring.testing.ledger import Run
from mainspring.testing.virtual import NEVER

GUARD_BOUND = Duration(5 * SECOND)
"""How long code may outlive its lease."""

STOPPED_WITHIN = PATIENCE
"""How long an attempt that can be stopped may take to end when its worker sees that its lease is gone: as long as
dispatch waits before it looks after one that it has asked."""


class Rest:
    """One look at everything."""

    def __init__(self, judge: Judge, store: Store, lease: Duration) -> None:
        self._judge = judge
        self._ledger = judge.ledger
        self._lease = lease
        self._store = store
        self._jobs: dict[JobId, Written] = {}
        self._attempts: dict[JobId, list[Tried]] = {}

    def check(self) -> None:
        """Accuse whatever does not hold."""
        self._store.read(self._read)
        self._wishes()
        for job in self._jobs.values():
            self._end(job)
            self._charges(job)
            self._numbers(job)
            self._overlaps(job.id)
        self._cancels()

    def _read(self, tx: Transaction) -> None:
        self._jobs = {job.id: job for job in audit.written(tx)}
        for tried in audit.tried(tx):
            self._attempts.setdefault(tried.job, []).append(tried)
        for number, places in audit.misplaced(tx):
            self._judge.accuse("I2", number, f"it is in {places} places")
        for table, number in audit.strays(tx):
            self._judge.accuse("I2", number, f"{table} has a row of it, but there is no such job")
        for number in self._jobs.keys() - self._judge.tracks.keys():
            self._judge.accuse("I3", number, "it has no history")
        for number, track in self._judge.tracks.items():
            if number not in self._jobs:
                self._judge.accuse("I1", number, f"it was {track.state} and is gone")
            elif track.end is not None and (now := audit.ended(tx, number)) != track.end:
                self._judge.accuse("I5", number, f"its end was rewritten: {track.end} became {now}")

    # --- one job ----------------------------------------------------------------------------------------------

    def _end(self, job: Written) -> None:
        """I5: one final end, and the result of the attempt that it names. V2: an end at all."""
        track = self._judge.tracks.get(job.id)
        if track is None:
            return
        if job.state is None or track.state not in FINAL:
            self._judge.accuse("V2", job.id, f"it is still {track.state} with every fault over")
            return
        if (job.state, job.attempt) != (track.state, track.attempt):
            text = f"its row says {job.state} by attempt {job.attempt}, its history {track.state} by {track.attempt}"
            self._judge.accuse("I5", job.id, text)
        if job.state is State.SUCCEEDED:
            self._result(job)
        elif job.result is not None:
            self._judge.accuse("I5", job.id, f"it is {job.state} and has the result {job.result}")
        expired = job.expires is not None and job.state is State.DEAD
        if not track.started and job.state is not State.CANCELLED and not expired:
            self._judge.accuse("I1", job.id, f"it is {job.state} and was never started")

    def _result(self, job: Written) -> None:
        _, attempt, claim = msgspec.json.decode(job.result or "[0,0,0]")
        run = self._ledger.by_claim.get(claim)
        if run is None or run.how != "succeeded" or run.result != (job.result or "").encode():
            self._judge.accuse("I5", job.id, f"nothing that ran has returned its result {job.result}")
        elif attempt != job.attempt:
            self._judge.accuse("I5", job.id, f"it names attempt {job.attempt}, the result is of attempt {attempt}")

    def _charges(self, job: Written) -> None:
        """I6: no more attempts, losses and releases than the policy allows."""
        charges = [tried.charge for tried in self._attempts.get(job.id, [])]
        retry = job.policy.retry
        losses = charges.count(Charge.LOSS) + charges.count(Charge.SUSPECT)
        for what, count, most in (
            ("charged attempts", charges.count(Charge.ATTEMPT), retry.max_attempts),
            ("losses", losses, retry.max_losses + 1),
            ("releases", charges.count(Charge.RELEASE), MOST_RELEASES + 1),
        ):
            if count > most:
                self._judge.accuse("I6", job.id, f"{count} {what}, at most {most} are allowed")

    def _numbers(self, job: Written) -> None:
        """I3, I4, I8: attempts 1..k, one after the other, none before the job was due."""
        attempts = self._attempts.get(job.id, [])
        if job.state is not None and [tried.number for tried in attempts] != list(range(1, (job.attempt or 0) + 1)):
            numbers = [tried.number for tried in attempts]
            self._judge.accuse("I3", job.id, f"{job.attempt} attempts were claimed, recorded are {numbers}")
        for before, after in itertools.pairwise(attempts):
            if after.started < before.ended:
                text = f"attempt {after.number} is recorded to start before attempt {before.number} ended"
                self._judge.accuse("I4", job.id, text)
        if attempts and attempts[0].started < job.due:
            early = duration_text(Duration(job.due - attempts[0].started))
            self._judge.accuse("I8", job.id, f"it was started {early} before it was due")

    def _overlaps(self, job: JobId) -> None:
        """I4: code of two attempts at once only where a lease was lost, and then not longer than the guard allows."""
        outcomes = {tried.number: tried.outcome for tried in self._attempts.get(job, [])}
        runs = sorted(self._ledger.of_job.get(job, []), key=lambda run: run.attempt)
        for run in runs:
            self._stopped(run)
        for before, after in itertools.combinations(runs, 2):
            since = max(before.started, after.started)
            until = min(NEVER if run.ended is None else run.ended for run in (before, after))
            if until <= since:
                continue
            over, length = self._ledger.lived(since, until), duration_text(Duration(until - since))
            if outcomes.get(before.attempt) is not Outcome.LOST:
                text = (
                    f"attempts {before.attempt} and {after.attempt} ran together for {length}; the first was not lost"
                )
                self._judge.accuse("I4", job, text)
            elif not before.stubborn and over > self._allowed(before):
                text = f"attempt {before.attempt} was lost and ran {length} into attempt {after.attempt}"
                self._judge.accuse("I4", job, text)

    def _stopped(self, run: Run) -> None:
        """I4: a worker that sees that a lease is gone stops the attempt, where it can be stopped."""
        if run.told is None or run.ended is None or run.stubborn:
            return
        over = self._ledger.lived(run.told, run.ended)
        if over > STOPPED_WITHIN:
            gone = "after its worker saw that the lease was lost"
            text = f"attempt {run.attempt} went on for {duration_text(over)} {gone}"
            self._judge.accuse("I4", run.job, text)

    def _allowed(self, before: Run) -> Duration:
        """A guard ends what nobody vouches for; only a clock that jumped lets others take a lease sooner."""
        if self._ledger.jumped_since(Duration(before.started - self._lease)):
            return Duration(self._lease + GUARD_BOUND)
        return GUARD_BOUND

    # --- clients ----------------------------------------------------------------------------------------------

    def _wishes(self) -> None:
        """I1: what was acknowledged is there, as it was asked for; what was refused is not."""
        tokens: dict[int, list[Written]] = {}
        for job in self._jobs.values():
            tokens.setdefault(int(msgspec.json.decode(job.params)["token"]), []).append(job)
        replays = {new: old for old, new in self._ledger.replays}
        for wish in self._ledger.wishes.values():
            there = [job.id for job in tokens.get(wish.token, [])]
            if wish.known and wish.job is not None and wish.job not in there:
                self._judge.accuse("I1", wish.job, f"{wish.by} was told that it is stored; it is not")
            elif not wish.may_exist and there:
                self._judge.accuse("I1", there[0], f"{wish.by} was told that it was refused; it is stored")
        for new, old in replays.items():
            if new not in self._jobs:
                self._judge.accuse("I1", new, f"a client was told that it replays job {old}; it is not stored")

    def _cancels(self) -> None:
        """I11: a cancel that was accepted is carried out, for the children of that moment too."""
        for told in self._ledger.cancels:
            for number in self._family(told.job, told.seq):
                track = self._judge.tracks[number]
                if track.state in FINAL and track.state is not State.CANCELLED:
                    self._judge.accuse("I11", number, f"job {told.job} was cancelled; this one is {track.state}")

    def _family(self, job: JobId, seq: int) -> list[JobId]:
        """The job and its children, and theirs, that had not ended when history was as far as this."""
        ended = {row[1] for row in self._judge.events if row[0] <= seq and row[5] in FINAL and row[3] != Cause.CANCEL}
        born = {row[1] for row in self._judge.events if row[0] <= seq}
        family, ahead = [], [job]
        while ahead:
            number = ahead.pop()
            if number in born and number not in ended:
                family.append(number)
                ahead += [other.id for other in self._jobs.values() if other.parent == number]
        return family
