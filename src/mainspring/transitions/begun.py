"""Begun: runs are stored, and their first nodes go. For people and for schedules alike."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.domain.ids import RunId
from mainspring.domain.joins import Weight
from mainspring.domain.steps import read_header
from mainspring.domain.workflow import Workflow
from mainspring.errors import UnknownWorkflow, WorkflowNotKnown
from mainspring.store import workflows
from mainspring.store.runs import RunBirth
from mainspring.store.transaction import Transaction
from mainspring.store.workflows import Named
from mainspring.transitions.advance import Wave
from mainspring.transitions.run_births import written


def named(tx: Transaction, name: str) -> Named:
    """What a full name, or a short one that is unique, stands for. Raises UnknownWorkflow."""
    found = workflows.one(tx, name)
    if found is None:
        every = workflows.every(tx)
        several = [one for one in every if one.name.rpartition(".")[2] == name]
        if len(several) != 1:
            raise UnknownWorkflow(name, [one.name for one in every])
        found = several[0]
    return found


def stated(tx: Transaction, name: str) -> Named:
    """The same, for what is to be begun later. Raises WorkflowNotKnown."""
    try:
        return named(tx, name)
    except UnknownWorkflow as error:
        raise WorkflowNotKnown(name, error.remedy) from error


def header_of(found: Named) -> Workflow:
    """The document of a name, without its nodes. Raises InvalidWorkflow."""
    return read_header(found.header)


def begin(tx: Transaction, begun: Sequence[tuple[RunId, RunBirth]], actor: str) -> None:
    """Store runs and let their first nodes go."""
    written(tx, begun, actor)
    wave = Wave(tx, actor, {run for run, _ in begun})
    for run, birth in begun:
        if birth.kept:
            wave.tell_kept(run, 0)
        wave.tell(run, 0, Weight.SUCCEEDED)
    wave.run()
