"""Ended runs once more, each as a new run that points to the old one: restart forgets all, resume keeps the good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from mainspring.control.read import storable
from mainspring.control.runs import present, require
from mainspring.domain.graph import Graph, compiled
from mainspring.domain.ids import RunId
from mainspring.domain.joins import RunState
from mainspring.domain.resuming import Outcome, changes, kept
from mainspring.domain.run import CodeChange, Replay
from mainspring.domain.workflow import Workflow
from mainspring.errors import IllegalState, InvalidInput, InvalidParameters, near
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, run_replays, runs, trail, workflows
from mainspring.store.run_replays import Keep
from mainspring.store.runs import RunBirth
from mainspring.store.trail import Deed
from mainspring.transitions.begun import begin, header_of
from mainspring.transitions.run_births import PreparedRun, prepare_run

_AT_ONCE = 2_000
"""Kept nodes in one transaction."""

_SHOWN = 5


def restart(store: Store, number: int, *, actor: str, newest: bool = False) -> Replay:
    """Run it all again, as a new run with the definition and parameters of the old one (``replay_of``).

    ``newest``: with the definition that the name of its workflow stands for now. Raises UnknownRun; IllegalState while
    it has not ended, or where the newest definition does not take its parameters.
    """

    def look(tx: Transaction) -> tuple[PreparedRun | None, list[CodeChange]]:
        standing = _ended(tx, number, "restarted")
        changed = run_replays.code_changes(tx, RunId(number))
        return _newest(tx, number, standing.workflow) if newest else None, changed

    prepared, changed = store.read(look)

    def work(tx: Transaction) -> Replay:
        _ended(tx, number, "restarted")
        old = runs.again(tx, RunId(number))
        run = RunId(tx.job_ids(1)[0])
        begin(tx, [(run, old if prepared is None else _born_again(tx, prepared, old))], actor)
        trail.note(tx, actor, Deed("run.restart", f"run {number}", after={"run": run}))
        return Replay(present(tx, run), changed)

    return _written(store, work)


def _newest(tx: Transaction, number: int, workflow: str) -> PreparedRun:
    """The run again, of the definition of now."""
    found = workflows.one(tx, workflow)
    if found is None:
        why = f"no workflow has the name {workflow} now, as it came with its definition"
        raise _refused(number, why, "Leave out --newest.", verb="restarted")
    params = msgspec.json.decode(runs.again(tx, RunId(number)).params)
    try:
        return prepare_run(found.version, header_of(found), params, {})
    except InvalidParameters as error:
        why = f"its parameters do not fit the definition of now: {error.message}"
        raise _refused(number, why, f"Start a new run of {workflow}.", verb="restarted") from error


def _born_again(tx: Transaction, prepared: PreparedRun, old: RunBirth) -> RunBirth:
    """The birth of a run that replays an old one under another definition."""
    return prepared.born(tx.now)._replace(replay_of=old.replay_of, tags=old.tags, tick=old.tick)


def resume(store: Store, number: int, *, actor: str, since: str | None = None, as_it_was: bool = False) -> Replay:
    """Go on from what failed, as a new run that keeps the good results of the old one (``replay_of``).

    ``since``: a node that is done again with all below it, also if it was good. The definition is the one that the name
    stands for now, if the kept part of it is unchanged; ``as_it_was``: the one that the old run had. Raises UnknownRun;
    IllegalState while it has not ended, when nothing is to be done again, and when what would be kept has changed;
    InvalidInput for a node that is not there.
    """
    plan = _planned(store, number, since=since, as_it_was=as_it_was)
    run = RunId(store.write(lambda tx: tx.job_ids(1)[0]))
    batches = list(_batches(plan.keeps))
    for batch in batches[:-1]:  # rows of a run that is not there yet: nobody sees them before the last transaction
        store.write(lambda tx, batch=batch: run_replays.keep(tx, run, RunId(number), batch))  # type: ignore[misc]

    def work(tx: Transaction) -> Replay:
        _ended(tx, number, "resumed")
        if batches:
            run_replays.keep(tx, run, RunId(number), batches[-1])
        old = runs.again(tx, RunId(number))
        begin(tx, [(run, _born_again(tx, plan.prepared, old)._replace(kept=len(plan.keeps)))], actor)
        trail.note(tx, actor, Deed("run.resume", f"run {number}", after={"run": run, "kept": len(plan.keeps)}))
        return Replay(present(tx, run), plan.changed)

    return _written(store, work)


class _Plan(NamedTuple):
    prepared: PreparedRun
    keeps: Sequence[Keep]
    changed: list[CodeChange]


def _planned(store: Store, number: int, *, since: str | None, as_it_was: bool) -> _Plan:
    """What is kept, and of which definition the rest is."""

    def look(tx: Transaction) -> tuple[Workflow, Workflow, int, dict[str, Outcome], str]:
        standing = _ended(tx, number, "resumed")
        before = workflows.document(tx, standing.version)
        named = None if as_it_was else workflows.one(tx, standing.workflow)
        if named is None or named.version == standing.version:
            now, version = before, standing.version
        else:
            now, version = workflows.document(tx, named.version), named.version
        params = runs.again(tx, RunId(number)).params
        return before, now, version, run_replays.outcomes(tx, RunId(number)), params

    before, now, version, outcomes, params = store.read(look)
    old = compiled(before)
    if since is not None and since not in old.numbers:
        hint = near(since, old.numbers) or f"See: mainspring run-show {number}"
        raise InvalidInput(f"run {number} has no node {since!r}.", remedy=hint, field="from")
    names = kept(old, outcomes, since)
    new = old if now is before else compiled(now)
    if now is not before:
        _check_unchanged(number, old, new, names)
    if len(names) == len(now.nodes):
        raise _refused(
            number, "nothing of it is to be done again", f"Name where to begin: mainspring resume {number} --from NODE"
        )
    keeps = [Keep(new.numbers[name] + 1, old.numbers[name] + 1) for name in names]
    changed = store.read(lambda tx: run_replays.code_changes(tx, RunId(number), names))
    return _Plan(_prepared(number, version, now, params), sorted(keeps), changed)


def _check_unchanged(number: int, old: Graph, new: Graph, names: set[str]) -> None:
    told = changes(old, new, names)
    if told:
        more = "" if len(told) <= _SHOWN else f"; and {len(told) - _SHOWN} more"
        remedy = (
            f"Begin above it (--from NODE), keep to the old definition (--as-it-was), or: mainspring restart {number}"
        )
        raise _refused(number, f"its definition has changed where it is good: {'; '.join(told[:_SHOWN])}{more}", remedy)


def _prepared(number: int, version: int, now: Workflow, params: str) -> PreparedRun:
    try:
        return prepare_run(version, now, msgspec.json.decode(params), {})
    except InvalidParameters as error:
        remedy = f"Keep to the old definition (--as-it-was), or start a new run of {now.name}."
        raise _refused(number, f"its parameters do not fit the definition of now: {error.message}", remedy) from error


def _ended(tx: Transaction, number: int, verb: str) -> run_replays.Standing:
    standing = require(tx, storable(number))
    if standing.state is None:
        raise IllegalState(
            f"run {number} has not ended; only an ended run can be {verb}.",
            state=RunState.RUNNING.value,
            remedy=f"Wait for its end, or cancel it first: mainspring run-cancel {number}",
        )
    return standing


def _refused(number: int, why: str, remedy: str, *, verb: str = "resumed") -> IllegalState:
    return IllegalState(f"run {number} can't be {verb}: {why.rstrip('.')}.", state="ended", remedy=remedy)


def _batches(keeps: Sequence[Keep]) -> Iterator[list[Keep]]:
    several = iter(keeps)
    while batch := list(islice(several, _AT_ONCE)):
        yield batch


def _written(store: Store, work: object) -> Replay:
    replay: Replay = store.write(
        work,  # type: ignore[arg-type]
        before=FaultPoint.SUBMIT_BEFORE_COMMIT,
        after=FaultPoint.SUBMIT_AFTER_COMMIT,
        rings=store.work_bell,
    )
    store.news_bell.ring()
    return replay
