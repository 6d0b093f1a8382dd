"""What happens, as it happens: GET /events, one ordered stream of server-sent events over the history in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.client.operating import ServingClient
from mainspring.clock import Clock
from mainspring.domain.event import Happening
from mainspring.domain.ids import LARGEST
from mainspring.domain.kinds import checked_kinds, is_one_of
from mainspring.errors import InvalidCursor
from mainspring.server.exchange import Access, Answer, Asked, Entry, Piece, Reach, Stream
from mainspring.server.feed import PAGE, Feed, Told
from mainspring.server.operation import STREAM, Operation, gives
from mainspring.server.stream import place

_UNTOLD = 1000
"""So many events that a listener did not want may pass before it is told how far it is."""


class Wanted(NamedTuple):
    """Which events somebody listens to. None and no kinds: all."""

    job: int | None = None
    run: int | None = None
    queue: str | None = None
    kinds: tuple[str, ...] = ()

    def has(self, one: Happening) -> bool:
        """Whether this is one of them."""
        return (
            (self.job is None or one.job == self.job)
            and (self.run is None or one.run == self.run)
            and (self.queue is None or one.queue == self.queue)
            and (not self.kinds or is_one_of(one, self.kinds))
        )


_ALL = Wanted()


class EventRoutes:
    """The stream, for whoever listens."""

    def __init__(self, client: ServingClient, clock: Clock) -> None:
        self._feed = Feed(client, clock)

    def entries(self) -> list[Entry]:
        """The routes."""
        tells = Operation({200: "Text"}, media=(STREAM,))
        return [
            Entry(
                "GET",
                "/api/v1/events",
                Access.READ,
                self.live,
                tells,
                ("job", "run", "queue", "kind", "cursor"),
                reach=Reach.ASKED,
            ),
            Entry("GET", "/api/v1/events/newest", Access.READ, self.newest, gives("EventCursor")),
        ]

    def newest(self, _: Asked) -> Answer:
        """The newest cursor: from there on one sees only what comes."""
        return Answer(200, {"cursor": str(self._feed.newest())})

    def live(self, asked: Asked) -> Answer:
        """Events behind the cursor, or from now on, for as long as somebody listens."""
        asked.keep(asked.query.get("queue"))
        wanted = Wanted(
            asked.whole("job", 0, 1, LARGEST) or None,
            asked.whole("run", 0, 1, LARGEST) or None,
            asked.query.get("queue"),
            _kinds(asked),
        )
        newest = self._feed.newest()
        resumes = "cursor" in asked.query or "last-event-id" in asked.headers
        after = asked.resumed if resumes else newest
        if after > newest:
            raise InvalidCursor(
                f"Nothing has happened up to {after} yet; the newest cursor is {newest}.",
                remedy="Begin without a cursor. Was the database replaced?",
                field="cursor",
            )
        listening = _Listening(self._feed, wanted, after)
        return Answer(200, Stream(listening.look, listening.at_hand))


class _Listening:
    """How far one listener is. All that is kept for it is a number: it reads on when it has taken what it got."""

    def __init__(self, feed: Feed, wanted: Wanted, after: int) -> None:
        self._feed = feed
        self._wanted = wanted
        self._after = after
        self._told = -1

    def at_hand(self) -> Piece | None:
        """What is new for it, where that is in memory."""
        found = self._feed.held(self._after)
        return None if found is None else self._piece(found)

    def look(self) -> Piece:
        """What is new for it."""
        return self._piece(self._feed.after(self._after))

    def _piece(self, found: Sequence[Told]) -> Piece:
        if found:
            self._after = found[-1].happening.seq
        mine = found if self._wanted == _ALL else [one for one in found if self._wanted.has(one.happening)]
        data = b"".join([one.data for one in mine])
        if mine:
            self._told = mine[-1].happening.seq
        if self._told < 0 or self._after - self._told >= _UNTOLD:
            data += place(self._after)
            self._told = self._after
        return Piece(data, more=len(found) == PAGE)


def _kinds(asked: Asked) -> tuple[str, ...]:
    """The kinds in the query, parted by commas. Raises InvalidInput for one that there is not."""
    text = asked.query.get("kind")
    return () if text is None else checked_kinds(text.split(","), "kind")
