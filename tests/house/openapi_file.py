"""docs/reference/openapi.json: the OpenAPI document as a file. Run as a script it writes it anew."""

from __future__ import annotations

import json
from pathlib import Path

from mainspring.server.app import routes
from mainspring.server.exchange import Entry
from mainspring.server.openapi import document
from tests.house.tree import ROOT

FILE = ROOT / "docs" / "reference" / "openapi.json"


def entries() -> list[Entry]:
    """Every route of the server."""
    return routes(None, None)  # type: ignore[arg-type]


def text() -> str:
    """What the file must be."""
    return json.dumps(document(entries()), indent=1, ensure_ascii=False) + "\n"


def write(path: Path = FILE) -> None:
    """Write it."""
    path.write_text(text())


if __name__ == "__main__":
    write()
