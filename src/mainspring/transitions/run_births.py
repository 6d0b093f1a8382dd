"""Births of runs: checked against their workflow, and all that is written when they begin. Nothing moves here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mainspring.clock import Duration, Instant, duration
from mainspring.domain.ids import RunId
from mainspring.domain.joins import RunState, Stop
from mainspring.domain.node_states import NodeCause
from mainspring.domain.parameters import checked_json, duration_names, iso_durations
from mainspring.domain.schemas import validator_of
from mainspring.domain.workflow import Workflow
from mainspring.store import rows, runs
from mainspring.store.runs import Errand, Happened, RunBirth
from mainspring.store.transaction import Transaction
from mainspring.transitions.prepared import Taking, check_fits


class PreparedRun(NamedTuple):
    """A run that may begin: what can be decided before the transaction. ``lasts``: how long it may take."""

    birth: RunBirth
    lasts: Duration | None

    def born(self, now: Instant) -> RunBirth:
        """What is written of it when it begins now."""
        return self.birth._replace(deadline=None if self.lasts is None else Instant(now + self.lasts))


def prepare_run(version: int, header: Workflow, params: Any, tags: Mapping[str, str]) -> PreparedRun:
    """Check and complete a run of this version. Raises InvalidParameters, PayloadTooLarge."""
    birth = RunBirth(
        header.name,
        version,
        checked_params(header, params),
        str(header.on_failure),
        header.parallel,
        tags=rows.text(tags) if tags else None,
    )
    return PreparedRun(birth, None if header.timeout is None else duration(header.timeout))


def checked_params(header: Workflow, params: Any) -> str:
    """The parameters of a run as they are stored, defaults filled in. Raises InvalidParameters and its siblings."""
    taking = taking_of(header)
    params = iso_durations(header.with_defaults(params), duration_names(header.schema))
    text = checked_json(params, "params").decode()
    check_fits(taking, params)
    return text


def taking_of(header: Workflow) -> Taking:
    """What a run of it takes. Raises InvalidWorkflow where an older version has stored what can't be used."""
    return Taking(f"workflow {header.name}", header.name, header.schema, validator_of(header.schema))


def written(tx: Transaction, begun: Sequence[tuple[RunId, RunBirth]], actor: str) -> None:
    """Store runs."""
    runs.insert(tx, [birth for _, birth in begun], [run for run, _ in begun])
    limits = [Errand(run, "stop", 0, one.deadline, 0, Stop.TIMEOUT.value) for run, one in begun if one.deadline]
    runs.put_errands(tx, limits)
    runs.note(tx, [_started(run, one) for run, one in begun], actor)


def _started(run: RunId, one: RunBirth) -> Happened:
    told = {"replay_of": one.replay_of, "kept": one.kept}
    detail = {name: value for name, value in told.items() if value is not None}
    return Happened(NodeCause.START, "new", RunState.PENDING, run, None, rows.text(detail) if detail else None)
