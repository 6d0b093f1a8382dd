"""Cron expressions: what they mean, what is refused and why, and what clock changes do."""

import pytest

from mainspring.clock import Instant, instant
from mainspring.domain.cron import Cron
from mainspring.errors import InvalidCron, NeverFires


def ticks(rule: Cron, after: str, count: int) -> list[str]:
    found: list[str] = []
    moment: Instant | None = instant(after)
    while moment is not None and len(found) < count:
        moment = rule.next_after(moment)
        if moment is not None:
            found.append(rule.place.text(moment))
    return found


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "* * 31 4,6,9,11 *", "0 0 */100 * mon#4"])
def test_what_can_never_fire_is_refused_with_the_days_that_don_t_meet(expression: str):
    with pytest.raises(NeverFires, match="never fires: no month"):
        Cron(expression)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("60 * * * *", "minute '60'.*The full hour is 0"),
        ("* 24 * * *", "hour '24'.*Midnight is 0"),
        ("* * * * sunday", "Names have three letters: sun"),
        ("* * mon * *", "day of month 'mon'.*last field"),
        ("0 0 * * * 1 2026", "7 fields.*year field is not supported"),
        ("* * *", "3 fields; it must have 5"),
        ("@every 5m", "every='5m'"),
        ("@reboot", "A start of the machine is no time"),
        ("H/15 * * * *", "H .a value picked by Jenkins"),
        ("*/0 * * * *", "a step is at least 1"),
        ("0 0 5-1 * *", "runs backwards"),
    ],
)
def test_a_refusal_says_the_field_the_value_and_what_would_be_right(expression: str, says: str):
    with pytest.raises(InvalidCron, match=says):
        Cron(expression)
