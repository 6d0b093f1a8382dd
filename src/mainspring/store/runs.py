"""Runs in the store: births, nodes that leave their place, ends, errands. Each function works inside a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import JobId, RunId
from mainspring.domain.job import Link
from mainspring.domain.joins import Needs, NodeState, Reason, RunState, Stop, Tally
from mainspring.domain.node_states import NodeCause
from mainspring.store import alike, catalog, rows
from mainspring.store.transaction import Transaction, Wanted

Key = tuple[RunId, int]
"""A node of a run."""


class RunBirth(NamedTuple):
    """All of a run that is written when it begins. ``inline``: 1 where no name stood for its version."""

    workflow: str
    version: int
    params: str
    on_failure: str
    parallel: int | None = None
    deadline: Instant | None = None
    parent_job: JobId | None = None
    parent_run: RunId | None = None
    parent_node: int | None = None
    parent_item: int | None = None
    replay_of: RunId | None = None
    tags: str | None = None
    tick: str | None = None
    kept: int | None = None
    inline: int | None = None


class Held(NamedTuple):
    """A run that this transaction moves on: nobody tells it to stop meanwhile. ``content``: hash of its definition."""

    id: RunId
    version: int
    on_failure: str
    parallel: int | None
    stop: Stop | None
    state: RunState | None
    parent_run: RunId | None
    parent_node: int | None
    parent_item: int | None
    kept: int | None
    tick: str | None
    content: str


class Below(NamedTuple):
    """A node below one that has ended. ``document`` and ``inputs``: where it needs only a few.

    ``place``: of the one that has ended, among those that were asked about.
    """

    place: int
    target: int
    needs: int
    early: int
    document: str | None
    inputs: str | None
    name: str
    may_fail: int


class Spec(NamedTuple):
    """What a node is; an empty document is the end's."""

    run: RunId
    number: int
    document: str
    inputs: str
    name: str
    may_fail: int


class Gone(NamedTuple):
    """A node that leaves its place."""

    run: RunId
    number: int
    state: NodeState
    reason: Reason | None
    at: Instant
    finished: Instant | None
    items: int | None = None
    begun: int | None = None
    late: int = 0
    origin: RunId | None = None
    failure: str | None = None


class Items(NamedTuple):
    """How far a map is."""

    run: RunId
    number: int
    items: int
    begun: int
    succeeded: int
    failed: int
    cancelled: int

    @property
    def ended(self) -> int:
        """Items that have."""
        return self.succeeded + self.failed + self.cancelled

    @property
    def state(self) -> NodeState:
        """What it is once all have: it succeeds when they did."""
        if self.failed:
            return NodeState.FAILED
        return NodeState.CANCELLED if self.cancelled else NodeState.SUCCEEDED


class Active(NamedTuple):
    """An active node; ``items`` and ``begun``: where it is a map."""

    run: RunId
    number: int
    items: int | None
    begun: int | None


class Errand(NamedTuple):
    """Something that is still to be done for a run; ``node`` 0: for the run as a whole; ``after``: how far it is."""

    run: RunId
    kind: str
    node: int
    at: Instant
    after: int = 0
    weight: str | None = None


# --- births and ends ------------------------------------------------------------------------------------------------


def insert(tx: Transaction, births: Sequence[RunBirth], ids: Sequence[RunId]) -> None:
    """Store new runs. Their numbers are taken like those of jobs, so that a number is never of both."""
    now = tx.now
    tx.many(
        "run/insert",
        [
            (
                number,
                b.workflow,
                b.version,
                b.params,
                now,
                b.on_failure,
                b.parallel,
                b.deadline,
                b.parent_job,
                b.parent_run,
                b.parent_node,
                b.parent_item,
                b.replay_of,
                b.tags,
                b.tick,
                b.kept,
                b.inline,
            )
            for number, b in zip(ids, births, strict=True)
        ],
    )


def again(tx: Transaction, run: RunId) -> RunBirth:
    """The birth of a run that is this one again."""
    workflow, version, given, on_failure, parallel, lasts, tags, tick, inline = tx.rows("run/again", run=run)[0]
    deadline = None if lasts is None else Instant(tx.now + lasts)
    birth = RunBirth(workflow, version, given, on_failure, parallel, deadline, replay_of=run, tags=tags, tick=tick)
    return birth._replace(inline=inline)


Source = tuple[RunId, int, int]
"""A node that has ended, and behind which of those below it to look."""


def hold(tx: Transaction, wanted: Collection[RunId]) -> dict[RunId, Held]:
    """Runs that are about to move on, in the order of their numbers."""
    return {row[0]: _held(*row) for row in tx.rows("run/hold", runs=rows.text(sorted(wanted)))}


def hold_and_look(
    tx: Transaction, wanted: Collection[RunId], sources: Sequence[Source], limit: int
) -> tuple[dict[RunId, Held], list[Below]]:
    """Hold these runs, and find the nodes below some of theirs, at most ``limit``: for one wait."""
    look = ("node/children", {"told": rows.text(sources), "limit": limit})
    if not wanted:
        return {}, [Below(*row) for row in tx.together(look)[0]]
    held, found = tx.together(("run/hold", {"runs": rows.text(sorted(wanted))}), look)
    return {row[0]: _held(*row) for row in held}, [Below(*row) for row in found]


class Glance(NamedTuple):
    """What is read of runs with the same wait as the leases of jobs that end, as their nodes will most likely end too.

    ``below``: by node, those below it in order; None where they are too many to be read at once. ``declared``: tasks
    that the next nodes may have, by full name.
    """

    held: dict[RunId, Held]
    below: dict[Key, Sequence[Below]] | None
    declared: dict[str, str]


def glancing(tx: Transaction, wanted: Collection[RunId], nodes: Sequence[Key], limit: int) -> list[Wanted]:
    """What is to be asked for a glance at these nodes and their runs."""
    asked: list[Wanted] = [("run/hold", {"runs": rows.text(sorted(wanted))})]
    if nodes:
        asked.append(("node/children", {"told": rows.text([(*key, 0) for key in nodes]), "limit": limit + 1}))
    return [*asked, *catalog.guessing(tx)]


def glance(answers: Sequence[Sequence[rows.Row]], nodes: Sequence[Key], limit: int) -> Glance:
    """What was answered."""
    held, *others = answers
    found = others.pop(0) if nodes else ()
    below: dict[Key, Sequence[Below]] | None = None
    if len(found) <= limit:
        several: dict[Key, list[Below]] = {key: [] for key in nodes}
        for row in found:
            several[nodes[row[0]]].append(Below(*row))
        below = dict(several)
    return Glance({row[0]: _held(*row) for row in held}, below, dict(others[0]) if others else {})


def _held(*row: Any) -> Held:
    number, version, on_failure, parallel, why, state, *parent = row
    told, ended = None if why is None else Stop(why), None if state is None else RunState(state)
    return Held(number, version, on_failure, parallel, told, ended, *parent)


def end(tx: Transaction, run: RunId, state: RunState, result: str | None) -> bool:
    """The end of a run; False when it had ended."""
    tx.rows("errand/drop_all", run=run)
    return bool(tx.rows("run/end", run=run, state=state.value, result=result))


def there(tx: Transaction, run: RunId) -> bool:
    """Whether a run has begun, and is not forgotten."""
    return tx.row("run/where", run=run) is not None


class Stopped(NamedTuple):
    """A run that has just been told to stop. ``parallel``: the most nodes of it that may be active."""

    parallel: int | None


def stop(tx: Transaction, run: RunId, why: Stop, actor: str) -> Stopped | None:
    """Tell a run to stop; None when it was told before, or has ended."""
    found = tx.rows("run/stop", run=run, stop=why.value, actor=actor)
    return Stopped(*found[0]) if found else None


def started_below(tx: Transaction, job: int) -> list[RunId]:
    """Runs that a job has started, itself or through jobs that it submitted, and that are not told to stop."""
    return [RunId(row[0]) for row in tx.rows("run/started_below", job=job)]


def params(tx: Transaction, run: RunId) -> Any:
    """What a run was started with."""
    return rows.shown(tx.rows("run/params", run=run)[0][0])


class Counted(NamedTuple):
    """How far a run is: its nodes by state, and the items of those of its maps that have gone."""

    nodes: Tally
    items: int
    items_ended: int


def counted(tx: Transaction, run: RunId, nodes: int | None = None) -> Counted:
    """How far a run is. ``nodes``: how many it has; those that have no row wait."""
    counts: dict[str, int] = {}
    items = ended = 0
    for state, may_fail, count, some, over in tx.rows("run/tally", run=run):
        name = "excused" if state == NodeState.FAILED and may_fail else state
        counts[name] = counts.get(name, 0) + count
        items, ended = items + some, ended + over
    waiting = 0 if nodes is None else nodes - sum(counts.values())
    return Counted(Tally(waiting=waiting, **counts), items, ended)


# --- nodes ----------------------------------------------------------------------------------------------------------


def count_needs(tx: Transaction, changes: Iterable[tuple[RunId, int, int, int, int, int]]) -> dict[Key, Needs]:
    """Needs of nodes have ended: (run, node, how many it has in all, succeeded, failed, skipped); what that makes."""
    found = tx.many(
        "node/count_needs",
        [
            (run, number, total - good - bad - skipped, good, bad, skipped)
            for run, number, total, good, bad, skipped in changes
        ],
    )
    return {(row[0], row[1]): Needs(*row[2:]) for row in found}


def leave_waiting(tx: Transaction, keys: Sequence[Key]) -> None:
    """All needs of these nodes have ended."""
    tx.many("node/leave_waiting", keys)


def specs(tx: Transaction, keys: Sequence[Key]) -> dict[Key, Spec]:
    """What these nodes are."""
    return {(row[0], row[1]): Spec(*row) for row in tx.rows("node/specs", nodes=rows.text(keys))}


def gone(tx: Transaction, keys: Sequence[Key]) -> set[Key]:
    """Which of these nodes have left their place."""
    return {(row[0], row[1]) for row in tx.many("node/gone", keys)}


def leave(tx: Transaction, nodes: Sequence[Gone]) -> None:
    """Nodes leave their place."""
    alike.write_rows(tx, "node/insert", nodes, 1)


def end_nodes(tx: Transaction, ends: Sequence[tuple[NodeState, Instant, str | None, RunId, int]]) -> None:
    """Active nodes end."""
    alike.write_rows(tx, "node/end", ends, 4)


def count_items(tx: Transaction, changes: Sequence[tuple[int, int, int, RunId, int]]) -> list[Items]:
    """Items of maps have ended: (succeeded, failed, cancelled, run, node); how far each map is now."""
    return [Items(*row) for row in tx.many("node/count_items", changes)]


def begin_items(tx: Transaction, run: RunId, number: int, begun: int, failure: str | None = None) -> None:
    """So many items of a map have begun; why the first of those that can't be could not."""
    tx.rows("node/begin_items", run=run, number=number, begun=begun, failure=failure)


class Result(NamedTuple):
    """What a node has to give: its state, and by item the JSON of what succeeded (item None: of its only job)."""

    state: NodeState
    items: int | None
    found: list[tuple[int | None, str]]


def results(tx: Transaction, keys: Sequence[Key]) -> dict[Key, Result]:
    """The results of nodes that have left their place."""
    told: dict[Key, Result] = {}
    for run, number, state, items, item, job_state, text in tx.many("node/results", keys):
        one = told.setdefault((run, number), Result(NodeState(state), items, []))
        if job_state is not None:
            one.found.append((item, text))
    parted = [
        key
        for key, one in told.items()
        if one.state is NodeState.SUCCEEDED and one.items is not None and len(one.found) < one.items
    ]
    for run, number, item, text in tx.many("node/part_results", parted) if parted else ():
        told[run, number].found.append((item, text))
    return told


def active(tx: Transaction, run: RunId, after: int, limit: int) -> list[Active]:
    """Active nodes of a run that went before it was told to stop."""
    return [Active(run, *row) for row in tx.rows("node/active", run=run, after=after, limit=limit)]


def line_up(tx: Transaction, keys: Sequence[Key]) -> None:
    """These nodes may go when there is room for them."""
    tx.many("node/line_up", keys)


def line(tx: Transaction, run: RunId, limit: int) -> list[Key]:
    """The first nodes of a run that stand in line for room, in the order of the document."""
    return [(run, row[0]) for row in tx.rows("node/line", run=run, limit=limit)]


def leave_line(tx: Transaction, keys: Sequence[Key]) -> None:
    """These stand in line no more."""
    tx.many("node/leave_line", keys)


def count_active(tx: Transaction, run: RunId) -> int:
    """How many nodes of a run are active."""
    return int(tx.rows("node/count_active", run=run)[0][0])


def above(tx: Transaction, run: RunId) -> list[str]:
    """The workflows that a run is in, its own first."""
    return [row[1] for row in tx.rows("run/above", run=run)]


class Nested(NamedTuple):
    """A nested run that has ended."""

    run: RunId
    workflow: str
    state: RunState
    link: Link


def nested(tx: Transaction, ended: Sequence[RunId]) -> list[Nested]:
    """How these nested runs have ended, and which nodes they are."""
    found = tx.many("run/nested", [(run,) for run in sorted(ended)])
    return [Nested(run, workflow, RunState(state), Link(*parent)) for run, workflow, state, *parent in found]


def live_jobs(tx: Transaction, run: RunId, node: int, after: int, limit: int) -> list[tuple[JobId, int]]:
    """Jobs of a node that have not ended, behind an item, each with its item."""
    return [(JobId(row[0]), row[1]) for row in tx.rows("node/live_jobs", run=run, node=node, after=after, limit=limit)]


def live_runs(tx: Transaction, run: RunId, node: int, after: int, limit: int) -> list[tuple[RunId, int]]:
    """Nested runs of a node that have not ended, behind an item, each with its item."""
    return [(RunId(row[0]), row[1]) for row in tx.rows("node/live_runs", run=run, node=node, after=after, limit=limit)]


# --- errands --------------------------------------------------------------------------------------------------------


def put_errands(tx: Transaction, errands: Sequence[Errand]) -> None:
    """These are to be done."""
    if errands:
        tx.many("errand/put", errands)


def due_errands(tx: Transaction, limit: int) -> list[Errand]:
    """What is to be done now."""
    now = tx.now
    return [
        Errand(run, kind, node, now, after, weight)
        for run, kind, node, after, weight in tx.rows("errand/due", limit=limit)
    ]


def drop_errand(tx: Transaction, one: Errand) -> None:
    """It is done."""
    tx.rows("errand/drop", run=one.run, kind=one.kind, node=one.node)


# --- events ---------------------------------------------------------------------------------------------------------


class Happened(NamedTuple):
    """A transition of a run (node None), or of a node without a job."""

    cause: NodeCause
    source: str
    target: str
    run: RunId
    node: int | None = None
    detail: str | None = None


def note(tx: Transaction, events: Sequence[Happened], actor: str) -> None:
    """Record transitions, in the transaction of the moves."""
    now = tx.now
    if events:
        tx.many(
            "event/insert_run",
            [(now, e.cause, e.source, e.target, actor, e.detail, e.run, e.node) for e in events],
        )


class Taker(NamedTuple):
    """A value with references, and what it takes from which run."""

    link: Link
    params: str
    wants: str


def takers(tx: Transaction, jobs: Sequence[JobId]) -> dict[JobId, Taker]:
    """Those of these jobs whose parameters take something from their run; the newest first."""
    found = tx.rows("job/takers", jobs=rows.text(list(jobs)))
    return {row[0]: Taker(Link(*row[1:4]), *row[4:]) for row in found}


def links(tx: Transaction, jobs: Sequence[JobId]) -> dict[JobId, Link]:
    """Which of these jobs are of runs."""
    return {row[0]: Link(*row[1:]) for row in tx.rows("job/links", jobs=rows.text(list(jobs)))}
