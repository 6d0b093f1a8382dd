"""A runner whose jobs follow a script instead of code: how each attempt goes, how long it takes, what it heeds."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import msgspec

from mainspring.clock import MILLISECOND, Duration, from_seconds
from mainspring.domain.attempt import Failure
from mainspring.domain.frame import Answer, Cancel, Ended, Log, Progress, Request, Start, Stuck
from mainspring.domain.ids import ClaimId
from mainspring.domain.job import JobRequest, Receipt
from mainspring.domain.logline import LogChunk
from mainspring.domain.states import Outcome
from mainspring.domain.task import Catalog, Executor, Lodging
from mainspring.testing.ledger import Ledger, Run, Wish, signature
from mainspring.testing.runners import Delay, Runner
from mainspring.testing.virtual import NEVER, VirtualClock


class Part(msgspec.Struct):
    """How one attempt goes.

    ``end``: ``succeed``, ``fail``, ``crash``, ``quit`` (it stops itself), or ``hog`` (it blocks its runner's loop and
    succeeds); ``length``: after how long (NEVER: only when asked); ``heeds``: how long after a cancel it ends (NEVER:
    it does not heed); ``children``: jobs that it submits at its start; ``talks``: it writes a log line and reports.
    """

    end: str
    length: Duration
    heeds: Duration = Duration(MILLISECOND)
    error: str = "Error"
    retry_after: Duration | None = None
    final: bool = False
    children: int = 0
    talks: bool = False


class Playing(msgspec.Struct):
    """An attempt on stage."""

    frame: Start
    part: Part
    run: Run
    executor: Executor
    ends_at: Duration
    asked: Outcome | None = None
    grace_over: Duration = NEVER


class ScriptedRunner(Runner):
    """Plays parts. ``cast`` gives the part of an attempt; every start and end goes into the ledger."""

    def __init__(  # noqa: PLR0913 - what makes a runner, and its play
        self,
        number: int,
        worker: str,
        clock: VirtualClock,
        catalog: Catalog,
        *,
        lodging: Lodging,
        delay: Delay,
        ledger: Ledger,
        cast: Callable[[Start], Part],
    ) -> None:
        super().__init__(number, f"{worker}/{number}", clock, catalog, lodging=lodging, delay=delay)
        self._worker = worker
        self._ledger = ledger
        self._cast = cast
        self._executors = {task.name: task.executor for task in catalog.tasks}
        self.playing: dict[ClaimId, Playing] = {}
        self._timers: list[tuple[Duration, ClaimId]] = []
        self._asked: dict[int, list[Wish]] = {}
        self._requests = 0

    # --- beginnings -------------------------------------------------------------------------------------------

    def start(self, frame: Start, params: bytes) -> None:
        now = self.clock.monotonic()
        if frame.claim in self.playing:
            return
        part = self._cast(frame)
        vouched = self.deadline if self.deadline is not None else now
        run = Run(frame.job, frame.attempt, frame.claim, self._worker, self.name, now, vouched)
        run.retry_after = part.retry_after
        self._ledger.begin(run)
        ends_at = NEVER if part.length >= NEVER else Duration(now + part.length)
        play = Playing(frame, part, run, self._executors[frame.task], ends_at)
        self.playing[frame.claim] = play
        self._remind(ends_at, frame.claim)
        if part.end == "hog":
            self.hang(ends_at)
        if part.talks:
            line = LogChunk(self.clock.now(), "stdout", f"attempt {frame.attempt} begins\n")
            self.say(Log(frame.job, frame.claim, [line]))
            self.say(Progress(frame.job, frame.claim, msgspec.Raw(b'{"done":1}')))
        if part.children:
            self._submit(frame, part.children)

    def _submit(self, frame: Start, count: int) -> None:
        """An SDK call of a job: the real desk answers it."""
        wishes = [self._ledger.wish("world.quick", f"job:{frame.job}", frame.job) for _ in range(count)]
        requests = [JobRequest(task=wish.task, params={"token": wish.token}) for wish in wishes]
        self._requests += 1
        self._asked[self._requests] = wishes
        body = msgspec.Raw(msgspec.json.encode({"requests": requests}))
        self.say(Request(self._requests, frame.job, frame.claim, "submit", body))

    def answered(self, frame: Answer) -> None:
        wishes = self._asked.pop(frame.number, [])
        receipts = [] if frame.code else msgspec.json.decode(frame.body, type=list[Receipt])
        for place, wish in enumerate(wishes):
            job = receipts[place].job if receipts else None
            wish.known, wish.job, wish.may_exist = True, job, job is not None

    # --- ends -------------------------------------------------------------------------------------------------

    def extend(self, until: Duration) -> None:
        super().extend(until)
        for play in self.playing.values():
            play.run.vouched = until
            if play.run.lost is not None and play.run.told is None:
                play.run.told = self.clock.monotonic()

    def hang(self, until: Duration) -> None:
        """Its loop does not turn until then, so that what is in it heeds nobody."""
        self.hung_until = max(self.hung_until, until)
        for play in self.playing.values():
            play.run.stubborn = True

    def cancel(self, frame: Cancel) -> None:
        play = self.playing.get(frame.claim)
        if play is None or play.asked is not None:
            return
        now = self.clock.monotonic()
        play.asked = frame.outcome
        if play.part.heeds < NEVER:
            play.ends_at = min(play.ends_at, Duration(now + play.part.heeds))
            self._remind(play.ends_at, frame.claim)
        play.grace_over = Duration(now + from_seconds(frame.grace))
        self._remind(play.grace_over, frame.claim)

    def due_at(self) -> Duration:
        return self._timers[0][0] if self._timers else NEVER

    def work(self, now: Duration) -> None:
        while self._timers and self._timers[0][0] <= now:
            _, claim = heapq.heappop(self._timers)
            play = self.playing.get(claim)
            if play is None:
                continue
            if play.ends_at <= now:
                self._finish(play)
                return
            if play.grace_over <= now:
                self._grace_over(play)

    def _grace_over(self, play: Playing) -> None:
        """It was asked and does not heed: a process is killed, for code in the runner there is no help."""
        play.grace_over = NEVER
        if play.executor in (Executor.PROCESS, Executor.COMMAND) and play.asked is not None:
            self._end(play, play.asked, "killed")
        else:
            play.run.stubborn = True
            self.say(Stuck(play.frame.job, play.frame.claim))

    def _finish(self, play: Playing) -> None:
        part = play.part
        if play.asked is not None:
            self._end(play, play.asked, play.asked.value)
            return
        match part.end:
            case "crash" if play.executor in (Executor.ASYNC, Executor.THREAD):
                self.die(None, {"signal": "SIGSEGV"})
            case "crash":
                self._end(play, Outcome.CRASHED, "crashed", Failure("Crashed", "signal SIGSEGV"))
            case "fail":
                failure = Failure(part.error, "as the script says", types=(part.error, "Exception"))
                self._end(play, Outcome.FAILED, "failed", failure)
            case "quit":
                self._end(play, Outcome.CANCELLED, "quit", Failure("CancelledError", "it stopped itself"))
            case _:
                self._end(play, Outcome.SUCCEEDED, "succeeded")

    def _end(self, play: Playing, outcome: Outcome, how: str, failure: Failure | None = None) -> None:
        frame, run = play.frame, play.run
        del self.playing[frame.claim]
        run.ended, run.how = self.clock.monotonic(), how
        result = b"null"
        if outcome is Outcome.SUCCEEDED:
            result = run.result = signature(frame.job, frame.attempt, frame.claim)
        wish = play.part.retry_after if outcome is Outcome.FAILED else None
        self.say(
            Ended(
                frame.job,
                frame.claim,
                outcome,
                msgspec.Raw(result),
                failure=failure,
                retry_after=None if wish is None else wish / 1_000_000,
                final=play.part.final and outcome is Outcome.FAILED,
            )
        )

    def hurry(self, length: Duration) -> None:
        """Whatever plays ends soon: the faults are over."""
        self.hung_until = Duration(0)
        for play in self.playing.values():
            play.ends_at = min(play.ends_at, Duration(self.clock.monotonic() + length))
            self._remind(play.ends_at, play.frame.claim)

    def runs(self, claim: ClaimId) -> bool:
        return claim in self.playing

    def idle(self) -> bool:
        return not self.playing

    def dropped(self) -> None:
        now = self.clock.monotonic()
        # A guard is on time, however long the rest of the world stood still.
        at = min(now, self.deadline) if self.killed_by_guard and self.deadline is not None else now
        for play in self.playing.values():
            play.run.ended, play.run.how = max(at, play.run.started), "killed"
        self.playing.clear()
        self._timers.clear()

    def _remind(self, at: Duration, claim: ClaimId) -> None:
        if at < NEVER:
            heapq.heappush(self._timers, (at, claim))
