"""Tokens and the audit trail in both engines: whose token it is, until when, and what is written down."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import pytest

from mainspring import request
from mainspring.clock import DAY, HOUR, MINUTE, Duration
from mainspring.control import access, users
from mainspring.control import queues as control_queues
from mainspring.domain.access import ChangeFilter, Role, Token
from mainspring.domain.queue import QueueChange
from mainspring.errors import InvalidOption, TokenExists, Unauthenticated, UnknownToken, UserExists
from tests.contract.stories import Story


def made(story: Story, name: str = "deploy", role: Role = Role.OPERATOR, **more: Duration) -> tuple[Token, str]:
    return access.create(story.store, name, role, lasts=more.get("lasts"), actor="ann")


def test_a_token_names_its_asker_and_its_secret_is_kept_nowhere(story: Story) -> None:
    token, secret = made(story)
    asker = access.recognise(story.store, secret)
    assert (asker.name, asker.role) == ("deploy", Role.OPERATOR)
    assert (token.created_by, token.expires_at, token.used_at) == ("ann", None, None)
    assert secret not in repr(access.tokens(story.store)) + repr(access.changes(story.store))


def test_a_token_ends_when_it_was_said_to(story: Story) -> None:
    _, secret = made(story, lasts=Duration(HOUR))
    story.clock.forward(Duration(HOUR - 1))
    access.recognise(story.store, secret)
    story.clock.forward(Duration(1))
    with pytest.raises(Unauthenticated):
        access.recognise(story.store, secret)


def test_a_revoked_token_opens_nothing_and_its_name_is_free_again(story: Story) -> None:
    token, secret = made(story)
    with pytest.raises(TokenExists):
        made(story)
    access.revoke(story.store, "deploy", actor="bob")
    with pytest.raises(Unauthenticated):
        access.recognise(story.store, secret)
    again, other = made(story)
    assert (again.id != token.id, access.recognise(story.store, other).name) == (True, "deploy")
    assert access.revoke(story.store, str(token.id), actor="eve").revoked_by == "bob", "again changes nothing"
    with pytest.raises(UnknownToken):
        access.revoke(story.store, "nobody", actor="bob")


def test_a_token_past_its_end_gives_up_its_name(story: Story) -> None:
    old, secret = made(story, lasts=Duration(HOUR))
    with pytest.raises(TokenExists):
        users.create(story.store, "deploy", "correct horse battery", Role.VIEWER, actor="bob")
    story.clock.forward(Duration(HOUR))
    new, other = access.create(story.store, "deploy", Role.VIEWER, lasts=Duration(HOUR), actor="bob")
    assert (new.id != old.id, access.recognise(story.store, other).role) == (True, Role.VIEWER)
    assert [(one.id, one.revoked_by) for one in access.tokens(story.store)] == [(new.id, None), (old.id, "bob")]
    with pytest.raises(Unauthenticated):
        access.recognise(story.store, secret)
    lines = access.changes(story.store, ChangeFilter("token deploy"))
    assert [(line.actor, line.action) for line in lines] == [
        ("bob", "token.create"),
        ("bob", "token.revoke"),
        ("ann", "token.create"),
    ]
    story.clock.forward(Duration(HOUR))
    assert users.create(story.store, "deploy", "correct horse battery", Role.VIEWER, actor="bob").name == "deploy"
    with pytest.raises(UserExists):
        made(story)


def test_a_removed_user_gives_up_its_name(story: Story) -> None:
    users.create(story.store, "deploy", "correct horse battery", Role.VIEWER, actor="bob")
    users.remove(story.store, "deploy", actor="bob")
    assert access.recognise(story.store, made(story)[1]).name == "deploy"


def test_the_last_use_is_written_at_most_once_a_minute(story: Story) -> None:
    _, secret = made(story)
    uses = []
    for _ in range(3):
        access.recognise(story.store, secret)
        uses.append(access.tokens(story.store)[0].used_at)
        story.clock.forward(Duration(MINUTE // 2 + 1))
    assert uses[0] == uses[1]
    assert uses[1] != uses[2]


def test_a_token_has_a_plain_name(story: Story) -> None:
    for name in ("", "two words", "a/b", "x" * 201):
        with pytest.raises(InvalidOption):
            made(story, name)


@pytest.mark.parametrize("lasts", [Duration(0), Duration(3_651 * DAY)])
def test_a_token_lasts_a_while(story: Story, lasts: Duration) -> None:
    with pytest.raises(InvalidOption):
        made(story, lasts=lasts)


def test_every_change_by_hand_is_on_the_trail(story: Story) -> None:
    job = story.submit()
    control_queues.change(story.store, "shop", QueueChange(paused=True, note="stop"), actor="ann")
    story.cancel(job)
    again = story.retry(job)
    made(story)
    trail = access.changes(story.store)
    assert [(line.actor, line.action, line.subject) for line in trail] == [
        ("ann", "token.create", "token deploy"),
        ("ann", "job.retry", f"job {job}"),
        ("ann", "job.cancel", f"job {job}"),
        ("ann", "queue.change", "queue shop"),
    ]
    assert (trail[1].before, trail[1].after) == ({"state": "cancelled"}, {"job": again.id, "state": "queued"})
    assert trail[2].before == {"state": "queued", "cancel_requested": False}
    assert trail[2].after == {"state": "cancelled", "cancel_requested": False}
    running = story.running()
    for _ in range(2):
        story.cancel(running)
    told = [(line.before, line.after) for line in access.changes(story.store, ChangeFilter(f"job {running}"))]
    asked = {"state": "running", "cancel_requested": True}
    assert told == [(asked, asked), (asked | {"cancel_requested": False}, asked)]
    assert [line.subject for line in access.changes(story.store, ChangeFilter(below=trail[1].seq, limit=1))] == [
        f"job {job}"
    ]
    assert [line.action for line in access.changes(story.store, ChangeFilter(subject="queue shop"))] == ["queue.change"]


def test_a_line_has_the_request_that_it_was_written_for_in_whatever_thread(story: Story) -> None:
    def change(number: int) -> None:
        if number:
            request.begin(f"request {number}")
        control_queues.change(story.store, f"q{number}", QueueChange(limit=number + 1), actor="ann")

    with ThreadPoolExecutor(8) as pool:  # each in a context of its own
        list(pool.map(lambda number: Context().run(change, number), range(16)))
    change(0)
    told = {line.subject: line.request for line in access.changes(story.store)}
    assert told == {f"queue q{number}": f"request {number}" if number else None for number in range(16)}


def test_what_changes_nothing_leaves_no_line(story: Story) -> None:
    control_queues.change(story.store, "shop", QueueChange(limit=3), actor="ann")
    control_queues.change(story.store, "shop", QueueChange(limit=3), actor="ann")
    assert len(access.changes(story.store)) == 1
