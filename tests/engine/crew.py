"""A crew: several workers and a server on one store under a virtual clock; jobs follow the parts that a test gives."""

from __future__ import annotations

from collections.abc import Callable

from mainspring.chance import SeededChance
from mainspring.client.direct import DirectClient
from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.domain.frame import Start
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, JobRequest
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.timing import Timing
from mainspring.testing.image import fresh_store
from mainspring.testing.ledger import Ledger, Run
from mainspring.testing.mischief import ActorStore, refusal
from mainspring.testing.plays import CATALOG
from mainspring.testing.runners import Runner, at_once
from mainspring.testing.scripted import Part, ScriptedRunner
from mainspring.testing.seats import Server
from mainspring.testing.virtual import NEVER, VirtualClock
from mainspring.testing.worker import SimulatedWorker, WorkerPlan

LEASE, SWEEP = Duration(30 * SECOND), Duration(5 * SECOND)
TIMING = Timing(LEASE, SWEEP, SECOND, Duration(30 * SECOND))
STUBBORN = NEVER
SOON = Part("succeed", Duration(10 * MILLISECOND))


def lasting(length: int, *, end: str = "succeed", heeds: Duration = Duration(MILLISECOND)) -> Part:
    """A part of so many seconds."""
    return Part(end, Duration(length * SECOND), heeds=heeds)


class Crew:
    """Workers by name, and a server if the test wants one. ``parts``: by task; the next start takes the first."""

    def __init__(self, *workers: str, server: bool = False, slots: int = 100) -> None:
        self.clock = VirtualClock()
        self._chance = SeededChance(1)
        self.store = fresh_store(self.clock, self._chance, CATALOG)
        self.client = DirectClient(self.store)
        self.ledger = Ledger()
        self.parts: dict[str, list[Part]] = {}
        self.notes: list[str] = []
        self.outage = False
        self.frozen: dict[str, Duration] = {}
        self.runners: list[ScriptedRunner] = []
        self._slots = slots
        self.workers: dict[str, SimulatedWorker] = {}
        for name in workers:
            self.hire(name)
        self.server = Server("server", self.store, self.clock, SWEEP, SECOND) if server else None
        self.run(MILLISECOND)

    def hire(self, name: str) -> None:
        """A worker starts, or starts anew."""
        self.workers[name] = SimulatedWorker(
            name, self, ActorStore(self.store, self), self.clock, self._chance, WorkerPlan(TIMING, self._slots)
        )

    # --- what the test does -----------------------------------------------------------------------------------

    def submit(self, task: str, *parts: Part, count: int = 1, **options: object) -> list[JobId]:
        """So many jobs; each start of the task takes the next part (then: a quick success)."""
        self.parts.setdefault(f"world.{task}", []).extend(parts)
        wishes = [JobRequest(task=task, params={"token": n}, **options) for n in range(count)]  # type: ignore[arg-type]
        jobs = [receipt.job for receipt in self.client.submit(wishes)]
        for worker in self.workers.values():
            worker.ring()
        return jobs

    def run(self, length: Duration) -> None:
        """Let so much time pass, everybody in order."""
        end = Duration(self.clock.monotonic() + length)
        while True:
            soonest, act = min(self._wanted(), key=lambda one: one[0])
            self.clock.advance(Duration(min(max(soonest, self.clock.monotonic()), end) - self.clock.monotonic()))
            if soonest > end:
                return
            act()

    def _wanted(self) -> list[tuple[Duration, Callable[[], None]]]:
        self.runners = [one for one in self.runners if one.death is None]
        wanted = [(runner.wakes_at(), runner.act) for runner in self.runners]
        for name, worker in self.workers.items():
            wanted.append((max(worker.wakes_at(), self.frozen.get(name, Duration(0))), worker.act))
        if self.server is not None:
            wanted.append((self.server.wakes_at(), self.server.act))
        return wanted

    def freeze(self, name: str, length: Duration) -> None:
        """A worker gets no turns for so long."""
        self.frozen[name] = Duration(self.clock.monotonic() + length)

    def kill(self, name: str) -> None:
        """A worker dies, and its runners with it."""
        for runner in self.workers.pop(name).crash():
            runner.die("coordinator")

    # --- what the test sees -----------------------------------------------------------------------------------

    def job(self, number: int) -> Job:
        return self.client.job(number)

    def outcomes(self, number: int) -> list[Outcome | None]:
        return [attempt.outcome for attempt in self.client.attempts(number)]

    def runs(self, number: int) -> list[Run]:
        return self.ledger.of_job.get(JobId(number), [])

    # --- what befalls the store of the workers ----------------------------------------------------------------

    def before_write(self) -> None:
        if self.outage:
            raise refusal()

    def in_write(self) -> None:
        pass

    def before_read(self) -> None:
        pass

    def after_read(self) -> None:
        pass

    # --- what a worker needs ----------------------------------------------------------------------------------

    def start_runner(self, worker: SimulatedWorker, number: int, lodging: Lodging) -> Runner:
        runner = ScriptedRunner(
            number,
            worker.name,
            self.clock,
            CATALOG,
            lodging=lodging,
            delay=at_once,
            ledger=self.ledger,
            cast=self._part,
        )
        self.runners.append(runner)
        return runner

    def _part(self, frame: Start) -> Part:
        waiting = self.parts.get(frame.task)
        return waiting.pop(0) if waiting else SOON

    def may_read(self) -> int:
        return 1000

    def note(self, worker: SimulatedWorker, text: str) -> None:
        self.notes.append(text)
