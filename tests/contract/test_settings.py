"""The configuration in the store, in every engine: changed whole, remembered, taken back, and heeded by claims."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.clock import SECOND
from mainspring.control import access, queues, settings
from mainspring.domain.access import ChangeFilter
from mainspring.domain.configured import Stated
from mainspring.domain.overriding import overrides
from mainspring.domain.queue import QueueChange
from mainspring.domain.setting import Layer
from mainspring.errors import InvalidSetting, UnknownEdit
from mainspring.store import Store
from mainspring.store.jobs import policy_of
from tests.contract.stories import Story
from tests.contract.test_claims import claim


def held(store: Store) -> dict[str, object]:
    return {one.key: one.value for one in settings.kept(store) if one.layer is Layer.STORE}


def limit(store: Store) -> int | None:
    return queues.one(store, "mail").limit


def filed(most: int) -> dict[str, Stated]:
    return {"queue.mail.limit": Stated(most, "line 1"), "lease": Stated(3_000_000, "line 2")}


def test_a_change_is_made_whole_and_every_process_can_tell(store: Store) -> None:
    before = settings.version(store)
    settings.change(store, {"lease": "10s", "worker.alpha.slots": 3, "queue.mail.limit": "2"}, actor="ann")
    assert held(store) == {"lease": 10_000_000, "worker.alpha.slots": 3, "queue.mail.limit": 2}
    assert settings.version(store) != before
    assert settings.stated(store)["lease"].place == "store, by ann"


WRONG: list[dict[str, object]] = [
    {"leese": "3s"},
    {"slots": 0},
    {"port": 80},
    {"queue.mail.limit": "x"},
    {"queue.mail.speed": 1},
    {"labels": {}},
]


def test_one_wrong_setting_refuses_the_whole_change(store: Store) -> None:
    version = settings.version(store)
    for wrong in WRONG:
        with pytest.raises(InvalidSetting) as raised:
            settings.change(store, {"sweep": "9s", **wrong}, actor="ann")
        assert raised.value.field in wrong
    assert held(store) == {}
    assert settings.version(store) == version
    assert settings.history(store) == []


def test_a_change_to_what_holds_already_is_none(store: Store) -> None:
    settings.change(store, {"lease": "10s"}, actor="ann")
    settings.change(store, {"lease": "10000ms", "sweep": None}, actor="bob")
    assert len(settings.history(store)) == 1


def test_changes_are_remembered_with_who_made_them_and_can_be_taken_back_to_any(store: Store) -> None:
    settings.change(store, {"lease": "10s", "sweep": "2s"}, actor="ann")
    queues.change(store, "mail", QueueChange(limit=7), actor="bob")
    queues.change(store, "mail", QueueChange(note="slow"), actor="bob")
    settings.change(store, {"lease": "20s", "sweep": None, "queue.mail.limit": 9}, actor="cid")
    edits = settings.history(store)
    assert [(edit.actor, dict(edit.after)) for edit in edits] == [
        ("cid", {"lease": "20s", "sweep": None, "queue.mail.limit": 9}),
        ("bob", {"queue.mail.limit": 7}),
        ("ann", {"lease": "10s", "sweep": "2s"}),
    ]
    settings.revert(store, edits[-1].seq, actor="dan")
    assert held(store) == {"lease": 10_000_000, "sweep": 2_000_000}
    assert limit(store) is None
    settings.revert(store, edits[0].seq, actor="dan")
    assert held(store) == {"lease": 20_000_000, "queue.mail.limit": 9}
    assert [edit.actor for edit in settings.history(store, limit=2)] == ["dan", "dan"]
    assert access.changes(store, ChangeFilter(subject="config"))[0].actor == "dan"


def test_there_is_no_way_back_to_what_was_no_change_of_the_configuration(store: Store) -> None:
    settings.change(store, {"lease": "10s"}, actor="ann")
    queues.change(store, "mail", QueueChange(note="slow"), actor="bob")
    for seq in (0, 2, 99):
        with pytest.raises(UnknownEdit):
            settings.revert(store, seq, actor="dan")


def test_the_limit_of_a_queue_may_come_from_a_file_and_from_people_who_win(store: Store) -> None:
    settings.publish(store, filed(3), actor="file:a")
    assert limit(store) == 3
    settings.change(store, {"queue.mail.limit": 5}, actor="ann")
    settings.publish(store, filed(4), actor="file:a")
    assert limit(store) == 5
    queues.change(store, "mail", QueueChange(limit=None), actor="ann")
    assert limit(store) == 4, "without one of their own that of the file holds"
    settings.publish(store, {}, actor="file:a")
    assert limit(store) is None
    assert [edit.layer for edit in settings.history(store)] == [
        Layer.FILE,
        Layer.STORE,
        Layer.FILE,
        Layer.STORE,
        Layer.FILE,
    ]


def test_publishing_what_is_there_writes_nothing(store: Store) -> None:
    settings.publish(store, filed(3), actor="file:a")
    version = settings.version(store)
    settings.publish(store, filed(3), actor="file:b")
    assert settings.version(store) == version


def test_what_a_server_took_from_its_file_is_in_the_trail(store: Store) -> None:
    settings.note_file(store, filed(3), filed(4) | {"lease": Stated(5_000_000, "line 2")}, actor="file:a")
    (edit,) = settings.history(store)
    assert (edit.actor, edit.layer, edit.before, edit.after) == ("file:a", Layer.FILE, {"lease": "3s"}, {"lease": "5s"})


def test_claims_heed_a_limit_that_was_set_as_configuration(story: Story) -> None:
    jobs = [story.submit("mail") for _ in range(3)]
    queue = story.job(jobs[0]).queue
    settings.change(story.store, {f"queue.{queue}.limit": 2}, actor="ann")
    assert len(claim(story).jobs) == 2
    settings.change(story.store, {f"queue.{queue}.limit": None}, actor="ann")
    assert len(claim(story).jobs) == 1


def test_attempts_begin_under_what_is_said_of_their_task_and_a_job_keeps_what_it_says_itself(story: Story) -> None:
    asked: list[dict[str, Any]] = [{}, {"timeout": "9s"}, {"retry": {"max_attempts": 2}}]
    jobs = [story.submit("mail", **options) for options in asked]
    other = story.submit("send")
    declared = story.store.read(lambda tx: policy_of(tx, other))
    settings.change(story.store, {"task.shop.mail.timeout": "30s", "task.shop.mail.max_attempts": 7}, actor="ann")
    found = claim(story, overrides=overrides(settings.kept(story.store))).jobs
    policies = {one.grant.left.job: (one.policy.timeout, one.policy.retry.max_attempts) for one in found}
    half, nine = 30 * SECOND, 9 * SECOND
    attempts = declared.retry.max_attempts
    assert [policies[job] for job in jobs] == [(half, 7), (nine, 7), (half, 2)]
    assert policies[other] == (declared.timeout, attempts), "no task but the one that is named"
    assert attempts != 7


def test_what_a_server_s_file_says_of_tasks_holds_for_all_workers_and_people_win(store: Store) -> None:
    key = "task.shop.mail.max_attempts"
    settings.publish(store, {key: Stated(2, "line 1")}, actor="file:a")
    assert overrides(settings.kept(store))["shop.mail"].max_attempts == 2
    settings.change(store, {key: 5}, actor="ann")
    assert overrides(settings.kept(store))["shop.mail"].max_attempts == 5
    settings.change(store, {key: None}, actor="ann")
    settings.publish(store, {}, actor="file:a")
    assert overrides(settings.kept(store)) == {}


def test_a_value_that_this_version_can_not_read_stops_nothing(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    settings.change(store, {"lease": "10s"}, actor="ann")
    store.write(lambda tx: tx.rows("setting/put", name="lesson", layer="store", value="{", actor="x"))
    store.write(lambda tx: tx.rows("setting/put", name="sweep", layer="store", value='"no"', actor="x"))
    assert held(store) == {"lease": 10_000_000}
    assert "lesson" in caplog.text
    assert "sweep" in caplog.text
