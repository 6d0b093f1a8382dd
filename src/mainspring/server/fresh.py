"""Answers that somebody has already: a list that is asked for again and again is sent again only when it has changed.

The tag of an answer is a digest of its bytes, so that it is the same on every server.
"""

from __future__ import annotations

from hashlib import blake2b

from mainspring.server.exchange import Access, Entry
from mainspring.server.operation import JSON, Page

HEADERS = {"cache-control": "private, no-cache", "vary": "authorization, cookie"}
"""Of an answer with a tag: it may be kept by who asked, and is asked for again each time."""


def is_list(entry: Entry) -> bool:
    """Whether a route answers with a list that has a tag."""
    shapes = entry.tells.answers.values()
    return entry.access is Access.READ and JSON in entry.tells.media and any(isinstance(one, Page) for one in shapes)


def tag(data: bytes) -> str:
    """The tag of an answer."""
    return f'"{blake2b(data, digest_size=16).hexdigest()}"'


def has(given: str | None, wanted: str) -> bool:
    """Whether the tags of an If-None-Match header name this one."""
    return given is not None and any(one.strip().removeprefix("W/") in {wanted, "*"} for one in given.split(","))
