"""The simulated world: the real engine on the real store in memory, under one clock, with turns picked by a seed.

Workers, servers and operators are the product's own code; only processes and pipes are played. One step is one turn
of one actor, or the clock moves to the next moment at which somebody wants a turn. docs/architecture/simulation.md
explains it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from mainspring import faults
from mainspring.chance import SeededChance
from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.domain.frame import FromRunner
from mainspring.domain.task import Catalog, Lodging
from mainspring.engine.timing import Timing
from mainspring.faults import InjectedFault
from mainspring.store import Store
from mainspring.testing.healing import Healing
from mainspring.testing.image import fresh_store
from mainspring.testing.judge import Judge, Row, Violation
from mainspring.testing.ledger import Ledger
from mainspring.testing.mischief import ActorStore, Fault, plan
from mainspring.testing.operators import Operator
from mainspring.testing.plays import CATALOG, OLDER, Plays
from mainspring.testing.rest import Rest
from mainspring.testing.runners import Runner
from mainspring.testing.scripted import ScriptedRunner
from mainspring.testing.seats import Process, Seat, Server
from mainspring.testing.strikes import Striker
from mainspring.testing.virtual import VirtualClock
from mainspring.testing.worker import SimulatedWorker, WorkerPlan

STEPS = 200
"""Steps with faults; with fewer, hardly anybody is back from beyond his lease before all is healed."""
LEAST_JOBS = 20
LEAST_BUSY = 3
"""Faults that must hit a busy moment."""
NESTED = 100
"""Steps that the others may take while one stands still in the middle of its turn; then it goes on in any case."""


class Line(msgspec.Struct, frozen=True):
    """One step as the report shows it."""

    step: int
    at: Duration
    actor: str
    what: str


class WorldEnd(msgspec.Struct):
    """What a seed led to. ``events``: the whole event log; ``runs``: all code that ran."""

    seed: int
    faults: list[Fault]
    violations: list[Violation]
    events: list[Row]
    runs: list[tuple[Any, ...]]
    counts: Counter[str]
    lines: list[Line]


class World:
    """One seed. ``faults``: instead of those that the seed plans; ``traced``: keep a line for each step."""

    def __init__(
        self, seed: int, *, faults: list[Fault] | None = None, traced: bool = False, steps: int = STEPS
    ) -> None:
        self.seed = seed
        self.steps = steps
        self.chance = SeededChance(seed)
        self.clock = VirtualClock()
        self.counts: Counter[str] = Counter()
        self.lines: list[Line] = []
        self.step = 0
        self.healing = False
        self.acting: Seat | None = None
        self._traced = traced
        self._depth = 0
        lease = Duration(self.chance.pick((2, 3, 5, 8)) * SECOND)
        sweep = Duration(lease // self.chance.pick((2, 3, 6)))
        self.timing = Timing(lease, sweep, Duration(self.chance.pick((300, 1000)) * MILLISECOND), Duration(2 * lease))
        self.store = fresh_store(self.clock, SeededChance(seed + 1), OLDER, CATALOG)
        self.ledger = Ledger()
        self.judge = Judge(self.store, self.clock, self.ledger, self.timing)
        self.plays = Plays(SeededChance(seed + 2), lease)
        planned = plan(SeededChance(seed + 3), steps=steps, lease=lease)
        self.faults = planned if faults is None else faults
        self.striker = Striker(self, self.faults)
        self.runners: list[ScriptedRunner] = []
        self._catalogs: dict[str, Catalog] = {}
        self.workers = [self._seat(f"w{number}", self._worker) for number in range(1, self.chance.whole(2, 3) + 1)]
        self.servers = [self._seat(f"s{number}", self._server) for number in (1, 2)]
        self.operators = [self._seat(f"o{number}", self._operator) for number in (1, 2)]
        self.seats = [*self.workers, *self.servers, *self.operators]
        self.store.work_bell.enroll(self.striker.bell)

    # --- filling seats ----------------------------------------------------------------------------------------

    def _seat(self, name: str, fill: Any) -> Seat:
        return Seat(name, self.clock, fill)

    def _store_of(self, seat: Seat) -> Store:
        return ActorStore(self.store, self.striker.meddler(seat))

    def _worker(self, seat: Seat, start: int) -> Process:
        plan = WorkerPlan(self.timing, slots=self.chance.whole(2, 6), processes=2, runners=self.chance.pick((1, 1, 2)))
        name = f"{seat.name}.{start}"
        # The first start of some is of an older version of the app, as in a rolling deploy.
        self._catalogs[name] = OLDER if start == 1 and seat.name == "w2" and self.chance.fraction() < 0.4 else CATALOG
        return SimulatedWorker(name, self, self._store_of(seat), self.clock, self.store.chance, plan)

    def _server(self, seat: Seat, start: int) -> Process:
        return Server(seat.name, self._store_of(seat), self.clock, self.timing.sweep, self.timing.poll)

    def _operator(self, seat: Seat, start: int) -> Process:
        chance = SeededChance(self.chance.whole(0, 2**40))
        store = self._store_of(seat)
        return Operator(seat.name, store, self.clock, chance, self.ledger, self.judge, self.plays.deal)

    def unsettled(self) -> list[tuple[int, str]]:
        """What has not come to its end, beside jobs: number and what it is; none in a world of jobs alone."""
        return []

    def start_runner(self, worker: SimulatedWorker, number: int, lodging: Lodging) -> Runner:
        """A worker starts a runner."""
        runner = PlayedRunner(
            number,
            worker.name,
            self.clock,
            self._catalogs[worker.name],
            lodging=lodging,
            delay=self._delay,
            ledger=self.ledger,
            cast=self.plays.part,
        )
        runner.striker = self.striker
        self.runners.append(runner)
        return runner

    def may_read(self) -> int:
        """A worker takes in some of what has come."""
        return 1000 if self.healing else self.chance.pick((1, 2, 5, 1000))

    def note(self, worker: SimulatedWorker, text: str) -> None:
        """A worker says something."""
        self.say(worker.name, text)

    def say(self, actor: str, what: str) -> None:
        """A line for the report, where one is made."""
        if self._traced:
            self._line(actor, what)

    def _delay(self) -> Duration:
        return Duration(round(self.chance.fraction() ** 4 * 40 * MILLISECOND))

    # --- steps ------------------------------------------------------------------------------------------------

    def run(self) -> WorldEnd:
        """Live through the seed, heal, and judge."""
        faults.arm(self.striker.hit)
        try:
            while not self._lived() and not self.judge.violations:
                self.advance()
            if not self.judge.violations:
                self._heal()
        finally:
            faults.arm(None)
        return self.end()

    def end(self) -> WorldEnd:
        """What it has led to so far."""
        self._count()
        judge = self.judge
        runs = self.ledger.digest()
        return WorldEnd(self.seed, self.faults, judge.violations, judge.events, runs, self.counts, self.lines)

    def _lived(self) -> bool:
        """Whether the seed has had its steps, and enough jobs and faults to be worth its time."""
        enough = len(self.judge.tracks) >= LEAST_JOBS and self.striker.busy >= LEAST_BUSY
        return self.step >= (self.steps if enough else 3 * self.steps)

    def advance(self) -> None:
        """One step."""
        self.step += 1
        self.judge.step = self.step
        if not self.healing:
            self.striker.strike()
        actor = self._pick()
        began = self.clock.monotonic()
        before, self.acting = self.acting, actor if isinstance(actor, Seat) else None
        try:
            actor.act()
        except InjectedFault as fault:
            if self.acting is not None:
                self._crashed(self.acting, str(fault))
        finally:
            self.acting = before
        if isinstance(actor, Seat) and isinstance(actor.process, SimulatedWorker):
            self._after_turn(actor, actor.process, began)
        new = self.judge.look() if isinstance(actor, Seat) else []  # runners write nothing
        if self._traced:
            self._line(actor.name, " ".join(f"{row[1]}:{row[3]}>{row[5]}" for row in new))

    def _after_turn(self, seat: Seat, worker: SimulatedWorker, began: Duration) -> None:
        if worker.id is not None:
            self.judge.actors[f"worker:{worker.id}"] = worker.name
        renewed = worker.renewed_at >= began
        if worker.id is not None and renewed and self.ledger.jumps and not self.ledger.jumped_since(began):
            self.judge.renewed(worker.id)
        if worker.stopped:
            self.counts["drains"] += 1
            seat.vacate(Duration(self.clock.monotonic() + self.chance.whole(50, 2000) * MILLISECOND))

    def _pick(self) -> Seat | ScriptedRunner:
        """Who gets the turn; time passes until somebody wants one."""
        self.runners = [one for one in self.runners if one.death is None]
        actors: list[Seat | ScriptedRunner] = [*self.seats, *self.runners]
        moments = [actor.wakes_at() for actor in actors]
        soonest = min(moments)
        now = self.clock.monotonic()
        if soonest > now:
            late = 0 if self.healing else round(self.chance.fraction() ** 6 * 400 * MILLISECOND)
            self.clock.advance(Duration(soonest - now + late))
            now = self.clock.monotonic()
        ready = [actor for actor, at in zip(actors, moments, strict=True) if at <= now]
        return ready[0] if len(ready) == 1 else self.chance.pick(ready)

    def nest(self, seat: Seat, length: Duration) -> None:
        """The others go on while this one stands still in the middle of its turn."""
        if self._depth >= 2:
            return
        self._depth += 1
        self.judge.look()  # before the clock moves on: what it has committed is judged by its own time
        until = self.clock.monotonic() + length
        held, seat.inside = seat.inside, True
        for _ in range(NESTED):
            if self.clock.monotonic() >= until or self.judge.violations:
                break
            self.advance()
        seat.inside = held
        self._depth -= 1

    def _crashed(self, seat: Seat, point: str) -> None:
        self.counts["crashes"] += 1
        self.say(seat.name, f"dies at {point}")
        self.bury(seat)

    def bury(self, seat: Seat) -> None:
        """The process in this seat is gone; its runners' guards see it a little later."""
        process = seat.process
        if isinstance(process, SimulatedWorker):
            for runner in process.crash():
                if runner.death is None:
                    end = Duration(self.clock.monotonic() + self._delay())
                    runner.deadline = end if runner.deadline is None else min(runner.deadline, end)
        seat.vacate(Duration(self.clock.monotonic() + self.chance.whole(50, 2000) * MILLISECOND))

    def _line(self, actor: str, what: str) -> None:
        self.lines.append(Line(self.step, self.clock.monotonic(), actor, what))

    # --- healing ----------------------------------------------------------------------------------------------

    def _heal(self) -> None:
        """The faults are over: everything that was asked for must end within its time, then all is checked."""
        self.healing = True
        self.plays.over = True
        self.striker.rest()
        for seat in self.seats:
            seat.frozen_until = self.clock.monotonic()
            if isinstance(seat.process, Operator):
                seat.process.quiet = True
        for runner in self.runners:
            runner.hurry(self.plays.moments(1, 20))
        Healing(self).run()
        self.rest()

    def rest(self) -> None:
        """All is over: what must hold now."""
        Rest(self.judge, self.store, self.timing.lease).check()

    def _count(self) -> None:
        self.counts["steps"] = self.step
        self.counts["jobs"] = len(self.judge.tracks)
        self.counts["actors"] = len(self.seats)
        self.counts["events"] = len(self.judge.events)
        self.counts["attempts"] = len(self.ledger.runs)
        self.counts["faults"] = self.striker.struck
        self.counts["busy"] = self.striker.busy


class PlayedRunner(ScriptedRunner):
    """A runner whose frames the striker may repeat or hold up."""

    striker: Striker

    def say(self, frame: FromRunner) -> None:
        striker = getattr(self, "striker", None)
        if striker is not None:
            striker.spoken(self, frame)
        super().say(frame)
