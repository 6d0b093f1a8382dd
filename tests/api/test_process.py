"""The server as a process: where it listens, how it ends, what survives it, and how it says that it is not well."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mainspring.client.direct import DirectClient
from mainspring.clock import DAY, SECOND, Duration, Instant, SystemClock
from mainspring.control.submit import submit
from mainspring.domain.job import JobRequest
from mainspring.domain.retry import Retry
from mainspring.domain.states import Outcome, State
from mainspring.errors import AddressRefused, AddressUnavailable, InvalidOption
from mainspring.server.listen import listen, url
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.contract.engines import HandClock
from tests.patience import ended, slowness

Start = Callable[..., Serving]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers that are gone after the test, whatever it did to them."""
    started: list[Serving] = []

    def begin(**how: Any) -> Serving:
        started.append(Serving(tmp_path, **how))
        return started[-1]

    yield begin
    for serving in started:
        serving.close()


def test_the_server_ends_in_order_when_it_is_told(start: Start) -> None:
    clock = SystemClock()
    for number in (signal.SIGTERM, signal.SIGINT):
        serving = start().wait_until_up()
        serving.http.get("/healthz")  # a connection that is kept open
        told = clock.monotonic()
        assert serving.end(number) == 0, serving.said
        assert clock.monotonic() - told < 2 * SECOND * slowness()


def test_a_second_server_on_the_same_port_says_which(start: Start) -> None:
    first = start().wait_until_up()
    second = start(port=first.port)
    assert ended(second.process, 40) == AddressUnavailable.exit_status == 5
    assert str(first.port) in second.said
    assert "--port" in second.said
    assert first.http.get("/healthz").status_code == 200


def test_two_servers_on_the_same_database_both_work(start: Start) -> None:
    first, second = start().wait_until_up(), start().wait_until_up()
    with_tasks(first)
    number = first.submit()["id"]
    assert second.job(number)["state"] == "queued"


def test_a_foreign_address_ends_the_process_before_it_opens_the_store(start: Start, tmp_path: Path) -> None:
    serving = start(host="0.0.0.0")
    assert ended(serving.process, 40) == AddressRefused.exit_status == 4
    assert "0.0.0.0" in serving.said
    assert not (tmp_path / "main.db").exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.7"])
def test_loopback_is_listened_at_on_a_free_port(host: str) -> None:
    with listen(host, 0) as listener:
        address, port = listener.getsockname()
        assert address.startswith("127.")
        assert port > 0
        assert url(listener) == f"http://{address}:{port}"


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine does not speak IPv6")
def test_the_loopback_of_ipv6_is_listened_at() -> None:
    try:
        listener = listen("::1", 0)
    except AddressUnavailable:
        pytest.skip("this machine has no ::1")
    with listener:
        assert url(listener).startswith("http://[::1]:")


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_that_does_not_exist_is_refused(port: int) -> None:
    with pytest.raises(InvalidOption, match="0 to 65535"):
        listen("127.0.0.1", port)


def with_tasks(serving: Serving) -> None:
    """Let the catalog be known, without a worker that stays."""
    store = Store.open(serving.database)
    hand = HandWorker(store)
    hand.arrive()
    hand.leave()
    store.close()


def test_what_was_answered_survives_a_kill(start: Start) -> None:
    serving = start().wait_until_up()
    with_tasks(serving)
    answered: list[int] = []

    def submit_until_it_dies(_: int) -> None:
        with httpx2.Client(base_url=serving.url, trust_env=False, timeout=10) as http:
            while True:
                try:
                    answer = http.post(f"{API}/jobs", json={"task": "shop.echo"})
                except httpx2.TransportError:
                    return
                answered.append(answer.json()["id"])

    with ThreadPoolExecutor(8) as threads:
        done = threads.map(submit_until_it_dies, range(8))
        eventually(lambda: len(answered) > 100)
        serving.process.kill()
        list(done)
    again = start().wait_until_up()
    assert len(set(answered)) == len(answered)
    for number in answered:
        assert again.job(number)["state"] == "queued"


LOOPS = ("look-out", "retention", "log", "sweeper", "scheduler", "configuration", "roll-up", "bus", "webhooks")


def test_health_is_green_at_once_and_ready_once_a_worker_has_reported_its_tasks(start: Start) -> None:
    serving = start().wait_until_up()
    assert serving.http.get("/healthz").json() == {
        "status": "ok",
        "checks": dict.fromkeys(("store", *LOOPS), "ok"),
        "reason": None,
    }
    before = serving.http.get("/readyz")
    assert before.status_code == 503
    assert before.json()["status"] == "unavailable"
    assert "no live worker has reported its tasks" in before.json()["reason"]
    store = Store.open(serving.database)
    hand = HandWorker(store)
    hand.arrive()
    ready = serving.http.get("/readyz")
    assert (ready.status_code, ready.json()["checks"]["workers"]) == (200, "live: 1; tasks that they run: 2")
    hand.leave()
    assert serving.http.get("/readyz").status_code == 503
    store.close()


def test_health_is_red_while_the_store_takes_no_writes_and_green_again_after(start: Start, tmp_path: Path) -> None:
    serving = start().wait_until_up()
    stranger = sqlite3.connect(tmp_path / "main.db", isolation_level=None)
    stranger.execute("begin immediate")
    red = serving.http.get("/healthz")
    assert red.status_code == 503
    assert red.json()["checks"]["store"] == "did not answer within 2 s"
    assert "store" in red.json()["reason"]
    stranger.execute("rollback")
    stranger.close()
    assert eventually(lambda: serving.http.get("/healthz").status_code == 200)


def test_the_sweeper_of_the_server_brings_due_jobs_forward(start: Start) -> None:
    serving = start().wait_until_up()
    with_tasks(serving)
    number = serving.submit(delay="50ms")["id"]
    assert eventually(lambda: serving.job(number)["state"] == "queued", within=Duration(5 * SECOND))


def test_the_server_clears_ended_jobs_that_are_old_enough_by_itself(start: Start, tmp_path: Path) -> None:
    past = HandClock(Instant(SystemClock().now() - 8 * DAY))
    store = Store.open(f"sqlite:///{tmp_path}/main.db", clock=past)
    hand = HandWorker(store)
    hand.arrive()
    old = submit(store, [JobRequest("echo")] * 2, actor="client")[0].job
    assert hand.claim("shop") == old
    hand.end(old, Outcome.SUCCEEDED, result=b"3")
    past.forward()
    assert DirectClient(store).cancel(old + 1).state is State.CANCELLED
    store.close()
    serving = start().wait_until_up()
    young = serving.submit()["id"]
    assert eventually(lambda: serving.http.get(f"/api/v1/jobs/{old}").status_code == 404)
    assert serving.job(young)["state"] == "queued"


def test_a_loop_that_fails_says_so_in_the_log_of_the_server(start: Start, tmp_path: Path) -> None:
    past = HandClock(Instant(SystemClock().now() - 400 * DAY))
    store = Store.open(f"sqlite:///{tmp_path}/main.db", clock=past)
    HandWorker(store).arrive()
    for number in submit(store, [JobRequest("echo")] * 2, actor="client"):
        DirectClient(store).cancel(number.job)
        past.forward()
    store.close()
    stranger = sqlite3.connect(tmp_path / "main.db", isolation_level=None)
    stranger.execute("create trigger stranger before delete on job begin select raise(abort, 'hands off'); end")
    stranger.close()
    serving = start().wait_until_up()
    eventually(lambda: re.search(r"retention.*hands off.*Trying again in 0\.1 s\.", serving.said))
    assert serving.http.get("/healthz").status_code == 200, "for 10 s it may come right by itself"


def test_a_retry_is_brought_forward_without_any_worker(start: Start) -> None:
    serving = start().wait_until_up()
    store = Store.open(serving.database)
    hand = HandWorker(store)
    hand.arrive()
    number = serving.submit(retry=Retry(max_attempts=2, delay="10ms").document())["id"]
    assert hand.claim("shop") == number
    hand.end(number, Outcome.FAILED)
    assert eventually(lambda: serving.job(number)["state"] == "queued", within=Duration(5 * SECOND))
    store.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux to count switches")  # noqa: PTH112
def test_an_idle_server_sleeps(start: Start) -> None:
    """It wakes a few times a second: once to look for due jobs, once for uvicorn's date header."""
    serving = start().wait_until_up()
    serving.http.get("/healthz")

    def wakes() -> int:
        texts = [path.read_text() for path in Path(f"/proc/{serving.process.pid}/task").glob("*/status")]
        return sum(int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for text in texts)

    clock, least = SystemClock(), 1_000
    for _ in range(6):  # a minute may end in one of these spans, or the machine be busy: then it wakes more often
        before = wakes()
        clock.wait(Duration(3 * SECOND))
        least = min(least, wakes() - before)
        if least < 30:
            break
    assert least < 30
