"""One server process for each module, with a worker by hand beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mainspring.store import Store
from tests.api.serving import HandWorker, Serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that takes requests; afterwards it must end in order and have had nothing to complain of."""
    serving = Serving(tmp_path_factory.mktemp("api"))
    try:
        serving.wait_until_up()
        yield serving
        serving.http.close()
        assert serving.end() == 0, serving.said
        assert len(serving.said.splitlines()) == 1, serving.said
    finally:
        serving.close()


@pytest.fixture(scope="module")
def store(server: Serving) -> Iterator[Store]:
    """The same database file, opened by this process too."""
    opened = Store.open(server.database)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def worker(server: Serving, store: Store) -> HandWorker:
    """A live worker that runs what the test says."""
    hand = HandWorker(store)
    hand.arrive()
    return hand
