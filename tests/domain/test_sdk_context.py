"""What a running job knows and says of itself."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import os
import signal
import threading
from typing import Any

import pytest

from mainspring import Context, current
from mainspring.clock import SECOND, Duration, SystemClock
from mainspring.errors import InvalidDuration, InvalidJson, InvalidOption, InvalidText, PayloadTooLarge
from mainspring.sdk.context import running
from mainspring.sdk.waiting import in_thread


class Reports(list[bytes]):
    """The reports of a context, oldest first."""

    @property
    def said(self) -> list[Any]:
        return [json.loads(data) for data in self]


def told(job_id: int = 7, earlier: bytes = b"null") -> tuple[Context, Reports]:
    reports = Reports()
    return Context(job_id=job_id, attempt=2, task="shop.task", earlier=earlier, report=reports.append), reports


def test_it_knows_its_job() -> None:
    context, _ = told()
    assert (context.job_id, context.attempt, context.task, context.detached) == (7, 2, "shop.task", False)


def test_progress_and_heartbeat_are_told_together_and_each_keeps_the_other() -> None:
    context, reports = told()
    context.progress(1, 4, "reading")
    context.heartbeat({"at": 10})
    context.progress(2, 4)
    context.progress(2.5)
    assert reports.said == [
        {"done": 1, "total": 4, "note": "reading"},
        {"done": 1, "total": 4, "note": "reading", "details": {"at": 10}},
        {"details": {"at": 10}, "done": 2, "total": 4},
        {"details": {"at": 10}, "done": 2.5},
    ]
    assert context.details == {"at": 10}


def test_details_of_the_attempt_before_are_there_until_this_one_says_more() -> None:
    earlier = b'{"done":3,"total":9,"details":[1,2]}'
    context, reports = told(earlier=earlier)
    assert context.details == [1, 2]
    context.progress(0)
    assert reports.said == [{"details": [1, 2], "done": 0}], "an older progress is not shown as this attempt's"
    context.heartbeat(None)
    assert context.details is None


@pytest.mark.parametrize("earlier", [b"", b"null", b"{}", b"[1]", b'{"done":1}'])
def test_without_earlier_details_there_are_none(earlier: bytes) -> None:
    assert told(earlier=earlier)[0].details is None


def test_what_can_not_be_stored_is_refused_and_changes_nothing() -> None:
    context, reports = told()
    for wrong in ("1", None, True, float("nan"), float("inf")):
        with pytest.raises(InvalidOption, match="progress done is"):
            context.progress(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="progress total is '9'"):
        context.progress(1, "9")  # type: ignore[arg-type]
    with pytest.raises(InvalidText, match=r"details\.note holds a NUL"):
        context.progress(1, 2, "a\0")
    with pytest.raises(InvalidJson):
        context.heartbeat(object())
    with pytest.raises(PayloadTooLarge, match="the limit is 65,536"):
        context.heartbeat("x" * 65_536)
    assert reports.said == []
    assert context.details is None


def test_the_log_is_a_standard_logger_of_the_task(caplog: pytest.LogCaptureFixture) -> None:
    context, _ = told()
    with caplog.at_level(logging.INFO):
        context.log.info("sent %d", 3)
    assert [(record.name, record.getMessage()) for record in caplog.records] == [("shop.task", "sent 3")]


def test_outside_a_job_the_current_context_is_detached_and_reports_to_nobody() -> None:
    assert current().detached
    assert (current().job_id, current().attempt, current().cancelled) == (0, 0, False)
    current().progress(1, 2)
    assert current().log.name == "mainspring.task"


def test_the_current_context_follows_the_code() -> None:
    context, _ = told()
    other, _ = told(job_id=8)

    async def job(mine: Context) -> list[Context]:
        with running(mine):
            await asyncio.to_thread(lambda: None)  # a moment for the other
            child = await asyncio.create_task(ask())
            return [current(), child, await asyncio.to_thread(current), await in_thread(current)]

    async def ask() -> Context:
        return current()

    async def both() -> list[list[Context]]:
        return list(await asyncio.gather(job(context), job(other)))

    assert asyncio.run(both()) == [[context] * 4, [other] * 4]
    assert current().detached


def test_a_thread_by_hand_sees_it_when_it_is_handed_on() -> None:
    context, _ = told()
    seen: list[Context] = []
    with running(context):
        inside = contextvars.copy_context()
        threads = [
            threading.Thread(target=lambda: seen.append(current())),
            threading.Thread(target=lambda: seen.append(inside.run(current))),
        ]
        for thread in threads:
            thread.start()
            thread.join()
    assert seen[0].detached
    assert seen[1] is context


def test_it_is_restored_after_an_error() -> None:
    context, _ = told()
    with pytest.raises(KeyError), running(context):
        raise KeyError
    assert current().detached


# --- being asked to stop -------------------------------------------------------------------------------------------


def test_a_wait_ends_by_itself_or_when_the_attempt_is_asked_to_stop() -> None:
    context, _ = told()
    assert context.wait("1ms") is False
    assert not context.cancelled
    clock = SystemClock()
    began = clock.monotonic()
    answers: list[bool] = []
    waiter = threading.Thread(target=lambda: answers.append(context.wait("1h")))
    waiter.start()
    context.ask_to_stop()
    waiter.join(20)
    assert answers == [True]
    assert context.cancelled
    assert context.wait("1h") is True, "it does not wait once it was asked"
    assert clock.monotonic() - began < 20 * SECOND


def test_a_signal_handler_may_ask_while_the_same_thread_waits() -> None:
    context, _ = told()
    before = signal.signal(signal.SIGUSR1, lambda *_: context.ask_to_stop())
    try:
        sender = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR1))
        sender.start()
        assert context.wait("20s") is True
        sender.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("wrong", ["soon", -1, None])
def test_a_wait_takes_a_duration(wrong: Any) -> None:
    with pytest.raises(InvalidDuration):
        told()[0].wait(wrong)


def test_the_detached_context_can_wait_too() -> None:
    clock = SystemClock()
    began = clock.monotonic()
    assert Context().wait(Duration(0)) is False
    assert clock.monotonic() - began < 20 * SECOND
