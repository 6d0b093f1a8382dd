"""URLs as values: which kind of database they name, and how they may be shown."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_POSTGRES = ("postgresql://", "postgres://")
_SECRET = {"password", "sslpassword", "sslkey", "listen_url"}
_PASSWORD = re.compile(r"(://[^/\s:@]*):[^/\s@]+@")


def is_postgres(url: str) -> bool:
    """Whether a URL names a PostgreSQL database."""
    return url.startswith(_POSTGRES)


def shown(url: str) -> str:
    """The URL as people may see it in messages and logs: without passwords."""
    if not is_postgres(url):
        return _PASSWORD.sub(r"\1@", url)
    parts = urlsplit(url)
    name, _, host = parts.netloc.rpartition("@")
    user = name.partition(":")[0]
    query = [(key, value) for key, value in parse_qsl(parts.query) if key not in _SECRET]
    place = f"{user}@{host}" if user else host
    return urlunsplit(("postgresql", place, parts.path, urlencode(query, safe="/"), ""))
