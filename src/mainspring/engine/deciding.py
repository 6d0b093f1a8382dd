"""What one scheduler decides of one schedule in one turn, from what it has seen. No statement is run here.

Which ticks are due and which of them are too old is told by domain/catchup.py; here it meets what really runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant, instant_text
from mainspring.domain.catchup import Span
from mainspring.domain.overlap import Fate, Unfinished, fate
from mainspring.domain.plan import Ready
from mainspring.domain.states import State
from mainspring.domain.timetable import REGULAR, MadeBy, Origin, Outcome
from mainspring.store import rows
from mainspring.store.schedules import Advance, Flight, Kept
from mainspring.store.ticks import Record
from mainspring.transitions.fired import Decided, Firing
from mainspring.transitions.prepared import Prepared
from mainspring.transitions.run_births import PreparedRun
from mainspring.transitions.ticking import before


class Seen(NamedTuple):
    """What was read of a schedule. ``flights``: of its own ticks and triggers; ``waiting``: in their order."""

    kept: Kept
    ready: Ready
    flights: Sequence[Flight]
    waiting: Sequence[Record]


class Tally(NamedTuple):
    """What the ended jobs of a schedule say."""

    ended: tuple[Flight, ...]
    live: tuple[Flight, ...]
    last_succeeded: Instant | None
    failures: int


def tally(seen: Seen) -> Tally:
    """Note how what earlier ticks made has ended. One that was cancelled, or is not kept any more, says nothing."""
    succeeded, failures = seen.kept.last_succeeded, seen.kept.failures
    if not seen.flights:
        return Tally((), (), succeeded, failures)
    ended = tuple(flight for flight in seen.flights if flight.over)
    for flight in ended:
        if flight.state is State.SUCCEEDED:
            failures = 0
            succeeded = flight.nominal if succeeded is None else max(succeeded, flight.nominal)
        elif flight.state is State.DEAD:
            failures += 1
    live = tuple(flight for flight in seen.flights if not flight.over)
    return Tally(ended, live, succeeded, failures)


class Deciding:
    """Builds one Decided: spans of due ticks go in, in order; what their policies make of them comes out."""

    def __init__(self, seen: Seen, prepared: Prepared | PreparedRun | str, now: Instant, actor: str) -> None:
        self._seen = seen
        self._zone = seen.ready.rule.place.name
        self._plan = seen.ready.plan
        self._prepared = prepared
        self._now = now
        self._actor = actor
        self._tally = tally(seen)
        self._live = bool(self._tally.live)
        self._departed: Instant | None = None
        self._waiting = list(seen.waiting)
        self._new: list[Record] = []
        self._settled: list[Record] = []
        self._firings: list[Firing] = []
        self._cancels: tuple[Flight, ...] = ()
        self._fired = seen.kept.fired
        self._last_fired = seen.kept.last_fired
        most = self._plan.pause_after
        self._pause: str | None = None
        if most is not None and self._tally.failures >= most and seen.kept.paused_at is None:
            self._pause = f"{self._tally.failures} {self._seen.ready.plan.makes}s in a row have not succeeded"

    # --- what happens to ticks --------------------------------------------------------------------------------

    def release(self) -> None:
        """Ticks that waited: the first goes when nothing runs any more; none in a schedule that stands still."""
        halt = self._halt()
        while self._waiting and (halt is not None or not self._live):
            record = self._waiting.pop(0)
            if halt is not None:
                self._settle(record, Outcome.SKIPPED, halt)
            else:
                self._settle_or_miss(record)

    def take(self, spans: Sequence[Span]) -> None:
        """Regular ticks that are due."""
        halt = self._halt()
        last = max((index for index, span in enumerate(spans) if span.why is None), default=-1)
        for index, span in enumerate(spans):
            if halt is not None:
                self._add(span, Outcome.SKIPPED, halt)
            elif span.why is not None:
                self._add(span, Outcome.MISSED, span.why)
            else:
                self._take_one(span, followed=index < last)

    @property
    def spent(self) -> bool:
        """Whether no further firing is allowed."""
        return self._plan.limit is not None and self._fired >= self._plan.limit

    def _take_one(self, span: Span, *, followed: bool) -> None:
        if self.spent:
            self._add(span, Outcome.SKIPPED, f"it has fired {self._fired:,} times, its limit")
            return
        met = Unfinished(self._live, len(self._waiting))
        match fate(self._plan.overlap, met, followed=followed):
            case Fate.FIRE:
                self._fire_or_miss(span)
            case Fate.WAIT:
                self._wait(span)
            case Fate.MAKE_ROOM:
                self._give_way()
                self._wait(span)
            case Fate.SKIP_BUSY:
                self._add(span, Outcome.SKIPPED, self._busy)
            case Fate.SKIP_FULL:
                busy = self._busy or "an earlier tick waits"
                self._add(span, Outcome.SKIPPED, f"{busy}, and {met.waiting:,} wait")
            case Fate.SKIP_FOLLOWED:
                self._add(span, Outcome.SKIPPED, "a later tick is due as well")

    def _give_way(self) -> None:
        for record in self._waiting:
            self._settle(record, Outcome.SKIPPED, "a later tick took its place")
        self._waiting.clear()
        self._cancels = self._tally.live

    # --- records ----------------------------------------------------------------------------------------------

    def _fire_or_miss(self, span: Span) -> None:
        if isinstance(self._prepared, str):
            self._add(span, Outcome.MISSED, self._prepared)
            return
        record = self._record(span, Outcome.FIRED, None)
        self._new.append(record)
        self._depart(record, self._prepared, span.first)

    def _settle_or_miss(self, record: Record) -> None:
        if isinstance(self._prepared, str):
            self._settle(record, Outcome.MISSED, self._prepared)
            return
        self._settle(record, Outcome.FIRED, None)
        self._fired -= 1  # it was counted when it began to wait
        self._depart(self._settled[-1], self._prepared, None)

    def _depart(self, record: Record, prepared: Prepared | PreparedRun, due: Instant | None) -> None:
        by = MadeBy(
            self._seen.kept.name,
            record.origin,
            record.nominal,
            before(self._last_fired, record.nominal),
            before(self._tally.last_succeeded, record.nominal),
            self._zone,
        )
        self._firings.append(Firing(record, prepared, rows.text(by), due))
        self._last_fired = max(record.nominal, self._last_fired or record.nominal)
        self._fired += 1
        self._live = True
        self._departed = record.nominal

    def _wait(self, span: Span) -> None:
        record = self._record(span, Outcome.WAITING, self._busy or "an earlier tick waits")
        self._new.append(record)
        self._waiting.append(record)
        self._fired += 1

    def _add(self, span: Span, outcome: Outcome, why: str) -> None:
        last = self._new[-1] if self._new else None
        if (
            last is not None and (last.outcome, last.why) == (outcome, why) and not span.apart
        ):  # one row tells of all of a kind
            self._new[-1] = last._replace(ticks=last.ticks + span.ticks, last=span.last)
        else:
            self._new.append(self._record(span, outcome, why))

    def _settle(self, record: Record, outcome: Outcome, why: str | None) -> None:
        self._settled.append(record._replace(outcome=outcome, why=why, decided=self._now, decided_by=self._actor))

    def _record(self, span: Span, outcome: Outcome, why: str | None) -> Record:
        kept = self._seen.kept
        return Record(
            kept.id, span.first, REGULAR, span.ticks, span.last, outcome, why, None, None, self._now, self._actor
        )

    @property
    def _busy(self) -> str:
        """What a tick finds in its way."""
        if self._departed is not None:
            return f"the {self._plan.makes} of the tick at {instant_text(self._departed)} is unfinished"
        return f"{self._tally.live[0]} is unfinished" if self._tally.live else ""

    def _halt(self) -> str | None:
        """Why nothing of this schedule makes jobs now."""
        kept = self._seen.kept
        if kept.removed_at is not None:
            return "it was removed"
        if kept.withdrawn_at is not None:
            return f"{'mainspring.toml' if kept.origin is Origin.TOML else 'its code'} no longer declares it"
        note = kept.note if kept.paused_at is not None else self._pause
        return None if kept.paused_at is None and self._pause is None else f"paused: {note}" if note else "paused"

    # --- the whole --------------------------------------------------------------------------------------------

    def decided(self, nominal: Instant | None, at: Instant | None) -> Decided | None:
        """All of it, with the next tick and when it is done; None where nothing is to be written."""
        kept, found = self._seen.kept, self._tally
        if not (self._new or self._settled):
            return None
        advance = Advance(
            at=at,
            nominal=nominal,
            last=max(self._new[-1].last, kept.last or self._new[-1].last) if self._new else kept.last,
            last_fired=self._last_fired,
            last_succeeded=found.last_succeeded,
            fired=self._fired,
            failures=found.failures,
            schedule=kept.id,
            version=kept.version,
        )
        return Decided(
            new=tuple(self._new),
            settled=tuple(self._settled),
            firings=tuple(self._firings),
            advance=advance,
            ended=found.ended,
            cancels=self._cancels,
            pause=self._pause,
        )
