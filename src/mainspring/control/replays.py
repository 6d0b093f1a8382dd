"""Ended runs once more, each as a new run that points to the old one: restart forgets all, resume keeps the good."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from mainspring.control.resumption import Planner, ended, refused, store_kept
from mainspring.control.runs import present
from mainspring.domain.ids import RunId
from mainspring.domain.run import CodeChange, Replay
from mainspring.errors import InvalidParameters
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, run_replays, runs, trail, workflows
from mainspring.store.run_questions import Standing
from mainspring.store.runs import RunBirth
from mainspring.store.trail import Deed
from mainspring.transitions.begun import begin, header_of
from mainspring.transitions.run_births import PreparedRun, prepare_run


def restart(store: Store, number: int, *, actor: str, newest: bool = False) -> Replay:
    """Run it all again, as a new run with the definition and parameters of the old one (``replay_of``).

    ``newest``: with the definition that the name of its workflow stands for now. Raises UnknownRun; IllegalState while
    it has not ended, where it came with a definition of its own, or the newest one does not take its parameters.
    """

    def look(tx: Transaction) -> tuple[PreparedRun | None, list[CodeChange]]:
        standing = ended(tx, number, "restarted")
        changed = run_replays.code_changes(tx, RunId(number))
        return _newest(tx, number, standing) if newest else None, changed

    prepared, changed = store.read(look)

    def work(tx: Transaction) -> Replay:
        ended(tx, number, "restarted")
        old = runs.again(tx, RunId(number))
        run = RunId(tx.job_ids(1)[0])
        begin(tx, [(run, old if prepared is None else _born_again(tx, prepared, old))], actor)
        trail.note(tx, actor, Deed("run.restart", f"run {number}", after={"run": run}))
        return Replay(present(tx, run), changed)

    return _written(store, work)


def resume(store: Store, number: int, *, actor: str, since: str | None = None, as_it_was: bool = False) -> Replay:
    """Go on from what failed, as a new run that keeps the good results of the old one (``replay_of``).

    Of a map that failed the good items are kept, and a nested run that failed goes on in the same way. ``since``: a
    node that is done again with all below it, also if it was good. The definition is the one that the name stands for
    now, if the kept part of it is unchanged; of a run that came with its definition, and with ``as_it_was`` of any, the
    one that the old run had. Raises UnknownRun;
    IllegalState while it has not ended, when nothing is to be done again, and when what would be kept has changed;
    InvalidInput for a node that is not there.
    """
    plan = Planner(store, as_it_was=as_it_was).plan(number, since)
    kept = store_kept(store, plan)

    def work(tx: Transaction) -> Replay:
        ended(tx, number, "resumed")
        kept.take(tx, number)
        born = _born_again(tx, plan.prepared, runs.again(tx, RunId(number)))
        begin(tx, [(kept.run, born._replace(kept=len(plan.keeps)))], actor)
        told = {"run": kept.run, "kept": len(plan.keeps)}
        trail.note(tx, actor, Deed("run.resume", f"run {number}", after=told))
        return Replay(present(tx, kept.run), list(plan.changed))

    return _written(store, work)


def _newest(tx: Transaction, number: int, standing: Standing) -> PreparedRun:
    """The run again, of the definition of now."""
    workflow = standing.workflow
    found = None if standing.inline else workflows.one(tx, workflow)
    if found is None:
        why = f"it came with its definition, which no workflow {workflow} stands for"
        raise refused(number, why, "Leave out --newest.", verb="restarted")
    params = msgspec.json.decode(runs.again(tx, RunId(number)).params)
    try:
        return prepare_run(found.version, header_of(found), params, {})
    except InvalidParameters as error:
        why = f"its parameters do not fit the definition of now: {error.message}"
        raise refused(number, why, f"Start a new run of {workflow}.", verb="restarted") from error


def _born_again(tx: Transaction, prepared: PreparedRun, old: RunBirth) -> RunBirth:
    """The birth of a run that replays an old one under another definition."""
    born = prepared.born(tx.now)
    return born._replace(replay_of=old.replay_of, tags=old.tags, tick=old.tick, inline=old.inline)


def _written(store: Store, work: Callable[[Transaction], Replay]) -> Replay:
    replay = store.write(
        work,
        before=FaultPoint.SUBMIT_BEFORE_COMMIT,
        after=FaultPoint.SUBMIT_AFTER_COMMIT,
        rings=store.work_bell,
    )
    store.news_bell.ring()
    return replay
