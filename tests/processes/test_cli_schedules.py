"""The commands of schedules, on a real database without a worker: declared, shown, triggered, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.cli.access import Access
from mainspring.cli.declaring import declare_schedules
from mainspring.client.direct import connect
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.domain.workflow import Node, Workflow
from tests.processes.commands import CommandLine

DAY = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    line = CommandLine(tmp_path, monkeypatch, capsys)
    client = connect("sqlite:///.mainspring/mainspring.db")
    step = Task("shop.step", "shop", Executor.ASYNC, "shop", {"type": "object"}, {}, code_hash="1")
    daily = Workflow("shop.daily", (Node("only", task="shop.step"),), parameters=DAY)
    client.declare(Catalog("shop", "1", (step,), (daily,)))
    client.close()
    return line


def test_a_workflow_is_scheduled_triggered_and_its_run_tells_by_what(cli: CommandLine) -> None:
    made = cli("schedule", "add", "nightly", "--workflow", "daily", "--cron", "0 3 * * *", "day=last", "--json").answer
    assert (made["workflow"], made["task"], made["params"]) == ("shop.daily", None, {"day": "last"})
    assert "shop.daily" in cli("schedules").out
    assert cli("schedule", "trigger", "nightly").out == "schedule nightly made run 1\n"
    (tick,) = cli("schedule", "show", "nightly", "--json").answer["ticks"]
    assert (tick["run"], tick["job"], tick["origin"]) == (1, None, "trigger")
    assert "run 1" in cli("schedule", "show", "nightly").out
    wanted = {"schedule": "nightly", "at": tick["at"], "origin": "trigger"}
    assert cli("run-show", "1", "--json").answer["tick"] == wanted
    assert "made by schedule nightly, tick of" in cli("run-show", "1").out
    (job,) = cli("jobs", "--json").answer
    assert job["tick"] == wanted
    assert "schedule nightly, tick of" in cli("job", str(job["id"])).out


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--workflow", "daily", "--task", "step"), "task"),
        ((), "task"),
        (("--workflow", "daily", "--queue", "mail", "day=x"), "queue"),
        (("--workflow", "nobody"), "workflow"),
    ],
)
def test_what_can_not_be_scheduled_is_refused(cli: CommandLine, words: tuple[str, ...], field: str) -> None:
    said = cli("schedule", "add", "x", "--every", "1m", "--json", *words)
    assert said.status == 4, said
    assert said.error["field"] == field
    assert cli("schedules", "--json").answer == []


def test_an_outage_and_the_load_are_looked_at_ahead(cli: CommandLine) -> None:
    cli("schedule", "add", "hourly", "--task", "step", "--cron", "0 * * * *", "--overlap", "buffer_all")
    cli("schedule", "add", "midnight", "--task", "step", "--cron", "0 0 * * *")
    range_ = ("--from", "2026-12-24T00:30:00Z", "--to", "2026-12-24T10:30:00Z")
    seen = cli("schedule", "outage", "hourly", *range_, "--json").answer
    assert (seen["ticks"], seen["next"]) == (10, "2026-12-24T11:00:00Z")
    (held,) = [one for one in seen["policies"] if one["holds"]]
    assert (held["catch_up"], held["overlap"], held["fired"], held["missed"]) == ("latest", "buffer_all", 1, 9)
    assert "> " in cli("schedule", "outage", "hourly", *range_).out
    same = cli("schedule", "outage", "0 * * * *", *range_, "--json").answer
    assert (same["ticks"], [one["fired"] for one in same["policies"]]) == (
        10,
        [one["fired"] for one in seen["policies"]],
    )
    load = cli("schedule", "load", "--from", "2026-12-24T12:00:00Z", "--json").answer
    assert (load["ticks"], len(load["minutes"])) == (25, 1440)
    assert load["peaks"][0] == {"at": "2026-12-25T00:00:00Z", "ticks": 2, "schedules": ["hourly", "midnight"]}
    shown = cli("schedule", "load", "--from", "2026-12-24T12:00:00Z").out
    assert "25 ticks of 2 schedules" in shown
    assert cli("schedule", "outage", "nobody", *range_).status == 3


def test_the_file_declares_schedules_when_a_server_starts(cli: CommandLine) -> None:
    file = cli.folder / "mainspring.toml"
    file.write_text('poll = "500ms"\n[schedules.nightly]\ncron = "0 3 * * *"\ntask = "step"\n')
    declare_schedules(Access())
    (one,) = cli("schedules", "--json").answer
    assert (one["name"], one["origin"], one["task"]) == ("nightly", "toml", "step")
    refused = cli("schedule", "remove", "nightly", "--json")
    assert (refused.status, "mainspring.toml" in refused.error["message"]) == (4, True)
    file.write_text('poll = "500ms"\n')
    declare_schedules(Access())
    assert cli("schedules", "--json").answer[0]["state"] == "active", "the file says nothing of schedules"
    file.write_text("[schedules]\n")
    declare_schedules(Access())
    assert cli("schedules", "--json").answer[0]["state"] == "withdrawn"
    file.write_text('[schedules.x]\ncron = "61 * * * *"\ntask = "step"\n')
    wrong = cli("server", "--port", "0")
    assert (wrong.status, "schedules.x" in wrong.err) == (4, True)
