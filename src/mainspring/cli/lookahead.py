"""``mainspring schedule preview``, ``outage`` and ``load``: what is to come, by the same code that fires.

Of an expression they need no database.
"""

from __future__ import annotations

import re
from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.clock import HOUR, Instant, SystemClock, duration, instant, instant_text
from mainspring.domain import lookahead
from mainspring.domain import outage as outages
from mainspring.domain import plan as plans
from mainspring.domain.outage import Effect
from mainspring.domain.plan import Plan
from mainspring.domain.recurrence import guessed, moment
from mainspring.errors import of_field

_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
"""What is a name rather than an expression."""

_WIDTH = 40


def preview(  # noqa: PLR0913 - each is an option
    expression: Annotated[str, Parameter(name="EXPR", help="'0 3 * * *', 'every 30s', or 'FREQ=MONTHLY;BYDAY=-1FR'.")],
    /,
    *,
    tz: Annotated[str | None, option("The IANA zone in which it is read (default: UTC).", "ZONE")] = None,
    from_: Annotated[str | None, option("Ticks after this time (default: now).", "TIME", name=("--from",))] = None,
    count: Annotated[int, option("So many (default: 10).", "N", name=("--count", "-n"))] = 10,
    inclusive: Annotated[bool, option("A tick at that time itself counts.")] = False,
    gap: Annotated[str | None, option("A local time that the clocks skip: shift (default) or skip.", "HOW")] = None,
    repeat: Annotated[str | None, option("A repeated local time: first (default), last or both.", "WHICH")] = None,
    days: Annotated[str | None, option("Two restricted day fields: or (default) or and.", "HOW")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """Show what an expression means and when it fires next, with what the clocks do to it."""
    rule = guessed(expression, tz=tz, gap=gap, repeat=repeat, days=days)
    start = SystemClock().now() if from_ is None else moment(from_, "from", rule.place)
    rule = rule.anchored(start)
    found = lookahead.preview(rule, start, count, inclusive=inclusive)
    if access.json:
        show.as_json([tick.local for tick in found])
        return 0
    show.line(rule.words())
    show.table(
        ("LOCAL", "UTC", "CLOCKS"),
        [(tick.local, instant_text(tick.at), tick.mark) for tick in found],
        empty="It never fires after that.",
    )
    return 0


def outage(  # noqa: PLR0913 - each is an option
    what: Annotated[str, Parameter(name="NAME|EXPR", help="A schedule, or an expression as for preview.")],
    /,
    *,
    from_: Annotated[str, option("No server runs from this time on.", "TIME", name=("--from",))],
    to: Annotated[str, option("A server is back at this time.", "TIME")],
    tz: Annotated[str | None, option("The IANA zone in which an expression is read (default: UTC).", "ZONE")] = None,
    window: Annotated[str, option("Of an expression: nothing older is caught up (default: 1d).", "DURATION")] = "1d",
    cap: Annotated[int, option("Of an expression: with catch-up all, so many at most (default: 100).", "N")] = 100,
    access: Access = of.DEFAULT,
) -> int:
    """Show what an outage would do to a schedule under each policy, as if nothing of it still ran at its end."""
    held = None
    if _NAME.fullmatch(what):
        with access.client() as client:
            one = client.schedule(what)
        found = plans.ready(one.plan, one.created_at)
        held = (found.plan.catch_up, found.plan.overlap)
    else:
        rule = guessed(what, tz=tz)
        plan = Plan(rule.document(), window=window, cap=cap)
        found = plans.ready(plan, SystemClock().now())
    place = found.rule.place
    effects = outages.outage(found, moment(from_, "from", place), moment(to, "to", place))
    document = outages.outage_document(effects, held)
    if access.json:
        show.as_json(document)
        return 0
    if effects.first is None or effects.last is None:
        show.line("No tick comes in this time.")
        return 0
    show.line(f"{looks.counted(effects.ticks, 'tick')}, {instant_text(effects.first)} to {instant_text(effects.last)}")
    show.table(
        ("", "CATCH-UP", "OVERLAP", "FIRE", "WAIT", "SKIPPED", "MISSED", "THE FIRST"),
        [_effect_row(one, held) for one in effects.effects],
        empty="",
        right=(3, 4, 5, 6),
    )
    return 0


def _effect_row(one: Effect, held: tuple[str, str] | None) -> tuple[str, ...]:
    return (
        ">" if held == (one.catch_up, one.overlap) else "",
        one.catch_up,
        one.overlap,
        f"{len(one.fires):,}",
        f"{len(one.waits):,}",
        f"{one.skipped:,}",
        f"{one.missed:,}",
        instant_text(one.fires[0]) if one.fires else "-",
    )


def load(
    *,
    from_: Annotated[str | None, option("From this time on (default: now).", "TIME", name=("--from",))] = None,
    for_: Annotated[str, option("For so long (default: 1d).", "DURATION", name=("--for",))] = "1d",
    access: Access = of.DEFAULT,
) -> int:
    """Show how many ticks of all schedules fall into each minute, and where they pile up."""
    with access.client() as client:
        rules = lookahead.rules_of(client.schedules())
    start = SystemClock().now() if from_ is None else of_field("from", instant, from_)
    found = lookahead.load(rules, start, length=of_field("for", duration, for_))
    if access.json:
        show.as_json(lookahead.load_document(found))
        return 0
    show.line(f"{sum(found.minutes):,} ticks of {looks.counted(len(rules), 'schedule')} in {for_}")
    hours = [found.minutes[place : place + 60] for place in range(0, len(found.minutes), 60)]
    most = max(map(sum, hours), default=0) or 1
    show.table(
        ("HOUR FROM", "TICKS", "FULLEST MINUTE", ""),
        [
            (
                instant_text(Instant(found.start + number * HOUR)),
                f"{sum(hour):,}",
                f"{max(hour):,}",
                "#" * -(-_WIDTH * sum(hour) // most),
            )
            for number, hour in enumerate(hours)
        ],
        empty="",
        right=(1, 2),
    )
    show.heading("Fullest minutes")
    show.table(
        ("AT", "TICKS", "SCHEDULES"),
        [(instant_text(at), f"{count:,}", ", ".join(names)) for at, count, names in found.peaks],
        empty="No tick comes in this time.",
        right=(1,),
        gives=(2,),
    )
    return 0
