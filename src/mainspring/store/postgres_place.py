"""What a ``postgresql://`` URL names: how to connect, and which schema of the database is ours."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mainspring.domain.address import shown
from mainspring.errors import StoreUnreachable

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,40}")

DEFAULT_SCHEMA = "mainspring"


class Place(NamedTuple):
    """Where a store is.

    ``conninfo``: for the driver; ``listen``: the same for notifications; ``shown``: for people, without the password.
    """

    conninfo: str
    listen: str
    schema: str
    shown: str

    @property
    def search_path(self) -> str:
        """Only our schema: nothing of the session, of the role or of others may stand for one of our tables."""
        return f"{self.schema}, pg_temp"

    @property
    def space(self) -> int:
        """The number of this schema among the advisory locks of its database."""
        return zlib.crc32(f"mainspring/{self.schema}".encode()) - 2**31

    @property
    def upgrade_space(self) -> int:
        """Another such number, for those who change the tables."""
        return zlib.crc32(f"mainspring/{self.schema}/upgrade".encode()) - 2**31


def place_of(url: str) -> Place:
    """Read a URL. ``?schema=`` and ``?listen_url=`` are ours; all else is the driver's.

    Raises StoreUnreachable for a schema that is not a plain name.
    """
    parts = urlsplit(url)
    ours = {"schema": DEFAULT_SCHEMA, "listen_url": ""}
    rest = []
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key in ours:
            ours[key] = value
        else:
            rest.append((key, value))
    if not _SCHEMA.fullmatch(ours["schema"]) or ours["schema"].startswith("pg_"):
        raise StoreUnreachable(
            f"{ours['schema']!r} is not a name for a schema.",
            remedy="Use small letters, digits and underscores: ?schema=mainspring",
        )
    conninfo = urlunsplit(parts._replace(query=urlencode(rest)))
    return Place(conninfo, ours["listen_url"] or conninfo, ours["schema"], shown(url))
