"""Inputs: what the parameters of a run's jobs, its conditions and its result take from the run, read when needed.

A job keeps references, so that a large result is stored once however many nodes take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from mainspring.domain.conditions import Facts
from mainspring.domain.ids import JobId, RunId
from mainspring.domain.job import Job
from mainspring.domain.joins import NodeState
from mainspring.domain.references import Values, filled
from mainspring.errors import InvalidInput, UnresolvedReference
from mainspring.store import rows, runs
from mainspring.store.runs import Key, Result, Taker
from mainspring.store.transaction import Transaction


class Wants(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a value takes from its run. ``nodes``: numbers by name."""

    params: bool = False
    nodes: dict[str, int] = {}


MOST_SHOWN = 4 * 1024 * 1024
"""Of parameters that are filled in for one answer, in bytes: many jobs may take the same large result."""

_AT_ONCE = 50
"""Jobs whose references are looked up together."""

UNKNOWN = UnresolvedReference("it is too much to show", place="params")

SPOILED = UnresolvedReference("its row in the database can't be read; it was changed by hand", place="params")


class Sources:
    """What runs have to give, each part read once."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._params: dict[RunId, Any] = {}
        self._results: dict[Key, Result] = {}
        self._values: dict[Key, Any] = {}

    def fetch(self, wanted: Iterable[tuple[RunId, Wants]]) -> None:
        """Have these at hand, for one statement."""
        keys: set[Key] = set()
        for run, wants in wanted:
            keys |= {(run, number) for number in wants.nodes.values()}
            if wants.params and run not in self._params:
                self._params[run] = runs.params(self._tx, run)
        missing = sorted(keys - self._results.keys())
        if missing:
            self._results |= runs.results(self._tx, missing)

    def params(self, run: RunId) -> Any:
        """What the run was started with."""
        return self._params.get(run, {})

    def values(self, run: RunId, wants: Wants) -> Values:
        """What references are filled from."""
        return Values(self.params(run), {name: self._value((run, number)) for name, number in wants.nodes.items()})

    def facts(self, run: RunId, wants: Wants) -> Facts:
        """What conditions are judged by."""
        states = {name: self._state((run, number)) for name, number in wants.nodes.items()}
        return Facts(self.params(run), self.values(run, wants).results, states)

    def _state(self, key: Key) -> str:
        found = self._results.get(key)
        return NodeState.WAITING.value if found is None else found.state.value

    def _value(self, key: Key) -> Any:
        """The result of a node; null while it has none."""
        if key not in self._values:
            self._values[key] = _value_of(self._results.get(key))
        return self._values[key]


def _value_of(found: Result | None) -> Any:
    if found is None or found.state is not NodeState.SUCCEEDED:
        return None
    if found.items is None:
        return rows.shown(found.found[0][1]) if found.found else None
    told: list[Any] = [None] * found.items
    for item, text in found.found:
        if item is not None and item < found.items:
            told[item] = rows.shown(text)
    return told


def shown(tx: Transaction, jobs: Sequence[Job]) -> list[Job]:
    """These jobs, with what their parameters take from their runs, as far as it is known and not too much to show."""
    wanted = [job.id for job in jobs if job.run is not None]
    if not wanted:
        return list(jobs)
    takers = runs.takers(tx, wanted)
    room, known = MOST_SHOWN, dict[JobId, Any]()
    several = iter(takers.items())
    while room > 0 and (some := dict(islice(several, _AT_ONCE))):
        for job, told in resolved(tx, some).items():
            room -= 0 if isinstance(told, UnresolvedReference) else len(rows.text(told))
            if room > 0:
                known[job] = told
    return [_filled(job, known.get(job.id, UNKNOWN)) if job.id in takers else job for job in jobs]


def _filled(job: Job, told: Any) -> Job:
    if isinstance(told, UnresolvedReference):
        return msgspec.structs.replace(job, params_open=True)
    return msgspec.structs.replace(job, params=told)


def resolved(tx: Transaction, takers: Mapping[JobId, Taker]) -> dict[JobId, Any]:
    """The parameters of these jobs with what their references stand for; where that can't be, the error."""
    if not takers:
        return {}
    sources = Sources(tx)
    told: dict[JobId, Any] = {}
    wanted: dict[JobId, tuple[Any, Wants]] = {}
    for job, one in takers.items():
        try:
            wanted[job] = rows.decode(one.params), msgspec.json.decode(one.wants, type=Wants)
        except msgspec.MsgspecError:
            told[job] = SPOILED
    sources.fetch((takers[job].link.run, wants) for job, (_, wants) in wanted.items())
    for job, (params, wants) in wanted.items():
        try:
            told[job] = filled(params, sources.values(takers[job].link.run, wants))
        except UnresolvedReference as error:
            told[job] = error
        except InvalidInput:  # what was spoiled by hand is no reference
            told[job] = SPOILED
    return told
