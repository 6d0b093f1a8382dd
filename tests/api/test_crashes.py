"""A server that dies around a commit: what was not durable never was, what was durable is there once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mainspring.clock import Instant, SystemClock, instant_text
from mainspring.faults import FaultPoint
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.patience import ended


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Serving]]:
    """Starts servers with faults armed."""
    started: list[Serving] = []

    def begin(faults: str = "") -> Serving:
        started.append(Serving(tmp_path, faults=faults))
        return started[-1].wait_until_up()

    yield begin
    for serving in started:
        serving.close()


def declare(serving: Serving) -> None:
    store = Store.open(serving.database)
    HandWorker(store).arrive()
    store.close()


@pytest.mark.parametrize(
    ("point", "there"), [(FaultPoint.SUBMIT_BEFORE_COMMIT, 0), (FaultPoint.SUBMIT_AFTER_COMMIT, 1)]
)
def test_a_submit_that_was_cut_off(start: Callable[..., Serving], point: FaultPoint, there: int) -> None:
    serving = start(f"{point}=kill")
    declare(serving)
    with pytest.raises(httpx2.TransportError):
        serving.submit(tags={"cut": "off"})
    assert ended(serving.process, 40) == -9
    again = start()
    assert len(again.http.get(f"{API}/jobs").json()["items"]) == there


@pytest.mark.parametrize(
    ("point", "state"), [(FaultPoint.CANCEL_BEFORE_COMMIT, "queued"), (FaultPoint.CANCEL_AFTER_COMMIT, "cancelled")]
)
def test_a_cancel_that_was_cut_off(start: Callable[..., Serving], point: FaultPoint, state: str) -> None:
    serving = start(f"{point}=kill")
    declare(serving)
    number = serving.submit()["id"]
    with pytest.raises(httpx2.TransportError):
        serving.http.post(f"{API}/jobs/{number}/cancel")
    assert ended(serving.process, 40) == -9
    assert start().job(number)["state"] == state


def test_a_sweep_that_raised_goes_on(start: Callable[..., Serving]) -> None:
    serving = start(f"{FaultPoint.SWEEP_AFTER_READ}=raise@1")
    declare(serving)
    number = serving.submit(delay="10ms")["id"]
    assert eventually(lambda: serving.job(number)["state"] == "queued")
    assert serving.http.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "point", [FaultPoint.FIRE_AFTER_READ, FaultPoint.FIRE_BEFORE_COMMIT, FaultPoint.FIRE_AFTER_COMMIT]
)
def test_a_firing_that_was_cut_off_is_taken_over_by_another_server_once(
    start: Callable[..., Serving], tmp_path: Path, point: FaultPoint
) -> None:
    serving = start()
    declare(serving)
    soon = SystemClock().now() + 5_000_000  # all are made before it, and the server has ended, on a busy machine too
    names = [f"at-{number}" for number in range(5)]
    for name in names:
        body = {"name": name, "task": "echo", "at": instant_text(Instant(soon))}
        assert serving.http.post(f"{API}/schedules", json=body).status_code == 201
    assert serving.end() == 0
    assert eventually(lambda: SystemClock().now() > soon)
    dying = Serving(tmp_path, faults=f"{point}=kill@1")
    assert ended(dying.process, 30) == -9
    other = start()

    def fired() -> list[dict[str, Any]] | None:
        ticks = [other.http.get(f"{API}/schedules/{name}/ticks").json()["items"] for name in names]
        return [one for of in ticks for one in of] if all(ticks) else None

    ticks = eventually(fired) or []
    assert [tick["outcome"] for tick in ticks] == ["fired"] * 5
    jobs = other.http.get(f"{API}/jobs").json()["items"]
    assert sorted(job["id"] for job in jobs) == sorted(tick["job"] for tick in ticks)
