"""Pages of lists. Those of jobs are bounded in bytes too: a page of large ones is cut short, and its cursor goes on.

Lists of what there are few of are read whole, and parted here by what they are in the order of.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from mainspring.client import Client
from mainspring.client.wire import job_wire
from mainspring.domain.job import JobFilter
from mainspring.errors import InvalidCursor
from mainspring.server.exchange import Answer, Asked

T = TypeVar("T")
Place = tuple[str | int, ...]
"""Where something stands in a list: what the list is in the order of."""

QUERY = ("cursor", "limit")
"""What the query of such a list may have."""

_MOST = 1_000

PAGE_BYTES = 8 * 1_048_576
"""A page is ended by the look that passes this size."""

_FIRST_LOOK, _LARGEST_LOOK = 10, 100
_SMALL = 4096
"""Bytes of a job in whose company many more may be looked at together."""


class Page(msgspec.Struct):
    """Jobs in their wire form, written already, and the cursor of the next page."""

    items: list[msgspec.Raw]
    next: str | None


def job_page(client: Client, wanted: JobFilter) -> Page:
    """A page of jobs, newest first, shorter than asked for where they are large, or few of very many."""
    page = Page([], wanted.cursor)
    size, look = 0, _FIRST_LOOK
    while True:
        room = min(look, wanted.limit - len(page.items))
        found = client.jobs(msgspec.structs.replace(wanted, cursor=page.next, limit=room))
        fresh = [msgspec.Raw(msgspec.json.encode(job_wire(job))) for job in found.items]
        page.items += fresh
        page.next = found.next
        size += sum(len(memoryview(one)) for one in fresh)
        if page.next is None or len(found.items) < room or len(page.items) >= wanted.limit or size >= PAGE_BYTES:
            return page
        look = _LARGEST_LOOK if size < _SMALL * len(page.items) else _FIRST_LOOK


def paged(asked: Asked, found: Iterable[T], wire: Callable[[T], dict[str, Any]], place: Callable[[T], Place]) -> Answer:
    """A page of a list in the order of ``place``, behind the cursor. Raises InvalidCursor, InvalidInput."""
    items = sorted(found, key=place)
    limit = asked.whole("limit", _MOST, 1, _MOST)
    cursor = asked.query.get("cursor")
    if cursor is not None:
        try:
            items = items[bisect_right(items, _read(cursor), key=place) :]
        except (binascii.Error, ValueError, TypeError, msgspec.MsgspecError) as error:
            raise InvalidCursor(
                f"{cursor[:40]!r} is not a cursor of this list.", remedy="Pass back what 'next' said.", field="cursor"
            ) from error
    more = _written(place(items[limit - 1])) if len(items) > limit else None
    return Answer(200, {"items": [wire(one) for one in items[:limit]], "next": more})


def _written(place: Place) -> str:
    return urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _read(cursor: str) -> Place:
    data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    return msgspec.json.decode(data, type=tuple[str | int, ...])
