"""A simulated world of workflows: its operators start runs of random graphs, cancel them and start them again.

All else is as in world.py. What must hold of runs, as far as outsiders can see, is in flow_rest.py.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.chance import SeededChance
from mainspring.client.direct import DirectClient
from mainspring.clock import MILLISECOND, Duration
from mainspring.domain.joins import Rule
from mainspring.domain.run import Run, RunFilter, RunRequest
from mainspring.domain.workflow import Node, OnFailure, Workflow
from mainspring.errors import IllegalState, StoreError, UnknownRun
from mainspring.faults import InjectedFault
from mainspring.testing.flow_rest import FlowRest
from mainspring.testing.judge import Judge
from mainspring.testing.ledger import Ledger
from mainspring.testing.mischief import BEFORE_COMMIT, Fault
from mainspring.testing.rest import Rest
from mainspring.testing.seats import Process, Seat
from mainspring.testing.virtual import NEVER, VirtualClock
from mainspring.testing.world import STEPS, World

RUNS_BY_ONE = 4
MOST_NODES = 9
_TASKS = ("quick", "quick", "quick", "flaky", "slow", "own", "tool", "fatal", "once", "picky")
_RULES = (*(Rule.ALL_SUCCESS,) * 6, *Rule)


class Asked(msgspec.Struct):
    """One start of a run. ``run``: the answer; ``known``: whether one came; ``may_exist``: not after a refusal."""

    name: str
    run: int | None = None
    known: bool = False
    may_exist: bool = True


class FlowWorld(World):
    """One seed of a world with runs."""

    def __init__(
        self, seed: int, *, faults: list[Fault] | None = None, traced: bool = False, steps: int = STEPS
    ) -> None:
        self.asked: list[Asked] = []
        self.stopped: set[int] = set()
        super().__init__(seed, faults=faults, traced=traced, steps=steps)
        self._client = DirectClient(self.store, actor="judge")

    def _operator(self, seat: Seat, start: int) -> Process:
        chance = SeededChance(self.chance.whole(0, 2**40))
        return Planner(seat.name, DirectClient(self._store_of(seat), actor=f"client:{seat.name}"), self, chance)

    def unsettled(self) -> list[tuple[int, str]]:
        """Runs that have not ended."""
        live = self._client.runs(RunFilter(state="live", limit=500)).items
        return [(run.id, f"the run {run.workflow} is {run.state}") for run in live]

    def rest(self) -> None:
        """What must hold of jobs, and of the runs that they are of."""
        Rest(self.judge, self.store, self.timing.lease).check()
        FlowRest(self.judge, self._client, self.stopped).check()
        there: dict[int, str] = {run.id: run.workflow for run in self._client.runs(RunFilter(limit=500)).items}
        for one in self.asked:
            if one.known and one.run is not None and there.get(one.run) != one.name:
                self.judge.accuse("I1", one.run, f"a client was told that the run {one.name} began; it is not there")
            elif not one.may_exist and one.name in there.values():
                self.judge.accuse("I1", 0, f"a client was told that the run {one.name} was refused; it is there")
        self.counts["runs"] = len(there)


class Planner:
    """A client that knows of nothing but runs."""

    def __init__(self, name: str, client: DirectClient, world: FlowWorld, chance: SeededChance) -> None:
        self.name = name
        self.quiet = False
        self._client = client
        self._world = world
        self._chance = chance
        self._clock: VirtualClock = world.clock
        self._ledger: Ledger = world.ledger
        self._judge: Judge = world.judge
        self._known: list[int] = []
        self._left = RUNS_BY_ONE
        self._next = world.clock.monotonic()

    def wakes_at(self) -> Duration:
        return NEVER if self.quiet else self._next

    def act(self) -> None:
        """One wish."""
        self._next = Duration(self._clock.monotonic() + self._chance.whole(5, 1500) * MILLISECOND)
        roll = self._chance.fraction()
        if self._left > 0 and (roll < 0.6 or not self._known):
            self._start()
        elif self._known and roll < 0.72:
            self._cancel(self._chance.pick(self._known))
        elif self._known and roll < 0.8:
            self._restart(self._chance.pick(self._known))
        elif self._known:
            self._ask(self._chance.pick(self._known))

    def _start(self) -> None:
        self._left -= 1
        document = self._drawn(f"flow-{len(self._world.asked) + 1}")
        asked = Asked(document.name)
        self._world.asked.append(asked)
        try:
            run = self._client.start_run(RunRequest(document))
        except StoreError:
            asked.known, asked.may_exist = True, False
        except InjectedFault as fault:
            asked.may_exist = str(fault) not in BEFORE_COMMIT
            raise
        else:
            asked.known, asked.run = True, run.id
            self._known.append(run.id)

    def _cancel(self, run: int) -> None:
        self._world.stopped.add(run)  # a cancel whose answer was lost may be carried out
        try:
            self._client.cancel_run(run)
        except (IllegalState, StoreError):
            return
        except UnknownRun:
            self._judge.accuse("I1", run, f"{self.name} was told that it began; a cancel does not find it")

    def _restart(self, run: int) -> None:
        try:
            again = self._client.restart_run if self._chance.fraction() < 0.5 else self._client.resume_run
            self._known.append(again(run).run.id)
        except (IllegalState, StoreError):
            return

    def _ask(self, run: int) -> None:
        """Answers of one moment agree."""
        try:
            shown: Run = self._client.run(run)
        except StoreError:
            return
        if shown.done and (shown.progress.waiting or shown.progress.active):
            self._judge.accuse("W1", run, f"it is {shown.state}, and of its nodes are {shown.progress}")

    # --- graphs -----------------------------------------------------------------------------------------------

    def _drawn(self, name: str) -> Workflow:
        chance = self._chance
        nodes = [self._node(number, chance) for number in range(chance.whole(2, MOST_NODES))]
        return Workflow(
            name,
            tuple(nodes),
            on_failure=chance.pick((OnFailure.CONTINUE, OnFailure.CONTINUE, OnFailure.FAIL_FAST)),
            timeout=f"{chance.whole(1000, 20_000)}ms" if chance.fraction() < 0.15 else None,
            parallel=chance.whole(1, 3) if chance.fraction() < 0.2 else None,
        )

    def _node(self, number: int, chance: SeededChance) -> Node:
        above = list(range(max(0, number - 4), number))
        needs = tuple(f"n{one}" for one in above if chance.fraction() < 0.55)
        if chance.fraction() < 0.12:
            return Node(f"n{number}", needs=needs, run_if=chance.pick(_RULES))
        wish = self._ledger.wish(f"world.{chance.pick(_TASKS)}", self.name)
        items: Any = list(range(chance.whole(0, 4))) if chance.fraction() < 0.15 else None
        return Node(
            f"n{number}",
            wish.task,
            needs=needs,
            params={"token": wish.token},
            run_if=chance.pick(_RULES),
            map=items,
            parallel=1 if items and chance.fraction() < 0.4 else None,
            may_fail=chance.fraction() < 0.1,
        )
