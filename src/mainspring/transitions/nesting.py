"""Nesting: what a node with a workflow becomes when it may go: a run of its own, or one per item of its map.

Collects what is to begin, and writes it with one statement of each kind when told to. The definition is the one that
the name stands for at that moment; the parameters are filled in, as those of any run.
"""

from __future__ import annotations

from typing import NamedTuple

from mainspring.domain.attempt import Failure
from mainspring.domain.ids import RunId
from mainspring.domain.nesting import DEEPEST
from mainspring.domain.references import Values, filled
from mainspring.domain.steps import read_header
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import MainspringError
from mainspring.store import runs, workflows
from mainspring.store.run_replays import Part
from mainspring.store.runs import Key, RunBirth
from mainspring.store.transaction import Transaction
from mainspring.transitions.firing import Item, Refused
from mainspring.transitions.run_births import prepare_run, written


class _Definition(NamedTuple):
    version: int
    header: Workflow


class Nesting:
    """The nested runs that one transaction begins."""

    def __init__(self, tx: Transaction, actor: str) -> None:
        self._tx = tx
        self._actor = actor
        self._births: list[tuple[RunId | None, RunBirth]] = []
        self._definitions: dict[str, _Definition] = {}
        self._versions: dict[int, _Definition] = {}
        self._above: dict[RunId, list[str]] = {}

    def run(self, key: Key, node: Node, values: Values, item: Item | None = None, part: Part | None = None) -> None:
        """The run of a node, or of one item of its map. ``part``: of an older run, which it resumes. Raises Refused."""
        name = node.workflow or ""
        self._check_depth(key[0], name)
        found = self._definition(name) if part is None else self._of_version(part.version or 0)
        if item is not None:
            values = values._replace(item=item.value, number=item.number)
        try:
            prepared = prepare_run(found.version, found.header, filled(node.params, values), {})
        except MainspringError as error:
            raise Refused(Failure(type(error).__name__, error.message)) from error
        place = None if item is None else item.number
        birth = prepared.born(self._tx.now)._replace(parent_run=key[0], parent_node=key[1], parent_item=place)
        if part is not None:
            birth = birth._replace(replay_of=RunId(part.source), kept=part.kept)
        self._births.append((None if part is None else part.again, birth))

    def _definition(self, name: str) -> _Definition:
        if name not in self._definitions:
            found = workflows.one(self._tx, name)
            if found is None:
                raise Refused(Failure("UnknownWorkflow", f"there is no workflow {name!r} any more"))
            self._definitions[name] = _Definition(found.version, _read(found.header))
        return self._definitions[name]

    def _of_version(self, version: int) -> _Definition:
        """The definition of a resume, as it was planned."""
        if version not in self._versions:
            header = workflows.header(self._tx, version)[1]
            self._versions[version] = _Definition(version, _read(header))
        return self._versions[version]

    def _check_depth(self, run: RunId, name: str) -> None:
        """Definitions are checked when they are stored; but two that change at once may make a ring."""
        if run not in self._above:
            self._above[run] = runs.above(self._tx, run)
        above = self._above[run]
        if name in above or len(above) >= DEEPEST:
            way = " -> ".join([*reversed(above), name])
            raise Refused(Failure("InvalidWorkflow", f"workflows nest in a ring, or too deep: {way}"))

    def write(self) -> dict[RunId, RunBirth]:
        """Store what was collected; the runs that have begun."""
        births, self._births = self._births, []
        if not births:
            return {}
        fresh = iter(self._tx.job_ids(sum(number is None for number, _ in births)))
        begun = {RunId(next(fresh)) if number is None else number: one for number, one in births}
        written(self._tx, list(begun.items()), self._actor)
        return begun


def _read(header: str) -> Workflow:
    """A definition without its nodes. Raises Refused for one that was spoiled by hand."""
    try:
        return read_header(header)
    except MainspringError as error:
        raise Refused(Failure(type(error).__name__, error.message)) from error
