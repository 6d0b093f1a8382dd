"""Names in addresses that nothing can have: the answer is the same on both engines, and no fault of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mainspring.server.exchange import Entry
from tests import postgres
from tests.api.serving import Serving
from tests.house.openapi_file import entries

NAMED: list[Entry] = [entry for entry in entries() if "{name}" in entry.path or entry.path.endswith("/tokens/{id}")]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def either(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres_databases: postgres.Databases
) -> Iterator[Serving]:
    """A server on each engine."""
    place: Path = tmp_path_factory.mktemp("names")
    name = postgres_databases.take()
    on_postgres = postgres_databases.server.url(name)
    serving = Serving(place, database=on_postgres if request.param == "postgres" else f"sqlite:///{place}/main.db")
    yield serving.wait_until_up()
    serving.close()
    postgres_databases.give_back(name)


@pytest.mark.parametrize("entry", NAMED, ids=lambda entry: f"{entry.method} {entry.path}")
def test_a_name_with_nul_names_nothing(either: Serving, entry: Entry) -> None:
    for name in ("%00", "a%00b"):
        path = entry.path.replace("{name}", name).replace("{id}", name)
        answer = either.http.request(entry.method, path, json=None if entry.method == "GET" else {})
        assert answer.status_code == 404, answer.text
        assert answer.json()["code"] == ("unknown_token" if "tokens" in path else "not_found")
