"""How the tests move runs: jobs are claimed and ended by the real functions, with the ends that a test wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mainspring.clock import MINUTE
from mainspring.control import read, runs
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, JobFilter
from mainspring.domain.joins import NodeState
from mainspring.domain.run import Run, RunNode, RunRequest
from mainspring.domain.states import Outcome, State
from mainspring.domain.workflow import Node, Workflow
from mainspring.transitions import due
from mainspring.transitions.waiting import BATCH
from tests.contract.stories import Story

ONCE = {"max_attempts": 1, "max_losses": 0}
MOST_TURNS = 10_000


def node(name: str, *needs: str, **values: Any) -> Node:
    """A node with a task that is tried once."""
    fields: dict[str, Any] = {"task": "send", "retry": ONCE} | values
    if fields["task"] is None:
        del fields["retry"]
    return Node(name, needs=needs, **fields)


class Runs:
    """A story, and the verbs that happen to runs."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.store = story.store

    def start(self, *nodes: Node, name: str = "flow", params: dict[str, Any] | None = None, **values: Any) -> int:
        """A run of these nodes."""
        request = RunRequest(Workflow(name, nodes, **values), params or {})
        return runs.start(self.store, request, actor="client").id

    def waiting(self) -> dict[str, Job]:
        """Jobs that may be claimed, by their nodes; those of a map with their items."""
        found = read.listed(self.store, JobFilter(state=State.QUEUED, limit=1000)).items
        return {_name(job): job for job in reversed(found)}

    def waiting_jobs(self) -> list[Job]:
        """The same of several runs, in the order of their numbers."""
        found = read.listed(self.store, JobFilter(state=State.QUEUED, limit=1000)).items
        return sorted(found, key=lambda job: job.id)

    def end_jobs(self, results: Mapping[int, bytes], outcome: Outcome = Outcome.SUCCEEDED) -> None:
        """These jobs are claimed together, and end together with these results."""
        wanted = [JobId(job) for job in results]
        self.story.claim(*wanted)
        good = outcome is Outcome.SUCCEEDED
        self.story.end_all(
            [self.story.ending(job, outcome, **({"result": results[job]} if good else {})) for job in wanted]
        )
        self.errands()

    def errands(self) -> None:
        """What is to be done for runs, until nothing is."""
        for _ in range(MOST_TURNS):
            if self.store.write(lambda tx: due.come(tx, "sweeper")) < BATCH:
                return
        raise AssertionError("errands never end")

    def end(self, *names: str, outcome: Outcome = Outcome.SUCCEEDED, result: bytes = b"1") -> None:
        """These nodes' jobs are claimed together, and end together."""
        waiting = self.waiting()
        jobs = [waiting[name].id for name in names]
        self.story.claim(*jobs)
        values = {"result": result} if outcome is Outcome.SUCCEEDED else {}
        self.story.end_all([self.story.ending(job, outcome, **values) for job in jobs])
        self.errands()

    def work_off(self, outcomes: Mapping[str, Outcome] | Callable[[str], Outcome] | None = None) -> list[str]:
        """End all jobs that come, batch by batch; the nodes in the order in which they went."""
        went: list[str] = []
        for _ in range(MOST_TURNS):
            self.errands()
            waiting = self.waiting()
            if not waiting:
                return went
            went += waiting
            jobs = [job.id for job in waiting.values()]
            self.story.claim(*jobs)
            self.story.end_all([self.story.ending(job.id, _outcome(outcomes, name)) for name, job in waiting.items()])
        raise AssertionError("the run never ends")

    def run(self, run: int) -> Run:
        return runs.one(self.store, run)

    def nodes(self, run: int) -> dict[str, RunNode]:
        return {one.name: one for one in runs.nodes(self.store, run)}

    def states(self, run: int) -> dict[str, str]:
        """By node its state; of a skipped one the reason as well."""
        return {
            name: one.state.value if one.state is not NodeState.SKIPPED else f"skipped: {one.reason}"
            for name, one in self.nodes(run).items()
        }

    def cancel(self, run: int) -> Run:
        return runs.cancel(self.store, run, actor="ann")

    def later(self, length: int = MINUTE) -> None:
        """Time passes, and what has become due is done."""
        self.story.clock.forward(length)
        self.errands()

    def job(self, run: int, name: str) -> Job:
        """The only job of a node."""
        (one,) = self.nodes(run)[name].jobs
        return read.job(self.store, JobId(one.id))


def _name(job: Job) -> str:
    return (job.node or f"job {job.id}") + ("" if job.item is None else f"[{job.item}]")


def _outcome(outcomes: Mapping[str, Outcome] | Callable[[str], Outcome] | None, name: str) -> Outcome:
    if outcomes is None:
        return Outcome.SUCCEEDED
    return outcomes(name) if callable(outcomes) else outcomes.get(name, Outcome.SUCCEEDED)
