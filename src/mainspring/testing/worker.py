"""A worker without processes: what worker/coordinator.py does around a Dispatch, with simulated runners.

The engine inside is the real one; only bytes, signals and processes are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from mainspring.chance import Chance
from mainspring.client.direct import DirectClient
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, from_seconds, seconds
from mainspring.domain.frame import Frame, FromRunner, Hello, Request, Stop
from mainspring.domain.ids import WorkerId
from mainspring.domain.task import Catalog, Lodging
from mainspring.domain.worker import WorkerState
from mainspring.engine.declaring import report
from mainspring.engine.dispatch import Dispatch
from mainspring.engine.held import Limits, Outbox
from mainspring.engine.timing import Timing
from mainspring.errors import StoreError
from mainspring.store import BINARY, Store, Transaction, workers
from mainspring.testing.runners import Runner
from mainspring.testing.virtual import NEVER
from mainspring.worker.requests import RequestDesk
from mainspring.worker.roster import Roster

FIRST_BACKOFF = Duration(100 * MILLISECOND)
LONGEST_BACKOFF = Duration(5 * SECOND)


class WorkerPlan(msgspec.Struct, frozen=True):
    """What a worker is started with; the words are those of WorkerOptions."""

    timing: Timing
    slots: int = 100
    processes: int = 32
    runners: int = 1
    queues: tuple[str, ...] = ()
    labels: dict[str, str] = {}


class Host(Protocol):
    """What a worker needs of the world around it."""

    def start_runner(self, worker: SimulatedWorker, number: int, lodging: Lodging) -> Runner:
        """A new runner process."""
        ...

    def may_read(self) -> int:
        """How many frames the worker takes in before its turn."""
        ...

    def note(self, worker: SimulatedWorker, text: str) -> None:
        """A sentence for the worker's log."""
        ...


class SimulatedWorker:
    """One start of a worker. After a crash make a new one: nothing of this is left but what the store holds.

    ``id``: its number in the store, once a runner has said hello; ``renewed_at``: when the leases that it holds were
    last renewed (monotonic); ``stopped``: it has drained.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - composition
        self, name: str, host: Host, store: Store, clock: Clock, chance: Chance, plan: WorkerPlan
    ) -> None:
        self.name = name
        self.plan = plan
        self.id: WorkerId | None = None
        self.dispatch: Dispatch | None = None
        self.runners: dict[int, Runner] = {}
        self.renewed_at = clock.monotonic()
        self.stopped = False
        self.turn_at = clock.monotonic()
        self._host = host
        self._store = store
        self._clock = clock
        self._chance = chance
        self._desk = RequestDesk(lambda job: DirectClient(store, actor=f"job:{job}", parent=job), store.debt, clock)
        self._roster = Roster(plan.runners)
        self._backoff = FIRST_BACKOFF
        self._signals = 0
        self._start_due_runners()

    # --- what others do to it ---------------------------------------------------------------------------------

    def ring(self) -> None:
        """The work bell: look soon."""
        self.turn_at = min(self.turn_at, self._clock.monotonic())
        if self.dispatch is not None:
            self.dispatch.hint()

    def signal(self) -> None:
        """SIGTERM: drain; the second time: give back what runs."""
        self._signals += 1
        self.turn_at = self._clock.monotonic()
        if self.dispatch is not None:
            if self._signals == 1:
                self.dispatch.drain()
            else:
                self.dispatch.hurry()

    def crash(self) -> list[Runner]:
        """The process is gone; its runners, which their guards end when they see it."""
        orphans = list(self.runners.values())
        self.runners.clear()
        return orphans

    @property
    def busy(self) -> bool:
        """Whether it holds jobs."""
        return self.dispatch is not None and bool(self.dispatch.held)

    # --- turns ------------------------------------------------------------------------------------------------

    def wakes_at(self) -> Duration:
        if self.stopped:
            return NEVER
        soonest, start = self.turn_at, self._roster.next_start()
        if start is not None:
            soonest = min(soonest, start)
        for runner in self.runners.values():
            if runner.death is not None:
                return Duration(0)
            soonest = min(soonest, runner.control.first_at, runner.bulk.first_at)
        return soonest

    def needs_at(self) -> Duration:
        """When it must have a turn even where nothing is to be looked for: timeouts, frames, runners to start.

        Between two of these it only polls and renews, so that time without anybody else in it may be left out.
        """
        if self.dispatch is None or self._signals or self.turn_at <= self._clock.monotonic():
            return Duration(0)
        soonest = min([NEVER, *self._starts(), *(runner.first_at() for runner in self.runners.values())])
        if any(runner.death is not None for runner in self.runners.values()):
            return Duration(0)
        check = self.dispatch.next_check
        return soonest if check is None else min(soonest, check)

    def act(self) -> None:
        """Take in what has come, turn, send."""
        self._read()
        self._start_due_runners()
        self._desk.turn()
        self._desk.give(self._put)
        if self.dispatch is None:
            self.stopped = self._signals > 0
            self.turn_at = Duration(self._clock.monotonic() + SECOND)
            return
        self.dispatch.waits(self._desk.waits(self.dispatch.held))
        try:
            out = self.dispatch.turn()
        except StoreError as error:
            self._host.note(self, str(error))
            self.turn_at = Duration(self._clock.monotonic() + self._backoff)
            self._backoff = Duration(min(LONGEST_BACKOFF, 2 * self._backoff))
            self._carry_out(self.dispatch.salvage())
            return
        self._backoff = FIRST_BACKOFF
        if out.extend_until:
            self.renewed_at = Duration(out.extend_until - self.plan.timing.lease)
        self._carry_out(out)
        self.turn_at = Duration(self._clock.monotonic() + min(out.wait, self._desk.wait))

    def _read(self) -> None:
        room = self._host.may_read()
        for runner in list(self.runners.values()):
            for frame in self._frames(runner):
                self._take(runner, frame)
                room -= 1
                if room <= 0 and runner.death is None:
                    return
            if runner.death is not None:
                self._bury(runner)

    def _frames(self, runner: Runner) -> Iterator[FromRunner]:
        """What has come from it; of a dead one all that it had still written."""
        now = NEVER if runner.death is not None else self._clock.monotonic()
        for pipe in (runner.control, runner.bulk):
            while (frame := pipe.take(now)) is not None:
                yield frame

    def _take(self, runner: Runner, frame: FromRunner) -> None:
        match frame:
            case Hello():
                self._greet(runner, frame.catalog)
            case Request():
                self._desk.receive(runner.number, frame)
            case _:
                if self.dispatch is not None:
                    self.dispatch.receive(runner.number, frame)

    def _greet(self, runner: Runner, declared: Catalog) -> None:
        if self.dispatch is None:
            self._register(declared)
        if self.dispatch is not None:
            tasks = [task.name for task in declared.tasks]
            self.dispatch.add_runner(runner.number, tasks, self._roster.greeted(runner.number))

    def _register(self, declared: Catalog) -> None:
        """The first hello; where the store refuses, the runner is ended and a later one says hello again."""
        plan = self.plan

        def work(tx: Transaction) -> WorkerId:
            report(tx, declared, lambda text: self._host.note(self, text))
            hello = workers.Hello(
                incarnation=self._chance.incarnation(),
                name=self.name,
                host="simulated",
                pid=0,
                app=declared.app,
                code_hash=declared.code_hash,
                version=BINARY,
                queues=plan.queues,
                labels=plan.labels,
                slots=plan.slots,
                tasks=[task.name for task in declared.tasks],
                pids={},
            )
            worker = workers.register(tx, hello)
            workers.beat(tx, worker, WorkerState.ACTIVE, plan.timing.lease)
            return worker

        try:
            self.id = self._store.write(work)
        except StoreError as error:
            self._host.note(self, str(error))
            for runner in self.runners.values():
                runner.die("asked")
            return
        self.dispatch = Dispatch(
            self._store,
            self._clock,
            worker=self.id,
            app=declared.app,
            queues=plan.queues,
            labels=plan.labels,
            limits=Limits(plan.slots, min(plan.processes, plan.slots)),
            timing=plan.timing,
            sweep_offset=from_seconds(seconds(plan.timing.sweep) * self._chance.fraction()),
        )
        if self._signals:
            self.dispatch.drain()

    def _carry_out(self, out: Outbox) -> None:  # noqa: C901 - each order once, in order
        for number in out.extend:
            if number in self.runners:
                self.runners[number].extend(out.extend_until)
        for number, frame in out.frames:
            self._put(number, frame)
        for number in out.kill:
            if number in self.runners:
                self.runners[number].die("asked")
        for number in out.replace:
            if number in self.runners:
                self._roster.leaves(number)
        self._roster.want(out.wanted)
        for number in out.retire:
            self._roster.leaves(number)
            self._put(number, Stop())
        for note in out.notes:
            self._host.note(self, note)
        if out.calls:
            self._store.work_bell.ring()
        if out.news or out.starts:
            self._store.news_bell.ring()
        if out.drained:
            self._leave()

    def _leave(self) -> None:
        """Drained: stop the runners and say goodbye."""
        self.stopped = True
        for runner in self.runners.values():
            runner.die("asked")
        self.runners.clear()
        worker = self.id
        if worker is not None:
            self._store.write(lambda tx: workers.beat(tx, worker, WorkerState.STOPPED, Duration(0)))
        self._store.work_bell.ring()

    def _put(self, number: int, frame: Frame) -> None:
        if number in self.runners:
            self.runners[number].send(frame)

    # --- runners ----------------------------------------------------------------------------------------------

    def _start_due_runners(self) -> None:
        for number, lodging in self._roster.due(self._clock.monotonic()):
            self.runners[number] = self._host.start_runner(self, number, lodging)

    def _starts(self) -> list[Duration]:
        at = self._roster.next_start()
        return [] if at is None else [at]

    def _bury(self, runner: Runner) -> None:
        """A runner is gone, and what it had still said has been taken in: end what was in it."""
        death = runner.death
        del self.runners[runner.number]
        self._roster.died(runner.number, self._clock.monotonic())
        if self.dispatch is not None and death is not None:
            self.dispatch.remove_runner(runner.number, death.failure, lost=death.killed == "deadline")
        self._desk.forget(runner.number)
