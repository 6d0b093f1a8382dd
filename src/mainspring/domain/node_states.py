"""The state machine of a node of a run, written once: cause x from -> to. And the moves of a run.

A node that waits is in one place (``node_waiting``, or nowhere while nothing has reached it); a row of ``node`` is the
proof that it has left, so it leaves once. What a node waits for and what a run is, joins.py decides.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from mainspring.domain.joins import NodeState, RunState


class NodeCause(StrEnum):
    """Why a node, or a run, moved."""

    START = "start"  # of a run
    GO = "go"
    SKIP = "skip"
    CANCEL = "cancel"
    SUCCEED = "succeed"
    FAIL = "fail"
    STOP = "stop"  # a run is told to


class NodeMove(NamedTuple):
    """One row of the table."""

    cause: NodeCause
    source: NodeState
    target: NodeState
    sentence: str


NODE_TABLE: tuple[NodeMove, ...] = (
    NodeMove(NodeCause.GO, NodeState.WAITING, NodeState.ACTIVE, "its rule is met; its jobs, or its runs, are there"),
    NodeMove(NodeCause.SKIP, NodeState.WAITING, NodeState.SKIPPED, "its condition or its rule is not met"),
    NodeMove(NodeCause.CANCEL, NodeState.WAITING, NodeState.CANCELLED, "the run was told to stop before it could go"),
    NodeMove(NodeCause.SUCCEED, NodeState.ACTIVE, NodeState.SUCCEEDED, "all of its jobs succeeded, or it had none"),
    NodeMove(NodeCause.FAIL, NodeState.ACTIVE, NodeState.FAILED, "one of its jobs did not succeed"),
    NodeMove(NodeCause.CANCEL, NodeState.ACTIVE, NodeState.CANCELLED, "its jobs were cancelled"),
)

NODE_FINAL = frozenset({NodeState.SUCCEEDED, NodeState.FAILED, NodeState.SKIPPED, NodeState.CANCELLED})
RUN_FINAL = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED})

_BY_END = {
    (NodeState.WAITING, NodeState.SKIPPED): NodeCause.SKIP,
    (NodeState.WAITING, NodeState.CANCELLED): NodeCause.CANCEL,
    (NodeState.ACTIVE, NodeState.SUCCEEDED): NodeCause.SUCCEED,
    (NodeState.ACTIVE, NodeState.FAILED): NodeCause.FAIL,
    (NodeState.ACTIVE, NodeState.CANCELLED): NodeCause.CANCEL,
}


def next_node_state(source: NodeState, cause: NodeCause) -> NodeState | None:
    """The state that the cause leads to, or None where the table has no such move."""
    return next((row.target for row in NODE_TABLE if (row.source, row.cause) == (source, cause)), None)


def cause_of(source: NodeState, target: NodeState) -> NodeCause:
    """Why a node gets from one state into another. KeyError where the table has no such move."""
    if (source, target) == (NodeState.WAITING, NodeState.ACTIVE):
        return NodeCause.GO
    return _BY_END[source, target]
