"""Catching up: which of the ticks that came while no server ran fire, found in looks that are bounded and go on."""

from __future__ import annotations

import pytest

from mainspring.clock import MILLISECOND, SECOND, Instant, instant
from mainspring.domain.catchup import Span, due
from mainspring.domain.plan import Plan, ready

BEGAN = instant("2026-01-01T00:00:00Z")


def looks(ticks: int, most: int, **policy: object) -> list[tuple[Span, ...]]:
    """What each look tells after an outage, until nothing is due any more; a look is of ``most`` ticks."""
    found = ready(Plan({"every": "1s"}, **policy), BEGAN)  # type: ignore[arg-type]
    nominal: Instant | None = found.rule.next_after(BEGAN)
    assert nominal is not None
    now = Instant(nominal + (ticks - 1) * SECOND + MILLISECOND)
    told = []
    while nominal is not None and nominal <= now:
        spans, nominal = due(found, nominal, now, most=most)
        told.append(spans)
        assert len(told) <= ticks
    return told


@pytest.mark.parametrize("cap", [1, 9, 10, 11, 45, 1_000])
def test_the_last_ones_fire_up_to_the_cap_however_many_are_looked_at_in_one_go(cap: int) -> None:
    told = looks(100, 10, catch_up="all", cap=cap)
    flat = [span for spans in told for span in spans]
    on_time = 10
    assert sum(span.ticks for span in flat) == 100
    assert sum(span.ticks for span in flat if span.why is None) == max(min(cap, 100), on_time)
    assert len(told) <= 100 // 10 + 1, "each look gets on by a whole one"


def test_an_outage_of_hours_is_over_in_a_few_looks_with_the_largest_cap() -> None:
    told = looks(30_000, 5_000, catch_up="all", cap=10_000)
    assert len(told) == 4
    assert sum(span.ticks for spans in told for span in spans if span.why is None) == 10_000


@pytest.mark.parametrize(
    ("policy", "why"),
    [({"catch_up": "none"}, "catch_up is none"), ({"window": "20s"}, "nor within 20s"), ({}, "later")],
)
def test_why_a_tick_was_missed_does_not_depend_on_how_many_are_looked_at(policy: dict[str, str], why: str) -> None:
    reasons = [{span.why for spans in looks(60, most, **policy) for span in spans} - {None} for most in (7, 1_000)]
    assert reasons[0] == reasons[1]
    assert any(why in str(one) for one in reasons[0])
