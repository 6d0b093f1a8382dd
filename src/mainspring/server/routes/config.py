"""The configuration over REST: what holds and why, changes of what the store holds, and what was changed."""

from __future__ import annotations

from mainspring.client.operating import OperatingClient
from mainspring.client.setting_wire import edit_wire, holding_wire
from mainspring.domain.access import Role
from mainspring.domain.configured import Holding
from mainspring.errors import InvalidOption, UnknownEdit
from mainspring.server.decode import no_fields, object_of
from mainspring.server.exchange import Access, Answer, Asked, Entry
from mainspring.server.operation import Page, gives

_ALL = "/api/v1/config"


class ConfigRoutes:
    """The handlers, on one client."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of this noun."""
        return [
            Entry("GET", _ALL, Access.READ, self.held, gives(Page("Setting"))),
            Entry(
                "PATCH",
                _ALL,
                Access.CHANGE,
                self.change,
                gives(Page("Setting"), body="SettingChange"),
                ("dry_run",),
                role=Role.ADMIN,
            ),
            Entry(
                "GET",
                f"{_ALL}/history",
                Access.READ,
                self.history,
                gives(Page("SettingEdit")),
                ("cursor", "limit"),
                role=Role.OPERATOR,
            ),
            Entry(
                "POST",
                f"{_ALL}/history/{{id}}/revert",
                Access.ACT,
                self.revert,
                gives(Page("Setting")),
                role=Role.ADMIN,
            ),
        ]

    def held(self, _: Asked) -> Answer:
        """Every setting with what holds in this server, and why."""
        return _answer(self._client.holdings())

    def change(self, asked: Asked) -> Answer:
        """Settings by key; null takes back what was set. All of it or nothing."""
        dry = asked.query.get("dry_run", "false")
        if dry not in {"true", "false"}:
            raise InvalidOption(f"dry_run is {dry!r:.80}; it must be true or false.", field="dry_run")
        wanted = object_of(asked)
        return _answer(self._client.acting(asked.actor).change_settings(wanted, dry_run=dry == "true"))

    def history(self, asked: Asked) -> Answer:
        """What was changed, newest first."""
        limit = asked.whole("limit", 100, 1, 1_000)
        found = self._client.setting_edits(below=asked.cursor or None, limit=limit)
        more = str(found[-1].seq) if len(found) == limit else None
        return Answer(200, {"items": [edit_wire(edit) for edit in found], "next": more})

    def revert(self, asked: Asked) -> Answer:
        """All as it was set right after a change."""
        no_fields(asked)
        text = asked.path["id"]
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise UnknownEdit(text[:40])
        return _answer(self._client.acting(asked.actor).revert_settings(int(text)))


def _answer(found: list[Holding]) -> Answer:
    return Answer(200, {"items": [holding_wire(one) for one in found], "next": None})
