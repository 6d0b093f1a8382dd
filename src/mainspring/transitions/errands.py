"""Errands: what is still to be done for runs, a bounded piece at a time. By the turn of any worker or server."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.domain.joins import Stop, Weight
from mainspring.store import runs
from mainspring.store.transaction import Transaction
from mainspring.transitions.advance import Wave
from mainspring.transitions.stopping import halt, stop

MOST = 20
"""Errands that are looked at in one turn."""


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
        stop(tx, one.run, Stop(one.weight or Stop.CANCEL), actor)
        return Did(1, more=True)
    same = [other for other in due if other.kind == due[0].kind]
    if due[0].kind == "halt":
        runs.drop_errand(tx, due[0])
        return Did(1, more=halt(tx, due[0], actor) or len(due) > 1)
    for other in same:
        runs.drop_errand(tx, other)
    wave = Wave(tx, actor, {other.run for other in same})
    if due[0].kind == "map":
        wave.go_on_with([(other.run, other.node) for other in same])
    elif due[0].kind == "room":
        for other in same:
            wave.admit(other.run)
    else:
        for other in same:
            wave.tell(other.run, other.node, Weight(other.weight or Weight.SUCCEEDED), other.after)
    return Did(len(same), more=wave.run().more or len(due) > len(same))
