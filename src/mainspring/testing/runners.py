"""A runner without a process: frames of the protocol in and out, a guard that ends it, jobs that a subclass runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mainspring.clock import Duration
from mainspring.domain.frame import (
    PROTOCOL,
    Answer,
    Cancel,
    Credit,
    Ended,
    Frame,
    FromRunner,
    Hello,
    Log,
    Params,
    Ping,
    Pong,
    Request,
    Start,
    Stop,
)
from mainspring.domain.ids import ClaimId
from mainspring.domain.task import Catalog, Lodging
from mainspring.testing.virtual import NEVER, Pipe, VirtualClock
from mainspring.worker.forensics import RunnerDeath

Delay = Callable[[], Duration]


def at_once() -> Duration:
    """No time at all: what a frame takes in a world without faults."""
    return Duration(0)


class Runner:
    """One runner and its guard, as an actor. It says hello when it is made.

    ``deadline``: when the guard ends it (monotonic; none before the first extension); ``death``: how it ended;
    ``hung_until``: until then its loop does not turn.
    """

    def __init__(  # noqa: PLR0913 - composition
        self, number: int, name: str, clock: VirtualClock, catalog: Catalog, *, lodging: Lodging, delay: Delay
    ) -> None:
        self.number = number
        self.name = name
        self.lodging = lodging
        self.clock = clock
        self.catalog = catalog
        self.deadline: Duration | None = None
        self.death: RunnerDeath | None = None
        self.hung_until = Duration(0)
        self.orders: Pipe[Frame] = Pipe()
        self.control: Pipe[FromRunner] = Pipe()
        self.bulk: Pipe[FromRunner] = Pipe()
        self.stopping = False
        self._delay = delay
        self._starts: dict[ClaimId, Start] = {}
        self.say(Hello(protocol=PROTOCOL, pid=number, language="simulated", catalog=catalog))

    # --- what the coordinator does ----------------------------------------------------------------------------

    def send(self, frame: Frame) -> None:
        """A frame to the runner."""
        self.orders.put(frame, Duration(self.clock.monotonic() + self._delay()))

    def extend(self, until: Duration) -> None:
        """The guard may wait until then."""
        self.deadline = until

    def first_at(self) -> Duration:
        """When the coordinator has something to read."""
        return min(self.control.first_at, self.bulk.first_at)

    # --- what the runner says ---------------------------------------------------------------------------------

    def say(self, frame: FromRunner) -> None:
        """A frame to the coordinator."""
        pipe = self.bulk if isinstance(frame, Log | Ended | Request) else self.control
        pipe.put(frame, Duration(self.clock.monotonic() + self._delay()))

    # --- life -------------------------------------------------------------------------------------------------

    def wakes_at(self) -> Duration:
        if self.death is not None:
            return NEVER
        soonest = self.needs_at()
        return soonest if self.deadline is None else min(soonest, self.deadline)

    def needs_at(self) -> Duration:
        """When it wants a turn for its jobs, whatever its guard wants."""
        return max(min(self.orders.first_at, self.due_at()), self.hung_until)

    def act(self) -> None:
        now = self.clock.monotonic()
        if self.death is not None:
            return
        if self.deadline is not None and now >= self.deadline:
            self.die("deadline")
            return
        if now < self.hung_until:
            return
        frame = self.orders.take(now)
        if frame is not None:
            self._handle(frame)
        else:
            self.work(now)
        if self.stopping and self.idle() and self.death is None:
            self.die(None)

    def _handle(self, frame: Frame) -> None:
        match frame:
            case Start(bulk=True):
                self._starts[frame.claim] = frame
            case Start():
                self.start(frame, bytes(frame.params))
            case Params():
                start = self._starts.pop(frame.claim, None)
                if start is not None:
                    self.start(start, bytes(frame.params))
            case Cancel():
                if self._starts.pop(frame.claim, None) is not None:
                    self.say(Ended(frame.job, frame.claim, frame.outcome))
                else:
                    self.cancel(frame)
            case Ping():
                self.say(Pong(frame.number))
            case Stop():
                self.stopping = True
            case Answer():
                self.answered(frame)
            case Credit() | _:
                pass

    def die(self, killed: str | None, evidence: dict[str, Any] | None = None) -> None:
        """The process is gone, and with it the code of its jobs."""
        if self.death is None:
            proof = evidence or ({"killed": killed, "signal": "SIGKILL"} if killed else {"exit_code": 0})
            self.death = RunnerDeath(killed, proof)
            self.dropped()

    @property
    def killed_by_guard(self) -> bool:
        """Whether its deadline had passed."""
        return self.death is not None and self.death.killed == "deadline"

    # --- what a subclass fills in -----------------------------------------------------------------------------

    def due_at(self) -> Duration:
        """When its jobs need it."""
        raise NotImplementedError

    def work(self, now: Duration) -> None:
        """What is due now."""
        raise NotImplementedError

    def start(self, frame: Start, params: bytes) -> None:
        """An attempt begins."""
        raise NotImplementedError

    def cancel(self, frame: Cancel) -> None:
        """An attempt is asked to end."""
        raise NotImplementedError

    def answered(self, frame: Answer) -> None:
        """A request was answered."""

    def runs(self, claim: ClaimId) -> bool:
        """Whether this attempt is in it."""
        raise NotImplementedError

    def idle(self) -> bool:
        """Whether no job is in it."""
        raise NotImplementedError

    def dropped(self) -> None:
        """All its code has stopped, wherever it was."""
        raise NotImplementedError
