"""Dispatch: a worker's heart. Inbox -> one transaction -> outbox.

Each turn takes what has come in (ends, logs, dead runners), writes it together with renewals, promotions, the sweep and
the next claims in one durable commit, and says what is to be sent. It knows no pipes, signals or processes; the shell
around it (worker/coordinator.py) moves the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mainspring import faults
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, Instant
from mainspring.domain.attempt import Ending, Failure
from mainspring.domain.frame import Ended, Frame, Log, Pong, Progress, Stuck
from mainspring.domain.ids import JobId, WorkerId
from mainspring.domain.logline import LOG_LIMIT
from mainspring.domain.overriding import Override
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.ahead import Ahead, one_by_one, send
from mainspring.engine.claiming import Claimed, Claimer, Claims, nothing
from mainspring.engine.doubts import Doubts
from mainspring.engine.downfall import Downfall
from mainspring.engine.endings import Endings, fallen, reported
from mainspring.engine.enforce import Enforcer
from mainspring.engine.held import Custody, Held, Limits, Outbox, RunnerView
from mainspring.engine.intake import LogIntake
from mainspring.engine.lending import Lending, Waits
from mainspring.engine.need import Need
from mainspring.engine.progress import Said
from mainspring.engine.reach import Reach
from mainspring.engine.soon import Soon
from mainspring.engine.starting import start_frames, unsent, unstartable
from mainspring.engine.sweep import LeaseWatch
from mainspring.engine.taking import Taking
from mainspring.engine.timing import Timing
from mainspring.engine.vouching import Vouching
from mainspring.errors import STORE_AWAY, OutcomeUnknown, StoreError
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, jobs, workers
from mainspring.store.shapes import Shapes
from mainspring.store.workers import Poll, Question, SeenLease
from mainspring.transitions.due import come
from mainspring.transitions.ended import Ends, Report, Settled, lose
from mainspring.transitions.waiting import BATCH, expire

STARTS_FIRST = Duration(2 * MILLISECOND)
"""What was started has the processor so long, before we look what else there is and before others are told."""

_LOOK_LATEST = Duration(20 * MILLISECOND)
"""So long may a look be put off by hints that keep coming."""


class Dispatch:
    """The turn of one worker."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        store: Store,
        clock: Clock,
        *,
        worker: WorkerId,
        app: str,
        queues: Sequence[str],
        labels: Mapping[str, str],
        limits: Limits,
        timing: Timing,
        sweep_offset: Duration = Duration(0),
        traced: bool = False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker
        self._limits, self._timing = limits, timing
        self._actor = f"worker:{worker}"
        self._claimer = Claimer(worker, timing.lease, self._actor, clock, traced=traced)
        self._watch = LeaseWatch(timing.sweep)
        self._custody = Custody()
        self._runners = self._custody.runners
        self._reach = Reach(app, queues=queues, labels=labels, slots=limits.slots, runners=self._runners)
        self.held = self._custody.held
        self._enforcer = Enforcer(self._custody, clock)
        self._vouching = Vouching(self._custody, self._enforcer, clock)
        self._lending = Lending(self._custody)
        self._taking = Taking(self._custody, self._reach, self._lending, self._claimer)
        self._doubts = Doubts(worker)
        self._soon = Soon(store, self._claimer, self._reach, self._custody, self._vouching, self._doubts)
        self._shapes = Shapes()
        self._reports = Endings(clock)
        self._intake = LogIntake(store.logs, clock)
        self._details = Said()
        self._hungry = True
        self._poll_at = clock.monotonic()
        self._look_from = clock.monotonic()
        self._renew_at = clock.monotonic()
        self._sweep_from = Duration(clock.monotonic() + sweep_offset)
        self._draining_until: Duration | None = None
        self._hurried = self._hinted = False
        self._seen: Poll | None = None
        self._fresh = False  # a runner has just been added: let it claim before it is found idle

    # --- what the shell tells ---------------------------------------------------------------------------------

    def add_runner(self, number: int, tasks: Sequence[str], lodging: Lodging = Lodging.SHARED) -> None:
        """A runner said hello. ``lodging``: the jobs that it is for."""
        self._custody.add(RunnerView(number, lodging, frozenset(tasks)))
        self._fresh = True
        self._hungry = True
        self._reach.look_at_tasks_again()
        self._poll_at = self._renew_at = self._clock.monotonic()

    def remove_runner(self, number: int, failure: Failure, *, lost: bool = False) -> None:
        """A runner is gone; what ran in it ends now. ``lost``: its guard ended it because we did not renew."""
        runner = self._custody.remove(number)
        if runner is None:
            self._renew_at = self._clock.monotonic()  # whoever asks is to hear of it
            return
        self._hungry = True
        downfall = Downfall(runner, failure)
        for held in list(runner.jobs.values()):
            self._finish(held, fallen(runner, held, downfall, lost=lost))

    def receive(self, number: int, frame: Frame) -> None:
        """A frame from a runner."""
        runner = self._runners.get(number)
        if runner is None:
            return
        match frame:
            case Ended():
                self._ended(runner, frame)
            case Log():
                self._intake.take(runner, frame)
            case Progress():
                self._details.take(runner, frame)
            case Stuck():
                held = runner.jobs.get(frame.job)
                if held is not None and held.claim == frame.claim:
                    self._enforcer.recycle(runner, held)
            case Pong():
                self._enforcer.answered(runner)
            case _:
                pass

    def waits(self, waits: Waits) -> None:
        """Who of the running jobs waits for the end of which others: so that these can run in their place."""
        self._lending.heard(waits)

    @property
    def next_check(self) -> Duration | None:
        """When a timeout, or an attempt that was asked to end, needs a turn (monotonic)."""
        return self._enforcer.next_check

    def hint(self) -> None:
        """Something may be claimable or cancelled: claim at once, and look soon behind it."""
        self._poll_at = min(self._poll_at, self._clock.monotonic())
        self._hinted = self._hungry = True

    def adopt(self, limits: Limits, timing: Timing, overrides: Mapping[str, Override]) -> None:
        """Go by these from now on; what runs beyond them goes on."""
        self._limits, self._timing = limits, timing
        self._claimer.adopt(timing.lease, overrides)
        self._watch.sweep_length = timing.sweep
        self._reach.adopt(limits.slots)
        self._renew_at = self._clock.monotonic()
        self.hint()

    @property
    def rules(self) -> str:
        """What holds for all, as this worker has seen it last: another text when it is another thing."""
        return self._reach.version

    def drain(self) -> None:
        """Claim nothing more; end when the running jobs have, or give them back when the drain time is over."""
        if self._draining_until is None:
            self._draining_until = Duration(self._clock.monotonic() + self._timing.drain)
            self._renew_at = self._clock.monotonic()

    def hurry(self) -> None:
        """Give the running jobs back now."""
        self.drain()
        self._draining_until = self._clock.monotonic()

    # --- the turn ---------------------------------------------------------------------------------------------

    def turn(self) -> Outbox:
        """One transaction at most, then what is to be sent.

        Raises StoreError with everything kept for the next turn.
        """
        monotonic = self._clock.monotonic()
        out = self._custody.out
        self._enforcer.check_timers(monotonic)
        self._check_drain(monotonic)
        self._intake.write(self._custody.out)
        renew = self._renewal_is_due(monotonic)
        rushing = self._hinted and self._may_claim() and monotonic - self._poll_at < _LOOK_LATEST
        self._hinted = False
        poll = None if rushing or renew else self._look(monotonic)
        overdue = self._overdue(poll, monotonic)
        now = self._clock.now()
        need = Need(
            overdue=overdue,
            renew=renew,
            promote=poll is not None and poll.next_due is not None and poll.next_due <= now,
            expire=poll is not None and poll.next_expiry is not None and poll.next_expiry <= now,
            claim=self._hungry and self._may_claim(),
        )
        lingers = Duration(0) if any(need) else self._reports.linger(monotonic, company=bool(self.held))
        if any(need) or ((self._reports or self._details) and not lingers):
            self._commit(monotonic, need)
        if out.starts and rushing:
            self._look_from = Duration(self._clock.monotonic() + STARTS_FIRST)
        if poll is not None and not self._fresh:
            self._custody.retire_alone()
        self._fresh = False
        out.wait = Duration(0) if self._seen is not None else self._rest(poll, monotonic)
        if self._reports:
            out.wait = min(out.wait, lingers)
        out.drained = self._draining_until is not None and not self.held and not self._reports
        return self._custody.take_out()

    @property
    def done(self) -> bool:
        """Whether a drain is over though the store takes nothing: nothing runs, and no end is worth waiting for."""
        if self._draining_until is None or self.held:
            return False
        return not self._reports or self._clock.monotonic() >= self._draining_until

    def salvage(self) -> Outbox:
        """What a turn that raised had already decided: wishes to end, and kills. None of it waits for the store."""
        self._renew_at = self._vouching.away(self._timing.lease)
        return self._custody.take_out()

    def _commit(self, monotonic: Duration, need: Need) -> None:
        """Write what there is; a batch of ends goes ahead by itself, and so does a claim, where that is to our gain."""
        may = need.only_claim and not self._details and not self._doubts.open
        ahead = send(self._store, self._reports, self._actor) if may else None
        if ahead is not None:
            self._reports = Endings(self._clock)
        try:
            if not (may and not self._reports and self._claim_soon(monotonic)):
                self._write(monotonic, need)
        finally:
            if ahead is not None:
                self._hear(ahead)

    def _claim_soon(self, monotonic: Duration) -> bool:
        """Start what comes first, taken without a look. False where nothing was."""
        claims = None if self._lending.due else self._soon.claim(self._limits)
        if claims is None:
            return False
        self._hungry = claims.more
        self._start_all(claims, monotonic)
        return True

    def _hear(self, ahead: Ahead) -> None:
        """Ends that went ahead are stored; those that were not what they seemed are kept for the next turn."""
        try:
            self._reports[:0] = ahead.left()
        except StoreError as error:
            self._reports[:0] = ahead.reports
            self._failed(error)
            raise
        self._custody.out.news = True

    def _write(self, monotonic: Duration, need: Need) -> None:
        reports = self._reports

        def work(tx: Transaction) -> tuple[Settled, tuple[set[JobId], Poll] | None, list[JobId], Claims, int]:
            self._vouching.begin()
            ends = [*reports, *self._doubts.unheard(tx, self.held.values(), reports)]
            free = None if self._hungry or self._draining_until is not None else self._taking.free(self._limits)
            ending = Ends(tx, ends, self._actor, self._shapes, free)
            renewed = self._renew(tx, reports) if need.renew else None
            lost = lose(tx, need.overdue, self._actor) if need.overdue else []
            promoted = come(tx, self._actor) if need.promote else 0
            if need.expire:
                expire(tx, self._actor)
            if self._details:
                self._details.write(tx, self.held)
            claims, born = nothing(more=False), ending.advanced.born
            look = any((need.claim, promoted, lost))
            if self._draining_until is None and (look or born):
                claims = self._taking.take(tx, self._limits, born, free, look=look)
            return ending.settle(), renewed, lost, claims, promoted

        try:
            settled, renewed, lost, claims, promoted = self._store.write(
                work, before=FaultPoint.DISPATCH_BEFORE_COMMIT, after=FaultPoint.DISPATCH_AFTER_COMMIT
            )
        except StoreError as error:
            self._failed(error)
            raise
        self._reports = Endings(self._clock)
        self._details.clear()
        freed = settled.advanced
        more = promoted == BATCH or freed.more
        self._poll_at = monotonic if more else self._poll_at  # whether somebody else has done it, the next look tells
        claiming = any((need.claim, promoted, lost, freed.born))
        self._hungry = claims.more or more if claiming else self._hungry
        self._custody.out.news |= any((reports, lost, promoted))
        self._custody.out.calls |= claims.left or len(freed.born) > len(claims.jobs) or more
        self._custody.want(claims.waits)
        if not self._doubts.settled():  # else what is refused now may have been recorded by the commit in doubt
            self._tell_settled(settled)
        self._expect(settled, monotonic)
        self._vouching.strike(starts=bool(claims.jobs))
        if renewed is not None:
            self._renewed(*renewed, monotonic)
        self._start_all(claims, monotonic)

    def _failed(self, error: StoreError) -> None:
        """A commit did not come about, or nobody knows. One that was refused for what it holds: its ends go singly."""
        if isinstance(error, STORE_AWAY):
            self._doubts.open |= isinstance(error, OutcomeUnknown)
            return
        reports, self._reports = self._reports, Endings(self._clock)
        settled, notes = one_by_one(self._store, reports, self._actor)
        self._custody.out.notes += notes
        self._tell_settled(*settled)

    # --- parts of the transaction -----------------------------------------------------------------------------

    def _renew(self, tx: Transaction, reports: Sequence[Report]) -> tuple[set[JobId], Poll]:
        """Leases, heartbeat, and the look that would be due about now: an idle worker asks one statement a second."""
        faults.hit(FaultPoint.RENEW_BEFORE_WRITE)
        ending = {report.ending.job for report in reports}
        pairs = [(held.job, held.claim) for held in self.held.values() if not held.fenced and held.job not in ending]
        still_held = jobs.renew(tx, pairs, Instant(tx.now + self._timing.lease)) | ending
        state = self._custody.state(draining=self._draining_until is not None)
        lasts = Duration(max(self._timing.lease, 3 * self._timing.renewal))
        return still_held, self._learn(tx, workers.beat_and_poll(tx, self._question(), state, lasts))

    def _renewal_is_due(self, monotonic: Duration) -> bool:
        """A little early where that saves a look."""
        early = self._timing.poll // 2 if monotonic >= self._poll_at else 0
        return monotonic >= self._renew_at - early

    def _may_claim(self) -> bool:
        room = self._lending.due or not self._custody.full(self._limits.slots)
        return room and self._draining_until is None and bool(self._runners) and not self._claimer.share.pause()

    # --- looking ----------------------------------------------------------------------------------------------

    def _look(self, monotonic: Duration) -> Poll | None:
        """The one statement that an idle worker asks, when it is time or something rang."""
        poll, self._seen = self._seen, None
        if poll is None:
            if monotonic < max(self._poll_at, self._look_from):
                return None
            question = self._question()
            poll = self._store.read(lambda tx: self._learn(tx, workers.poll(tx, question)))
            self._poll_at = Duration(monotonic + self._timing.poll)
        self._hungry = self._hungry or poll.claimable
        self._lending.look_again()
        if poll.drain_by is not None and self._draining_until is None:
            self._custody.out.drain_by = poll.drain_by
            self.drain()
        for job, claim in poll.cancels:
            held = self.held.get(job)
            if held is not None and held.claim == claim and held.asked is None:
                self._enforcer.ask(held, Outcome.CANCELLED, held.policy.grace, monotonic)
        return poll

    def _question(self) -> Question:
        horizon = self._watch.horizon(self._clock.now())
        places = self._claimer.low.places(lane.id for lane in self._reach.map.lanes)
        return Question(self._worker, self._reach.app, places, horizon)

    def _learn(self, tx: Transaction, found: Poll) -> Poll:
        self._hungry = self._reach.learn(tx, found) or self._hungry
        return found

    def _overdue(self, poll: Poll | None, monotonic: Duration) -> list[SeenLease]:
        if poll is None or monotonic < self._sweep_from:
            return []
        overdue = self._watch.overdue(poll.expiring, self._clock.now(), monotonic)
        return [lease for lease in overdue if lease.job not in self.held or self.held[lease.job].claim != lease.claim]

    def _rest(self, poll: Poll | None, monotonic: Duration) -> Duration:
        """How long nothing can need us, as far as we know."""
        soonest = min(max(self._poll_at, self._look_from), self._renew_at)
        if self._enforcer.next_check is not None:
            soonest = min(soonest, self._enforcer.next_check)
        if self._draining_until is not None and not self._hurried:
            soonest = min(soonest, self._draining_until)
        if pause := self._claimer.share.pause():
            soonest = min(soonest, Duration(monotonic + pause))
        if poll is not None:
            for due in (poll.next_due, poll.next_expiry):
                if due is not None:
                    wait = max(due - self._clock.now(), MILLISECOND)
                    soonest = min(soonest, Duration(monotonic + wait))
                    self._poll_at = min(self._poll_at, Duration(monotonic + wait))
        return Duration(max(0, soonest - monotonic))

    # --- endings ----------------------------------------------------------------------------------------------

    def _ended(self, runner: RunnerView, frame: Ended) -> None:
        held = runner.jobs.get(frame.job)
        if held is None or held.claim != frame.claim:
            return
        ending, complaint = reported(held, frame)
        if complaint:
            self._intake.note(held, complaint)
        self._finish(held, ending)

    def _finish(self, held: Held, ending: Ending) -> None:
        """The attempt runs no more; its end is written by the next commit."""
        self.held.pop(held.job, None)
        runner = self._runners.get(held.runner)
        if runner is not None:
            runner.jobs.pop(held.job, None)
            self._enforcer.left(runner)
        if held.fenced:
            self._refused(held)
        else:
            self._reports.append(Report(ending, held.policy, held.lodging is Lodging.ALONE, held.link))

    def _tell_settled(self, *settled: Settled) -> None:
        self._custody.out.notes += [
            f"job {job}: the end of claim {claim} was refused, as its lease had been taken away"
            for one in settled
            for job, claim in one.fenced
        ]

    def _expect(self, settled: Settled, monotonic: Duration) -> None:
        """Look again when the first of the retries just written is due."""
        dues = [verdict.due for verdict in settled.verdicts.values() if verdict.due is not None]
        if dues:
            wait = max(MILLISECOND, min(dues) - self._clock.now())
            self._poll_at = min(self._poll_at, Duration(monotonic + wait))

    def _refused(self, held: Held) -> None:
        text = f"attempt {held.attempt} had lost its lease; what it reported was refused"
        self._custody.out.notes.append(f"job {held.job}: {text}")
        self._intake.note(held, text)

    # --- starting ---------------------------------------------------------------------------------------------

    def _start_all(self, claims: Claims, monotonic: Duration) -> None:
        self._custody.out.starts |= bool(claims.jobs)
        for claimed in claims.jobs:
            self._start(claimed, monotonic, claims.places.get(claimed.grant.left.job))

    def _start(self, claimed: Claimed, monotonic: Duration, place_of: JobId | None) -> None:
        (left, claim), lane = claimed.grant, claimed.lane
        runner = self._custody.runner_for(lane.lodging)
        if runner is None:
            self._reports.append(unsent(claimed))
            return
        held = Held(left.job, claim, left.attempt + 1, claimed.load.task, runner.number, lane.lodging, claimed.policy)
        held.place_of, held.slots, held.link, held.trace = place_of, lane.slots, claimed.load.link, claimed.trace
        if place_of in self.held:
            held.slots = max(lane.slots, self.held[place_of].slots)
        self.held[left.job] = held
        runner.jobs[left.job] = held
        room = LOG_LIMIT
        if left.attempt:
            room, held.next_line = self._intake.kept(held)
        frames = start_frames(claimed, held.attempt, room)
        if frames is None:
            self._finish(held, Ending(left.job, claim, Outcome.FAILED, failure=unstartable(claimed), final=True))
            return
        faults.hit(FaultPoint.START_BEFORE_SEND)
        for frame in frames:
            self._custody.out.frames.append((runner.number, frame))
        if claimed.policy.timeout is not None:
            self._enforcer.limit(held, Duration(monotonic + claimed.policy.timeout))

    # --- leases, timers, cancels ------------------------------------------------------------------------------

    def _renewed(self, still_held: set[JobId], seen: Poll, monotonic: Duration) -> None:
        self._renew_at = Duration(monotonic + self._timing.renewal)
        self._poll_at = Duration(monotonic + self._timing.poll)
        self._seen = seen  # acted on by the next turn, at once
        self._enforcer.fence(still_held, monotonic)
        self._vouching.renewed(self._timing.lease)

    # --- drain ------------------------------------------------------------------------------------------------

    def _check_drain(self, monotonic: Duration) -> None:
        if self._draining_until is None or self._hurried or monotonic < self._draining_until:
            return
        self._hurried = True
        for held in self.held.values():
            if held.asked is None:
                self._enforcer.ask(held, Outcome.RELEASED, Duration(min(held.policy.grace, SECOND)), monotonic)
