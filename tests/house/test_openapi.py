"""Every route is told of: in the OpenAPI document, in its file, and on the page for people."""

from __future__ import annotations

import json
import re

from mainspring.server.exchange import TAKES_BODY
from mainspring.server.openapi import SCHEMAS, example
from mainspring.server.schemas.values import named
from tests.api import mutations
from tests.house.openapi_file import FILE, entries, text
from tests.house.tree import ROOT


def test_the_file_is_the_document() -> None:
    """To write it anew: python -m tests.house.openapi_file."""
    assert FILE.read_text() == text(), "a route or a schema has changed: python -m tests.house.openapi_file"


def test_every_schema_is_named_by_something() -> None:
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', text()))
    assert referred == set(SCHEMAS)


def test_every_route_has_a_sentence_and_examples() -> None:
    for entry in entries():
        assert entry.handler.__doc__, f"{entry.method} {entry.path} has no sentence"
    for name in SCHEMAS:
        json.dumps(example(named(name)))


def test_the_page_lists_every_route_that_there_is() -> None:
    page = (ROOT / "docs" / "reference" / "rest.md").read_text()
    told = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) [^` ?]+)", page))
    served = {f"{entry.method} {entry.path}" for entry in entries()}
    probes = {f"GET {path}" for path in re.findall(r"`(/\w*)`", page)}
    assert served <= told | probes, f"docs/reference/rest.md does not tell of {served - told - probes}"
    assert {one for one in told if "/api/" in one} <= served, f"it tells of {told - served}"


def test_every_route_that_changes_something_says_how_it_is_audited() -> None:
    changing = {f"{one.method} {one.path}" for one in entries() if one.access in TAKES_BODY}
    told = {*mutations.TRAIL, *mutations.EVENTS, *mutations.MESSAGES, *mutations.NOTHING}
    assert told == changing, f"tests/api/mutations.py must tell of: {sorted(changing ^ told)}"
