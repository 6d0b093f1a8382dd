"""What a type checker knows of declarations, calls and submits. Lines with an ignore must be errors without it."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, assert_type

import psycopg

from mainspring import Context, Event, Handle, Mainspring, Retry, State, Unique, current, errors
from mainspring.domain.attempt import Attempt
from mainspring.domain.logline import LogLine

app = Mainspring("shop", queue="main", database_url="sqlite:///x.db")


@app.task
async def send_receipt(order_id: int, *, copy: bool = False) -> dict[str, int]:
    """An async function, bare."""
    return {"order": order_id}


@app.task(queue="mail", retry=Retry(max_attempts=5, delay="1s", retry_on=[ConnectionError, "Timeout"]), timeout="30s")
def resize(path: str, width: int = 100) -> bytes:
    """A plain function, with options."""
    return b""


@app.task(sandbox="S1", grace=timedelta(seconds=1), priority=1, name="crunch", description="Crunches.")
def crunch(ctx: Context, path: str) -> int:
    """The Context stands first, so that checkers can leave it out."""
    assert_type(ctx.job_id, int)
    assert_type(ctx.cancelled, bool)
    assert_type(ctx.details, Any)
    ctx.progress(1, 2, "half")
    return len(path)


@app.task
async def acrunch(ctx: Context, path: str) -> int:
    """The same, async."""
    return ctx.attempt


@app.task
def nothing() -> None:
    """No parameters, no result."""


def calls() -> None:
    """A plain call is the function's own."""
    sending: Coroutine[Any, Any, dict[str, int]] = assert_type(send_receipt(7), Coroutine[Any, Any, dict[str, int]])
    assert_type(resize("x", width=3), bytes)
    assert_type(crunch("x"), int)
    crunching: Coroutine[Any, Any, int] = assert_type(acrunch(path="x"), Coroutine[Any, Any, int])
    _ = sending, crunching
    resize(5)  # type: ignore[arg-type]
    resize("x", height=3)  # type: ignore[call-arg]
    crunch()  # type: ignore[call-arg]


def submits() -> None:
    """A submit takes the function's parameters, without the Context."""
    assert_type(send_receipt.submit(order_id=7), Handle[dict[str, int]])
    assert_type(send_receipt.submit(7, copy=True), Handle[dict[str, int]])
    assert_type(resize.submit("x", 3).result(timeout=30), bytes)
    assert_type(crunch.submit(path="x").result(), int)
    assert_type(acrunch.submit("x"), Handle[int])
    assert_type(nothing.submit(), Handle[None])
    assert_type(resize.submit_many([{"path": "x"}, {"path": "y", "width": 2}]), list[Handle[bytes]])
    send_receipt.submit(order_id="7")  # type: ignore[call-overload]
    send_receipt.submit()  # type: ignore[call-overload]
    send_receipt.submit(7, True)  # type: ignore[call-overload]
    crunch.submit(path="x", ctx=current())  # type: ignore[call-overload]
    resize.submit_many([1])  # type: ignore[list-item]


async def submits_inside_a_transaction(conn: psycopg.Connection, aconn: psycopg.AsyncConnection) -> None:
    """The connection stands beside the parameters, or in the options, where the parameters stay checked."""
    assert_type(send_receipt.submit(order_id=7, connection=conn), Handle[dict[str, int]])
    assert_type(await send_receipt.asubmit(order_id=7, connection=aconn), Handle[dict[str, int]])
    assert_type(resize.options(priority=1).submit("x", connection=conn), Handle[bytes])
    assert_type(resize.options(connection=conn).submit("x"), Handle[bytes])
    assert_type(resize.submit_many([{"path": "x"}], connection=conn), list[Handle[bytes]])
    resize.options(connection=conn).submit(5)  # type: ignore[call-overload]


def options() -> None:
    """Options of a submit keep the types of the task."""
    later = resize.options(priority=1, delay="10m", tags={"team": "mail"}, retry=Retry(max_attempts=1))
    assert_type(later.submit("x"), Handle[bytes])
    assert_type(later.options(run_at=datetime(2030, 1, 1, tzinfo=UTC)).submit_many([]), list[Handle[bytes]])
    assert_type(crunch.options(meta=[1]).submit("x"), Handle[int])
    later.submit(5)  # type: ignore[call-overload]
    resize.options(prio=1)  # type: ignore[call-arg]
    resize.options(priority="high")  # type: ignore[arg-type]
    resize.options(unique="key").options(unique=Unique("key", while_="waiting"))
    resize.options(unique=7)  # type: ignore[arg-type]
    Unique("key", on_conflict="refuse")  # type: ignore[arg-type]
    app.task(queu="mail")  # type: ignore[call-overload]
    app.task(memory="1GiB")  # type: ignore[call-overload]


def handles(job: Handle[bytes]) -> None:
    """What a handle gives."""
    assert_type(job.id, int)
    assert_type(job.state, State)
    assert_type(job.refresh(), Handle[bytes])
    assert_type(job.cancel(), Handle[bytes])
    assert_type(job.retry(), Handle[bytes])
    assert_type(job.logs(), list[LogLine])
    assert_type(job.attempts(), list[Attempt])
    assert_type(app.job(5), Handle[Any])
    for event in job.watch(after=5):
        assert_type(event, Event)
    for event in app.events(["dead"], after=1, follow=False):
        assert_type(event, Event)
    job.result(timeout=[1])  # type: ignore[arg-type]


async def in_async_code() -> None:
    """The a- forms."""
    job = await send_receipt.asubmit(order_id=7)
    assert_type(job, Handle[dict[str, int]])
    assert_type(await job.aresult(timeout="5s"), dict[str, int])
    assert_type(await resize.options(priority=1).asubmit("x"), Handle[bytes])
    assert_type(await resize.asubmit_many([{"path": "x"}]), list[Handle[bytes]])
    async for event in job.awatch():
        assert_type(event, Event)
    async for event in app.aevents():
        assert_type(event, Event)
    await send_receipt.asubmit(order_id="x")  # type: ignore[call-overload]


def commands() -> None:
    """Parameters of a command are checked when it is submitted, not by a type checker."""
    backup = app.command("backup", ["tar", "-czf", "{dest}", "{src}"], params={"src": str, "dest": str}, timeout="1h")
    assert_type(backup.submit(src="a", dest="b"), Handle[Any])
    app.command("backup", "tar -czf", pqrams={})  # type: ignore[call-arg]


def front_door() -> None:
    """Names that are there, and one that is not."""
    assert_type(current(), Context)
    _ = errors.JobDead
    from mainspring import Nonsense  # type: ignore[attr-defined]

    _ = Nonsense


@app.task
def last(path: str, ctx: Context) -> int:
    """A Context that does not stand first works too, but checkers ask for it: use ``current()`` there."""
    return ctx.job_id


last.submit(path="x")  # type: ignore[call-overload]
