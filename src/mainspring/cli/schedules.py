"""``mainspring schedules`` and ``mainspring schedule``: rules that make jobs, and what became of their ticks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show, values
from mainspring.cli.access import Access, option
from mainspring.client.schedule_wire import filling_wire, schedule_wire, tick_wire
from mainspring.clock import Instant, SystemClock, instant, instant_text
from mainspring.domain import plan as plans
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.parameters import loads_strict
from mainspring.domain.timetable import Origin, Outcome, Schedule, Standing, Tick
from mainspring.errors import InvalidOption, UnknownWorkflow, WorkflowNotKnown, of_field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from mainspring.client.operating import OperatingClient

Name = Annotated[str, Parameter(name="NAME", help="The schedule.")]
Note = Annotated[str | None, option("Why; shown with it.", "TEXT")]
_SHOWN_TICKS = 10

_STANDINGS = {
    Standing.ACTIVE: ("●", "green"),
    Standing.PAUSED: ("⏸", "yellow"),
    Standing.ENDED: ("○", "bright_black"),
    Standing.WITHDRAWN: ("⊘", "bright_black"),
    Standing.REMOVED: ("⊘", "bright_black"),
}
_OUTCOMES = {
    Outcome.FIRED: ("✔", "green"),
    Outcome.WAITING: ("◷", "cyan"),
    Outcome.SKIPPED: ("↷", "yellow"),
    Outcome.MISSED: ("✖", "red"),
}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class When:
    """When it fires: one of the first four."""

    cron: Annotated[str | None, option("By cron expression: '0 3 * * *'.", "EXPR")] = None
    every: Annotated[str | None, option("By interval: 30s.", "DURATION")] = None
    at: Annotated[str | None, option("Once, at this time.", "TIME")] = None
    rrule: Annotated[str | None, option("By a rule of RFC 5545: FREQ=DAILY;BYHOUR=3.", "RULE")] = None
    tz: Annotated[str | None, option("The IANA zone in which that is read (default: UTC).", "ZONE")] = None
    gap: Annotated[str | None, option("A local time that the clocks skip: shift (default) or skip.", "HOW")] = None
    repeat: Annotated[str | None, option("A repeated local time: first (default), last or both.", "WHICH")] = None
    start: Annotated[str | None, option("No tick before this time.", "TIME")] = None
    end: Annotated[str | None, option("No tick after this time.", "TIME")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class How:
    """What its ticks do."""

    overlap: Annotated[
        str | None,
        option("While a job of it is unfinished: skip (default), buffer_one, buffer_all, cancel_other, allow.", "HOW"),
    ] = None
    catch_up: Annotated[
        str | None, option("Ticks while no server ran: latest (default), all or none still fire.", "WHICH")
    ] = None
    window: Annotated[str | None, option("Of those only the ones of the last so long (default: 1d).", "DURATION")] = (
        None
    )
    cap: Annotated[int | None, option("With all: so many at most (default: 100).", "N")] = None
    jitter: Annotated[str | None, option("Make the job up to so much later, at random.", "DURATION")] = None
    limit: Annotated[int | None, option("Fire so many times and no more.", "N")] = None
    pause_after: Annotated[int | None, option("Pause it when so many jobs in a row end dead.", "N")] = None
    queue: Annotated[str | None, option("Of its jobs, instead of the task's own.", "QUEUE")] = None
    priority: Annotated[int | None, option("Of its jobs; lower goes first.", "N")] = None
    timeout: Annotated[str | None, option("Of each attempt.", "DURATION")] = None
    expires: Annotated[str | None, option("Dead if a job has not started so long after it was made.", "DURATION")] = (
        None
    )
    description: Annotated[str | None, option("What it is for.", "TEXT")] = None


_WHEN, _HOW = When(), How()


def schedules(*, access: Access = of.DEFAULT) -> int:
    """List schedules by name: when they fire next, what they run, who paused them."""
    with access.client() as client:
        found = client.schedules()
    if access.json:
        show.as_json([schedule_wire(one) for one in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("NAME", "STATE", "WHEN", "RUNS", "NEXT", "LAST FIRED", "FIRED", "FROM", "NOTE"),
        [_row(one, now) for one in found],
        empty="No schedules yet: app.schedule(...) declares one, or mainspring schedule add.",
        right=(6,),
        gives=(8, 2),
    )
    return 0


def add(  # noqa: PLR0913 - the groups of its options
    name: Name,
    /,
    *words: Annotated[str, Parameter(name="name=value", help="Parameters of its jobs, read by the task's schema.")],
    task: Annotated[str | None, option("The task to run; the short name serves where it is unique.", "TASK")] = None,
    workflow: Annotated[str | None, option("The workflow to run, instead of a task.", "WORKFLOW")] = None,
    params: Annotated[str | None, option("All parameters as a JSON object, or @FILE.", "JSON")] = None,
    when: When = _WHEN,
    how: How = _HOW,
    tag: Annotated[tuple[str, ...], option("A label of its jobs; may be given several times.", "KEY=VALUE")] = (),
    access: Access = of.DEFAULT,
) -> int:
    """Declare a schedule, or say all anew of the one that has this name. It never fires the past."""
    with access.client(actor=of.operator()) as client:
        fields: dict[str, Any] = {
            name: value for name, value in {**asdict(when), **asdict(how)}.items() if value is not None
        }
        fields |= _target(client, task, workflow, words, params)
        if tag:
            fields["tags"] = values.pairs(tag, "--tag")
        if not any((when.cron, when.every, when.at, when.rrule)):
            raise InvalidOption(
                "Nothing says when it fires.", remedy="Give --cron, --every, --at or --rrule.", field="cron"
            )
        found = client.put_schedule(name, plans.read(plans.plan_fields(fields)), Origin.CLI)
    return _tell(found, access)


def _target(
    client: OperatingClient, task: str | None, workflow: str | None, words: Sequence[str], params: str | None
) -> dict[str, Any]:
    """What it runs, and with which parameters."""
    if (task is None) == (workflow is None):
        raise InvalidOption(
            "Nothing, or two things, are named to run.", remedy="Give --task or --workflow.", field="task"
        )
    if workflow is None:
        known = values.task_named(task or "", client.tasks())
        return {"task": known.name, "params": values.params_of(known, words, params)}
    try:
        found = client.workflow(workflow)
    except UnknownWorkflow as error:  # as the schedule itself would be refused
        raise WorkflowNotKnown(workflow, error.remedy) from error
    return {"workflow": found.name, "params": values.params_of(found.document, words, params)}


def show_(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Show a schedule: its rule and policies, who changed what, and what became of its last ticks."""
    with access.client() as client:
        found = client.schedule(name)
        page = client.ticks(name, limit=_SHOWN_TICKS)
    if access.json:
        show.as_json(schedule_wire(found) | {"ticks": [tick_wire(tick) for tick in page.items]})
        return 0
    now = SystemClock().now()
    show.draw(show.title(f"schedule {found.name}  ", _look(found)))
    show.draw(show.facts(_facts(found, now)))
    show.heading("Ticks, newest first")
    show.table(
        ("AT", "ORIGIN", "OUTCOME", "MADE", "ENDED", "WHY"),
        [_tick_row(tick) for tick in page.items],
        empty="None yet.",
        gives=(5,),
    )
    return 0


def pause(name: Name, /, *, note: Note = None, access: Access = of.DEFAULT) -> int:
    """Let no tick make a job until it is resumed; its ticks are recorded as skipped."""
    return _changed(access, lambda client: client.pause_schedule(name, note))


def resume(name: Name, /, *, note: Note = None, access: Access = of.DEFAULT) -> int:
    """Let its ticks make jobs again, from the next one on."""
    return _changed(access, lambda client: client.resume_schedule(name, note))


def reset(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Take back what operators have changed: what code declares holds again."""
    return _changed(access, lambda client: client.reset_schedule(name))


def remove(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Take a schedule away. One that code declares can be paused, not removed."""
    return _changed(access, lambda client: client.remove_schedule(name))


def set_(
    name: Name,
    /,
    *words: Annotated[str, Parameter(name="field=value", help="Such as overlap=allow, cron='0 4 * * *', jitter=30s.")],
    access: Access = of.DEFAULT,
) -> int:
    """Change fields of a schedule. The past is never fired; of one that code declares it overrides what that says."""
    given = values.pairs(words, "field=value")
    if not given:
        raise InvalidOption("Nothing was given to set.", remedy="Give field=value, such as overlap=allow.")
    fields = {field: _value(field, text) for field, text in given.items()}
    return _changed(access, lambda client: client.change_schedule(name, fields))


def trigger(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Make a job or run now, whatever its rule, its pause and its overlap policy say."""
    with access.client(actor=of.operator()) as client:
        tick = client.trigger_schedule(name)
    if access.json:
        show.as_json(tick_wire(tick))
    else:
        show.line(f"schedule {name} made {_made(tick)}")
    return 0


def backfill(  # noqa: PLR0913 - the documented options
    name: Name,
    /,
    *,
    from_: Annotated[str, option("The first tick is not before this time.", "TIME", name=("--from",))],
    to: Annotated[str, option("The last tick is not after this time.", "TIME")],
    dry_run: Annotated[bool, option("Only say which ticks they are.")] = False,
    limit: Annotated[int | None, option("So many ticks at most.", "N")] = None,
    order: Annotated[str, option("oldest (default) or newest first.", "WHICH")] = "oldest",
    at_once: Annotated[int, option("So many jobs of it unfinished at a time (default: 1).", "N")] = 1,
    again: Annotated[bool, option("Also ticks that have fired already.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Make the jobs of ticks of the past, beside the regular ones."""
    if order not in {"oldest", "newest"}:
        raise InvalidOption(f"--order is {order!r}.", remedy="It is oldest or newest.", field="order")
    wanted = BackfillRequest(
        of_field("from", instant, from_),
        of_field("to", instant, to),
        dry_run,
        limit,
        newest_first=order == "newest",
        at_once=at_once,
        again=again,
    )
    with access.client(actor=of.operator()) as client:
        found = client.backfill(name, wanted)
    if access.json:
        show.as_json(filling_wire(found))
        return 0
    for tick in found.ticks if dry_run else ():
        show.line(instant_text(tick))
    begun = "" if found.backfill is None else f"; they are made as backfill-{found.backfill.id}"
    show.note(f"{looks.counted(len(found.ticks), 'tick')} of {name}{begun}")
    return 0


_NUMBERS = frozenset({"cap", "limit", "pause_after", "priority"})
_DOCUMENTS = frozenset({"params", "retry", "tags", "meta", "except"})


def _value(field: str, text: str) -> Any:
    if text == "none":
        return None
    if field in _DOCUMENTS:
        return loads_strict(text, field)
    if field in _NUMBERS:
        if not text.removeprefix("-").isdigit() or len(text) > 9:
            raise InvalidOption(f"{field} is {text!r}.", remedy="Give a whole number, or none.", field=field)
        return int(text)
    return text


def _changed(access: Access, change: Any) -> int:
    with access.client(actor=of.operator()) as client:
        found = change(client)
    return _tell(found, access)


def _tell(found: Schedule, access: Access) -> int:
    coming = f"; next at {instant_text(found.next_tick)}" if found.next_tick is not None else ""
    text = f"schedule {found.name} is {found.standing.value}: {found.words}{coming}"
    with show.done(text):
        show.as_json(schedule_wire(found)) if access.json else show.line(text)
    return 0


def _look(found: Schedule) -> Text:
    icon, style = _STANDINGS[found.standing]
    return show.look(looks.Look(icon, found.standing.value, style))


def _row(one: Schedule, now: Instant) -> tuple[str | Text, ...]:
    changed = f"{one.origin.value}, changed" if one.overridden else one.origin.value
    return (
        one.name,
        _look(one),
        looks.cut(one.fault or one.words, 60),
        one.plan.task or one.plan.workflow or "-",
        "-" if one.next_tick is None else instant_text(one.next_tick),
        looks.age(now, one.last_fired),
        f"{one.fired:,}",
        changed,
        looks.cut(looks.one_line(one.note or "-"), 60),
    )


def _facts(one: Schedule, now: Instant) -> list[tuple[str, str]]:
    plan = one.plan
    facts = [
        ("when", one.fault or one.words),
        ("workflow" if plan.workflow else "task", plan.workflow or plan.task or "-"),
        ("params", looks.params_line(plan.params, 200) or "-"),
        ("overlap", plan.overlap),
        ("catch-up", f"{plan.catch_up}, within {plan.window}"),
        ("next", "-" if one.next_tick is None else instant_text(one.next_tick)),
        ("fired", f"{one.fired:,} times; last {looks.age(now, one.last_fired)}"),
        ("from", f"{one.origin.value}{f' of {one.app}' if one.app else ''}"),
    ]
    if plan.description:
        facts.insert(0, ("for", plan.description))
    if one.overridden:
        facts.append(("overridden", ", ".join(one.overridden)))
    if one.paused_at is not None:
        facts.append(("paused", f"{looks.age(now, one.paused_at)} by {one.paused_by}"))
    if one.ahead is not None:
        coming = "none comes any more" if one.next_tick is None else f"the next one is {instant_text(one.next_tick)}"
        ahead = f"ticks up to {instant_text(one.ahead)} may be decided already"
        facts.append(("clock", f"has gone back; {ahead}, {coming}"))
    if one.note:
        facts.append(("note", looks.one_line(one.note)))
    return facts


def _made(tick: Tick) -> str | None:
    if tick.run is not None:
        return f"run {tick.run}"
    return None if tick.job is None else f"job {tick.job}"


def _tick_row(tick: Tick) -> tuple[str | Text, ...]:
    icon, style = _OUTCOMES[tick.outcome]
    several = "" if tick.ticks == 1 else f"{tick.ticks:,} ticks up to {instant_text(tick.last)}: "
    return (
        instant_text(tick.nominal),
        tick.origin,
        show.look(looks.Look(icon, tick.outcome.value, style)),
        "-" if (made := _made(tick)) is None else made,
        tick.state or "-",
        f"{several}{tick.why or ''}" or "-",
    )
