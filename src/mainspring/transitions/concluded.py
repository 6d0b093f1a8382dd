"""Concluded: all nodes of a run have ended. What that makes of the run, and what its result is."""

from __future__ import annotations

import msgspec

from mainspring.domain.joins import RunState, run_state
from mainspring.domain.references import filled
from mainspring.domain.workflow import Workflow
from mainspring.errors import MainspringError
from mainspring.store import rows, runs, workflows
from mainspring.store.runs import Held, Spec
from mainspring.store.transaction import Transaction
from mainspring.transitions.firing import taking
from mainspring.transitions.inputs import Sources


def conclude(tx: Transaction, held: Held, end: Spec) -> RunState | None:
    """Write the end of a run; its state, or None when it had ended. ``end``: its last step."""
    state = run_state(runs.tally(tx, held.id), held.stop)
    result = _result(tx, held, end) if state is RunState.SUCCEEDED else None
    return state if runs.end(tx, held.id, state, result) else None


def _result(tx: Transaction, held: Held, end: Spec) -> str | None:
    """What the definition makes of the results of its nodes."""
    header = msgspec.json.decode(workflows.header(tx, held.version)[1], type=Workflow)
    if header.result is None:
        return None
    inputs: dict[str, int] = rows.decode(end.inputs)
    value, wants = taking(header.result, inputs)
    if wants is None:
        return rows.text(value)
    sources = Sources(tx)
    sources.fetch([(held.id, wants)])
    try:
        return rows.text(filled(value, sources.values(held.id, wants), "result"))
    except MainspringError:
        return None
