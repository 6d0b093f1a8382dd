"""Looking ahead: marks at clock changes, and minutes that fill up."""

from mainspring.clock import instant
from mainspring.domain.lookahead import load, preview
from mainspring.domain.recurrence import read


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
