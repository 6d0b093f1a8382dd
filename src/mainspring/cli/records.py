"""``mainspring logs --system``: what servers and workers said of themselves, as the store has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec
from cyclopts import Parameter

from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.record_wire import record_wire
from mainspring.clock import SECOND, Duration, Instant, SystemClock, duration
from mainspring.domain.record import Record, RecordFilter, level_name
from mainspring.errors import of_field


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Records:
    """Which lines of the log of servers and workers."""

    level: Annotated[str | None, option("With --system: this level and worse.", "debug|info|warning|error")] = None
    process: Annotated[str | None, option("With --system: only of these.", "server|worker")] = None
    job: Annotated[int | None, option("With --system: only about this job.", "ID")] = None
    worker: Annotated[int | None, option("With --system: only of this worker.", "ID")] = None
    since: Annotated[str | None, option("With --system: not older than this.", "DURATION")] = None
    limit: Annotated[int | None, option("With --system: the newest lines, so many (default: 200).", "N")] = None


RECORDS = Records()


def shown(wanted: Records, access: Access, *, on: bool) -> int:
    """Show them; ``on``: and what comes, until one ends it."""
    clock = SystemClock()
    since = None if wanted.since is None else Instant(clock.now() - of_field("since", duration, wanted.since))
    asked = RecordFilter(
        level=wanted.level,
        process=wanted.process,
        job=wanted.job,
        worker=wanted.worker,
        since=since,
        limit=200 if wanted.limit is None else wanted.limit,
    )
    with access.client() as client:
        found = client.records(asked)
        if access.json and not on:
            show.as_json([record_wire(one) for one in found])
            return 0
        while True:
            for one in found:
                show.json_line(record_wire(one)) if access.json else show.line(_line(one))
            show.flush()
            if not on:
                return 0
            after = found[-1].seq if found else asked.after or 0
            asked = msgspec.structs.replace(asked, after=after)
            clock.wait(Duration(SECOND))
            found = client.records(asked)


def _line(one: Record) -> str:
    entry = one.entry
    about = " ".join(f"{name} {value}" for name, value in msgspec.structs.asdict(entry.bound).items() if value)
    text = looks.harmless(entry.message) if show.on_terminal() else entry.message
    who = f"{entry.process}[{entry.pid}]"
    return f"{looks.moment(entry.at)} {level_name(entry.level):<8} {who:<14} {entry.source}: {text}" + (
        f"  ({about})" if about else ""
    )
