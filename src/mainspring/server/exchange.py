"""A request and its answer as values, and what a route declares about itself.

Handlers are plain functions from Asked to Answer; only web.py knows that there is a network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from mainspring.domain.access import ANYBODY, Asker, Role
from mainspring.domain.ids import LARGEST, JobId, job_id
from mainspring.domain.listing import checked_cursor, out_of_range
from mainspring.errors import OutOfReach, UnknownJob, UnknownWorker
from mainspring.server.operation import Operation

_LONGEST_SHOWN = 40


class Access(Enum):
    """Who may do what at a route. A route without one can't be written: what is not declared is refused."""

    PROBE = "probe"  # health: must answer when everything else is stuck
    READ = "read"
    CHANGE = "change"  # takes a JSON body
    ACT = "act"  # changes by its address alone; the body may be left out
    DOOR = "door"  # signing in: takes a JSON body of whoever comes


class Reach(Enum):
    """What a route is about, for askers who are kept to some queues. A route that does not say is not for them."""

    ALL = "all"  # of all queues, or it can't be told
    NOTHING = "nothing"  # of no queue
    QUEUE = "queue"  # of the queue that the path names
    JOB = "job"  # of the queue of the job that the path names
    ASKED = "asked"  # of those that the request names: the handler calls Asked.keep for each


TAKES_BODY = frozenset({Access.CHANGE, Access.ACT, Access.DOOR})
MUST_HAVE_BODY = frozenset({Access.CHANGE, Access.DOOR})

_NEEDS = {
    Access.PROBE: None,
    Access.DOOR: None,
    Access.READ: Role.VIEWER,
    Access.CHANGE: Role.OPERATOR,
    Access.ACT: Role.OPERATOR,
}


class Asked(NamedTuple):
    """What a handler sees: the values in the path, the query, the headers (lower case) and the whole body.

    ``asker``: who asks; ``address``: from where, an empty text where that is not known.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    asker: Asker = ANYBODY
    address: str = ""

    @property
    def actor(self) -> str:
        """Who events and the audit trail say that it was: ``deploy@10.0.0.7``."""
        return self.asker.name if self.asker is ANYBODY else f"{self.asker.name}@{self.address}"

    @property
    def traceparent(self) -> str:
        """The trace that the request comes in, as W3C writes it; an empty text without one."""
        return self.headers.get("traceparent", "")

    def keep(self, queue: str | None) -> None:
        """Raise OutOfReach where the asker is kept to other queues; None: the request names none."""
        if self.asker.queues is not None and (queue is None or not self.asker.reaches(queue)):
            asked = "all queues" if queue is None else f"the queue {queue[:80]!r}"
            raise OutOfReach(
                f"This is about {asked}; {self.asker.name} is kept to: {', '.join(self.asker.queues)}.",
                remedy="Name one of these queues.",
                field="queue",
            )

    @property
    def job(self) -> JobId:
        """The job that the path names. Raises UnknownJob for what can't be an id."""
        text = self.path["id"]
        number = job_id(text) if text.isascii() and text.isdigit() else None
        if number is None:
            raise UnknownJob(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")
        return number

    @property
    def worker(self) -> int:
        """The worker that the path names. Raises UnknownWorker for what can't be an id."""
        text = self.path["id"]
        if not text.isascii() or not text.isdigit() or int(text[:20]) > LARGEST:
            raise UnknownWorker(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")
        return int(text)

    @property
    def cursor(self) -> int:
        """Where a list of events or lines goes on; 0 from its start. Raises InvalidCursor."""
        return checked_cursor(self.query.get("cursor", "0"))

    @property
    def resumed(self) -> int:
        """Where a stream goes on: what a browser says that it has seen last, else the cursor. Raises InvalidCursor."""
        seen = self.headers.get("last-event-id")
        return self.cursor if seen is None else self._replace(query={"cursor": seen}).cursor

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number of the query. Raises InvalidInput naming the parameter."""
        text = self.query.get(name)
        if text is None:
            return default
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else -1
        if not least <= number <= most:
            raise out_of_range(name, text, least, most)
        return number


class Piece(NamedTuple):
    """What a look at something that goes on has found. ``last``: it is over; ``more``: look again at once."""

    data: bytes
    last: bool = False
    more: bool = False


Look = Callable[[], Piece]
"""A short look for what is new since the one before; it never waits."""


def _nowhere() -> None:
    return None


class Stream(NamedTuple):
    """The value of an answer that goes on: what is found by looking again and again.

    ``at_hand``: the same look at memory alone, which needs no thread; None where a look must ask the store.
    """

    look: Look
    at_hand: Callable[[], Piece | None] = _nowhere


class Answer(NamedTuple):
    """What goes back: a status, a value to be written as JSON (bytes as they are, or a Stream), and further headers."""

    status: int
    value: Any
    headers: Mapping[str, str] = {}


Handler = Callable[[Asked], Answer]


class Entry(NamedTuple):
    """One route.

    ``tells``: what the OpenAPI document says of it; ``query``: the names that its query may have; ``role``: who may use
    it, if not as its access says; ``reach``: what it is about, for those who are kept to some queues.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    tells: Operation
    query: tuple[str, ...] = ()
    role: Role | None = None
    reach: Reach = Reach.ALL

    @property
    def needs(self) -> Role | None:
        """The role that one must have; None for everybody."""
        return self.role or _NEEDS[self.access]
