"""Rows that somebody has spoiled by hand, one of each kind: they are told of, and all else goes on."""

from __future__ import annotations

import pytest

from mainspring.control import access, queues, read, users
from mainspring.domain.access import Role
from mainspring.errors import Unauthenticated
from tests.contract.stories import Story

WORDS = "correct horse battery"
NONSENSE = '{"x'


@pytest.mark.parametrize("column", ["queues", "labels", "tasks", "pids"])
def test_a_worker_whose_row_is_spoiled_says_so_and_hides_no_other(story: Story, column: str) -> None:
    first, second = story.hello("one"), story.hello("two")
    story.bench.alter(story.store, f"update worker set {column} = '{NONSENSE}' where id = {first}")
    found = {one.id: one for one in read.all_workers(story.store)}
    assert found[first].labels["unreadable"] == NONSENSE
    assert "unreadable" not in found[second].labels
    assert queues.listed(story.store) is not None


def test_a_task_whose_row_is_spoiled_hides_no_other(story: Story) -> None:
    known = [task.name for task in read.tasks(story.store)]
    story.bench.alter(story.store, f"update task set declaration = '{NONSENSE}' where name = '{known[0]}'")
    assert [task.name for task in read.tasks(story.store)] == known[1:]


@pytest.mark.parametrize("change", [f"queues = '{NONSENSE}'", "role = 'emperor'"])
def test_whose_rights_are_spoiled_has_none_that_count(story: Story, change: str) -> None:
    _, secret = access.create(story.store, "spoiled", Role.ADMIN, lasts=None, queues=["mail"], actor="ann")
    _, other = access.create(story.store, "sound", Role.ADMIN, lasts=None, actor="ann")
    users.create(story.store, "eve", WORDS, Role.ADMIN, queues=["mail"], actor="ann")
    session, _ = users.sign_in(story.store, "eve", WORDS, address="here")
    story.bench.alter(story.store, f"update token set {change} where name = 'spoiled'")
    story.bench.alter(story.store, f"update account set {change} where name = 'eve'")
    for asker in (access.recognise(story.store, secret), users.recognise(story.store, session)):
        assert (asker.role, asker.reaches("mail"), asker.queues is None) == (Role.VIEWER, False, False)
    assert access.recognise(story.store, other).role is Role.ADMIN
    assert {token.name for token in access.tokens(story.store)} == {"spoiled", "sound"}
    assert [user.name for user in users.listed(story.store)] == ["eve"]
    with pytest.raises(Unauthenticated):
        access.recognise(story.store, "mst_wrong")


def test_a_line_of_the_trail_that_is_spoiled_is_shown_as_it_is(story: Story) -> None:
    access.create(story.store, "one", Role.VIEWER, lasts=None, actor="ann")
    access.create(story.store, "two", Role.VIEWER, lasts=None, actor="ann")
    story.bench.alter(story.store, f"update trail set after = '{NONSENSE}' where subject = 'token one'")
    second, first = access.changes(story.store)
    assert first.after == {"unreadable": NONSENSE}
    assert second.after is not None
    assert second.after["role"] == "viewer"
