"""The judge: reads history as it is written and names every invariant that does not hold, by its number.

The numbers are those of docs/architecture/simulation.md. After each step it looks at the new events and the jobs that
they touch (``look``); what needs whole tables is in rest.py.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Duration, Instant, duration_text
from mainspring.domain.ids import JobId, WorkerId
from mainspring.domain.retry import Retry
from mainspring.domain.states import FINAL, Cause, Outcome, State, next_state
from mainspring.engine.timing import Timing
from mainspring.store import Store, Transaction, audit
from mainspring.store.rows import Policy, decode
from mainspring.store.sqlite import SqliteEngine
from mainspring.testing.ledger import Ledger
from mainspring.testing.virtual import VirtualClock

Row = tuple[Any, ...]


class Violation(msgspec.Struct, frozen=True):
    """One invariant that did not hold."""

    rule: str
    job: int
    text: str
    step: int

    def __str__(self) -> str:
        return f"{self.rule} job {self.job} at step {self.step}: {self.text}"


class Track(msgspec.Struct):
    """What the events so far say of a job."""

    state: State = State.NEW
    attempt: int = 0
    at: Instant = Instant(0)
    due: Instant | None = None
    cancelled_at: int | None = None
    started: bool = False
    end: Row | None = None
    charged: int = 0


class Judge:
    """Holds the product to its promises."""

    def __init__(self, store: Store, clock: VirtualClock, ledger: Ledger, timing: Timing) -> None:
        self._store = store
        self._clock = clock
        self.ledger = ledger
        self._timing = timing
        self.tracks: dict[JobId, Track] = {}
        self.events: list[Row] = []
        self.violations: list[Violation] = []
        self.step = 0
        self.actors: dict[str, str] = {}
        """Who acts under which name in events: ``worker:3`` is the worker ``w1.2``."""
        self._policies: dict[JobId, Policy] = {}
        self._since = (clock.now(), clock.monotonic())
        self._changes = -1

    @property
    def seq(self) -> int:
        """How far history was read."""
        return int(self.events[-1][0]) if self.events else 0

    def accuse(self, rule: str, job: int, text: str) -> None:
        """Write down a violation."""
        self.violations.append(Violation(rule, job, text, self.step))

    # --- after each step --------------------------------------------------------------------------------------

    def look(self) -> list[Row]:
        """Read what is new in history and check it; the new events."""
        changes = self._changes_so_far()
        new = self._store.read(self._read) if changes != self._changes else []
        self._changes = changes
        self._since = (self._clock.now(), self._clock.monotonic())
        return new

    def _changes_so_far(self) -> int:
        """So that a look at what has not changed costs nothing."""
        engine = self._store.engine
        return engine.raw.total_changes() if isinstance(engine, SqliteEngine) else self._changes + 1

    def _read(self, tx: Transaction) -> list[Row]:
        new = audit.events(tx, self.seq)
        if not new:
            return new
        for row in new:
            self._event(tx, row)
        self.events += new
        for job, standing in audit.standing(tx, {row[1] for row in new}).items():
            self._place(tx, job, standing)
        return new

    def _event(self, tx: Transaction, row: Row) -> None:
        _seq, number, at, cause, source, target, attempt, _, detail = row
        job = JobId(number)
        track = self.tracks.setdefault(job, Track())
        if track.state in FINAL:
            self.accuse("I5", job, f"{cause} to {target} after its end ({track.state})")
        if source != track.state:
            self.accuse("I3", job, f"{cause} from {source}, but it was {track.state}")
        if next_state(State(source), Cause(cause)) != target:
            self.accuse("I3", job, f"{cause} from {source} to {target} is not in the state table")
        wanted = track.attempt + 1 if cause == Cause.CLAIM else track.attempt
        if attempt != wanted:
            self.accuse("I3", job, f"{cause} names attempt {attempt}, not {wanted}")
        if at < track.at:
            self.accuse(
                "I3", job, f"{cause} is recorded {duration_text(Duration(track.at - at))} before the last event"
            )
        self._times(tx, track, row, decode(detail) if detail is not None else {})
        track.state, track.attempt, track.at = State(target), attempt, at

    def _times(self, tx: Transaction, track: Track, row: Row, detail: dict[str, Any]) -> None:
        """What an event says about when things may happen."""
        job, cause = JobId(row[1]), row[3]
        if cause == Cause.SCHEDULE:
            track.due = detail["due"]
        elif cause == Cause.RETRY:
            track.due = detail["due"]
            track.charged += 1
            self._backoff(tx, track, job, detail)
        elif cause == Cause.PROMOTE and track.due is not None and track.due > self._clock.now():
            early = duration_text(Duration(track.due - self._clock.now()))
            self.accuse("I8", job, f"promoted {early} before it is due")
        elif cause == Cause.CLAIM:
            track.started = True
            if track.cancelled_at is not None:
                self.accuse("I11", job, "claimed after a cancel was answered")
        if detail.get("outcome") == Outcome.LOST:
            self._loss(job, row)

    def _place(self, tx: Transaction, job: JobId, standing: audit.Standing) -> None:
        track = self.tracks[job]
        if standing.places != 1:
            self.accuse("I2", job, f"it is in {standing.places} places")
        elif standing.state != track.state:
            self.accuse("I2", job, f"its place says {standing.state}, its history {track.state}")
        elif track.state in FINAL and track.end is None:
            track.end = audit.ended(tx, job)
        elif standing.leased_attempt is not None and standing.leased_attempt != track.attempt:
            self.accuse("I3", job, f"its lease is for attempt {standing.leased_attempt}, its history {track.attempt}")

    def renewed(self, worker: WorkerId) -> None:
        """V1: what was just renewed runs out one lease from now, whatever the wall clock said before."""
        most = Instant(self._clock.now() + self._timing.lease)
        for lease in self._store.read(audit.leased):
            if lease.worker == worker and lease.until > most:
                over = duration_text(Duration(lease.until - most))
                self.accuse(
                    "V1", lease.job, f"were its worker to die now, nobody could take it for {over} longer than a lease"
                )

    # --- backoff and loss -------------------------------------------------------------------------------------

    def _backoff(self, tx: Transaction, track: Track, job: JobId, detail: dict[str, Any]) -> None:
        """I7: the delay is what the policy or the error says; judged only while the wall clock ran evenly."""
        wall, monotonic = self._since
        now, passed = self._clock.now(), self._clock.monotonic() - monotonic
        if now - wall != passed:
            return
        run = next((run for run in reversed(self.ledger.of_job.get(job, [])) if run.attempt == track.attempt), None)
        retry = self._policy(tx, job).retry
        if run is not None and run.how == "failed" and run.retry_after is not None:
            low = high = run.retry_after
        else:
            suspects = sum(1 for tried in audit.tried_of(tx, job) if tried.charge == "suspect")
            low, high = bounds(retry, track.charged, suspects)
        if not wall + low <= track.due or not track.due <= now + high:  # type: ignore[operator]
            due = duration_text(Duration(max(0, detail["due"] - wall)))
            allowed = f"{duration_text(low)} to {duration_text(high)}"
            self.accuse("I7", job, f"its backoff is about {due}, the policy allows {allowed}")

    def _policy(self, tx: Transaction, job: JobId) -> Policy:
        if job not in self._policies:
            self._policies[job] = audit.policy_of(tx, job)
        return self._policies[job]

    def _loss(self, job: JobId, row: Row) -> None:
        """I4: a lease is taken only when it has run out, and only from one who let it stand for a whole sweep."""
        attempt, actor = row[6], row[7]
        run = next((run for run in reversed(self.ledger.of_job.get(job, [])) if run.attempt == attempt), None)
        if run is None or self.actors.get(actor) == run.worker:
            return  # its code never began, or its own worker says that its guard ended it
        now = run.lost = self._clock.monotonic()
        renewed = Duration(run.vouched - self._timing.lease)
        if now < run.vouched and not self.ledger.jumped_since(renewed):
            left = duration_text(Duration(run.vouched - now))
            self.accuse("I4", job, f"attempt {attempt} lost its lease {left} before it ran out")
        elif now - renewed < self._timing.sweep:
            self.accuse(
                "I4", job, f"attempt {attempt} lost a lease renewed {duration_text(Duration(now - renewed))} ago"
            )


def bounds(retry: Retry, charged: int, suspects: int) -> tuple[Duration, Duration]:
    """The shortest and longest backoff after this many charged attempts.

    Earlier shared crashes are charged too once the job is found to be their culprit, so the longest allows for them.
    """
    least = retry.computed_delay(charged, 0.0)
    return least, max(retry.computed_delay(count, 1.0) for count in range(charged, charged + suspects + 1))
