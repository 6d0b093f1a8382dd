"""A world of schedules under a virtual clock: several schedulers, kills, clocks that jump. Judged by counting ticks.

The judge knows the rules and what was recorded, nothing else: each tick that was due must be in exactly one record, and
each that fired must have made exactly one job.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from mainspring import faults
from mainspring.chance import SeededChance
from mainspring.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant, instant_text
from mainspring.control import schedules as control
from mainspring.control.catalog import declare
from mainspring.domain import plan as plans
from mainspring.domain.plan import Plan, ready
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.domain.timetable import REGULAR, MadeBy, Origin, Outcome, ScheduleId
from mainspring.domain.zone import MICROS, zone
from mainspring.engine.fire import Fire
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store import Store, schedules, ticks
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.ticks import Record
from mainspring.testing.image import fresh_store
from mainspring.testing.virtual import VirtualClock

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "UTC")
JUMPS = (-HOUR, HOUR, DAY)
FIRING = (FaultPoint.FIRE_AFTER_READ, FaultPoint.FIRE_BEFORE_COMMIT, FaultPoint.FIRE_AFTER_COMMIT)
_PLAIN = Task("shop.send", "shop", Executor.ASYNC, "shop", {"type": "object"}, {})


class Ticking:
    """``count`` schedules and three schedulers, from a seed."""

    def __init__(self, seed: int, count: int) -> None:
        self.chance = SeededChance(seed)
        self.clock = VirtualClock(Instant(1_767_225_600_000_000 + self.chance.whole(0, 300) * DAY))
        self.store: Store = fresh_store(self.clock, self.chance)
        declare(self.store, Catalog("shop", "one", (_PLAIN,)))
        self.began = self.clock.now()
        self.latest = self.began
        self.plans = {f"s{number}": self._plan() for number in range(count)}
        for name, plan in self.plans.items():
            control.put(self.store, name, plan, origin=Origin.API, actor="test")
        self.schedulers = [self._scheduler(number) for number in range(3)]
        self.kills = self.nested = 0
        self._jumps = Counter[int]()
        self._inside = False

    def _scheduler(self, number: int) -> Fire:
        return Fire(self.store, self.clock, actor=f"scheduler-{number}", keep=Duration(10_000 * DAY))

    def _plan(self) -> Plan:
        minute, hour, zone = self.chance.whole(0, 59), self.chance.whole(0, 4), self.chance.pick(ZONES)
        rule: dict[str, Any] = self.chance.pick(
            (
                {"cron": f"{minute} {hour} * * *", "tz": zone},
                {"cron": f"{minute} {hour} * * 1", "tz": zone},
                {"cron": f"{minute} {hour} 1 * *", "tz": zone},
                {"every": f"{self.chance.whole(20, 70)}h"},
            )
        )
        catch_up = self.chance.pick(("latest", "all", "none"))
        overlap = self.chance.pick(("allow", "allow", "skip"))
        return plans.read({"recurrence": rule, "task": "send", "overlap": overlap, "catch_up": catch_up})

    # --- time -------------------------------------------------------------------------------------------------

    def live(self, length: Duration, *, jumps: int = 6) -> None:
        """So much time passes, with ``jumps`` jumps of the clock, and a last hour in which nothing goes wrong."""
        end = Duration(self.clock.monotonic() + length)
        at = sorted(self.clock.monotonic() + int(length * self.chance.fraction()) for _ in range(jumps))
        faults.arm(self._strike)
        try:
            while self.clock.monotonic() < end:
                self._pass(end)
                if at and at[0] <= self.clock.monotonic():
                    at.pop(0)
                    jump = JUMPS[self._jumps.total() % len(JUMPS)]
                    self._jumps[jump] += 1
                    self.clock.jump(Duration(jump))
                    self.latest = max(self.latest, self.clock.now())
                self._turn(self.chance.whole(0, 2))
        finally:
            faults.arm(None)
        self.clock.advance(Duration(2 * DAY))  # behind every jump back
        self.latest = max(self.latest, self.clock.now())
        for _ in range(50):
            self._turn(0)

    def _pass(self, end: Duration) -> None:
        """To about when the next tick is due; now and then nobody looks for days."""
        soonest = self.store.read(schedules.soonest)
        gap = HOUR if soonest is None else max(soonest - self.clock.now(), 0)
        late = 3 * DAY if self.chance.fraction() < 0.002 else int(self.chance.fraction() * 90 * SECOND)
        self.clock.advance(Duration(min(gap + late, max(end - self.clock.monotonic(), MINUTE))))
        self.latest = max(self.latest, self.clock.now())

    def _turn(self, number: int) -> None:
        try:
            self.schedulers[number].turn()
        except InjectedFault:
            self.kills += 1
            self.schedulers[number] = self._scheduler(number)

    def _strike(self, point: FaultPoint) -> None:
        if point not in FIRING or self._inside:
            return
        if point is FaultPoint.FIRE_AFTER_READ and self.chance.fraction() < 0.3:
            self._inside = True
            self.nested += 1
            try:
                self.schedulers[self.chance.whole(0, 2)].turn()  # another is faster
            finally:
                self._inside = False
        if self.chance.fraction() < 0.02:
            raise InjectedFault(point)

    # --- judging ----------------------------------------------------------------------------------------------

    def wrong(self) -> list[str]:
        """What is wrong with what was recorded."""
        found: list[str] = []
        records: dict[int, list[Record]] = {}
        for record in self._records():
            records.setdefault(record.schedule, []).append(record)
        for kept in self.store.read(schedules.all_schedules):
            own = sorted(records.get(kept.id, []), key=lambda one: one.nominal)
            found += self._wrong_ticks(kept.name, kept.created, own)
        jobs = Counter(
            (made.schedule, made.at, made.origin)
            for made in (msgspec.json.decode(text, type=MadeBy) for text in self._made_by())
        )
        fired = sum(record.outcome is Outcome.FIRED for own in records.values() for record in own)
        doubled = [(name, at, count) for (name, at, _), count in jobs.items() if count > 1]
        found += [f"{name} made {count} jobs at {instant_text(at)}" for name, at, count in doubled]
        if jobs.total() != fired:
            found.append(f"{fired} ticks fired and {jobs.total()} jobs were made")
        return found

    def recorded(self) -> int:
        """How many ticks were recorded."""
        return sum(record.ticks for record in self._records())

    def records(self) -> int:
        """In how many records."""
        return len(self._records())

    def jumped(self) -> str:
        """How often the clock jumped, by how far."""
        return ", ".join(f"{count} of {jump // HOUR:+d} h" for jump, count in sorted(self._jumps.items()))

    def clock_changes(self) -> int:
        """How often the clocks of a zone changed while its schedules lived, in both directions."""
        days = range(self.began // MICROS, (self.latest - DAY) // MICROS, DAY // MICROS)
        return sum(
            place.span(day).offset != place.span(day + DAY // MICROS).offset
            for place in map(zone, ZONES)
            for day in days
        )

    def _wrong_ticks(self, name: str, created: Instant, own: list[Record]) -> list[str]:
        rule = ready(self.plans[name], created).rule
        tick = rule.next_after(created)
        found: list[str] = []
        for record in own:
            for _ in range(record.ticks):
                if tick is None or not record.nominal <= tick <= record.last:
                    return [*found, f"{name}: a record of {instant_text(record.nominal)} where {tick} was to be next"]
                tick = rule.next_after(tick)
            if record.origin != REGULAR or (record.outcome is Outcome.FIRED) != (record.job is not None):
                found.append(f"{name}: a record that does not fit: {record}")
        if tick is not None and tick <= self.clock.now():
            found.append(f"{name}: nothing was recorded of {instant_text(tick)}")
        return found

    def _records(self) -> list[Record]:
        found: list[Record] = []
        after: ticks.Key = (ScheduleId(0), Instant(0), "")
        while page := self.store.read(lambda tx, at=after: ticks.all_ticks(tx, at, 5_000)):  # type: ignore[misc]
            found += page
            after = page[-1].key
        return found

    def _made_by(self) -> list[str]:
        return [row[0] for row in self._raw.execute("select tick from job where tick is not null")]

    @property
    def _raw(self) -> Any:
        assert isinstance(self.store.engine, SqliteEngine)
        return self.store.engine.raw

    def drop_the_key_of_ticks(self) -> None:
        """The planted fault: the same table without what makes a tick unique."""
        self._raw.execute("create table loose as select * from tick; drop table tick; alter table loose rename to tick")
