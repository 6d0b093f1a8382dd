"""A server that dies around a commit: what was not durable never was, what was durable is there once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from mainspring.faults import FaultPoint
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually


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
    assert serving.process.wait(10) == -9
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
    assert serving.process.wait(10) == -9
    assert start().job(number)["state"] == state


def test_a_sweep_that_raised_goes_on(start: Callable[..., Serving]) -> None:
    serving = start(f"{FaultPoint.SWEEP_AFTER_READ}=raise@1")
    declare(serving)
    number = serving.submit(delay="10ms")["id"]
    assert eventually(lambda: serving.job(number)["state"] == "queued")
    assert serving.http.get("/healthz").status_code == 200
