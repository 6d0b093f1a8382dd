"""Two servers on one store, behind a round robin: it does not matter which one answers, nor that one is killed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path

import httpx2
import pytest

from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.api.test_webhooks import Receiver

SUBMITTERS = 3
SOME = 30
"""So many submits at least are acknowledged before one server is killed, and as many after it."""

Pair = tuple[Serving, Serving]


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """Both take requests, and a worker has reported its tasks."""
    postgres = request.param == "postgres"
    url = request.getfixturevalue("postgres_url") if postgres else f"sqlite:///{tmp_path}/main.db"
    store = Store.open(url)
    HandWorker(store).arrive()
    store.close()
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    options = ("--webhook-network", "127.0.0.1/32")
    one, two = (Serving(place, database=url, options=options) for place in places)
    yield one.wait_until_up(), two.wait_until_up()
    for serving in (one, two):
        serving.close()


class Ledger:
    """What was acknowledged to whom; a submit whose answer was lost is sent to the other server with its key."""

    def __init__(self, pair: Pair) -> None:
        self.acknowledged: dict[str, int] = {}
        self.retried = 0
        self._keys = count()
        self._over = threading.Event()
        self._urls = [serving.url for serving in pair]
        self._threads = [threading.Thread(target=self._submit, daemon=True) for _ in range(SUBMITTERS)]

        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive()

    def _submit(self) -> None:
        turns = cycle(self._urls)
        with httpx2.Client(trust_env=False, timeout=30) as http:
            while not self._over.is_set():
                key = f"key-{next(self._keys)}"
                body = {"task": "shop.echo", "queue": "two", "tags": {"key": key}}
                for url in turns:
                    try:
                        answer = http.post(f"{url}{API}/jobs", json=body, headers={"Idempotency-Key": key})
                    except httpx2.TransportError:
                        self.retried += 1
                        continue
                    if answer.status_code >= 500:  # not in time, on a slow machine: the key makes it safe to ask again
                        continue
                    assert answer.status_code == 201, answer.text
                    self.acknowledged[key] = answer.json()["id"]
                    break


@pytest.mark.parametrize("pair", ["postgres"], indirect=True)
def test_both_give_the_same_answers_and_count_nothing_twice(pair: Pair) -> None:
    one, two = pair
    made = [serving.submit(queue="two")["id"] for serving in (one, two) * 3]
    key = {"Idempotency-Key": "once"}
    first, again = (each.http.post(f"{API}/jobs", json={"task": "shop.echo"}, headers=key) for each in pair)
    assert first.json()["id"] == again.json()["id"]
    two.http.post(f"{API}/jobs/{made[0]}/cancel")
    one.http.patch(f"{API}/queues/two", json={"limit": 3})
    looks = ("jobs", "jobs?queue=two&state=queued", f"jobs/{made[0]}", f"jobs/{made[0]}/events", "queues", "tasks")
    for look in (*looks, "audit", "workers", "jobs/count"):
        mine, other = (each.http.get(f"{API}/{look}") for each in pair)
        assert mine.json() == other.json(), look
        assert mine.headers.get("etag") == other.headers.get("etag"), look

    def submitted() -> list[float]:
        found = [each.http.get("/metrics").text.splitlines() for each in pair]
        return [
            sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("mainspring_jobs_submitted_total"))
            for lines in found
        ]

    assert eventually(lambda: submitted() == [7, 7])


@pytest.mark.parametrize("pair", ["sqlite", "postgres"], indirect=True)
def test_a_webhook_is_told_once_of_each_event_also_when_one_of_them_is_killed(pair: Pair) -> None:
    one, two = pair
    receiver = Receiver()
    try:
        wanted = {"name": "both", "url": f"{receiver.url}/200?both", "kinds": ["job.queued"], "queue": "two"}
        assert two.http.post(f"{API}/webhooks", json=wanted).status_code == 201
        made = [serving.submit(queue="two")["id"] for serving in (one, two) * 10]

        def delivered() -> list[int]:
            items = one.http.get(f"{API}/webhooks/both/deliveries?limit=1000").json()["items"]
            return [item["id"] for item in items if item["state"] == "delivered"]

        assert eventually(lambda: len(delivered()) == len(made))
        told = [json.loads(heard.body)["data"]["job"] for heard in receiver.heard]
        assert sorted(told) == sorted(made), "each once, whichever server told it"
        two.process.kill()
        more = [one.submit(queue="two")["id"] for _ in range(5)]
        assert eventually(lambda: len(delivered()) == len(made) + len(more))
        told = [json.loads(heard.body)["data"]["job"] for heard in receiver.heard]
        assert sorted(told) == sorted(made + more)
    finally:
        receiver.close()


@pytest.mark.parametrize("pair", ["sqlite", "postgres"], indirect=True)
def test_one_that_is_killed_under_load_loses_nothing_that_it_acknowledged(pair: Pair) -> None:
    one, two = pair
    ledger = Ledger(pair)
    try:
        eventually(lambda: len(ledger.acknowledged) >= SOME)
        two.process.kill()
        eventually(lambda: ledger.retried)
        then = len(ledger.acknowledged)
        eventually(lambda: len(ledger.acknowledged) >= then + SOME)
    finally:
        ledger.end()
    listed: list[tuple[str, int]] = []
    query: dict[str, str | None] = {"queue": "two", "limit": "1000"}
    while query.get("cursor", "first") is not None:
        page = one.http.get(f"{API}/jobs", params=query).json()
        listed += [(job["tags"]["key"], job["id"]) for job in page["items"]]
        query["cursor"] = page["next"]
    assert sorted(listed) == sorted(ledger.acknowledged.items())
