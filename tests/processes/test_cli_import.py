"""``mainspring import``: other systems' workflows become known, and nothing of them is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.processes.commands import CommandLine

WORKFLOW = {
    "name": "hello",
    "workflow": {
        "specification": {
            "tasks": [{"id": "a", "parents": [], "children": ["b"]}, {"id": "b", "parents": ["a"], "children": []}]
        },
        "execution": {
            "tasks": [{"id": "a", "runtimeInSeconds": 4.0, "command": {"program": "touch", "arguments": ["x"]}}]
        },
    },
}
PIPELINE = {
    "name": "p",
    "nodes": [{"name": "n", "needs": [], "calls": "sub"}, {"name": "m", "needs": ["n"]}],
    "subgraphs": {"sub": {"nodes": [{"name": "i", "needs": []}]}},
    "schedule": "@daily",
}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)


def test_an_imported_workflow_is_known_and_can_be_started(command: CommandLine) -> None:
    Path("hello.json").write_text(json.dumps(WORKFLOW))
    said = command("import", "wfformat", "hello.json")
    assert (said.status, said.out) == (0, "hello\n")
    assert "not taken over" in said.err
    assert command("import", "wfformat", "hello.json", "--scale", "0.5", "--json").answer == ["hello"]
    assert [one["name"] for one in command("workflows", "--json").answer] == ["hello"]
    assert command("run", "hello").status == 0


def test_a_pipeline_comes_with_what_it_nests(command: CommandLine) -> None:
    Path("p.json").write_text(json.dumps(PIPELINE))
    said = command("import", "pipeline", "p.json")
    assert (said.status, said.out.split()) == (0, ["p.sub", "p"])
    assert "schedule is not taken over" in said.err


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("{}", 4, "'workflow' is missing"),
        ("nonsense", 4, "is not JSON"),
        (json.dumps(WORKFLOW).replace('["a"]', '["c"]'), 4, "needs 'c', and there is no such node"),
    ],
)
def test_what_can_not_be_imported_is_said(command: CommandLine, text: str, status: int, said: str) -> None:
    Path("x.json").write_text(text)
    answer = command("import", "wfformat", "x.json")
    assert answer.status == status
    assert said in answer.err


def test_a_file_that_is_not_there_is_said(command: CommandLine) -> None:
    assert "nothing.json can't be read" in command("import", "pipeline", "nothing.json").err
