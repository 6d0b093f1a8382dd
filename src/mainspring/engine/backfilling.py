"""What one scheduler decides of one backfill in one turn. No statement is run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from mainspring.clock import Instant
from mainspring.domain.backfill import to_make
from mainspring.domain.plan import Ready
from mainspring.domain.timetable import Outcome, ScheduleId
from mainspring.errors import MainspringError
from mainspring.store import rows
from mainspring.store.schedules import Filling, Flight, Kept
from mainspring.store.ticks import Record
from mainspring.transitions.fired import Decided, Firing
from mainspring.transitions.prepared import Prepared
from mainspring.transitions.run_births import PreparedRun
from mainspring.transitions.ticking import made_by


def origin_of(filling: Filling) -> str:
    """What the ticks of a backfill are said to come from."""
    return f"backfill-{filling.id}"


def in_turn(open_: Sequence[Filling], nominal: Mapping[ScheduleId, Instant | None]) -> list[Filling]:
    """Those that may go on: where others may still make a tick of theirs, they wait until it is known.

    That are regular ticks which are due and not decided, and older backfills of ticks that they have in common.
    ``open_``: by age; ``nominal``: the next regular tick of each schedule that is there.
    """
    found: list[Filling] = []
    for number, one in enumerate(open_):
        if one.schedule not in nominal:
            continue
        following = nominal[one.schedule]
        undecided = following is not None and following <= one.last
        behind = any(
            other.schedule == one.schedule and other.first <= one.last and one.first <= other.last
            for other in open_[:number]
        )
        if one.again or not (undecided or behind):
            found.append(one)
    return found


def fill(  # noqa: PLR0913 - what was seen
    filling: Filling,
    kept: Kept,
    ready: Ready,
    prepared: Prepared | PreparedRun | str,
    *,
    flights: Sequence[Flight],
    fired: AbstractSet[Instant],
    now: Instant,
    actor: str,
) -> Decided | None:
    """The next jobs or runs of a backfill, as many as there is room for; None where nothing is to be written."""
    over = tuple(flight for flight in flights if flight.over)
    room = filling.at_once - (len(flights) - len(over))
    if room <= 0:
        return None
    gone = kept.removed_at is not None or isinstance(prepared, str)
    left = None if filling.most is None else filling.most - filling.made
    try:
        ticks = to_make(
            ready.rule,
            filling.first,
            filling.last,
            fired=fired,
            newest_first=filling.newest_first,
            place=filling.place,
            most=left,
        )
    except MainspringError:
        gone, ticks = True, []  # its schedule has another rule by now, of which there are too many
    origin, firings = origin_of(filling), []
    for tick in ticks[:room]:
        if gone or isinstance(prepared, str):
            break
        record = Record(kept.id, tick, origin, 1, tick, Outcome.FIRED, None, None, None, now, actor)
        firings.append(Firing(record, prepared, rows.text(made_by(kept, origin, tick))))
    done = gone or len(firings) == len(ticks)
    if not (firings or done):
        return None
    return Decided(
        new=tuple(firing.record for firing in firings),
        firings=tuple(firings),
        ended=over,
        filling=filling,
        place=firings[-1].record.nominal if firings else filling.place,
        filled=done,
    )
