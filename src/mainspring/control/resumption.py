"""What a resume keeps: planned with reads alone, then written in pieces before the new run begins, or not at all.

A plan names nodes of an ended run whose results are good, and parts of others: items of a map, and nested runs that go
on as resumes of their own, each planned like the run that it is in. The rows of a plan belong to runs that are not
there yet; the errand that is stored with the first of them takes them out again, should their run never begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import msgspec

from mainspring.clock import HOUR, Instant
from mainspring.control.read import storable
from mainspring.control.runs import require
from mainspring.domain.graph import Graph, compiled
from mainspring.domain.ids import RunId
from mainspring.domain.joins import RunState
from mainspring.domain.resuming import Outcome, changes, kept, partly
from mainspring.domain.run import CodeChange
from mainspring.errors import IllegalState, InvalidInput, InvalidParameters, near
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, run_replays, runs, workflows
from mainspring.store.run_questions import Standing
from mainspring.store.run_replays import Keep, Part, Taken
from mainspring.store.runs import Errand
from mainspring.transitions.run_births import PreparedRun, prepare_run

_AT_ONCE = 2_000
"""Rows in one transaction."""

_PATIENCE = HOUR
"""What is stored of a run that has not begun by then is taken out."""

_SHOWN = 5


class Plan(NamedTuple):
    """The resume of one run. ``keeps``: numbers of nodes in the new run, and in the old one."""

    old: RunId
    prepared: PreparedRun
    keeps: Sequence[tuple[int, int]]
    parts: Sequence[PlannedPart]
    changed: Sequence[CodeChange] = ()


class PlannedPart(NamedTuple):
    """Something good of the node ``number`` of the new run; with ``nested`` a run in it that goes on."""

    number: int
    taken: Taken
    nested: Plan | None = None


class _Look(NamedTuple):
    """What the store says of an ended run."""

    workflow: str
    before: int
    now: int
    outcomes: dict[str, Outcome]
    params: str


class Planner:
    """Plans the resume of a run. ``as_it_was``: with the definitions that it and those inside it had.

    A run that came with its definition is resumed under that one in any case, whatever has its name now.
    """

    def __init__(self, store: Store, *, as_it_was: bool) -> None:
        self._store = store
        self._as_it_was = as_it_was
        self._graphs: dict[int, Graph] = {}

    def plan(self, number: int, since: str | None) -> Plan:
        """What is kept, and of which definition the rest is.

        Raises UnknownRun; IllegalState while it has not ended, when nothing is to be done again, and when what would be
        kept has changed; InvalidInput for a node that is not there.
        """
        look = self._look(number)
        old = self._graph(look.before)
        if since is not None and since not in old.numbers:
            hint = near(since, old.numbers) or f"See: mainspring run-show {number}"
            raise InvalidInput(f"run {number} has no node {since!r}.", remedy=hint, field="from")
        names = kept(old, look.outcomes, since)
        plan = self._planned(RunId(number), look, names, since)
        if len(names) == len(self._graph(look.now).document.nodes):
            remedy = f"Name where to begin: mainspring resume {number} --from NODE"
            raise refused(number, "nothing of it is to be done again", remedy)
        return plan._replace(changed=self._store.read(lambda tx: run_replays.code_changes(tx, RunId(number), names)))

    def _planned(self, number: RunId, look: _Look, names: set[str], since: str | None) -> Plan:
        old, new = self._graph(look.before), self._graph(look.now)
        _check_unchanged(number, old, new, names)
        prepared = _prepared(number, look, new)
        keeps = sorted((new.numbers[name] + 1, old.numbers[name] + 1) for name in names)
        parts: list[PlannedPart] = []
        for name in partly(old, names, since):
            if not changes(old, new, {name}):
                parts += self._parts(number, old.numbers[name] + 1, new.numbers[name] + 1)
        return Plan(number, prepared, keeps, parts)

    def _parts(self, run: RunId, before: int, number: int) -> Iterator[PlannedPart]:
        """What is good of a node that is done again."""
        good = self._store.read(lambda tx: run_replays.good_items(tx, run, before))
        yield from (PlannedPart(number, one) for one in good)
        for one in self._store.read(lambda tx: run_replays.open_runs(tx, run, before)):
            look = self._look(one.source)
            plan = self._planned(RunId(one.source), look, kept(self._graph(look.before), look.outcomes), None)
            if plan.keeps or plan.parts:
                yield PlannedPart(number, one, plan)

    def _look(self, number: int) -> _Look:
        def look(tx: Transaction) -> _Look:
            standing = ended(tx, number, "resumed")
            own = self._as_it_was or standing.inline
            named = None if own else workflows.one(tx, standing.workflow)
            now = standing.version if named is None else named.version
            params = runs.again(tx, RunId(number)).params
            return _Look(standing.workflow, standing.version, now, run_replays.outcomes(tx, RunId(number)), params)

        return self._store.read(look)

    def _graph(self, version: int) -> Graph:
        if version not in self._graphs:
            self._graphs[version] = compiled(self._store.read(lambda tx: workflows.document(tx, version)))
        return self._graphs[version]


def ended(tx: Transaction, number: int, verb: str) -> Standing:
    """Where an ended run stands. Raises UnknownRun, IllegalState."""
    standing = require(tx, storable(number))
    if standing.state is None:
        raise IllegalState(
            f"run {number} has not ended; only an ended run can be {verb}.",
            state=RunState.RUNNING.value,
            remedy=f"Wait for its end, or cancel it first: mainspring run-cancel {number}",
        )
    return standing


def refused(number: int, why: str, remedy: str, *, verb: str = "resumed") -> IllegalState:
    """Why an ended run can't be replayed."""
    return IllegalState(f"run {number} can't be {verb}: {why.rstrip('.')}.", state="ended", remedy=remedy)


def _check_unchanged(number: int, old: Graph, new: Graph, names: set[str]) -> None:
    told = changes(old, new, names)
    if told:
        more = "" if len(told) <= _SHOWN else f"; and {len(told) - _SHOWN} more"
        remedy = (
            f"Begin above it (--from NODE), keep to the old definition (--as-it-was), or: mainspring restart {number}"
        )
        raise refused(number, f"its definition has changed where it is good: {'; '.join(told[:_SHOWN])}{more}", remedy)


def _prepared(number: int, look: _Look, now: Graph) -> PreparedRun:
    try:
        return prepare_run(look.now, now.document, msgspec.json.decode(look.params), {})
    except InvalidParameters as error:
        remedy = f"Keep to the old definition (--as-it-was), or start a new run of {look.workflow}."
        raise refused(number, f"its parameters do not fit the definition of now: {error.message}", remedy) from error


# --- writing --------------------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """A run that may begin, what of it is not stored yet, and whether something is."""

    run: RunId
    rest: Sequence[Keep | Part]
    begun: bool

    def take(self, tx: Transaction, number: int) -> None:
        """Store the rest of what is kept, in the transaction in which the run begins. Raises IllegalState."""
        if self.begun and not run_replays.take_unborn(tx, self.run):
            raise refused(number, "to store what it keeps took too long", f"Again: mainspring resume {number}")
        run_replays.keep(tx, self.rest)


def store_kept(store: Store, plan: Plan) -> Kept:
    """Store all but the last piece of what a resume keeps; nobody sees it before its run has begun."""
    ids = iter(store.write(lambda tx: list(tx.job_ids(1 + _nested(plan)))))
    run = RunId(next(ids))
    pieces = list(_batches(rows_of(plan, run, ids)))

    def keep(tx: Transaction, piece: Sequence[Keep | Part], *, first: bool) -> None:
        if first:
            runs.put_errands(tx, [Errand(run, "unborn", 0, Instant(tx.now + _PATIENCE))])
        run_replays.keep(tx, piece)

    for place, piece in enumerate(pieces[:-1]):
        store.write(partial(keep, piece=piece, first=not place), before=FaultPoint.SUBMIT_BEFORE_COMMIT)
    return Kept(run, pieces[-1] if pieces else [], len(pieces) > 1)


def _nested(plan: Plan) -> int:
    """How many nested runs go on."""
    return sum(1 + _nested(part.nested) for part in plan.parts if part.nested is not None)


def rows_of(plan: Plan, run: RunId, ids: Iterator[int]) -> Iterator[Keep | Part]:
    """All that is stored of a plan. ``ids``: for the nested runs that go on."""
    for number, before in plan.keeps:
        yield Keep(run, number, plan.old, before)
    for number, taken, nested in plan.parts:
        if nested is None:
            yield Part(run, number, taken.item, taken.source, taken.origin)
            continue
        again = RunId(next(ids))
        version = nested.prepared.birth.version
        yield Part(run, number, taken.item, taken.source, taken.origin, again, version, len(nested.keeps))
        yield from rows_of(nested, again, ids)


def _batches(rows: Iterator[Keep | Part]) -> Iterator[list[Keep | Part]]:
    while batch := list(islice(rows, _AT_ONCE)):
        yield batch
