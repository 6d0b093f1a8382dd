"""What people ask of schedules: look at, declare, change, pause, resume, reset, remove, fire by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from mainspring.clock import Instant, instant_text
from mainspring.domain import backfill as backfills
from mainspring.domain import plan as plans
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.listing import checked_limit
from mainspring.domain.parameters import checked_json
from mainspring.domain.plan import Plan, ready_text
from mainspring.domain.task import checked_name
from mainspring.domain.timetable import TRIGGER, Backfill, Filling, Origin, Outcome, Schedule, Standing, Tick, TickPage
from mainspring.errors import IllegalState, InvalidCursor, InvalidOption, MainspringError, UnknownSchedule
from mainspring.store import Store, Transaction, rows, schedules, ticks, trail
from mainspring.store.schedules import Kept
from mainspring.store.trail import Deed
from mainspring.store.workflows import Named
from mainspring.transitions import said
from mainspring.transitions.fired import Decided, Firing, Stale, fire
from mainspring.transitions.prepared import Prepared, declared_of
from mainspring.transitions.run_births import PreparedRun
from mainspring.transitions.ticking import known_of, made_by, prepared_of

LONGEST_NOTE = 1_000


def listed(store: Store) -> list[Schedule]:
    """Every schedule that was not removed, by name."""
    now = store.clock.now()
    return [shown(kept, now) for kept in store.read(schedules.all_schedules)]


def one(store: Store, name: str) -> Schedule:
    """One schedule; a removed one is shown as such. Raises UnknownSchedule."""
    return shown(store.read(lambda tx: _one(tx, name)), store.clock.now())


def put(store: Store, name: str, plan: Plan, *, origin: Origin, actor: str) -> Schedule:
    """Declare a schedule of this name, or say all anew of the one that has it. Raises InvalidInput of some kind."""
    checked_name(name, "Schedule")
    wanted = _checked(store, plan)

    def work(tx: Transaction) -> Kept:
        before = schedules.one(tx, name)
        return _noted(tx, actor, "put", before, said.said(tx, name, wanted, origin=origin, actor=actor))

    return shown(store.write(work), store.clock.now())


def change(store: Store, name: str, fields: Mapping[str, Any], *, actor: str) -> Schedule:
    """Say something else in these fields of a plan. Raises UnknownSchedule, InvalidInput of some kind."""
    before = store.read(lambda tx: _living(tx, name))
    _checked(store, plans.altered(_plan(before), fields))

    def work(tx: Transaction) -> Kept:
        kept = _held(tx, name)
        return _noted(tx, actor, "change", kept, said.changed(tx, kept, fields, actor))

    return shown(store.write(work), store.clock.now())


def reset(store: Store, name: str, *, actor: str) -> Schedule:
    """What its code or mainspring.toml declares holds again, all of it. Raises UnknownSchedule."""

    def work(tx: Transaction) -> Kept:
        kept = _held(tx, name)
        return _noted(tx, actor, "reset", kept, said.reset(tx, kept, actor))

    return shown(store.write(work), store.clock.now())


def pause(store: Store, name: str, *, note: str | None, actor: str) -> Schedule:
    """Let no tick make a job until it is resumed; one that is paused keeps who began it. Raises UnknownSchedule."""
    _check_note(note)

    def work(tx: Transaction) -> Kept:
        kept = _held(tx, name)
        new = kept._replace(note=note if note is not None else kept.note)
        if kept.paused_at is None:
            new = new._replace(paused_at=tx.now, paused_by=actor, note=note)
        return _noted(tx, actor, "pause", kept, said.turned(tx, kept, new, actor))

    return shown(store.write(work), store.clock.now())


def resume(store: Store, name: str, *, note: str | None, actor: str) -> Schedule:
    """Let its ticks make jobs again, from the next one on. Raises UnknownSchedule."""
    _check_note(note)

    def work(tx: Transaction) -> Kept:
        kept = _held(tx, name)
        new = kept._replace(paused_at=None, paused_by=None, note=note, failures=0)
        return _noted(tx, actor, "resume", kept, said.turned(tx, kept, new, actor))

    return shown(store.write(work), store.clock.now())


def remove(store: Store, name: str, *, actor: str) -> Schedule:
    """Take it away; its ticks stay to be seen, and its name remembers the last.

    Raises UnknownSchedule; IllegalState for one that code or mainspring.toml would bring back.
    """

    def work(tx: Transaction) -> Kept:
        kept = _held(tx, name)
        if kept.origin not in said.OPERATORS and kept.withdrawn_at is None:
            who = "mainspring.toml" if kept.origin is Origin.TOML else f"the code of {kept.app}"
            raise IllegalState(
                f"schedule {name} is declared by {who}, which would bring it back.",
                state=_standing(kept).value,
                remedy=f"Take it out there, or pause it: mainspring schedule pause {name}",
            )
        return _noted(tx, actor, "remove", kept, said.turned(tx, kept, kept._replace(removed_at=tx.now), actor))

    return shown(store.write(work), store.clock.now())


def trigger(store: Store, name: str, *, actor: str) -> Tick:
    """Make a job or a run now, whatever its rule, its pause and its overlap policy say.

    Raises UnknownSchedule, InvalidInput.
    """
    while True:
        seen = store.read(lambda tx: _prepared(tx, _living(tx, name)))
        try:
            tick = store.write(partial(_trigger, seen=seen, actor=actor), rings=store.work_bell)
        except Stale:
            continue  # its task was declared anew
        store.news_bell.ring()
        return tick


def backfill(store: Store, name: str, wanted: BackfillRequest, *, actor: str) -> Filling:
    """Make the ticks of a range of the past, beside the regular ones; or only say which they are.

    Raises UnknownSchedule, InvalidOption.
    """

    def work(tx: Transaction) -> Filling:
        kept = _living(tx, name)
        backfills.checked(wanted, tx.now)
        found = ready_text(kept.declaration, kept.override, kept.created)
        left_out = set() if wanted.again else ticks.taken(tx, kept.id, wanted.first, wanted.last)
        made = backfills.to_make(
            found.rule,
            wanted.first,
            wanted.last,
            fired=left_out,
            newest_first=wanted.newest_first,
            most=wanted.limit,
        )
        if wanted.dry or not made:
            return Filling(made, None)
        schedules.begin_backfill(
            tx,
            kept.id,
            first=wanted.first,
            last=wanted.last,
            newest_first=wanted.newest_first,
            again=wanted.again,
            most=wanted.limit,
            at_once=wanted.at_once,
            actor=actor,
        )
        begun = Backfill(*schedules.backfills(tx, kept.id, 1)[0])
        asked = {"backfill": begun.id, "from": instant_text(wanted.first), "to": instant_text(wanted.last)}
        trail.note(tx, actor, Deed("schedule.backfill", f"schedule {name}", after=asked | {"ticks": len(made)}))
        return Filling(made, begun)

    return store.read(work) if wanted.dry else store.write(work)


def listed_backfills(store: Store, name: str) -> list[Backfill]:
    """The backfills of a schedule, newest first. Raises UnknownSchedule."""
    return [Backfill(*one) for one in store.read(lambda tx: schedules.backfills(tx, _one(tx, name).id))]


def listed_ticks(store: Store, name: str, *, cursor: str | None, limit: int) -> TickPage:
    """Ticks of a schedule, newest first. Raises UnknownSchedule, InvalidCursor, InvalidInput."""
    checked_limit(limit)
    before = None if cursor is None else _place(cursor)
    found = store.read(lambda tx: ticks.of_schedule(tx, _one(tx, name).id, before=before, limit=limit + 1))
    items, more = found[:limit], len(found) > limit
    return TickPage(items, f"{items[-1].nominal}:{items[-1].origin}" if more else None)


def shown(kept: Kept, now: Instant) -> Schedule:
    """A schedule as questions answer it; what was spoiled by hand says so in ``fault``."""
    try:
        found = ready_text(kept.declaration, kept.override, kept.created)
        declared = ready_text(kept.declaration, None, kept.created).plan
        plan, words, fault = found.plan, found.rule.words(), None
    except (MainspringError, ValueError) as error:
        plan = declared = Plan({})
        words, fault = "", str(error)
    override = rows.shown(kept.override)
    return Schedule(
        id=kept.id,
        name=kept.name,
        standing=_standing(kept),
        origin=kept.origin,
        app=kept.app,
        plan=plan,
        declared=declared,
        overridden=tuple(sorted(override)) if isinstance(override, dict) else (),
        words=words,
        next_tick=kept.nominal,
        next_at=kept.at,
        last=kept.last,
        last_fired=kept.last_fired,
        last_succeeded=kept.last_succeeded,
        fired=kept.fired,
        failures=kept.failures,
        paused_at=kept.paused_at,
        paused_by=kept.paused_by,
        note=kept.note,
        created_at=kept.created,
        changed_at=kept.changed,
        fault=fault,
        ahead=kept.last if kept.last is not None and kept.last > now else None,
    )


# --- parts --------------------------------------------------------------------------------------------------------


def _standing(kept: Kept) -> Standing:
    if kept.removed_at is not None:
        return Standing.REMOVED
    if kept.withdrawn_at is not None:
        return Standing.WITHDRAWN
    if kept.paused_at is not None:
        return Standing.PAUSED
    return Standing.ENDED if kept.at is None else Standing.ACTIVE


def _noted(tx: Transaction, actor: str, action: str, before: Kept | None, after: Kept) -> Kept:
    """The same, once the audit trail says what was changed."""
    old = None if before is None else _trail_form(before)
    trail.note(tx, actor, Deed(f"schedule.{action}", f"schedule {after.name}", before=old, after=_trail_form(after)))
    return after


def _trail_form(kept: Kept) -> dict[str, Any]:
    return {
        "state": _standing(kept).value,
        "declared": rows.shown(kept.declaration),
        "overridden": rows.shown(kept.override),
        "paused_by": kept.paused_by,
        "note": kept.note,
    }


def _trigger(tx: Transaction, *, seen: tuple[Kept, Prepared | PreparedRun], actor: str) -> Tick:
    kept, prepared = seen
    at = tx.now
    while True:
        record = ticks.Record(kept.id, at, TRIGGER, 1, at, Outcome.FIRED, None, None, None, tx.now, actor)
        firing = Firing(record, prepared, rows.text(made_by(kept, TRIGGER, at)))
        if fire(tx, [Decided(new=(record,), firings=(firing,))], actor, apart=True):
            tick = ticks.of_schedule(tx, kept.id, before=(Instant(at + 1), ""), limit=1)[0]
            told = {"at": instant_text(tick.nominal), "job": tick.job}
            trail.note(tx, actor, Deed("schedule.trigger", f"schedule {kept.name}", after=told))
            return tick
        at = Instant(at + 1)  # two in one microsecond are two


def _prepared(tx: Transaction, kept: Kept) -> tuple[Kept, Prepared | PreparedRun]:
    plan = _plan(kept)
    return kept, prepared_of(plan, known_of(tx, plan))


def _checked(store: Store, plan: Plan) -> Plan:
    """The plan with the full name of its task or workflow, once a job or run could be made by it now."""
    plans.checked(plan)
    known = store.read(lambda tx: known_of(tx, plan))
    prepared_of(plan, known)
    return plans.with_name(plan, known.name if isinstance(known, Named) else declared_of(known).task.name)


def _one(tx: Transaction, name: str) -> Kept:
    kept = schedules.one(tx, name)
    if kept is None:
        raise UnknownSchedule(name, [known.name for known in schedules.all_schedules(tx)])
    return kept


def _living(tx: Transaction, name: str) -> Kept:
    kept = _one(tx, name)
    if kept.removed_at is not None:
        raise UnknownSchedule(name, [known.name for known in schedules.all_schedules(tx)])
    return kept


def _held(tx: Transaction, name: str) -> Kept:
    _living(tx, name)
    kept = said.held(tx, name)
    assert kept is not None, "its row never goes"  # noqa: S101 - for the type checker
    return kept


def _plan(kept: Kept) -> Plan:
    return ready_text(kept.declaration, kept.override, kept.created).plan


def _check_note(note: str | None) -> None:
    if note is None:
        return
    checked_json(note, "note")
    if len(note) > LONGEST_NOTE:
        raise InvalidOption(f"note is longer than {LONGEST_NOTE:,} characters.", field="note")


def _place(cursor: str) -> tuple[Instant, str]:
    text, _, origin = cursor.partition(":")
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18 or not origin:
        raise InvalidCursor(
            f"{cursor[:40]!r} is not a cursor of this list.", remedy="Pass back what 'next' said.", field="cursor"
        )
    return Instant(int(text)), origin
