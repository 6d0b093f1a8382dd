"""Pages of jobs, bounded in bytes too: a page of large jobs is cut short, and its cursor says where it goes on."""

from __future__ import annotations

import msgspec

from mainspring.client import Client
from mainspring.client.wire import job_wire
from mainspring.domain.job import JobFilter

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
    """A page of jobs, newest first, shorter than asked for where the jobs are large."""
    page = Page([], wanted.cursor)
    size, look = 0, _FIRST_LOOK
    while True:
        room = min(look, wanted.limit - len(page.items))
        found = client.jobs(msgspec.structs.replace(wanted, cursor=page.next, limit=room))
        fresh = [msgspec.Raw(msgspec.json.encode(job_wire(job))) for job in found.items]
        page.items += fresh
        page.next = found.next
        size += sum(len(memoryview(one)) for one in fresh)
        if page.next is None or len(page.items) >= wanted.limit or size >= PAGE_BYTES:
            return page
        look = _LARGEST_LOOK if size < _SMALL * len(page.items) else _FIRST_LOOK
