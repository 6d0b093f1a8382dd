"""``mainspring schedule preview``: when an expression fires, by the same code that fires it. Needs no database."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.clock import SystemClock, instant_text
from mainspring.domain import lookahead
from mainspring.domain.recurrence import guessed, moment


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
