"""The commands of runs, on a real database without a worker: started, listed, shown, cancelled, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mainspring.client.direct import connect
from mainspring.domain.task import Catalog, Executor, Task
from tests.processes.commands import CommandLine

TEXT = """\
name: daily
parameters: {type: object, properties: {day: {type: string}}, required: [day]}
nodes:
  - {name: raw, task: step, params: {day: {$param: day}}}
  - {name: load, task: step, params: {from: {$node: raw}}}
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    line = CommandLine(tmp_path, monkeypatch, capsys)
    client = connect("sqlite:///.mainspring/mainspring.db")
    client.declare(
        Catalog(
            "shop", "1", (Task("shop.step", "shop", Executor.ASYNC, "shop", {"type": "object"}, {}, code_hash="1"),)
        )
    )
    client.close()
    (tmp_path / "daily.yaml").write_text(TEXT)
    return line


def test_a_run_is_started_shown_listed_and_cancelled(cli: CommandLine) -> None:
    started = cli("run", "daily.yaml", "day=monday", "--json")
    assert started.status == 0
    run = started.answer
    assert (run["state"], run["params"], run["nodes"]) == ("running", {"day": "monday"}, 2)
    number = str(run["id"])
    assert [one["id"] for one in cli("runs", "--json").answer] == [run["id"]]
    nodes = {one["name"]: one for one in cli("run-show", number, "--json").answer["nodes"]}
    assert (nodes["raw"]["state"], nodes["load"]["state"], nodes["load"]["needs"]) == ("active", "waiting", ["raw"])
    (job,) = nodes["raw"]["jobs"]
    shown = cli("job", str(job), "--json").answer
    assert (shown["run"], shown["node"]) == (run["id"], "raw")
    assert "> raw" in cli("run-show", number).out
    cancelled = cli("run-cancel", number, "--json")
    assert (cancelled.status, cancelled.answer["state"], cancelled.answer["stop"]) == (0, "cancelled", "cancel")
    assert cli("run-cancel", number).status == 4
    again = cli("restart", number, "--json").answer
    assert (again["replay_of"], again["state"]) == (run["id"], "running")
    assert cli("restart", str(again["id"])).status == 4
    assert cli("restart", number, "--newest").status == 4, "no name stands for it"
    on = cli("resume", number, "--from", "load", "--json").answer
    assert (on["replay_of"], on["kept"], on["changed"]) == (run["id"], 0, [])
    assert cli("resume", number, "--from", "nothing").status == 4
    assert cli("jobs", "--state", "cancelled", "--count", "--json").answer == {"count": 1}


def test_the_end_of_a_run_is_told_with_its_result_or_with_what_failed(cli: CommandLine) -> None:
    (cli.folder / "good.yaml").write_text("{name: good, nodes: [{name: join}], result: {it: is done}}")
    good = cli("run", "good.yaml", "--wait")
    assert (good.status, good.out.splitlines()[1:]) == (0, ['result  {"it":"is done"}'])
    assert "1 of 1 node: 1 succeeded" in good.err
    bad = "\n".join(f"  - {{name: n{number}, task: step, map: {{$param: xs}}}}" for number in range(7))
    (cli.folder / "bad.yaml").write_text(f"name: bad\nparameters: {{type: object}}\nnodes:\n{bad}\n")
    said = cli("run", "bad.yaml", "xs=1", "--wait")
    assert said.status == 1
    told = said.out.splitlines()[1:]
    assert told[0] == "n0 failed: NotAList: map of node 'n0' needs a list, and what it refers to is a number"
    assert told[5:] == ["… and 2 more failed"]
    number = said.out.split()[1]
    assert cli("run-show", number).out.splitlines()[-6:] == told


def test_what_can_not_be_run_is_refused(cli: CommandLine) -> None:
    assert "mainspring up --app app.py" in (said := cli("run", "nobody")).err
    assert said.status == 3
    for path in ("none.yaml", "flows/none"):
        said = cli("run", path)
        assert (said.status, said.err.splitlines()[0]) == (4, f"error: There is no file {path}.")
    (cli.folder / "nests.yaml").write_text("name: week\nnodes:\n  - {name: days, workflow: dayly}\n")
    said = cli("run", "nests.yaml")
    assert said.err == (
        "error: nests.yaml line 3, nodes[0].workflow: unknown workflow 'dayly'.\n"
        "  Workers report theirs; one in a file: PUT /api/v1/workflows/NAME\n"
    )
    assert cli("run-show", "7").status == 3
    assert cli("run", "daily.yaml").status == 4
    (cli.folder / "bad.yaml").write_text(TEXT.replace("task: step, params: {from", "task: nope, params: {from"))
    said = cli("run", "bad.yaml", "day=x")
    assert said.status == 4
    assert "bad.yaml line 5, nodes[1].task: unknown task 'nope'" in said.err
    assert cli("runs", "--json").answer == []


def test_a_run_is_written_out_as_lines_and_as_pictures(cli: CommandLine) -> None:
    number = str(cli("run", "daily.yaml", "day=monday", "--json").answer["id"])
    lines = [json.loads(line) for line in cli("export", "run", number).out.splitlines()]
    assert (str(lines[0]["id"]), [one["name"] for one in lines[1:3]]) == (number, ["raw", "load"])
    assert [(one["node"], one["to"]) for one in lines[3:]] == [(None, "pending"), ("raw", "queued")]
    assert [one["seq"] for one in cli("events", "--run", number, "--json").answer] == [one["seq"] for one in lines[3:]]
    assert "node raw (job" in cli("events", "--run", number).out
    assert ":::active" in cli("export", "run", number, "--format", "mermaid").out
    assert cli("export", "run", number, "--format", "dot").out.startswith(f'digraph "run {number}: daily (running)"')
    assert cli("export", "run", number, "--format", "svg").out.startswith("<svg")
    assert cli("export", "run").status == 2
    assert cli("export", "jobs", "--format", "dot").status == 2
    assert cli("export", "run", "999").status == 3


def test_events_of_a_run_are_those_that_are_asked_for(cli: CommandLine) -> None:
    number = str(cli("run", "daily.yaml", "day=monday", "--json").answer["id"])
    (job,) = cli("run-show", number, "--json").answer["nodes"][0]["jobs"]
    cli("run-cancel", number)
    of_run = "events", "--run", number
    told = cli(*of_run, "--json").answer
    assert [(one["node"], one["job"], one["to"]) for one in told][:2] == [
        (None, None, "pending"),
        ("raw", job, "queued"),
    ]

    def seqs(*words: str) -> list[int]:
        return [one["seq"] for one in cli(*of_run, *words, "--json").answer]

    def wanted(*targets: str) -> list[int]:
        return [one["seq"] for one in told if one["to"] in targets or one["cause"] in targets]

    assert seqs("--kind", "cancelled,queued") == wanted("cancelled", "queued")
    assert seqs("--kind", "job.cancelled") == [one["seq"] for one in told if one["to"] == "cancelled" and one["job"]]
    assert seqs("--job", str(job)) == [one["seq"] for one in told if one["job"] == job]
    assert seqs("--kind", "stop", "--limit", "1") == wanted("stop")[-1:] != []
    assert seqs("--after", str(told[0]["seq"]), "--kind", "queued") == wanted("queued")
    followed = [json.loads(line)["seq"] for line in cli(*of_run, "-f", "--json").out.splitlines()]
    assert followed == [one["seq"] for one in told], "it has ended, so nothing more is waited for"
    assert cli(*of_run, "--kind", "canceled").status == 4
    assert cli("events", "--run", "999").status == 3
