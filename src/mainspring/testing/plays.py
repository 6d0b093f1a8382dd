"""The repertoire of the simulated world: which tasks there are, how their attempts go, and what operators ask for."""

from __future__ import annotations

from mainspring.chance import SeededChance
from mainspring.clock import MILLISECOND, SECOND, Duration, duration_text
from mainspring.domain.frame import Start
from mainspring.domain.job import JobRequest
from mainspring.domain.retry import Retry
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.testing.scripted import Part
from mainspring.testing.virtual import NEVER

APP = "world"
_SCHEMA = {
    "type": "object",
    "properties": {"token": {"type": "integer"}, "ballast": {"type": "string"}},
    "required": ["token"],
    "additionalProperties": False,
}


def _task(name: str, executor: Executor, retry: Retry, *, queue: str = "main", timeout: str | None = None) -> Task:
    return Task(
        name=f"{APP}.{name}",
        app=APP,
        executor=executor,
        queue=queue,
        schema=_SCHEMA,
        retry=retry.document(),
        timeout=timeout,
        grace="1s",
        code_hash="1",
    )


_SHORT = Retry(max_attempts=3, delay="300ms", max_delay="2s", jitter=0.5)
CATALOG = Catalog(
    APP,
    "1",
    (
        _task("quick", Executor.ASYNC, _SHORT),
        _task("flaky", Executor.ASYNC, Retry(max_attempts=4, delay="200ms", factor=3, max_delay="1s", jitter=0.2)),
        _task("slow", Executor.ASYNC, _SHORT),
        _task("thread", Executor.THREAD, _SHORT, timeout="3s"),
        _task("own", Executor.PROCESS, _SHORT, timeout="4s"),
        _task("tool", Executor.COMMAND, Retry(max_attempts=2, delay="1s"), queue="side"),
        _task("fatal", Executor.ASYNC, Retry(max_attempts=3, max_losses=5, delay="100ms")),
        _task("endless", Executor.ASYNC, Retry(max_attempts=2, delay="500ms"), timeout="2s"),
        _task("once", Executor.THREAD, Retry(max_attempts=1, max_losses=0), queue="side"),
        _task("picky", Executor.ASYNC, Retry(max_attempts=5, delay="100ms", never_on=("Fatal",))),
    ),
)
OLDER = Catalog(APP, "0", CATALOG.tasks[:6])
"""The app before its last deploy: a worker that runs it knows fewer tasks."""
_NAMES = [*(task.name for task in CATALOG.tasks), f"{APP}.slow", f"{APP}.slow"]


class Plays:
    """Gives parts and makes requests. ``over``: from now on all code is sound and quick."""

    def __init__(self, chance: SeededChance, lease: Duration) -> None:
        self._chance = chance
        self._lease = lease
        self.over = False

    # --- how an attempt goes ----------------------------------------------------------------------------------

    def part(self, frame: Start) -> Part:
        """The part of an attempt that begins now."""
        if self.over:
            return Part("succeed", self.moments(1, 20))
        name = frame.task.rpartition(".")[2]
        part: Part = getattr(self, f"_{name}")()
        part.talks = self._chance.fraction() < 0.1
        return part

    def moments(self, low: int, high: int) -> Duration:
        """A random number of milliseconds."""
        return Duration(self._chance.whole(low, high) * MILLISECOND)

    def _leases(self, low: float, high: float) -> Duration:
        return Duration(round(self._lease * (low + (high - low) * self._chance.fraction())))

    def _quick(self) -> Part:
        children = 2 if self._chance.fraction() < 0.05 else 0
        return Part("succeed", self.moments(1, 200), children=children)

    def _flaky(self) -> Part:
        fails = self._chance.fraction() < 0.6
        wish = self.moments(50, 900) if self._chance.fraction() < 0.3 else None
        return Part("fail" if fails else "succeed", self.moments(1, 300), retry_after=wish)

    def _slow(self) -> Part:
        return Part("succeed", self._leases(0.5, 5), heeds=self.moments(1, 50))

    def _thread(self) -> Part:
        heeds = self.moments(1, 300) if self._chance.fraction() < 0.6 else NEVER
        return Part("succeed", self._leases(0.1, 3), heeds=heeds)

    def _own(self) -> Part:
        heeds = self.moments(1, 300) if self._chance.fraction() < 0.6 else NEVER
        end = self._chance.pick(("succeed", "succeed", "crash", "fail"))
        return Part(end, self._leases(0.05, 3), heeds=heeds)

    def _tool(self) -> Part:
        return Part(self._chance.pick(("succeed", "succeed", "fail", "crash")), self.moments(5, 2000))

    def _fatal(self) -> Part:
        return Part(self._chance.pick(("crash", "succeed")), self.moments(5, 800))

    def _endless(self) -> Part:
        return Part("succeed", NEVER, heeds=self.moments(1, 100))

    def _once(self) -> Part:
        return Part(self._chance.pick(("succeed", "quit")), self.moments(5, 1500))

    def _picky(self) -> Part:
        roll = self._chance.fraction()
        if roll < 0.2:
            return Part("hog", self.moments(200, 6000))
        error = "Fatal" if roll < 0.4 else "Passing"
        return Part("fail" if roll < 0.7 else "succeed", self.moments(1, 400), error=error, final=roll < 0.25)

    # --- what is asked for ------------------------------------------------------------------------------------

    def deal(self, chance: SeededChance) -> JobRequest:
        """A request for one job."""
        return JobRequest(
            task=chance.pick(_NAMES),
            params={"ballast": "x" * 20_000} if chance.fraction() < 0.03 else {},
            priority=chance.pick((None, None, 1, 9)),
            delay=self._delay(chance),
            retry={"max_losses": chance.whole(0, 5)} if chance.fraction() < 0.2 else None,
            timeout="1500ms" if chance.fraction() < 0.1 else None,
            expires=duration_text(Duration(chance.whole(500, 9000) * MILLISECOND)) if chance.fraction() < 0.1 else None,
        )

    def _delay(self, chance: SeededChance) -> str | None:
        roll = chance.fraction()
        if roll < 0.7:
            return None
        if roll < 0.97:
            return duration_text(Duration(chance.whole(50, 8000) * MILLISECOND))
        return duration_text(Duration(chance.whole(1, 40) * 86_400 * SECOND))
