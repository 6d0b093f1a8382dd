"""Errors as problem documents (RFC 9457). The table of statuses is in errors; this only writes it down."""

from __future__ import annotations

from typing import Any

from mainspring.errors import (
    IllegalState,
    KeyHeld,
    MainspringError,
    MethodNotAllowed,
    TooBusy,
    Unauthenticated,
)
from mainspring.request import current
from mainspring.server.exchange import Answer

PROBLEM = "application/problem+json"
_TYPE = "urn:mainspring:error:"


def problem(error: MainspringError) -> Answer:
    """The answer for an error: ``code`` is stable, ``field`` and ``remedy`` stand where there is something to say."""
    document: dict[str, Any] = {
        "type": f"{_TYPE}{error.code}",
        "title": error.code.replace("_", " ").capitalize(),
        "status": error.http_status,
        "detail": error.message if error.index is None else f"Item {error.index}: {error.message}",
        "code": error.code,
    }
    if error.index is not None:
        document["index"] = error.index
    if error.field:
        document["field"] = error.field
    if error.remedy:
        document["remedy"] = error.remedy
    if request := current():
        document["request"] = request
    if isinstance(error, IllegalState):
        document["state"] = error.state
    if isinstance(error, KeyHeld) and error.job:
        document["job"] = error.job
    return Answer(error.http_status, document, _headers(error))


def fault(reference: str) -> Answer:
    """The answer for an error that is ours: it says nothing of our insides, the log has them under the reference."""
    return problem(
        MainspringError(
            f"The server made a mistake; its log says more under {reference}.",
            remedy="Nothing of it is your fault. Please report it with the lines of the log.",
        )
    )


def _headers(error: MainspringError) -> dict[str, str]:
    headers = {"content-type": PROBLEM}
    if isinstance(error, MethodNotAllowed):
        headers["allow"] = ", ".join(error.allowed)
    if isinstance(error, TooBusy):
        headers["retry-after"] = str(error.retry_after)
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = "Bearer"
    return headers
