"""Run: one execution of a workflow, and its nodes, as questions answer them."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId, RunId
from mainspring.domain.joins import NodeState, Reason, RunState, Stop, Tally
from mainspring.domain.timetable import MadeBy
from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidInput


class RunRequest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a client asks for. ``workflow``: a name, or a document that need not be known; ``params``: an object."""

    workflow: str | Workflow
    params: dict[str, Any] = {}
    tags: dict[str, str] = {}


class Run(msgspec.Struct, frozen=True):
    """A run as questions answer it. ``progress``: how many of its nodes are in each state.

    ``items``: of those of its maps that have gone, all together, and how many of them have ended.
    ``hash``: the version of the definition that it keeps; ``stop``: why it was told to stop before its time, if it was;
    ``parent_run`` and ``parent_node``: of a nested run, the node that it is. ``result``: what its definition says;
    ``tick``: of a schedule, that it was made by; ``kept``: of a resumed run, how many nodes it began with.
    """

    id: RunId
    workflow: str
    hash: str
    state: RunState
    params: Any
    result: Any
    created_at: Instant
    finished_at: Instant | None
    deadline: Instant | None
    stop: Stop | None
    stop_at: Instant | None
    stop_by: str | None
    parent: JobId | None
    parent_run: RunId | None
    parent_node: int | None
    replay_of: RunId | None
    replayed_by: RunId | None
    tags: dict[str, str]
    nodes: int
    kept: int
    progress: Tally
    tick: MadeBy | None = None
    items: int = 0
    items_ended: int = 0

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.finished_at is not None


class CodeChange(msgspec.Struct, frozen=True):
    """A task that has other code ``now`` (the hash of it) than when the old run ran it.

    ``kept``: nodes of which a resume keeps what the code of before made.
    """

    task: str
    before: str
    now: str
    kept: list[str]


class Replay(msgspec.Struct, frozen=True):
    """An ended run once more. ``changed``: tasks of it that have other code now."""

    run: Run
    changed: list[CodeChange]


class NodeJob(msgspec.Struct, frozen=True):
    """A job of a node; ``item``: of a map, which."""

    id: JobId
    item: int | None
    state: str
    started_at: Instant | None
    finished_at: Instant | None


class RunNode(msgspec.Struct, frozen=True):
    """A node of a run as questions answer it.

    ``needs``: names; ``left_at``: when it left its place; ``started_at``: when the first of its jobs began;
    ``items``: of a map, how many; ``jobs``: at most so many as were asked for; ``runs``: of a nested workflow;
    ``kept``: the run whose result it has, where a resume kept it; ``items_kept``: of a map that a resume does again,
    how many have their results from older runs; ``error``: why it failed, where no job says so.
    """

    number: int
    name: str
    task: str | None
    workflow: str | None
    state: NodeState
    needs: list[str]
    reason: Reason | None
    left_at: Instant | None
    started_at: Instant | None
    finished_at: Instant | None
    items: int | None
    items_ended: int
    jobs: list[NodeJob]
    runs: list[int]
    kept: RunId | None
    items_kept: int
    error: Failure | None


class RunEvent(msgspec.Struct, frozen=True):
    """Something that happened in a run, in order of ``seq``: to a job of it, to a node without one, or to it all.

    ``job`` 0: to none; ``node`` None: to the run. Causes and states are those of what it happened to.
    """

    seq: int
    run: RunId
    node: str | None
    job: int
    at: Instant
    cause: str
    source: str
    target: str
    attempt: int
    actor: str
    detail: dict[str, Any] | None

    @property
    def subject(self) -> str:
        """What it happened to: ``job``, ``run`` or ``node``."""
        if self.job:
            return "job"
        return "run" if self.node is None else "node"


LIVE = "live"
"""In a filter the state of all runs that have not ended."""


STATES = (LIVE, *map(str, RunState))
"""What a filter may ask for."""


class RunFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which runs a list shows; newest first. ``state``: a RunState, or LIVE."""

    workflow: str | None = None
    state: str | None = None
    cursor: str | None = None
    limit: int = 50


def checked_state(state: str | None) -> str | None:
    """The same, if it is a state to look for. Raises InvalidInput."""
    if state is not None and state not in STATES:
        raise InvalidInput(f"state is {state[:80]!r}.", remedy=f"States: {', '.join(STATES)}.", field="state")
    return state


class RunPage(msgspec.Struct, frozen=True):
    """One page of a list and the cursor of the next (None at the end).

    Where few of very many runs match, a page may hold fewer than asked for, or none, before the end.
    """

    items: list[Run]
    next: str | None


class WorkflowShown(msgspec.Struct, frozen=True):
    """What a name stands for now. ``document``: whole where one workflow was asked for, else without its nodes."""

    name: str
    hash: str
    nodes: int
    changed_at: Instant
    document: Workflow
