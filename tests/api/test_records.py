"""The log of servers and workers over REST and on the command line."""

from __future__ import annotations

import json

import pytest

from mainspring.cli.main import main
from mainspring.client.direct import DirectClient
from mainspring.client.remote import connect
from mainspring.domain.record import RecordFilter
from mainspring.store import Store
from tests.api.serving import API, Serving, eventually
from tests.api.test_events import events
from tests.api.test_refusals import problem


def test_what_a_server_says_is_read_and_followed(
    server: Serving, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    (first,) = eventually(lambda: server.http.get(f"{API}/logs").json()["items"])
    assert (first["process"], first["level"], first["pid"]) == ("server", "info", server.process.pid)
    assert first["message"].startswith("listening at http://127.0.0.1")
    with server.http.stream("GET", f"{API}/logs?follow=true&process=server") as answer:
        name, value, cursor = next(events(answer.iter_lines()))
        assert (name, value, cursor) == ("record", first, str(first["seq"]))
    assert server.http.get(f"{API}/logs?level=error").json() == {"items": [], "next": None}
    assert server.http.get(f"{API}/logs?cursor={first['seq']}").json()["items"] == []
    refused = server.http.get(f"{API}/logs?level=loud")
    assert (refused.status_code, problem(refused)["field"]) == (422, "level")
    remote = connect(server.url)
    assert remote.records(RecordFilter()) == DirectClient(store).records(RecordFilter())
    remote.close()
    for way in (("--api", server.url), ("--db", server.database)):
        assert main(["logs", "--system", "--since", "1h", "--json", *way]) == 0
        assert json.loads(capsys.readouterr().out) == [first]
    assert main(["logs", "--system", "--level", "info", "--api", server.url]) == 0
    assert "listening at" in capsys.readouterr().out
    for wrong in (["logs"], ["logs", "7", "--system"], ["logs", "7", "--level", "info"]):
        assert main([*wrong, "--api", server.url]) == 2
