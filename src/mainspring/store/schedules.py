"""Schedules in the store: what is said of them, what is to come of each, and the jobs that are in flight for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import JobId
from mainspring.domain.states import State
from mainspring.domain.timetable import BackfillId, Origin, ScheduleId
from mainspring.store import rows
from mainspring.store.transaction import Told, Transaction


class Kept(NamedTuple):
    """All that is known of a schedule. ``declaration`` and ``override``: JSON; ``version`` rises with each change."""

    id: ScheduleId
    name: str
    origin: Origin
    app: str | None
    generation: int | None
    declaration: str
    override: str | None
    created: Instant
    changed: Instant
    paused_at: Instant | None
    paused_by: str | None
    note: str | None
    withdrawn_at: Instant | None
    removed_at: Instant | None
    version: int
    at: Instant | None
    nominal: Instant | None
    last: Instant | None
    last_fired: Instant | None
    last_succeeded: Instant | None
    fired: int
    failures: int

    @property
    def next(self) -> Next:
        """What is to come of it."""
        return Next(
            schedule=self.id,
            version=self.version,
            at=self.at,
            nominal=self.nominal,
            last=self.last,
            last_fired=self.last_fired,
            last_succeeded=self.last_succeeded,
            fired=self.fired,
            failures=self.failures,
        )


class Next(NamedTuple):
    """What is to come of a schedule, which changes with whatever is said or decided of it."""

    schedule: ScheduleId
    version: int
    at: Instant | None
    nominal: Instant | None
    last: Instant | None
    last_fired: Instant | None
    last_succeeded: Instant | None
    fired: int
    failures: int


class Advance(NamedTuple):
    """What is to come of a schedule, and what was, once a tick is decided."""

    at: Instant | None
    nominal: Instant | None
    last: Instant | None
    last_fired: Instant | None
    last_succeeded: Instant | None
    fired: int
    failures: int
    schedule: ScheduleId
    version: int


class Flight(NamedTuple):
    """The job or run of a tick. ``job``: its number, also that of a run.

    ``state``: how it ended, None while it has not; ``gone``: it has, and is not kept any more.
    """

    schedule: ScheduleId
    job: JobId
    nominal: Instant
    origin: str
    state: State | None
    gone: bool
    is_run: bool = False

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.gone or self.state is not None

    def __str__(self) -> str:
        return f"{'run' if self.is_run else 'job'} {self.job}"


class Filling(NamedTuple):
    """A backfill as it is kept."""

    id: BackfillId
    schedule: ScheduleId
    first: Instant
    last: Instant
    newest_first: bool
    again: bool
    most: int | None
    at_once: int
    made: int
    place: Instant | None
    created: Instant
    created_by: str
    ended: Instant | None


class Pending(NamedTuple):
    """What a scheduler looks for.

    ``due``: schedules whose next tick is to be decided, the latest first; ``waiting``: those of which ticks wait for a
    job to end; ``fillings``: backfills that are not done; ``soonest``: when the next tick is to be decided.
    """

    due: list[Next]
    waiting: list[Kept]
    fillings: list[Filling]
    soonest: Instant | None


def pending(tx: Transaction, limit: int) -> Pending:
    """All that is to be decided, of each kind at most so many."""
    some = {"limit": limit}
    due, waiting, fillings, first = tx.together(
        ("schedule/due", dict(some)),
        ("schedule/waiting", dict(some)),
        ("backfill/open", dict(some)),
        ("schedule/soonest", {}),
    )
    return Pending(
        [Next(*row) for row in due],
        [_kept(row) for row in waiting],
        [_filling(row) for row in fillings],
        first[0][0],
    )


def coming(tx: Transaction, place: tuple[Instant, ScheduleId], until: Instant, limit: int) -> list[Kept]:
    """Schedules whose next ticks come up to then, in the order of those, behind a place in it."""
    at, schedule = place
    return [_kept(row) for row in tx.rows("schedule/coming", at=at, schedule=schedule, until=until, limit=limit)]


def ahead(tx: Transaction) -> list[Kept]:
    """Schedules of which something was said or decided at an instant that has not come."""
    return [_kept(row) for row in tx.rows("schedule/ahead")]


def soonest(tx: Transaction) -> Instant | None:
    """When the next tick is to be decided."""
    found = tx.rows("schedule/soonest")[0][0]
    return None if found is None else Instant(found)


def all_schedules(tx: Transaction) -> list[Kept]:
    """Every schedule that was not removed, by name."""
    return [_kept(row) for row in tx.rows("schedule/all")]


def one(tx: Transaction, name: str) -> Kept | None:
    """A schedule by its name, also a removed one."""
    found = tx.row("schedule/one", name=name)
    return None if found is None else _kept(found)


def of_ids(tx: Transaction, schedules: Iterable[ScheduleId]) -> list[Kept]:
    """These schedules, by id."""
    return [_kept(row) for row in tx.rows("schedule/of_ids", schedules=rows.text(list(schedules)))]


def of_app(tx: Transaction, app: str) -> list[Kept]:
    """The schedules that the code of an app has declared, also removed ones."""
    return [_kept(row) for row in tx.rows("schedule/of_app", app=app)]


def lock(tx: Transaction, schedule: ScheduleId) -> None:
    """Nobody else changes it, and none of its ticks is decided, until the transaction ends."""
    tx.rows("schedule/lock", schedule=schedule)


def insert(  # noqa: PLR0913 - a row
    tx: Transaction,
    name: str,
    *,
    origin: Origin,
    app: str | None,
    generation: int | None,
    declaration: str,
    at: Instant | None,
    nominal: Instant | None,
) -> ScheduleId:
    """A schedule of a new name."""
    schedule: ScheduleId = tx.rows(
        "schedule/insert", name=name, origin=origin, app=app, generation=generation, declaration=declaration
    )[0][0]
    tx.rows("schedule/begin", schedule=schedule, at=at, nominal=nominal)
    return schedule


def put(tx: Transaction, kept: Kept) -> None:
    """Keep what is said of a schedule, and what is to come of it. What schedulers decided meanwhile changes nothing."""
    tx.rows(
        "schedule/put",
        schedule=kept.id,
        origin=kept.origin,
        app=kept.app,
        generation=kept.generation,
        declaration=kept.declaration,
        override=kept.override,
        paused_at=kept.paused_at,
        paused_by=kept.paused_by,
        note=kept.note,
        withdrawn_at=kept.withdrawn_at,
        removed_at=kept.removed_at,
    )
    tx.rows(
        "schedule/turn",
        schedule=kept.id,
        at=kept.at,
        nominal=kept.nominal,
        last=kept.last,
        fired=kept.fired,
        failures=kept.failures,
    )


def made_now(tx: Transaction, schedule: ScheduleId) -> None:
    """It counts as made at this instant."""
    tx.rows("schedule/made_now", schedule=schedule)


def advance(tx: Transaction, batch: Sequence[Advance]) -> Told:
    """Go on to the next ticks; how many schedules there are of which nothing else is said since that version."""
    return tx.changing("schedule/advance", batch)


def pause(tx: Transaction, schedule: ScheduleId, *, by: str, note: str) -> None:
    """No tick of it makes a job until it is resumed."""
    tx.rows("schedule/pause", schedule=schedule, by=by, note=note)


# --- jobs in flight -----------------------------------------------------------------------------------------------


def flights(tx: Transaction, schedules: Sequence[ScheduleId]) -> list[Flight]:
    """Jobs and runs of these schedules whose ends were not noted."""
    found = tx.rows("flight/of", schedules=rows.text(schedules))
    return [
        Flight(schedule, job, nominal, origin, None if state is None else State(state), bool(gone), bool(is_run))
        for schedule, job, nominal, origin, state, gone, is_run in found
    ]


def take_off(tx: Transaction, batch: Sequence[tuple[JobId, ScheduleId, Instant, str]]) -> None:
    """Jobs and runs were made for ticks."""
    tx.many("flight/insert", batch)


def note_ends(tx: Transaction, jobs: Iterable[JobId]) -> None:
    """The ends of these jobs are known."""
    tx.many("flight/forget", [(job,) for job in sorted(jobs)])


# --- backfills ----------------------------------------------------------------------------------------------------


def begin_backfill(  # noqa: PLR0913 - a row
    tx: Transaction,
    schedule: ScheduleId,
    *,
    first: Instant,
    last: Instant,
    newest_first: bool,
    again: bool,
    most: int | None,
    at_once: int,
    actor: str,
) -> BackfillId:
    """Ask for ticks of the past."""
    found: BackfillId = tx.rows(
        "backfill/insert",
        schedule=schedule,
        first=first,
        last=last,
        newest_first=int(newest_first),
        again=int(again),
        most=most,
        at_once=at_once,
        actor=actor,
    )[0][0]
    return found


def backfills(tx: Transaction, schedule: ScheduleId, limit: int = 100) -> list[Filling]:
    """Those of a schedule, newest first."""
    return [_filling(row) for row in tx.rows("backfill/of_schedule", schedule=schedule, limit=limit)]


def go_on_backfill(tx: Transaction, seen: Filling, *, made: int, place: Instant | None, ended: Instant | None) -> bool:
    """A backfill has come so far; false when another scheduler was faster."""
    return bool(tx.rows("backfill/go_on", backfill=seen.id, before=seen.made, made=made, place=place, ended=ended))


def _filling(row: rows.Row) -> Filling:
    id_, schedule, first, last, newest_first, again, *rest = row
    return Filling(id_, schedule, first, last, bool(newest_first), bool(again), *rest)


def _kept(row: rows.Row) -> Kept:
    return Kept(row[0], row[1], Origin(row[2]), *row[3:])
