"""Answers that go on end with what their asker may: no stream outlives its token, session, role or queues."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from mainspring.client.direct import connect
from mainspring.domain.access import Asker, Role, UserChange
from mainspring.errors import MainspringError, OutOfReach, RoleTooLow, Unauthenticated
from mainspring.server.admission import MOST_FAILURES, REMEMBERED, Admission, Shown
from mainspring.server.exchange import Access, Answer, Entry, Piece, Stream
from mainspring.server.operation import gives
from mainspring.server.security import Admitted
from tests.api.hand_clock import HandClock
from tests.api.serving import API, Serving
from tests.patience import Limit

WORDS = "a long password"
ENTRY = Entry("GET", "/x", Access.READ, lambda _: Answer(200, None), gives("Nothing"), role=Role.OPERATOR)
SHOWN = [("authorization", "Bearer a")]
ANN = Asker("ann", Role.OPERATOR, ("mail", "post"))


class Known:
    """Whoever is known by the one secret, or why nobody is; counts how often it is asked."""

    def __init__(self) -> None:
        self.now: Asker | MainspringError = ANN
        self.asked = 0
        self.clock = HandClock()
        self.admission = Admission(self._recognise, self.clock)
        self.stream = self.admission.while_let_in(
            Stream(lambda: Piece(b"looked"), lambda: Piece(b"at hand")), Admitted(ENTRY, {}), SHOWN, ANN
        )

    def _recognise(self, _: str) -> Asker:
        self.asked += 1
        if isinstance(self.now, MainspringError):
            raise self.now
        return self.now


def test_a_stream_is_read_from_memory_while_its_secret_is_remembered_and_asks_as_often_as_requests() -> None:
    known = Known()
    assert known.stream.at_hand() is None, "nobody has been asked yet, which takes a thread"
    assert known.stream.look().data == b"looked"
    for _ in range(100):
        at_hand = known.stream.at_hand()
        assert at_hand is not None
        assert at_hand.data == b"at hand"
    assert known.asked == 1
    known.clock.at += REMEMBERED
    assert known.stream.at_hand() is None
    known.stream.look()
    assert known.asked == 2


@pytest.mark.parametrize(
    ("now", "error"),
    [
        (Unauthenticated("revoked"), Unauthenticated),
        (Asker("ann", Role.VIEWER, ANN.queues), RoleTooLow),
        (Asker("ann", Role.OPERATOR, ("mail",)), OutOfReach),
    ],
)
def test_it_ends_with_what_its_asker_may(now: Asker | MainspringError, error: type[MainspringError]) -> None:
    known = Known()
    known.stream.look()
    known.now = now
    assert known.stream.look().data == b"looked", "it is remembered"
    known.clock.at += REMEMBERED
    with pytest.raises(error):
        known.stream.look()
    if isinstance(now, Asker):
        with pytest.raises(error):
            known.stream.at_hand()


def test_many_streams_of_a_revoked_token_don_t_lock_their_address_out() -> None:
    known = Known()
    known.now = Unauthenticated("revoked")
    for _ in range(MOST_FAILURES + 1):
        with pytest.raises(Unauthenticated):
            known.stream.look()
    known.now = ANN
    assert known.admission.who(Shown("a"), "10.0.0.1") == ANN


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Serving]:
    first = connect(f"sqlite:///{tmp_path}/main.db")
    first.create_token("first", Role.ADMIN)
    first.close()
    serving = Serving(tmp_path, options=("--auth", "token")).wait_until_up()
    yield serving
    serving.http.close()
    assert serving.end() == 0, serving.said
    serving.close()


def last_code(answer: httpx2.Response) -> str:
    """The code of the error that ends a stream."""
    limit = Limit(60)
    data = "{}"
    for line in answer.iter_lines():
        assert not limit.over(), "it goes on"
        if line.startswith("data: "):
            data = line.removeprefix("data: ")
    code: str = json.loads(data).get("code", "")
    return code


def test_streams_of_a_server_end_with_their_token_user_role_and_queues(asking: Serving) -> None:
    boss = connect(asking.database, actor="boss@here")
    token, secret = boss.create_token("reader", Role.VIEWER)
    by_token = {"authorization": f"Bearer {secret}"}
    paths = {f"{API}/events": "ann", f"{API}/logs?follow=true": "bob", f"{API}/events?queue=mail": "cid"}
    by_user = {}
    for path, name in paths.items():
        boss.create_user(name, WORDS, Role.OPERATOR, queues=["mail"] if name == "cid" else None)
        login = asking.http.post(f"{API}/login", json={"name": name, "password": WORDS})
        by_user[path] = {"cookie": login.headers["set-cookie"].partition(";")[0]}
        asking.http.cookies.clear()
    asks = [(f"{API}/events", by_token), (f"{API}/topics/news/messages?follow=true", by_token), *by_user.items()]
    opened = [asking.http.stream("GET", path, headers=headers) for path, headers in asks]
    answers = [one.__enter__() for one in opened]
    assert [one.status_code for one in answers] == [200] * 5
    boss.revoke_token(str(token.id))
    boss.remove_user("ann")
    boss.change_user("bob", UserChange(role=Role.VIEWER))
    boss.change_user("cid", UserChange(queues=("post",)))
    boss.close()
    assert [last_code(one) for one in answers] == [
        "unauthenticated",
        "unauthenticated",
        "unauthenticated",
        "role_too_low",
        "out_of_reach",
    ]
    for one in opened:
        one.__exit__(None, None, None)
