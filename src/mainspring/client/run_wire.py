"""The wire forms of workflows, runs and their nodes, as REST answers and ``--json`` prints them."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.client.wire import failure_wire, made_by_wire
from mainspring.clock import Instant, instant_text
from mainspring.domain.run import NodeJob, Replay, Run, RunEvent, RunNode, WorkflowShown


def workflow_wire(shown: WorkflowShown) -> dict[str, Any]:
    """A workflow. ``definition``: where only it was asked for, whole; in a list without its nodes."""
    return {
        "name": shown.name,
        "hash": shown.hash,
        "nodes": shown.nodes,
        "changed_at": instant_text(shown.changed_at),
        "definition": msgspec.to_builtins(shown.document),
    }


def run_wire(run: Run) -> dict[str, Any]:
    """A run; ``progress`` counts its nodes by state."""
    return {
        "id": run.id,
        "workflow": run.workflow,
        "hash": run.hash,
        "state": run.state.value,
        "params": run.params,
        "result": run.result,
        "nodes": run.nodes,
        "kept": run.kept,
        "progress": run.progress._asdict(),
        "items": run.items,
        "items_ended": run.items_ended,
        "created_at": instant_text(run.created_at),
        "finished_at": _time(run.finished_at),
        "deadline": _time(run.deadline),
        "stop": None if run.stop is None else run.stop.value,
        "stop_at": _time(run.stop_at),
        "stop_by": run.stop_by,
        "parent": run.parent,
        "parent_run": run.parent_run,
        "parent_node": run.parent_node,
        "replay_of": run.replay_of,
        "replayed_by": run.replayed_by,
        "tags": run.tags,
        "tick": made_by_wire(run.tick),
    }


def replay_wire(replay: Replay) -> dict[str, Any]:
    """A run that replays another. ``changed``: tasks of the old one that have other code now."""
    return run_wire(replay.run) | {"changed": [msgspec.to_builtins(one) for one in replay.changed]}


def node_wire(node: RunNode) -> dict[str, Any]:
    """A node of a run; ``number`` is the cursor, ``job_states`` says more of the same ``jobs``."""
    return {
        "number": node.number,
        "name": node.name,
        "task": node.task,
        "workflow": node.workflow,
        "state": node.state.value,
        "reason": None if node.reason is None else node.reason.value,
        "needs": node.needs,
        "items": node.items,
        "items_ended": node.items_ended,
        "items_kept": node.items_kept,
        "jobs": [job.id for job in node.jobs],
        "job_states": [_node_job_wire(job) for job in node.jobs],
        "runs": node.runs,
        "kept": node.kept,
        "left_at": _time(node.left_at),
        "started_at": _time(node.started_at),
        "finished_at": _time(node.finished_at),
        "error": failure_wire(node.error),
    }


def _node_job_wire(job: NodeJob) -> dict[str, Any]:
    return {
        "id": job.id,
        "item": job.item,
        "state": job.state,
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
    }


def run_event_wire(event: RunEvent) -> dict[str, Any]:
    """Something that happened in a run; ``job`` null: to a node without one; ``node`` null: to the run itself."""
    return {
        "seq": event.seq,
        "run": event.run,
        "node": event.node,
        "job": event.job or None,
        "at": instant_text(event.at),
        "cause": event.cause,
        "from": event.source,
        "to": event.target,
        "attempt": event.attempt or None,
        "actor": event.actor,
        "detail": event.detail,
    }


def _time(moment: Instant | None) -> str | None:
    return None if moment is None else instant_text(moment)
