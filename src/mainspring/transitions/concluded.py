"""Concluded: all nodes of a run have ended. What that makes of the run, and what its result is."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.domain.joins import RunState, run_state
from mainspring.domain.parameters import checked_json
from mainspring.domain.references import filled
from mainspring.domain.steps import read_header
from mainspring.errors import MainspringError
from mainspring.store import rows, runs, workflows
from mainspring.store.runs import Held, Spec
from mainspring.store.transaction import Transaction
from mainspring.transitions.firing import Refused, numbers_of, taking
from mainspring.transitions.inputs import Sources


class Concluded(NamedTuple):
    """How a run has ended. ``why``: it has no result though its definition says one."""

    state: RunState
    why: str | None


def conclude(tx: Transaction, held: Held, end: Spec) -> Concluded | None:
    """Write the end of a run; None when it had ended. ``end``: its last step."""
    state = run_state(runs.counted(tx, held.id).nodes, held.stop)
    result, why = None, None
    if state is RunState.SUCCEEDED:
        try:
            result = _result(tx, held, end)
        except (MainspringError, Refused) as error:
            why = str(error) if isinstance(error, Refused) else error.message
    return Concluded(state, why) if runs.end(tx, held.id, state, result) else None


def _result(tx: Transaction, held: Held, end: Spec) -> str | None:
    """What the definition makes of the results of its nodes.

    Raises UnresolvedReference, PayloadTooLarge, and InvalidWorkflow or Refused for what was spoiled by hand.
    """
    header = read_header(workflows.header(tx, held.version)[1])
    if header.result is None:
        return None
    value, wants = taking(header.result, numbers_of(end.inputs))
    if wants is None:
        return rows.text(value)
    sources = Sources(tx)
    sources.fetch([(held.id, wants)])
    return checked_json(filled(value, sources.values(held.id, wants), "result"), "the run's result").decode()
