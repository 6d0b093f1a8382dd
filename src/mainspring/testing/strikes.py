"""The striker: carries out a seed's faults at moments that fit, and counts which of them hit a busy one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from mainspring.clock import DAY, MILLISECOND, SECOND, Duration
from mainspring.domain.frame import Ended, FromRunner
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store import Transaction, audit
from mainspring.testing.mischief import AFTER_COMMIT, PATIENCE, READ, Fault, Kind, Meddler, refusal
from mainspring.testing.operators import Operator
from mainspring.testing.scripted import ScriptedRunner
from mainspring.testing.seats import Seat, Server
from mainspring.testing.worker import SimulatedWorker

if TYPE_CHECKING:
    from mainspring.testing.world import World

_INSIDE = frozenset({Kind.CRASH, Kind.PAUSE, Kind.TWICE, Kind.LATE})
"""Kinds that wait for something that happens within a turn."""
_LONGEST_WRITE = Duration(2 * SECOND)
_SWEEPS = frozenset({FaultPoint.SWEEP_AFTER_READ.value, READ})


class Bell(threading.Event):
    """The work bell, as the seats of the world hear it."""

    def __init__(self, heard: Callable[[], None]) -> None:
        super().__init__()
        self._heard = heard

    def set(self) -> None:
        self._heard()


class Striker:
    """Who does the mischief. ``struck``: faults carried out; ``busy``: of these, with something at stake."""

    def __init__(self, world: World, faults: list[Fault]) -> None:
        self._world = world
        self._between = [fault for fault in faults if fault.kind not in _INSIDE]
        self._within = [fault for fault in faults if fault.kind in _INSIDE]
        self._deaf = 0
        self.struck = 0
        self.busy = 0
        self.bell = Bell(self._rung)

    def rest(self) -> None:
        """No more faults, and no trace of those that were."""
        self._between.clear()
        self._within.clear()
        self._deaf = 0
        for seat in self._world.seats:
            seat.refusals, seat.dawdle = 0, Duration(0)

    # --- between two turns ------------------------------------------------------------------------------------

    def strike(self) -> None:
        """Carry out the first fault whose time and moment have come."""
        step = self._world.step
        for fault in self._between:
            if fault.step > step:
                return
            targets, busy = self._targets(fault)
            if targets and (busy or step >= fault.step + PATIENCE):
                self._between.remove(fault)
                self._hit(fault, targets[fault.who % len(targets)])
                self._tell(fault, busy=busy)
                return

    def _targets(self, fault: Fault) -> tuple[list[Seat] | list[ScriptedRunner], bool]:
        """Whom it may hit now, the busy ones where there are some."""
        world = self._world
        if fault.kind in (Kind.RUNNER, Kind.HANG):
            playing = [runner for runner in world.runners if runner.playing and runner.death is None]
            return playing, bool(playing)
        if fault.kind is Kind.JUMP:
            return world.servers, any(runner.playing for runner in world.runners)
        seats = [seat for seat in world.workers if isinstance(seat.process, SimulatedWorker) and not seat.inside]
        if fault.kind is Kind.FREEZE and fault.who % 5 == 0:
            return [seat for seat in world.servers if not seat.inside], True
        busy = [seat for seat in seats if isinstance(seat.process, SimulatedWorker) and seat.process.busy]
        return (busy or seats), bool(busy)

    def _hit(self, fault: Fault, target: Seat | ScriptedRunner) -> None:  # noqa: C901, PLR0912 - one case a kind
        world = self._world
        now = world.clock.monotonic()
        if isinstance(target, ScriptedRunner):
            if fault.kind is Kind.HANG:
                target.hang(Duration(now + fault.length))
                return
            if fault.who % 2:
                target.control.lose()
                target.bulk.lose()
            target.die(None, {"signal": "SIGKILL"})
            return
        match fault.kind:
            case Kind.KILL:
                world.bury(target)
            case Kind.FREEZE:
                target.frozen_until = Duration(now + fault.length)
            case Kind.RESUME:
                target.frozen_until = Duration(now + fault.length)
                world.clock.jump(DAY)
                world.ledger.jump(now, DAY)
            case Kind.REFUSE:
                target.refusals += fault.count
            case Kind.SLOW:
                target.dawdle = fault.length
            case Kind.JUMP:
                world.clock.jump(fault.length)
                world.ledger.jump(now, fault.length)
            case Kind.TERM:
                for _ in range(fault.count):
                    if isinstance(target.process, SimulatedWorker):
                        target.process.signal()
            case _:
                self._deaf += fault.count

    def _tell(self, fault: Fault, *, busy: bool) -> None:
        world = self._world
        self.struck += 1
        self.busy += busy
        world.counts[f"fault {fault.kind}"] += 1
        world.counts[f"busy {fault.kind}"] += busy
        world.say("fault", str(fault))

    # --- within a turn ----------------------------------------------------------------------------------------

    def hit(self, point: FaultPoint) -> None:
        """A fault point was passed."""
        seat = self._world.acting
        if seat is None:
            return
        fault = self._armed(point.value, seat)
        if fault is None:
            return
        if fault.kind is Kind.CRASH:
            raise InjectedFault(point.value)
        self._world.nest(seat, fault.length)

    def _armed(self, point: str, seat: Seat) -> Fault | None:
        """The fault that strikes at this point now."""
        step = self._world.step
        for fault in self._within:
            if fault.step > step:
                return None
            if fault.point != point:
                continue
            busy = self._at_stake(point, seat)
            if busy or step >= fault.step + PATIENCE:
                self._within.remove(fault)
                self._tell(fault, busy=busy)
                return fault
        return None

    def _at_stake(self, point: str, seat: Seat) -> bool:
        """Whether something can go wrong here now."""
        if isinstance(seat.process, Operator):
            return point != READ
        if isinstance(seat.process, Server):
            return point not in _SWEEPS or self._sweepable()
        return isinstance(seat.process, SimulatedWorker) and (seat.process.busy or point in AFTER_COMMIT)

    def _sweepable(self) -> bool:
        now = self._world.clock.now()

        def look(tx: Transaction) -> bool:
            return any(lease.until < now for lease in audit.leased(tx))

        return self._world.store.read(look)

    def spoken(self, runner: ScriptedRunner, frame: FromRunner) -> None:
        """A runner is about to say something."""
        if not self._within or not isinstance(frame, Ended):
            return
        for fault in self._within:
            if fault.step > self._world.step:
                return
            if fault.kind is Kind.TWICE:
                ScriptedRunner.say(runner, frame)
            elif fault.kind is Kind.LATE:
                runner.bulk.hold(Duration(self._world.clock.monotonic() + fault.length))
            else:
                continue
            self._within.remove(fault)
            self._tell(fault, busy=True)
            return

    # --- the store of a seat, and the bell --------------------------------------------------------------------

    def meddler(self, seat: Seat) -> Meddler:
        """What befalls the transactions of this seat."""
        return _SeatMeddler(self, self._world, seat)

    def behind_read(self, seat: Seat) -> None:
        """A look is over, and what is made of it has not begun."""
        if self._within and seat.inside and self._world.acting is seat:
            fault = self._armed(READ, seat)
            if fault is not None:
                self._world.nest(seat, fault.length)

    def _rung(self) -> None:
        if self._deaf > 0:
            self._deaf -= 1
            return
        for seat in self._world.workers:
            if isinstance(seat.process, SimulatedWorker):
                seat.process.ring()


class _SeatMeddler:
    """The bad luck of one seat."""

    def __init__(self, striker: Striker, world: World, seat: Seat) -> None:
        self._striker = striker
        self._world = world
        self._seat = seat

    def before_write(self) -> None:
        if self._seat.refusals > 0:
            self._seat.refusals -= 1
            self._world.clock.advance(Duration(self._world.chance.whole(0, 200) * MILLISECOND))
            raise refusal()
        if self._seat.dawdle % 3 and self._seat.inside:
            length, self._seat.dawdle = self._seat.dawdle, Duration(0)
            self._world.nest(self._seat, length)  # it waits for the lock, and others are luckier

    def in_write(self) -> None:
        length, self._seat.dawdle = min(self._seat.dawdle, _LONGEST_WRITE), Duration(0)
        if length:
            self._world.ledger.stall(self._world.clock.monotonic(), length)
            self._world.clock.advance(length)

    def before_read(self) -> None:
        if self._seat.refusals > 0 and self._seat.refusals % 3 == 0:
            self._seat.refusals -= 1
            raise refusal()

    def after_read(self) -> None:
        self._striker.behind_read(self._seat)
