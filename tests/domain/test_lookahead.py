"""Looking ahead: marks at clock changes, and minutes that fill up, and what an outage would do."""

import pytest

from mainspring.clock import Duration, instant
from mainspring.domain.lookahead import load, preview
from mainspring.domain.outage import outage
from mainspring.domain.overlap import POLICIES
from mainspring.domain.plan import Plan, ready
from mainspring.domain.recurrence import read
from mainspring.errors import InvalidOption


def test_a_preview_says_what_the_clocks_do():
    rule = read({"cron": "30 2 * * *", "tz": "Europe/Berlin", "repeat": "both"})
    spring = preview(rule, instant("2025-03-28T12:00:00Z"), 3)
    assert [(tick.local, tick.mark) for tick in spring] == [
        ("2025-03-29T02:30:00+01:00", ""),
        ("2025-03-30T03:00:00+02:00", "first instant after the clocks went forward"),
        ("2025-03-31T02:30:00+02:00", ""),
    ]
    autumn = preview(rule, instant("2025-10-25T12:00:00Z"), 2)
    assert [tick.mark.rpartition(": ")[2] for tick in autumn] == ["first pass", "second pass"]
    daily = preview(read({"cron": "0 9 * * *", "tz": "Europe/Berlin"}), instant("2025-03-29T12:00:00Z"), 1)
    assert daily[0].mark == "the clocks have gone forward by 60 min"


def test_a_preview_may_include_its_start_and_ends_with_the_rule():
    rule = read({"at": "2026-01-01T00:00:00Z"})
    assert preview(rule, instant("2026-01-01T00:00:00Z"), 5) == []
    assert len(preview(rule, instant("2026-01-01T00:00:00Z"), 5, inclusive=True)) == 1


def test_the_load_shows_what_piles_up_at_midnight():
    rules = [(f"nightly-{number}", read({"cron": "0 0 * * *"})) for number in range(30)]
    rules += [("pulse", read({"every": "20s"})), ("noon", read({"cron": "0 12 * * *"}))]
    found = load(rules, instant("2026-01-01T06:00:30Z"))
    assert len(found.minutes) == 1440
    assert sum(found.minutes) == 30 + 4320 + 1
    moment, count, names = found.peaks[0]
    assert (moment, count) == (instant("2026-01-02T00:00:00Z"), 33)
    assert names[:2] == ["nightly-0", "nightly-1"]
    assert found.peaks[1][:2] == (instant("2026-01-01T12:00:00Z"), 4)
    assert found.whole


def test_an_outage_is_told_under_each_policy():
    found = ready(Plan({"cron": "0 * * * *"}, window="6h", cap=4), instant("2026-01-01T00:00:00Z"))
    seen = outage(found, instant("2026-01-01T00:30:00Z"), instant("2026-01-01T10:30:00Z"))
    assert (seen.ticks, seen.first, seen.following) == (
        10,
        instant("2026-01-01T01:00:00Z"),
        instant("2026-01-01T11:00:00Z"),
    )
    by = {(one.catch_up, one.overlap): one for one in seen.effects}
    assert len(by) == 15
    assert {key: len(one.fires) for key, one in by.items() if key[0] == "none"} == {
        ("none", policy): 0 for policy in POLICIES
    }
    assert {(len(by["latest", policy].fires), by["latest", policy].missed) for policy in POLICIES} == {(1, 9)}
    told = {policy: by["all", policy] for policy in POLICIES}
    assert {policy: (len(one.fires), len(one.waits), one.skipped) for policy, one in told.items()} == {
        "skip": (1, 0, 3),
        "buffer_one": (1, 1, 2),
        "buffer_all": (1, 3, 0),
        "cancel_other": (1, 0, 3),
        "allow": (4, 0, 0),
    }
    assert told["cancel_other"].fires == [instant("2026-01-01T10:00:00Z")]
    assert {one.missed for one in told.values()} == {6}


def test_an_outage_without_ticks_or_without_length():
    found = ready(Plan({"cron": "0 0 1 1 *"}), instant("2026-01-02T00:00:00Z"))
    seen = outage(found, instant("2026-02-01T00:00:00Z"), instant("2026-02-02T00:00:00Z"))
    assert (seen.ticks, seen.following, seen.effects) == (0, instant("2027-01-01T00:00:00Z"), [])
    with pytest.raises(InvalidOption, match="before it begins"):
        outage(found, instant("2026-02-02T00:00:00Z"), instant("2026-02-01T00:00:00Z"))


def test_an_outage_over_a_change_of_the_clocks_counts_what_the_clocks_show():
    found = ready(Plan({"cron": "30 2 * * *", "tz": "Europe/Berlin"}), instant("2026-01-01T00:00:00Z"))
    seen = outage(found, instant("2026-03-28T12:00:00Z"), instant("2026-03-30T12:00:00Z"))
    assert (seen.ticks, seen.first) == (2, instant("2026-03-29T01:00:00Z"))


def test_a_load_of_no_length_is_refused():
    with pytest.raises(InvalidOption, match="one minute"):
        load([], instant("2026-01-01T00:00:00Z"), length=Duration(1))
