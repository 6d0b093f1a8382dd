"""The commands of queues and drains, on a real database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mainspring.client.direct import DirectClient, connect
from mainspring.clock import HOUR, Duration
from mainspring.domain.task import Catalog
from mainspring.domain.worker import WorkerState
from mainspring.store import Transaction, jobs, lanes, workers
from mainspring.store.jobs import Grant
from mainspring.store.workers import Hello
from tests.processes.commands import CommandLine
from tests.processes.test_cli_jobs import task

FLEET = Catalog(
    "fleet",
    "1",
    (
        task("send", "fleet"),
        msgspec.structs.replace(task("crunch", "fleet"), requires={"disk": "fast", "gpu": "yes"}),
        msgspec.structs.replace(task("heavy", "fleet"), slots=8),
    ),
)


def platform() -> DirectClient:
    return connect("sqlite:///.mainspring/mainspring.db")


def hire(name: str, **values: Any) -> int:
    """A live worker; its number."""
    fields: dict[str, Any] = {"queues": [], "labels": {}, "slots": 4} | values
    hello = Hello(
        f"{name}-incarnation",
        name,
        "host",
        42,
        "fleet",
        "1",
        "0.1.0",
        tasks=[one.name for one in FLEET.tasks],
        pids={},
        **fields,
    )

    def work(tx: Transaction) -> int:
        worker = workers.register(tx, hello)
        workers.beat(tx, worker, WorkerState.ACTIVE, Duration(HOUR))
        return worker

    client = platform()
    number = client.store.write(work)
    client.close()
    return number


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    line = CommandLine(tmp_path, monkeypatch, capsys)
    client = platform()
    client.declare(FLEET)
    client.close()
    return line


def test_a_queue_is_paused_listed_and_resumed(cli: CommandLine):
    cli("submit", "send")
    said = cli("queue", "pause", "fleet", "--note", "their server is down")
    assert (said.status, said.out) == (0, "queue fleet is paused; 1 job queued, 0 running\n")
    (queue,) = cli("queues", "--json").answer
    assert (queue["name"], queue["paused"], queue["note"]) == ("fleet", True, "their server is down")
    assert "@" in queue["paused_by"]
    table = cli("queues").out
    assert "paused" in table
    assert "their server is down" in table
    assert cli("--json", "queue", "resume", "fleet").answer["paused"] is False
    assert "open" in cli("queues").out


def test_a_limit_is_set_and_taken_away(cli: CommandLine):
    assert cli("queue", "set", "fleet", "--limit", "3", "--json").answer["limit"] == 3
    assert cli("queue", "set", "fleet", "--note", "3 is what they allow", "--json").answer["limit"] == 3
    assert cli("queue", "set", "fleet", "--limit", "none", "--json").answer["limit"] is None


def test_a_limit_can_be_set_before_anything_has_named_the_queue(cli: CommandLine):
    assert (
        cli("queue", "set", "night", "--limit", "2").out
        == "queue night is open; 0 jobs queued, 0 running of at most 2\n"
    )
    assert {queue["name"]: queue["limit"] for queue in cli("queues", "--json").answer} == {"fleet": None, "night": 2}


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("pause", "flete"), 3, "unknown_queue"),
        (("set", "fleet"), 4, "invalid_option"),
        (("set", "fleet", "--limit", "0"), 4, "invalid_option"),
        (("set", "fleet", "--limit", "many"), 4, "invalid_option"),
        (("pause",), 2, "wrong_use"),
        (("stop", "fleet"), 2, "wrong_use"),
    ],
)
def test_what_can_not_be_is_refused(cli: CommandLine, words: tuple[str, ...], status: int, code: str):
    said = cli("queue", *words, "--json")
    assert (said.status, said.out, said.error["code"]) == (status, "", code)


def test_a_worker_is_drained_by_its_number(cli: CommandLine):
    number = hire("alpha")
    said = cli("worker", "drain", str(number))
    assert (said.status, said.out) == (0, f"worker {number} (alpha) draining; it runs 0 jobs\n")
    assert cli("workers", "--json").answer[0]["state"] == "draining"
    for unknown in ("99", "alpha", "-1"):
        assert cli("worker", "drain", unknown, "--json").error["code"] in {"unknown_worker", "wrong_use"}


def test_a_worker_on_older_code_is_marked(cli: CommandLine):
    hire("alpha")
    assert "(other code)" not in cli("workers").out
    client = platform()
    client.declare(Catalog("fleet", "2", (task("send", "fleet", note={"type": "string", "default": ""}),)))
    client.close()
    assert "fleet (other code)" in cli("workers").out
    assert cli("workers", "--json").answer[0]["outdated"] is True


# --- why a job waits --------------------------------------------------------------------------------------------------


def why(cli: CommandLine, task: str) -> str:
    """What a submit says of its job's wait."""
    said = cli("submit", task)
    assert said.status == 0
    return said.err.partition(" waits: ")[2].strip()


def test_a_submit_says_what_its_job_waits_for(cli: CommandLine):
    assert why(cli, "send") == "no live worker runs fleet.send. Start one: mainspring up --app app.py"
    hire("alpha", labels={"disk": "fast"})
    assert why(cli, "send") == ""
    assert why(cli, "crunch") == (
        "no live worker has the label disk=fast and gpu=yes (alpha knows fleet.crunch). "
        "Start one: mainspring worker --app app.py --label disk=fast --label gpu=yes"
    )
    assert why(cli, "heavy") == (
        "it takes 8 slots, and no live worker has more than 4 (alpha knows fleet.heavy). "
        "Start one: mainspring worker --app app.py --slots 8"
    )
    hire("beta", labels={"disk": "fast", "gpu": "yes"}, slots=8)
    assert (why(cli, "crunch"), why(cli, "heavy")) == ("", "")
    cli("queue", "pause", "fleet", "--note", "deploy")
    assert why(cli, "send").startswith("queue fleet is paused (")
    assert why(cli, "send").endswith("): deploy. mainspring queue resume fleet")


def test_explain_names_everything_in_the_way_and_what_to_do(cli: CommandLine):
    cli("submit", "send")
    cli("queue", "pause", "fleet", "--note", "deploy")
    said = cli("explain", "1")
    assert said.status == 0
    first, paused, resume, nobody, start = said.out.splitlines()
    assert first.split() == ["job", "1", "fleet.send", "○", "queued"]
    assert paused.startswith("  queue fleet is paused (")
    assert resume == "    mainspring queue resume fleet"
    assert nobody == "  no live worker runs fleet.send"
    assert start == "    Start one: mainspring up --app app.py"
    told = cli("explain", "1", "--json").answer
    assert (told["id"], told["state"]) == (1, "queued")
    assert [reason["code"] for reason in told["reasons"]] == ["queue_paused", "no_worker"]
    assert cli("explain", "9").status == 3


def test_the_page_of_a_job_says_that_its_queue_has_reached_its_limit(cli: CommandLine):
    cli("submit", "send")
    cli("submit", "send")
    number = hire("alpha")
    client = platform()

    def claim(tx: Transaction) -> None:
        left, _ = jobs.leave_ready(tx, [1], lanes.read_map(tx).rules)  # type: ignore[list-item]
        grants = [Grant(row, tx.chance.claim_id()) for row in left.values()]  # type: ignore[arg-type]
        jobs.enter_leased(tx, grants, number, tx.now + HOUR, "worker:1")  # type: ignore[arg-type]

    client.store.write(claim)
    client.close()
    cli("queue", "set", "fleet", "--limit", "1")
    assert "1 job of queue fleet now running; its limit is 1" in cli("job", "2").out
