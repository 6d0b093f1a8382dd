"""Schedules that mainspring.toml declares: as the file says, withdrawn when it says so no more; operators override."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.clock import MINUTE
from mainspring.config.schedules import schedules_of
from mainspring.control import schedules
from mainspring.control.declared_schedules import declare
from mainspring.domain.plan import DeclaredSchedule, Plan
from mainspring.domain.timetable import Origin, Outcome, Standing
from mainspring.errors import IllegalState, InvalidSetting
from tests.contract.stories import Story
from tests.contract.test_schedules import after, found, shop, start_worker

TEXT = """\
lease = "30s"

[schedules.nightly]
cron = "0 3 * * *"
tz = "Europe/Berlin"
task = "send"
params = { n = 7 }

[schedules.pulse]
every = "1m"
task = "shop.later"

[schedules.once]
at = 2027-01-01T00:00:00Z
task = "send"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mainspring.toml"
    path.write_text(TEXT)
    return path


def stated(file: Path) -> dict[str, Plan]:
    return schedules_of(file) or {}


def test_a_file_declares_changes_and_withdraws(story: Story, file: Path) -> None:
    told = declare(story.store, stated(file))
    assert told[0] == "schedule nightly is declared"
    assert "shop.later" in told[1], "its task is not known yet"
    assert declare(story.store, stated(file)) == [], "nothing is new"
    nightly, once, pulse = schedules.listed(story.store)
    assert (nightly.origin, nightly.plan.params, nightly.standing) == (Origin.TOML, {"n": 7}, Standing.ACTIVE)
    assert once.plan.recurrence["at"] == "2027-01-01T00:00:00+00:00"
    after(story, MINUTE)
    (tick,) = found(story, "pulse")
    assert tick.outcome is Outcome.MISSED
    assert "later" in (tick.why or "")
    schedules.change(story.store, "nightly", {"overlap": "allow"}, actor="ann")
    file.write_text(TEXT.replace("n = 7", "n = 8").replace("[schedules.pulse]", "[schedules.beat]"))
    declare(story.store, stated(file))
    nightly = schedules.one(story.store, "nightly")
    assert (nightly.plan.params, nightly.plan.overlap, nightly.overridden) == ({"n": 8}, "allow", ("overlap",))
    gone = schedules.one(story.store, "pulse")
    assert (gone.standing, gone.next_tick, pulse.next_tick is None) == (Standing.WITHDRAWN, None, False)
    with pytest.raises(IllegalState, match=r"mainspring\.toml"):
        schedules.remove(story.store, "beat", actor="ann")
    assert schedules.remove(story.store, "pulse", actor="ann").standing is Standing.REMOVED
    file.write_text(TEXT)
    declare(story.store, stated(file))
    assert schedules.one(story.store, "pulse").standing is Standing.ACTIVE, "declared again, it goes on"


def test_a_name_that_code_declares_is_left_to_it(story: Story, file: Path) -> None:
    start_worker(story, shop("a", DeclaredSchedule("nightly", Plan({"every": "1h"}, task="shop.send"))))
    told = declare(story.store, stated(file))
    assert told[0].startswith("schedule nightly is not taken: ")
    assert schedules.one(story.store, "nightly").origin is Origin.CODE


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (('"0 3 * * *"', '"61 3 * * *"'), "61"),
        (('task = "send"\nparams', 'tasks = "send"\nparams'), "tasks"),
        (('task = "send"\nparams', 'workflow = "x"\nqueue = "mail"\nparams'), "queue"),
        (("[schedules.once]\nat", "[schedules]\nonce"), "one table for each"),
        (("[schedules.once]", '[schedules."a b"]'), "a b"),
    ],
)
def test_what_can_not_be_is_refused_with_its_table(file: Path, change: tuple[str, str], word: str) -> None:
    text = TEXT.replace(*change)
    if word == "one table for each":
        text = 'schedules = "none"\n'
    file.write_text(text)
    with pytest.raises(InvalidSetting, match=word):
        schedules_of(file)
