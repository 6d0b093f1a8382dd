"""Tokens and the audit trail over REST."""

from __future__ import annotations

import msgspec

from mainspring.client.operating import OperatingClient
from mainspring.client.wire import change_wire, token_wire
from mainspring.clock import duration
from mainspring.domain.access import ChangeFilter, Role, role_of
from mainspring.errors import of_field
from mainspring.server import pages
from mainspring.server.decode import body_of, no_fields
from mainspring.server.exchange import Access, Answer, Asked, Entry
from mainspring.server.operation import Page, gives
from mainspring.server.schemas.values import text

_LONGEST_PAGE = 1_000


class TokenWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request for a token. ``expires_in``: a duration; left out, it is valid until it is revoked.

    ``queues``: that it is kept to; left out: to none.
    """

    name: str
    role: str
    expires_in: str | float | None = None
    queues: list[str] | None = None


class AccessRoutes:
    """Who may ask, and who changed what."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        return [
            Entry(
                "GET", "/api/v1/tokens", Access.READ, self.tokens, gives(Page("Token")), pages.QUERY, role=Role.ADMIN
            ),
            Entry(
                "POST",
                "/api/v1/tokens",
                Access.CHANGE,
                self.create,
                gives("NewToken", body="TokenRequest", status=201),
                role=Role.ADMIN,
            ),
            Entry(
                "DELETE",
                "/api/v1/tokens/{id}",
                Access.ACT,
                self.revoke,
                gives("Token", values={"id": text("deploy", minLength=1)}),
                role=Role.ADMIN,
            ),
            Entry(
                "GET",
                "/api/v1/audit",
                Access.READ,
                self.audit,
                gives(Page("Change")),
                ("subject", "actor", "action", "cursor", "limit"),
                role=Role.OPERATOR,
            ),
        ]

    def tokens(self, asked: Asked) -> Answer:
        """All tokens, newest first, without their secrets."""
        return pages.paged(asked, self._client.tokens(), token_wire, lambda token: (-token.id,))

    def create(self, asked: Asked) -> Answer:
        """A new token; ``token`` in the answer is its secret, shown this once."""
        wanted = body_of(asked, TokenWanted, "A token")
        lasts = None if wanted.expires_in is None else of_field("expires_in", duration, wanted.expires_in)
        token, secret = self._client.acting(asked.actor).create_token(
            wanted.name, role_of(wanted.role), lasts=lasts, queues=wanted.queues
        )
        return Answer(201, token_wire(token) | {"token": secret}, {"location": f"/api/v1/tokens/{token.id}"})

    def revoke(self, asked: Asked) -> Answer:
        """It opens nothing any more."""
        no_fields(asked)
        return Answer(200, token_wire(self._client.acting(asked.actor).revoke_token(asked.path["id"])))

    def audit(self, asked: Asked) -> Answer:
        """The audit trail, newest first."""
        limit = asked.whole("limit", 100, 1, _LONGEST_PAGE)
        query = asked.query
        found = self._client.changes(
            ChangeFilter(query.get("subject"), query.get("actor"), query.get("action"), asked.cursor or None, limit)
        )
        more = str(found[-1].seq) if len(found) == limit else None
        return Answer(200, {"items": [change_wire(change) for change in found], "next": more})
