"""The description of the API by itself: the OpenAPI document for programs, and a page of it for people."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from mainspring.server.exchange import Access, Answer, Asked, Entry, Reach
from mainspring.server.openapi import PATH_OF_DOCUMENT, document
from mainspring.server.operation import HTML, Operation, gives

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>mainspring: REST</title>
<h1>REST</h1>
<p>The same for programs: <a href="{path}">{path}</a> (OpenAPI 3.1).</p>
{parts}
</html>
"""


class DocumentRoutes:
    """Two looks at all routes, these included."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._described = document([*entries, *self.entries()])
        self._written = msgspec.json.encode(self._described)
        self._page = _PAGE.format(path=PATH_OF_DOCUMENT, parts="\n".join(_parts(self._described))).encode()

    def entries(self) -> list[Entry]:
        """The routes of these looks."""
        page = Operation({200: "Text"}, media=(HTML,))
        return [
            Entry("GET", PATH_OF_DOCUMENT, Access.READ, self.openapi, gives("Document"), reach=Reach.NOTHING),
            Entry("GET", "/api/docs", Access.READ, self.page, page, reach=Reach.NOTHING),
        ]

    def openapi(self, _: Asked) -> Answer:
        """This document."""
        return Answer(200, self._written)

    def page(self, _: Asked) -> Answer:
        """This document as a page for people."""
        return Answer(200, self._page, {"content-type": "text/html; charset=utf-8"})


def _parts(described: dict[str, Any]) -> list[str]:
    return [
        _part(method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def _part(method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"<h2><code>{method} {escape(path)}</code></h2>", f"<p>{escape(operation['description'])}</p>"]
    named = [f"<code>{escape(one['name'])}</code> ({one['in']})" for one in operation["parameters"]]
    if named:
        lines.append(f"<p>Takes {', '.join(named)}.</p>")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if body.get("example"):
        lines.append(f"<pre>{escape(msgspec.json.encode(body['example']).decode())}</pre>")
    for status, answer in operation["responses"].items():
        if "content" not in answer:
            continue
        shown = answer["content"].get("application/json", {}).get("example")
        told = "" if shown is None else f"<pre>{escape(msgspec.json.encode(shown).decode())}</pre>"
        lines.append(f"<p>{status}: {escape(answer['description'])}</p>{told}")
    refused = [status for status, answer in operation["responses"].items() if "$ref" in answer]
    lines.append(f"<p>Refuses with {', '.join(refused)}.</p>" if refused else "")
    return "\n".join(lines)
