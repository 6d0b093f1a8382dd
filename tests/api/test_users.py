"""People who sign in: to each what their role and their queues cover, and every change leaves who did it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import Any

import httpx2
import pytest

from mainspring.client.direct import connect
from mainspring.domain.access import Role
from mainspring.server.admission import MOST_FAILURES
from mainspring.server.exchange import TAKES_BODY, Reach
from mainspring.server.operation import STREAM
from mainspring.store import Store
from tests.api import mutations
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.house.openapi_file import entries

_INSIDE = ("--webhook-network", "127.0.0.1/32")
WORDS = "correct horse battery"

PUBLIC = {"GET /healthz", "GET /readyz", "POST /api/v1/login"}
ADMIN = {"tokens", "users"}
SETTINGS = {"PATCH /api/v1/config", "POST /api/v1/config/history/{id}/revert"}
OPERATOR = {"GET /api/v1/logs", "GET /api/v1/audit", "GET /api/v1/config/history"}
VIEWER = {*mutations.NOTHING, "POST /api/v1/logout"}
"""What is not as its method says: a GET is for viewers, all else for operators."""


def needed(method: str, path: str) -> Role | None:
    """The role that a route must need, told independently of the routes themselves."""
    name = f"{method} {path}"
    if name in PUBLIC:
        return None
    if path.removeprefix(f"{API}/").partition("/")[0] in ADMIN or name in SETTINGS:
        return Role.ADMIN
    if (path.startswith(f"{API}/webhooks") and method != "GET" and path.count("/") <= 4) or name.endswith("/secret"):
        return Role.ADMIN
    if name in OPERATOR or path.startswith(f"{API}/webhooks"):
        return Role.OPERATOR
    return Role.VIEWER if method == "GET" or name in VIEWER else Role.OPERATOR


class House:
    """A server that asks, with a token and a user of each role, and one of each that is kept to the queue mail."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.boss = connect(serving.database, actor="boss@here")
        self.tokens = {role.value: self.boss.create_token(f"t-{role.value}", role)[1] for role in Role}
        self.tokens["mail"] = self.boss.create_token("t-mail", Role.OPERATOR, queues=["mail"])[1]
        self.boss.create_user("ann", WORDS, Role.OPERATOR)

    def ask(self, method: str, path: str, who: str | None = "admin", **more: Any) -> httpx2.Response:
        headers = more.pop("headers", {}) | ({} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"})
        with self.serving.http.stream(method, path, headers=headers, **more) as answer:
            if answer.headers["content-type"] != STREAM:  # which would not end
                answer.read()
            return answer

    def login(self, password: str = WORDS) -> httpx2.Response:
        answer = self.ask("POST", f"{API}/login", None, json={"name": "ann", "password": password})
        self.serving.http.cookies.clear()  # a test sends its own
        return answer


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    directory = tmp_path_factory.mktemp("house")
    with_token = connect(f"sqlite:///{directory}/main.db")
    with_token.create_token("first", Role.ADMIN)
    with_token.close()
    serving = Serving(directory, options=("--auth", "token", *_INSIDE)).wait_until_up()
    one = House(serving)
    yield one
    one.boss.close()
    serving.http.close()
    assert serving.end() == 0, serving.said
    serving.close()


@pytest.fixture(scope="module")
def hand(house: House) -> Iterator[HandWorker]:
    store = Store.open(house.serving.database)
    worker = HandWorker(store)
    worker.arrive()
    yield worker
    store.close()


def session(answer: httpx2.Response) -> tuple[dict[str, str], str]:
    """The cookie that a login sets, as a header, and its proof."""
    cookie = SimpleCookie(answer.headers["set-cookie"])["mainspring_session"]
    return {"cookie": f"mainspring_session={cookie.value}"}, answer.json()["csrf"]


@pytest.mark.parametrize("who", [None, *(role.value for role in Role)])
def test_each_route_opens_to_its_role_and_those_above(house: House, who: str | None) -> None:
    """Row by row: the whole matrix of routes and roles."""
    for entry in entries():
        path = re.sub(r"\{\w+\}", "999999", entry.path)
        body: dict[str, Any] | None = {} if entry.access in TAKES_BODY else None
        answer = house.ask(entry.method, path, who, json=body)
        role = needed(entry.method, entry.path)
        row = f"{entry.method} {entry.path} as {who}: {answer.status_code}"
        if role is None:
            assert answer.status_code not in {401, 403}, row
        elif who is None:
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), row
        elif not Role(who).covers(role):
            assert (answer.status_code, answer.json()["code"]) == (403, "role_too_low"), row
        elif entry.path != f"{API}/logout":
            assert answer.status_code not in {401, 403}, row


@pytest.mark.usefixtures("hand")
def test_who_is_kept_to_a_queue_reaches_nothing_else(house: House) -> None:
    mine = house.ask("POST", f"{API}/jobs", "mail", json={"task": "echo", "queue": "mail"}).json()["id"]
    other = house.ask("POST", f"{API}/jobs", json={"task": "echo"}).json()["id"]
    assert [house.ask("GET", f"{API}/jobs/{job}/events", "mail").status_code for job in (mine, other)] == [200, 403]
    assert [house.ask("POST", f"{API}/jobs/{job}/cancel", "mail").status_code for job in (mine, other)] == [200, 403]
    cancel = {"action": "cancel", "filter": {"state": "queued"}}
    replace = {"task": "echo", "queue": "mail", "unique": {"key": "a", "on_conflict": "replace"}}
    for method, path, body in (
        ("POST", "jobs", {"task": "echo"}),
        ("POST", "jobs", {"task": "echo", "queue": "audio"}),
        ("POST", "jobs", replace),
        ("POST", "jobs/batch", [{"task": "echo", "queue": "mail"}, {"task": "echo"}]),
        ("POST", "jobs/bulk", cancel),
        ("GET", "jobs", None),
        ("GET", "jobs?queue=audio", None),
        ("GET", "queues/shop", None),
        ("PATCH", "queues/shop", {"paused": True}),
        ("GET", "schedules", None),
        ("GET", "runs", None),
        ("POST", "runs", {"definition": {"name": "a", "nodes": [{"name": "A", "task": "echo"}]}}),
        ("GET", "audit", None),
    ):
        answer = house.ask(method, f"{API}/{path}", "mail", json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "out_of_reach"), path
    assert house.ask("GET", f"{API}/jobs?queue=mail", "mail").status_code == 200
    assert house.ask("PATCH", f"{API}/queues/mail", "mail", json={"limit": 3}).status_code == 200
    assert [one["name"] for one in house.ask("GET", f"{API}/queues", "mail").json()["items"]] == ["mail"]


@pytest.mark.usefixtures("hand")
@pytest.mark.parametrize("path", ["jobs", "jobs/batch"])
@pytest.mark.parametrize("rule", ["return", "reject"])
def test_a_unique_key_shows_nothing_of_a_job_in_another_queue(house: House, path: str, rule: str) -> None:
    key = f"payroll {path} {rule}"
    secret = {"task": "echo", "queue": "bad", "delay": "1h", "unique": key, "params": {"text": "TOP-SECRET"}}
    foreign = house.ask("POST", f"{API}/jobs", json=secret).json()["id"]
    mine = {"task": "echo", "queue": "mail", "unique": {"key": key, "on_conflict": rule}, "params": {"text": ""}}
    answer = house.ask("POST", f"{API}/{path}", "mail", json=mine if path == "jobs" else [mine])
    assert (answer.status_code, answer.json()["code"]) == (409, "key_held")
    assert "job" not in answer.json()
    assert not {"TOP-SECRET", str(foreign)} & set(
        re.findall(r"[\w-]+", answer.text.replace(answer.json()["request"], ""))
    )


@pytest.mark.usefixtures("hand")
def test_an_idempotency_key_shows_nothing_of_a_job_in_another_queue(house: House) -> None:
    house.ask("POST", f"{API}/jobs", json={"task": "echo", "queue": "bad", "delay": "1h", "unique": "told before"})
    mine = {"task": "echo", "queue": "mail", "unique": "told before"}
    answers = [
        house.ask("POST", f"{API}/jobs", who, json=mine, headers={"Idempotency-Key": "told"})
        for who in ("admin", "mail")
    ]
    assert [one.status_code for one in answers] == [200, 403]
    assert answers[1].json()["code"] == "out_of_reach"


def test_a_route_is_closed_to_kept_askers_until_it_says_what_it_is_about() -> None:
    told = {one.path.removeprefix(f"{API}/").partition("/")[0] for one in entries() if one.reach is not Reach.ALL}
    assert told == {
        "events",
        "jobs",
        "tasks",
        "workers",
        "queues",
        "schedules",
        "series",
        "login",
        "logout",
        "session",
        "",
    }


def test_a_session_opens_what_its_user_may_and_changes_need_its_proof(house: House) -> None:
    answer = house.login()
    assert (answer.status_code, answer.json()["role"]) == (200, "operator")
    flags = answer.headers["set-cookie"].lower()
    assert all(flag in flags for flag in ("httponly", "samesite=strict", "path=/", "max-age=43200"))
    cookie, csrf = session(answer)
    shown = house.ask("GET", f"{API}/session", None, headers=cookie)
    assert (shown.json()["name"], shown.json()["csrf"]) == ("ann", csrf)
    limit = {"json": {"limit": 4}}
    for proof in ({}, {"X-CSRF-Token": "0" * 64}):
        refused = house.ask("PATCH", f"{API}/queues/mail", None, headers=cookie | proof, **limit)
        assert (refused.status_code, refused.json()["code"]) == (403, "proof_missing")
    good = cookie | {"X-CSRF-Token": csrf}
    assert house.ask("PATCH", f"{API}/queues/mail", None, headers=good, **limit).status_code == 200
    assert house.ask("GET", f"{API}/users", None, headers=cookie).status_code == 403
    secret = cookie["cookie"].partition("=")[2]
    assert house.ask("GET", f"{API}/jobs", None, headers={"Authorization": f"Bearer {secret}"}).status_code == 401
    out = house.ask("POST", f"{API}/logout", None, headers=good)
    assert (out.status_code, "max-age=0" in out.headers["set-cookie"].lower()) == (200, True)
    assert house.ask("GET", f"{API}/session", None, headers=cookie).status_code == 401


@pytest.mark.usefixtures("hand")
def test_every_route_that_changes_something_leaves_who_did_it(house: House, hand: HandWorker) -> None:
    house.ask("PUT", f"{API}/workflows/pair", json={"nodes": [{"name": "B", "task": "echo"}]})
    filled: dict[str, Any] = {"worker": hand.id}
    for name, wanted in mutations.EVENTS.items():
        answer = house.ask(name.partition(" ")[0], wanted.path, json=wanted.body)
        made = (answer.json().get("items") or [answer.json()])[0]["id"]
        events = house.boss.run_events(made) if "runs" in name else house.boss.events(job=made)
        assert events[0].actor == "t-admin@127.0.0.1", name
        filled["run" if "runs" in name else "job"] = made
    for name, wanted in mutations.MESSAGES.items():
        assert house.ask(name.partition(" ")[0], wanted.path, json=wanted.body).status_code == 201, name
        assert house.boss.messages("orders")[-1].actor == "t-admin@127.0.0.1", name
    headers: dict[str, str] = {}
    for name, wanted in mutations.TRAIL.items():
        before = house.ask("GET", f"{API}/audit?limit=1").json()["items"][0]["seq"]
        who = None if headers else "admin"
        path = wanted.path.format(**filled)
        answer = house.ask(name.partition(" ")[0], path, who, json=wanted.body, headers=headers)
        assert answer.status_code < 300, (name, answer.text)
        headers = {}
        if name.endswith("login"):
            cookie, csrf = session(answer)
            house.serving.http.cookies.clear()
            headers = cookie | {"X-CSRF-Token": csrf}
        lines = [one for one in house.ask("GET", f"{API}/audit").json()["items"] if one["seq"] > before]
        assert [one["actor"] for one in lines] in (["t-admin@127.0.0.1"], ["eve@127.0.0.1"]), name
        if name.endswith("/test"):
            filled["delivery"] = answer.json()["id"]
            eventually(lambda: house.boss.deliveries("hook").items[0].ended_at)
        filled["edit"] = filled.get("edit") or (lines[0]["seq"] if "queues" in name else 0)


def test_ten_wrong_passwords_slow_the_eleventh_from_that_address(tmp_path: Any) -> None:
    with_user = connect(f"sqlite:///{tmp_path}/main.db")
    with_user.create_user("ann", WORDS, Role.VIEWER)
    with_user.close()
    serving = Serving(tmp_path, options=("--auth", "token")).wait_until_up()  # a user is enough to begin with
    try:
        for number in range(MOST_FAILURES + 1):
            wrong = {"name": "ann", "password": f"wrong {number}"}
            answer = serving.http.post(f"{API}/login", json=wrong)
            expected = (401, "wrong_password") if number < MOST_FAILURES else (429, "too_many_failures")
            assert (answer.status_code, answer.json()["code"]) == expected
        right = serving.http.post(f"{API}/login", json={"name": "ann", "password": WORDS})
        assert (right.status_code, right.headers["retry-after"]) == (429, "60")
    finally:
        serving.close()
