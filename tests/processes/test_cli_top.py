"""``mainspring top``: one look, for people and for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.client.direct import connect
from mainspring.domain.job import JobRequest
from mainspring.engine.rollup import RollUp
from tests.processes.commands import CommandLine
from tests.processes.test_cli_queues import FLEET


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)


def test_it_shows_what_waits_and_what_was_counted(cli: CommandLine) -> None:
    url = f"sqlite:///{cli.folder}/m.db"
    client = connect(url)
    client.declare(FLEET)
    ids = [one.job for one in client.submit([JobRequest("send"), JobRequest("send", queue="mail")])]
    client.cancel(ids[1])
    turn = RollUp(client.store, client.store.clock)
    for _ in range(3):
        turn.turn()
    client.close()
    told = cli("top", "--db", url)
    assert told.status == 0, told.err
    assert "1 job queued" in told.out
    assert ["mail", "0", "0", "0", "0", "0.2", "0.0", "-", "-"] in [line.split() for line in told.out.splitlines()]
    rates = {one["name"]: one["ended_per_minute"] for one in cli("top", "--json", "--db", url).answer["queues"]}
    assert rates["mail"] == 0.2
    assert cli("top", "--every", "1ms", "--db", url).status != 0
