"""What people ask of runs: start one, show it, cancel it."""

from __future__ import annotations

from mainspring.control.read import storable
from mainspring.control.workflows import kept
from mainspring.domain.ids import LARGEST, JobId, RunId
from mainspring.domain.joins import Stop
from mainspring.domain.listing import MOST, checked_cursor, checked_limit
from mainspring.domain.run import Run, RunEvent, RunFilter, RunNode, RunPage, RunRequest, checked_state
from mainspring.domain.workflow import Workflow
from mainspring.errors import (
    IllegalState,
    UnknownRun,
)
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, jobs, run_questions, trail, workflows
from mainspring.store.trail import Deed
from mainspring.transitions.begun import begin, header_of, named
from mainspring.transitions.errands import run_errands
from mainspring.transitions.run_births import prepare_run
from mainspring.transitions.stopping import stop


def start(store: Store, request: RunRequest, *, actor: str, parent: JobId | None = None) -> Run:
    """Begin a run; it is durable when this answers.

    Raises UnknownWorkflow, InvalidWorkflow, InvalidParameters, PayloadTooLarge.
    """
    one = prepare_run(*_definition(store, request.workflow), request.params, request.tags)

    def work(tx: Transaction) -> Run:
        run = RunId(tx.job_ids(1)[0])
        inline = 1 if _is_inline(tx, request.workflow, one.birth.version) else None
        begin(tx, [(run, one.born(tx.now)._replace(parent_job=parent, inline=inline))], actor)
        return present(tx, run)

    run = store.write(
        work, before=FaultPoint.SUBMIT_BEFORE_COMMIT, after=FaultPoint.SUBMIT_AFTER_COMMIT, rings=store.work_bell
    )
    store.news_bell.ring()
    return run


def _definition(store: Store, given: str | Workflow) -> tuple[int, Workflow]:
    """The version that a request names, and its header."""
    if isinstance(given, Workflow):
        return kept(store, given), given

    def look(tx: Transaction) -> tuple[int, Workflow]:
        found = named(tx, given)
        return found.version, header_of(found)

    return store.read(look)


def _is_inline(tx: Transaction, given: str | Workflow, version: int) -> bool:
    """Whether a run comes with a definition that its name does not stand for."""
    if isinstance(given, str):
        return False
    stands = workflows.one(tx, given.name)
    return stands is None or stands.version != version


# --- questions ------------------------------------------------------------------------------------------------------


def one(store: Store, number: int) -> Run:
    """One run. Raises UnknownRun."""
    return store.read(lambda tx: present(tx, storable(number)))


def listed(store: Store, wanted: RunFilter) -> RunPage:
    """A page of runs, newest first. Raises InvalidInput, InvalidCursor."""
    checked_limit(wanted.limit)
    checked_state(wanted.state)
    before = LARGEST if wanted.cursor is None else checked_cursor(wanted.cursor)
    found, below = store.read(lambda tx: run_questions.listed(tx, wanted, before))
    items = found[: wanted.limit]
    below = items[-1].id if len(found) > wanted.limit else below
    return RunPage(items, None if below is None else str(below))


def nodes(store: Store, number: int, *, after: int = 0, limit: int = MOST, jobs: int = 20) -> list[RunNode]:
    """Nodes of a run in the order of its definition, behind a number. Raises UnknownRun."""

    def look(tx: Transaction) -> list[RunNode]:
        require(tx, number)
        return run_questions.nodes(tx, storable(number), after, limit, jobs)

    return store.read(look)


def events(store: Store, number: int, *, after: int = 0, limit: int = MOST) -> list[RunEvent]:
    """What happened in a run behind a cursor, oldest first. Raises UnknownRun, InvalidInput."""
    checked_limit(limit)

    def look(tx: Transaction) -> list[RunEvent]:
        require(tx, number)
        return run_questions.events(tx, storable(number), after, limit)

    return store.read(look, latest=True)


def document(store: Store, number: int) -> Workflow:
    """The definition that a run keeps. Raises UnknownRun."""

    def look(tx: Transaction) -> Workflow:
        return workflows.document(tx, require(tx, number).version)

    return store.read(look)


# --- cancel ---------------------------------------------------------------------------------------------------------


def cancel(store: Store, number: int, *, actor: str) -> Run:
    """Tell a run to stop: what waits is cancelled, what runs is asked to. Raises UnknownRun, IllegalState."""

    def mark(tx: Transaction) -> None:
        state = require(tx, number).state
        if state is not None:
            raise IllegalState(
                f"run {number} is {state} and can't be cancelled.", state=state.value, remedy="An end is final."
            )
        before = _told(tx, number)
        if stop(tx, RunId(number), Stop.CANCEL, actor):
            trail.note(tx, actor, Deed("run.cancel", f"run {number}", before, _told(tx, number)))

    store.write(mark, before=FaultPoint.CANCEL_BEFORE_COMMIT, after=FaultPoint.CANCEL_AFTER_COMMIT)
    while store.write(lambda tx: run_errands(tx, actor).more):
        pass
    store.work_bell.ring()
    store.news_bell.ring()
    return one(store, number)


def _told(tx: Transaction, number: int) -> dict[str, object]:
    """What the audit trail says of it."""
    run = present(tx, number)
    return {"state": run.state, "stop": run.stop}


def present(tx: Transaction, number: int) -> Run:
    """A run, which there must be."""
    run = run_questions.one(tx, number)
    if run is None:
        raise missing(tx, number)
    return run


def require(tx: Transaction, number: int) -> run_questions.Standing:
    """Where a run stands, which there must be."""
    found = run_questions.where(tx, storable(number))
    if found is None:
        raise missing(tx, number)
    return found


def missing(tx: Transaction, number: int) -> UnknownRun:
    """What is said of a number that no run has."""
    return UnknownRun(number, job=jobs.where(tx, storable(number)) is not None)
