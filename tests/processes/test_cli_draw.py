"""``mainspring draw``: a workflow file is checked and shown, without a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes.commands import CommandLine


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)


TEXT = """\
nodes:
  - {name: raw, task: extract}
  - {name: load, task: load, needs: [raw]}
"""


def test_a_file_is_checked_and_shown(command: CommandLine) -> None:
    (command.folder / "daily.yaml").write_text(TEXT)
    said = command("draw", "daily.yaml")
    assert (said.status, said.out) == (0, "  o raw\n  │\n  o load  ← raw\n")
    assert "n0 --> n1" in command("draw", "daily.yaml", "--format", "mermaid").out
    assert command("draw", "daily.yaml", "--format", "dot").out.startswith('digraph "daily" {')
    answer = command("draw", "daily.yaml", "--json").answer
    assert (answer["name"], answer["nodes"], answer["edges"]) == ("daily", 2, 1)
    assert not list(Path(command.folder).glob(".mainspring"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT.replace("[raw]", "[rwa]"), "daily.yaml line 3, nodes[1].needs[0]: node 'load' needs 'rwa'"),
        (TEXT + "on_failure: never\n", "daily.yaml line 4, on_failure"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(command: CommandLine, text: str, said: str) -> None:
    (command.folder / "daily.yaml").write_text(text)
    answer = command("draw", "daily.yaml")
    assert answer.status == 4
    assert said in answer.err


def test_a_file_that_is_not_there_is_said(command: CommandLine) -> None:
    answer = command("draw", "nothing.yaml")
    assert answer.status == 4
    assert "nothing.yaml can't be read" in answer.err
