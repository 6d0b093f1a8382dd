"""Users and their sessions in both engines: whose it is, until when, and what ends it."""

from __future__ import annotations

import pytest

from mainspring.control import access, users
from mainspring.domain.access import Role, User, UserChange
from mainspring.errors import InvalidOption, TokenExists, Unauthenticated, UnknownUser, UserExists, WrongPassword
from tests.contract.stories import Story

WORDS = "correct horse battery"


def made(story: Story, name: str = "ann", **more: object) -> User:
    return users.create(story.store, name, WORDS, Role.OPERATOR, actor="boss", **more)  # type: ignore[arg-type]


def signed_in(story: Story, password: str = WORDS) -> str:
    return users.sign_in(story.store, "ann", password, address="10.0.0.1")[0]


def is_over(story: Story, secret: str) -> bool:
    try:
        users.recognise(story.store, secret)
    except Unauthenticated:
        return True
    return False


def test_a_user_signs_in_and_out_and_no_secret_is_kept(story: Story) -> None:
    user = made(story, queues=["mail", "audio", "mail"])
    assert (user.queues, user.used_at) == (("audio", "mail"), None)
    secret = signed_in(story)
    asker = users.recognise(story.store, secret)
    assert (asker.name, asker.role, asker.queues) == ("ann", Role.OPERATOR, ("audio", "mail"))
    assert asker.until == story.clock.now() + users.LASTS
    assert users.listed(story.store)[0].used_at == story.clock.now()
    users.sign_out(story.store, secret, address="10.0.0.1")
    assert is_over(story, secret)
    trail = access.changes(story.store)
    assert [line.action for line in trail] == ["session.end", "session.begin", "user.create"]
    assert not any(one in repr(trail) for one in (secret, WORDS, "argon2"))


@pytest.mark.parametrize(("name", "password"), [("ann", "correct horse"), ("bob", WORDS), ("ann", WORDS * 50)])
def test_who_is_not_there_and_who_is_wrong_get_the_same_answer(story: Story, name: str, password: str) -> None:
    made(story)
    with pytest.raises(WrongPassword, match="The name or the password is wrong"):
        users.sign_in(story.store, name, password, address="")


def test_a_session_ends_with_its_time_the_password_or_the_user(story: Story) -> None:
    made(story)
    first = signed_in(story)
    story.clock.forward(users.LASTS)
    second = signed_in(story)
    assert is_over(story, first)
    users.change(story.store, "ann", UserChange(role=Role.ADMIN), actor="boss")
    assert users.recognise(story.store, second).role is Role.ADMIN
    users.change(story.store, "ann", UserChange(password="another one, longer"), actor="boss")
    assert is_over(story, second)
    third = signed_in(story, "another one, longer")
    users.remove(story.store, "ann", actor="boss")
    assert is_over(story, third)
    with pytest.raises(WrongPassword):
        signed_in(story, "another one, longer")
    assert made(story).id != users.listed(story.store)[-1].id, "the name is free again"


def test_names_are_of_one_user_or_one_token(story: Story) -> None:
    made(story)
    access.create(story.store, "deploy", Role.VIEWER, lasts=None, actor="boss")
    with pytest.raises(UserExists):
        made(story)
    with pytest.raises(TokenExists):
        made(story, "deploy")
    with pytest.raises(UserExists):
        access.create(story.store, "ann", Role.VIEWER, lasts=None, actor="boss")
    with pytest.raises(UnknownUser, match="ann"):
        users.remove(story.store, "anne", actor="boss")
    for wanted in (UserChange(password="short"), UserChange(queues=()), UserChange(password="x" * 1_001)):
        with pytest.raises(InvalidOption):
            users.change(story.store, "ann", wanted, actor="boss")


def test_a_token_may_be_kept_to_queues(story: Story) -> None:
    token, secret = access.create(story.store, "ci", Role.OPERATOR, lasts=None, queues=["mail"], actor="boss")
    assert token.queues == access.recognise(story.store, secret).queues == ("mail",)
