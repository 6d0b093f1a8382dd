"""``mainspring schedule preview``, which needs no database, and ``mainspring import crontab``; both run nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.domain import plan as plans
from mainspring.sdk.loading import load_app
from tests.processes.commands import CommandLine


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)


def test_a_preview_tells_words_times_and_clock_changes(cli: CommandLine) -> None:
    asked = ("schedule", "preview", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2025-03-28T12:00", "-n", "3")
    answer = cli(*asked, "--json").answer
    assert answer == ["2025-03-29T02:30:00+01:00", "2025-03-30T03:00:00+02:00", "2025-03-31T02:30:00+02:00"]
    shown = cli(*asked)
    assert "at 02:30, Europe/Berlin time" in shown.out
    assert "2025-03-30T01:00:00Z" in shown.out
    assert "first instant after the clocks went forward" in shown.out
    every = cli("schedule", "preview", "every 90m", "--from", "2026-01-01T00:00:00Z", "-n", "1", "--json").answer
    assert every == ["2026-01-01T01:30:00+00:00"]


def test_a_wrong_expression_is_refused_with_its_field(cli: CommandLine) -> None:
    refused = cli("schedule", "preview", "0 24 * * *", "--json")
    assert (refused.status, refused.error["code"], refused.error["field"]) == (4, "invalid_cron", "cron")
    assert "Midnight is 0" in refused.error["remedy"]


TABLE = """PATH=/usr/bin:/bin
0 6 * * *  ~/jobs/backup_db --all
61 * * * * /bin/true
@reboot /usr/bin/start
"""


def test_a_crontab_becomes_an_app_file_and_a_report(cli: CommandLine) -> None:
    Path("old.crontab").write_text(TABLE)
    said = cli("import", "crontab", "old.crontab", "--tz", "Europe/Berlin", "--json")
    assert said.answer == ["backup-db"]
    assert [line.partition(":")[0] for line in said.err.splitlines()][:2] == [
        "line 3 needs a person",
        "line 4 needs a person",
    ]
    assert "mainspring up --app old_app.py" in said.err
    text = Path("old_app.py").read_text()
    assert "['env', 'PATH=/usr/bin:/bin', '/bin/sh', '-c', '~/jobs/backup_db --all']" in text
    assert "cron('0 6 * * *', tz='Europe/Berlin')" in text


def test_what_was_imported_is_known_at_once_and_the_same_as_what_the_file_declares(cli: CommandLine) -> None:
    Path("old.crontab").write_text(TABLE + "RANDOM_DELAY=5\n@daily printf %s hello%world\n")
    assert cli("import", "crontab", "old.crontab").out.splitlines()[-1].startswith("printf")
    assert [task["name"] for task in cli("tasks", "--json").answer] == ["old.backup-db", "old.printf"]
    known = {one["name"]: one for one in cli("schedules", "--json").answer}
    assert {one["state"] for one in known.values()} == {"active"}
    assert cli("jobs", "--json").answer == [], "nothing is run"
    declared = load_app("old_app.py").catalog()
    assert {one.name: one.plan for one in declared.schedules} == {
        name: plans.read({field: one[field] for field in plans.FIELDS}) for name, one in known.items()
    }
    assert cli("submit", "printf").status == 0


def test_an_import_writes_over_nothing_unasked(cli: CommandLine) -> None:
    Path("old.crontab").write_text(TABLE)
    assert cli("import", "crontab", "old.crontab").status == 0
    again = cli("import", "crontab", "old.crontab", "--json")
    assert (again.status, again.error["field"]) == (4, "out")
    assert cli("import", "crontab", "old.crontab", "--force").status == 0
    assert cli("import", "crontab", "nowhere", "--json").status == 4
