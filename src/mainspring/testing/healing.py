"""Healing: what must happen once every fault is over, and by when (V1, V2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainspring.clock import MINUTE, SECOND, Duration, duration_text
from mainspring.domain.states import FINAL
from mainspring.store import audit, workers
from mainspring.testing.worker import SimulatedWorker

if TYPE_CHECKING:
    from mainspring.testing.world import World

LONGEST = 20_000
"""Steps after which a healed world should long have come to rest."""
ALLOWANCE = Duration(MINUTE)
"""For backoffs, restarts and queues behind few slots; time in which nothing at all could happen is not counted."""


class Healing:
    """Runs a world without faults until all its jobs have ended."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._slept = Duration(0)

    def run(self) -> None:
        """Until all have ended; accuses whoever has not when the time is over."""
        world = self._world
        began = world.clock.monotonic()
        orphans_by = began + world.timing.lease + world.timing.sweep + 3 * SECOND
        most = world.timing.lease + world.timing.sweep + ALLOWANCE
        for _ in range(LONGEST):
            if self._at_rest() or world.judge.violations:
                return
            awake = world.clock.monotonic() - began - self._slept
            if awake > most:
                break
            if world.clock.monotonic() - self._slept > orphans_by:
                self._check_orphans()
                orphans_by = most + began
            self._sleep_over_nothing()
            world.advance()
        waited = duration_text(Duration(world.clock.monotonic() - began - self._slept))
        for job, track in world.judge.tracks.items():
            if track.state not in FINAL:
                world.judge.accuse("V2", job, f"it is {track.state} {waited} after the last fault")
        for number, what in world.unsettled():
            world.judge.accuse("V2", number, f"{what} {waited} after the last fault")

    def _at_rest(self) -> bool:
        world = self._world
        over = all(track.state in FINAL for track in world.judge.tracks.values())
        return over and not any(runner.playing for runner in world.runners) and not world.unsettled()

    def _check_orphans(self) -> None:
        """V1: by now no lease stands that has run out by the database's clock."""
        world = self._world
        for lease in world.store.read(audit.leased):
            over = Duration(world.clock.now() - lease.until)
            if over > world.timing.sweep + 2 * SECOND:
                text = f"the lease of attempt {lease.attempt} ran out {duration_text(over)} ago and was not swept"
                world.judge.accuse("V1", lease.job, text)

    def _sleep_over_nothing(self) -> None:
        """Where nobody has anything to do, the machine sleeps until something is due, as a laptop does."""
        world = self._world
        if any(runner.playing for runner in world.runners):
            return
        if any(isinstance(seat.process, SimulatedWorker) and seat.process.busy for seat in world.workers):
            return
        leases = world.store.read(audit.leased)
        now = world.clock.now()
        due, _, _ = world.store.read(lambda tx: workers.sweep_look(tx, now))
        moments = [lease.until for lease in leases] + ([] if due is None else [due])
        waiting = any(track.state == "queued" for track in world.judge.tracks.values())
        if moments and not waiting and (length := min(moments) - now) > world.timing.poll:
            world.clock.advance(Duration(length))
            self._slept = Duration(self._slept + length)
