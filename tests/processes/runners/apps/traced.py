"""An app that uses OpenTelemetry: its jobs say in which trace they are."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from opentelemetry import trace

from mainspring import Context, Mainspring

app = Mainspring("traced")


def place() -> str:
    span = trace.get_current_span().get_span_context()
    return f"{span.trace_id:032x}-{span.span_id:016x}"


@app.task
async def look(ctx: Context) -> list[Any]:
    await asyncio.sleep(0)
    return [place(), ctx.traceparent]


@app.task
def look_thread(ctx: Context) -> list[Any]:
    return [place(), ctx.traceparent]


@app.task(sandbox="S1")
def look_process(ctx: Context) -> list[Any]:
    return [place(), ctx.traceparent if ctx.traceparent == os.environ["TRACEPARENT"] else ""]


@app.task
def hand_on() -> None:
    look.submit()
