"""A clock that was ahead and has gone back: schedules go on at once, repeat nothing, and say what they wait for."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant, instant_text
from mainspring.control import schedules
from mainspring.domain.timetable import Outcome, Schedule, Standing
from mainspring.engine.fire import Fire
from mainspring.store.audit import misfits
from mainspring.store.sight import see
from tests.contract.stories import Story
from tests.contract.test_schedules import after, end_all, found, jobs, outcomes, put, turn

HOURLY: dict[str, Any] = {"cron": "0 * * * *"}


def hour(story: Story) -> Instant:
    """The next full one."""
    return Instant((story.clock.now() // HOUR + 1) * HOUR)


def back(story: Story, length: int) -> None:
    """The clock is set right, and a server starts."""
    story.clock.jump(Duration(-length))
    turn(story)


def one(story: Story, name: str = "pulse") -> Schedule:
    return schedules.one(story.store, name)


def sound(story: Story) -> bool:
    return story.store.read(misfits) == []


def test_what_was_made_while_the_clock_was_ahead_comes_at_its_right_time(story: Story) -> None:
    story.clock.jump(Duration(12 * HOUR))
    put(story, "pulse", HOURLY, overlap="allow")
    put(story, "minutely", {"every": "1m"}, overlap="allow")
    after(story, 3 * MINUTE)
    ahead = outcomes(story, "minutely")
    back(story, 12 * HOUR)
    assert one(story).next_tick == hour(story)
    assert one(story, "minutely").next_tick <= story.clock.now() + MINUTE  # type: ignore[operator]
    assert one(story).created_at <= story.clock.now()
    after(story, HOUR)
    assert [tick.nominal for tick in found(story)] == [hour(story) - HOUR]
    assert len(outcomes(story, "minutely")) > len(ahead)
    assert one(story, "minutely").ahead is not None, "it says that ticks to come are decided already"
    assert one(story).ahead is None
    assert sound(story)


def test_an_instant_that_was_past_on_a_clock_that_was_ahead_still_comes(story: Story) -> None:
    when = hour(story)
    story.clock.jump(Duration(12 * HOUR))
    made = put(story, "once", {"at": "2020-01-01T00:00Z"})
    assert made.standing is Standing.ENDED
    schedules.change(story.store, "once", {"recurrence": {"at": instant_text(when)}}, actor="ann")
    assert one(story, "once").next_tick is None
    back(story, 12 * HOUR)
    assert one(story, "once").next_tick == when
    after(story, HOUR)
    assert outcomes(story, "once") == [("fired", 1)]


def test_a_day_ahead_for_a_minute_silences_nothing_and_repeats_nothing(story: Story) -> None:
    put(story, "pulse", HOURLY, overlap="allow")
    after(story, HOUR)
    first = found(story)
    story.clock.jump(Duration(DAY))
    turn(story, 2)
    fired = [tick for tick in found(story) if tick.outcome is Outcome.FIRED]
    assert (len(first), len(fired)) == (1, 2)
    assert [tick.ticks for tick in found(story) if tick.outcome is Outcome.MISSED] == [23]
    after(story, MINUTE)
    back(story, DAY)
    shown = one(story)
    assert shown.next_tick == hour(story), "those that were missed have not come, and do"
    assert shown.ahead == fired[1].nominal
    for _ in range(26):
        after(story, HOUR)
    assert one(story).ahead is None
    ticks = found(story)
    assert all(tick.outcome is Outcome.FIRED and tick.ticks == 1 for tick in ticks)
    nominals = [tick.nominal for tick in ticks]
    assert nominals == [Instant(nominals[0] + number * HOUR) for number in range(len(nominals))]
    assert len({tick.job for tick in ticks}) == len(ticks) == len(jobs(story))
    assert sound(story)


def test_a_record_of_ticks_of_which_some_have_not_come_tells_of_the_others_alone(story: Story) -> None:
    put(story, "pulse", {"every": "1m"}, overlap="allow", catch_up="none")
    story.clock.jump(Duration(DAY))
    turn(story, 2)
    back(story, DAY - 10 * MINUTE)
    (missed,) = [tick for tick in found(story) if tick.nominal <= story.clock.now()]
    assert (missed.outcome, missed.ticks, missed.last - missed.nominal) == (Outcome.MISSED, 10, 9 * MINUTE)
    after(story, MINUTE)
    assert found(story)[1].nominal == missed.last + MINUTE
    assert sound(story)


def test_late_ticks_between_those_that_fired_ahead_are_recorded_around_them(story: Story) -> None:
    put(story, "pulse", {"every": "1m"}, overlap="allow")
    story.clock.jump(Duration(HOUR))
    turn(story, 2)
    (ahead,) = [tick.nominal for tick in found(story) if tick.outcome is Outcome.FIRED]
    back(story, HOUR)
    after(story, 2 * HOUR)  # nobody looks meanwhile
    kinds = outcomes(story)
    assert [kind for kind, _ in kinds] == ["missed", "fired", "missed", "fired"]
    assert found(story)[1].nominal == ahead
    assert sum(count for _, count in kinds) == 120
    schedules.pause(story.store, "pulse", note=None, actor="ann")
    assert sound(story)


def test_a_pause_behind_a_clock_that_was_ahead_records_around_what_has_fired(story: Story) -> None:
    put(story, "pulse", {"every": "1m"}, overlap="allow")
    story.clock.jump(Duration(HOUR))
    turn(story, 2)
    back(story, HOUR)
    story.clock.forward(Duration(2 * HOUR))
    schedules.pause(story.store, "pulse", note=None, actor="ann")
    assert [kind for kind, _ in outcomes(story)] == ["missed", "fired", "missed"]
    assert sum(count for _, count in outcomes(story)) == 120
    assert sound(story)


@pytest.mark.parametrize("overlap", ["skip", "buffer_one"])
def test_what_was_skipped_ahead_of_time_stays_skipped(story: Story, overlap: str) -> None:
    put(story, "pulse", {"every": "1m"}, overlap=overlap)
    after(story, MINUTE)
    story.clock.jump(Duration(30 * MINUTE))
    turn(story, 2)
    before = {tick.nominal: tick.outcome for tick in found(story) if tick.outcome is not Outcome.MISSED}
    back(story, 30 * MINUTE)
    end_all(story, found(story))
    for _ in range(40):
        after(story, MINUTE)
        end_all(story, found(story))
    ticks = {tick.nominal: tick.outcome for tick in found(story)}
    kept = {tick: ticks[tick] for tick in before}
    assert kept == before or overlap == "buffer_one"
    assert len(found(story)) == len(ticks)
    assert sound(story)


def test_a_running_server_notices_by_what_it_is_told_of_the_time(story: Story) -> None:
    fire = Fire(story.store, story.clock)
    put(story, "pulse", HOURLY)
    fire.turn()
    sight = story.store.read(see)
    assert not fire.has_work(sight, Instant(story.clock.now() + SECOND))
    story.clock.jump(Duration(-HOUR))
    assert fire.has_work(sight, Instant(story.clock.now() + SECOND))
    fire.turn()
    assert one(story).next_tick == hour(story)
    assert not fire.has_work(story.store.read(see), Instant(story.clock.now() + SECOND))
