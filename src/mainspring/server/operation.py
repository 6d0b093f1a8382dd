"""What a route tells readers of the OpenAPI document: its answers and its body, by the names of their schemas.

Values only; openapi.py makes the document of them, and a test holds every answer against it. Each route must have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

JSON = "application/json"
HTML = "text/html"
PLAIN = "text/plain"
STREAM = "text/event-stream"

Schema = dict[str, Any]
"""A JSON Schema."""


class Page(NamedTuple):
    """A list: ``items``, each of the named schema, and ``next``."""

    of: str


class Operation(NamedTuple):
    """What a route takes and gives.

    ``answers``: what each status of success brings, the name of a schema in schemas/ or a Page of it; ``body``: the
    name of the body's schema, where it takes one; ``media``: of the answers, more than one where the query decides;
    ``values``: schemas of values in its path and query that are not what these names mean elsewhere (schemas/query.py).
    Refusals need no telling: which there are follows from the route's access and path.
    """

    answers: Mapping[int, str | Page]
    body: str | None = None
    media: tuple[str, ...] = (JSON,)
    values: Mapping[str, Schema] = {}


def gives(
    answer: str | Page, *, body: str | None = None, status: int = 200, values: Mapping[str, Schema] | None = None
) -> Operation:
    """The operation of a route with one status of success."""
    return Operation({status: answer}, body, values=values or {})
