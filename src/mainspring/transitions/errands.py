"""Errands: what is still to be done for runs, a bounded piece at a time. By the turn of any worker or server."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.domain.attempt import Failure
from mainspring.domain.ids import RunId
from mainspring.domain.joins import NodeState, RunState, Stop, Weight
from mainspring.store import rows, runs
from mainspring.store.retention import forget_run
from mainspring.store.runs import Errand, Nested
from mainspring.store.transaction import Transaction
from mainspring.transitions.advance import End, Wave, advance
from mainspring.transitions.stopping import halt, stop

MOST = 20
"""Errands that are looked at in one turn."""


CLEARING = "clearing"
"""What is said of a run that never began, once some of it is gone."""

_BITE = 100
"""Rows of it that go at once."""

_NODE_STATE = {
    RunState.SUCCEEDED: NodeState.SUCCEEDED,
    RunState.FAILED: NodeState.FAILED,
    RunState.CANCELLED: NodeState.CANCELLED,
}
"""What the end of a nested run is to its node."""


class Did(NamedTuple):
    """How many errands were looked after, and whether more are due."""

    done: int
    more: bool


def run_errands(tx: Transaction, actor: str) -> Did:
    """Do the next piece of what is due."""
    due = runs.due_errands(tx, MOST)
    if not due:
        return Did(0, more=False)
    stops = [one for one in due if one.kind == "stop"]
    if stops:
        # Alone: it waits for all who move the run on, so it must hold nothing that one of them might wait for.
        one = stops[0]
        runs.drop_errand(tx, one)
        stop(tx, one.run, Stop(one.weight) if one.weight in set(Stop) else Stop.CANCEL, actor)
        return Did(1, more=True)
    same = [other for other in due if other.kind == due[0].kind]
    if due[0].kind == "halt":
        runs.drop_errand(tx, due[0])
        halt(tx, due[0], actor)
        return Did(1, more=True)  # nested runs are told to stop, or there is more of it
    for other in same:
        runs.drop_errand(tx, other)
    if due[0].kind == "unborn":
        for other in same:
            _clear_unborn(tx, other)
        return Did(len(same), more=True)
    if due[0].kind == "over":
        return Did(len(same), more=_tell_above(tx, [other.run for other in same], actor) or len(due) > len(same))
    wave = Wave(tx, actor, {other.run for other in same})
    for other in same:
        _take_up(wave, other)
    return Did(len(same), more=wave.run().more or len(due) > len(same))


def _clear_unborn(tx: Transaction, one: Errand) -> None:
    """Take out the next of what was stored of a run that never began. The errand that is left says so."""
    if not runs.there(tx, one.run) and not forget_run(tx, one.run, _BITE).whole:
        runs.put_errands(tx, [Errand(one.run, "unborn", 0, tx.now, 0, CLEARING)])


def _take_up(wave: Wave, one: Errand) -> None:
    match one.kind:
        case "map":
            wave.go_on_with([(one.run, one.node)])
        case "room":
            wave.admit(one.run)
        case "kept":
            wave.tell_kept(one.run, one.after)
        case _:
            told = one.weight or Weight.SUCCEEDED
            wave.tell(one.run, one.node, Weight(told) if told in set(Weight) else Weight.FAILED, one.after)


def _tell_above(tx: Transaction, ended: list[RunId], actor: str) -> bool:
    """Nested runs have ended, and so have the nodes that they are; whether more is left."""
    return advance(tx, [_end_of(one) for one in runs.nested(tx, ended)], actor).more


def _end_of(one: Nested) -> End:
    state = _NODE_STATE[one.state]
    failure = (
        None
        if state is NodeState.SUCCEEDED
        else Failure("NestedRun", f"run {one.run} of {one.workflow} is {one.state}")
    )
    return End(one.link, state, nested=True, failure=None if failure is None else rows.text(failure))
