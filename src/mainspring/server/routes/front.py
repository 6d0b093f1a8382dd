"""The page at the root, for whoever opens the address that `mainspring up` tells: what is here, and where to go on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from mainspring.server.exchange import Access, Answer, Asked, Entry, Reach
from mainspring.server.operation import HTML, Operation

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>mainspring</title>
<h1>mainspring</h1>
<p>This server runs. The pages for people come with a later version; until then ask it from a terminal:
<code>mainspring jobs</code>, <code>mainspring workers</code>, <code>mainspring --help</code>.</p>
<p>Programs ask it over HTTP, in JSON: <a href="/api/docs">all routes</a>. To look at:</p>
<ul>
%s
</ul>
</html>
"""


def front_page(entries: Sequence[Entry]) -> Entry:
    """The route of a page that links to everything that can be looked at without knowing an id."""
    paths = [one.path for one in entries if one.method == "GET" and "{" not in one.path]
    links = "\n".join(f'<li><a href="{escape(path)}">{escape(path)}</a></li>' for path in sorted(paths))
    page = (_PAGE % links).encode()

    def show(_: Asked) -> Answer:
        """A page with links to what there is."""
        return Answer(200, page, {"content-type": "text/html; charset=utf-8"})

    return Entry("GET", "/", Access.READ, show, Operation({200: "Text"}, media=(HTML,)), reach=Reach.NOTHING)
