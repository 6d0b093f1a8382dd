"""The trace that code is in, where the program uses OpenTelemetry: told with submits, and entered by jobs.

It is looked for among the modules that the program has imported, so that nobody pays for it who has not.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from mainspring.domain.span import TAG

_API = "opentelemetry.trace"


def is_used() -> bool:
    """Whether this program has imported OpenTelemetry."""
    return _API in sys.modules


def in_trace(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a submit, with the trace of the calling code as a tag, unless they name one."""
    found = here() if is_used() else None
    tags = fields.get("tags") or {}
    return dict(fields) if found is None or TAG in tags else {**fields, "tags": {**tags, TAG: found}}


def here() -> str | None:
    """The trace and span that the calling code is in, as W3C writes it; None outside any."""
    span = sys.modules[_API].get_current_span().get_span_context()
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}" if span.is_valid else None


def enter(traceparent: str) -> None:
    """Spans that are begun from now on in this context are below this one."""
    api = sys.modules[_API]
    _, trace, span, flags = traceparent.split("-")
    within = api.SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=api.TraceFlags(int(flags, 16)))
    sys.modules["opentelemetry.context"].attach(api.set_span_in_context(api.NonRecordingSpan(within)))
