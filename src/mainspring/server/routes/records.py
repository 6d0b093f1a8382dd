"""The log of servers and workers over REST: GET /logs, read back or followed."""

from __future__ import annotations

import msgspec

from mainspring.client.operating import OperatingClient
from mainspring.client.record_wire import record_wire
from mainspring.domain.access import Role
from mainspring.domain.ids import LARGEST
from mainspring.domain.record import LEVELS, RecordFilter
from mainspring.errors import InvalidInput
from mainspring.server.decode import instant_of
from mainspring.server.exchange import Access, Answer, Asked, Entry, Piece, Stream
from mainspring.server.operation import JSON, STREAM, Operation, Page
from mainspring.server.schemas.values import text, whole, word
from mainspring.server.stream import event

_PAGE = 1_000
_QUERY = ("level", "process", "job", "run", "worker", "since", "until", "cursor", "limit", "follow")


class RecordRoutes:
    """The handler, on one client."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The route of this noun."""
        values = {
            "level": word(LEVELS, example="warning"),
            "process": text("worker", minLength=1),
            "worker": whole(3, least=1),
        }
        tells = Operation({200: Page("LogRecord")}, media=(JSON, STREAM), values=values)
        return [Entry("GET", "/api/v1/logs", Access.READ, self.records, tells, _QUERY, role=Role.OPERATOR)]

    def records(self, asked: Asked) -> Answer:
        """What servers and workers said, the newest or what is behind the cursor, oldest first; with follow=true on."""
        follow = asked.query.get("follow", "false")
        if follow not in {"true", "false"}:
            raise InvalidInput(f"follow is {follow[:80]!r}; it must be true or false.", field="follow")
        begins = "cursor" in asked.query or "last-event-id" in asked.headers
        wanted = RecordFilter(
            level=asked.query.get("level"),
            process=asked.query.get("process"),
            job=asked.whole("job", 0, 1, LARGEST) or None,
            run=asked.whole("run", 0, 1, LARGEST) or None,
            worker=asked.whole("worker", 0, 1, LARGEST) or None,
            since=instant_of(asked.query, "since"),
            until=instant_of(asked.query, "until"),
            after=asked.resumed if begins else None,
            limit=asked.whole("limit", 200, 1, _PAGE),
        )
        found = self._client.records(wanted)
        if follow == "true":
            return Answer(200, Stream(_Following(self._client, wanted).look))
        more = str(found[-1].seq) if len(found) == wanted.limit and begins else None
        return Answer(200, {"items": [record_wire(one) for one in found], "next": more})


class _Following:
    """Records as they come."""

    def __init__(self, client: OperatingClient, wanted: RecordFilter) -> None:
        self._client = client
        self._wanted = wanted

    def look(self) -> Piece:
        """What is new."""
        found = self._client.records(self._wanted)
        last = found[-1].seq if found else self._wanted.after or 0
        full = len(found) == self._wanted.limit and self._wanted.after is not None
        self._wanted = msgspec.structs.replace(self._wanted, after=last)
        return Piece(b"".join(event("record", record_wire(one), one.seq) for one in found), more=full)
