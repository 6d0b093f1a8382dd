"""Questions about runs in the store: where one stands, how it and its nodes are shown, what happened in it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from mainspring.clock import Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.joins import NodeState, Reason, RunState, Stop, run_state
from mainspring.domain.node_states import RUN_FINAL
from mainspring.domain.references import found as references_in
from mainspring.domain.run import LIVE, NodeJob, Run, RunEvent, RunFilter, RunNode
from mainspring.domain.workflow import Node
from mainspring.store import rows, walk
from mainspring.store.runs import counted
from mainspring.store.transaction import Transaction
from mainspring.store.walk import Walk


class Standing(NamedTuple):
    """Where a run stands; ``state`` is None until it has ended; ``inline``: it came with its definition."""

    state: RunState | None
    stop: Stop | None
    version: int
    workflow: str
    inline: bool


def where(tx: Transaction, run: int) -> Standing | None:
    """Where a run stands."""
    found = tx.row("run/where", run=run)
    if found is None:
        return None
    state, why, version, workflow, inline = found
    ended, told = None if state is None else RunState(state), None if why is None else Stop(why)
    return Standing(ended, told, version, workflow, bool(inline))


def one(tx: Transaction, number: int) -> Run | None:
    """One run."""
    found = tx.row("run/one", run=number)
    return None if found is None else _shown(tx, found)


def listed(tx: Transaction, wanted: RunFilter, before: int) -> Walk[Run]:
    """Runs that match, with ids below ``before``, newest first.

    One more than the limit is answered where there are so many.
    """
    ended = wanted.state in RUN_FINAL
    variant = "any" if wanted.state is None else "ended" if ended else "live"
    state = {"state": wanted.state} if ended else {}
    computed = wanted.state is not None and not ended and wanted.state != LIVE

    def listed(before: int, floor: int, limit: int) -> list[Run]:
        found: list[Run] = []
        while len(found) < limit:
            of = {"workflow": wanted.workflow, "before": before, "floor": floor, "limit": limit}
            some = [_shown(tx, row) for row in tx.rows(f"run/list_{variant}", **state, **of)]
            found += [run for run in some if not computed or run.state == wanted.state]
            if len(some) < limit:
                break
            before = some[-1].id
        return found[:limit]

    def reach(before: int, stride: int) -> int | None:
        ((floor, passed),) = tx.rows(f"run/stride_{variant}", **state, before=before, stride=stride)
        return int(floor) if passed == stride else None

    most = wanted.limit + 1
    if computed:
        return walk.walked(listed, reach, before, most, strides=walk.STRIDES[:1])
    if wanted.workflow is not None:
        return walk.walked(listed, reach, before, most)
    return walk.straight(listed, before, most)


def _shown(tx: Transaction, row: rows.Row) -> Run:
    """A row of ``run/one`` or of a list, with the counts of its nodes."""
    number, workflow, content, state, given, result, created, _, finished, deadline, *rest = row
    why, stop_at, stop_by, parent, parent_run, parent_node, replay_of, replayed_by, tags, _, nodes, tick, kept = rest
    progress, items, items_ended = counted(tx, number, nodes)
    told = None if why is None else Stop(why)
    return Run(
        id=number,
        workflow=workflow,
        hash=content,
        state=run_state(progress, told) if state is None else RunState(state),
        params=rows.shown(given),
        result=rows.shown(result),
        created_at=created,
        finished_at=finished,
        deadline=deadline,
        stop=told,
        stop_at=stop_at,
        stop_by=stop_by,
        parent=parent,
        parent_run=parent_run,
        parent_node=parent_node,
        replay_of=replay_of,
        replayed_by=replayed_by,
        tags=rows.pairs(tags),
        nodes=nodes,
        kept=kept or 0,
        progress=progress,
        items=items,
        items_ended=items_ended,
        tick=rows.tick(tick),
    )


def nodes(tx: Transaction, run: int, after: int, limit: int, most_jobs: int) -> list[RunNode]:
    """Nodes of a run behind a number, in the order of the document, each with at most so many of its jobs."""
    found = tx.rows("node/listed", run=run, after=after, limit=limit)
    if not found:
        return []
    within = range(found[0][0], found[-1][0] + 1)
    jobs = _of_each(tx, "node/jobs", run, within, most_jobs)
    nested = _of_each(tx, "node/nested", run, within, most_jobs)
    return [
        _node(
            row,
            [NodeJob(*one[1:]) for one in jobs.get(row[0], ())],
            [(one[1], one[3]) for one in nested.get(row[0], ())],
        )
        for row in found
    ]


def _of_each(tx: Transaction, statement: str, run: int, nodes: range, most: int) -> dict[int, list[rows.Row]]:
    """Rows of a statement by their node, the first column: at most so many of each, and of each node its first."""
    each: dict[int, list[rows.Row]] = {}
    limit = most + len(nodes)  # one look, where no node has many
    first, last = nodes.start - 1, nodes.stop - 1
    while first < last:
        seen = tx.rows(statement, run=run, first=first, last=last, limit=limit)
        for row in seen:
            some = each.setdefault(row[0], [])
            if len(some) < most:
                some.append(row)
        if len(seen) < limit:
            break
        first = seen[-1][0]
        if len(each[first]) < most:  # it was cut short, and is asked for again
            del each[first]
            first -= 1
    return each


def _read_by(node: Node) -> list[str]:
    """The nodes whose results it takes, which it waits for without saying so."""
    taken = [
        one.name for value in (node.params, node.map) for _, one in references_in(value, "") if one.kind == "$node"
    ]
    return list(dict.fromkeys(taken))


def _node(row: rows.Row, jobs: list[NodeJob], nested: list[tuple[int, Instant]]) -> RunNode:
    (
        number,
        name,
        state,
        reason,
        at,
        finished,
        items,
        _,
        succeeded,
        failed,
        cancelled,
        origin,
        failure,
        text,
        _,
        parts,
    ) = row
    node, spoiled = _defined(name, text)
    begun = [*(job.started_at for job in jobs), *(created for _, created in nested)]
    return RunNode(
        number=number,
        name=name,
        task=node.task,
        workflow=node.workflow,
        state=NodeState(state),
        needs=[*node.needs, *(name for name in _read_by(node) if name not in node.needs)],
        reason=None if reason is None else Reason(reason),
        left_at=at,
        started_at=min((at for at in begun if at is not None), default=None),
        finished_at=finished,
        items=items,
        items_ended=succeeded + failed + cancelled,
        jobs=jobs,
        runs=[number for number, _ in nested],
        kept=origin,
        items_kept=parts,
        error=rows.failure(failure) or spoiled,
    )


def _defined(name: str, text: str) -> tuple[Node, Failure | None]:
    """What a node is; of one whose definition was spoiled by hand its name, and that it can't be read."""
    try:
        return rows.decode(text, type=Node), None
    except msgspec.MsgspecError:
        return Node(name), Failure("Unreadable", text)


def events(tx: Transaction, run: int, after: int, limit: int) -> list[RunEvent]:
    """What happened in a run behind a cursor, oldest first."""
    return [
        RunEvent(
            seq=seq,
            run=number,
            node=name or None,
            job=job,
            at=at,
            cause=cause,
            source=source,
            target=target,
            attempt=attempt,
            actor=actor,
            detail=rows.shown(detail),
        )
        for seq, job, at, cause, source, target, attempt, actor, detail, number, _, name in tx.rows(
            "event/of_run", run=run, after=after, limit=limit
        )
    ]
