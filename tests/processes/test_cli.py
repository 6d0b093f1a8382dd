"""The front door: help, wrong use, exit statuses, errors for people and for programs."""

from __future__ import annotations

import os
import pty
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mainspring.cli.main import COMMANDS, version
from mainspring.client.direct import connect
from mainspring.errors import MainspringError
from tests.processes.commands import ROOT, CommandLine


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)


# --- help and version -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",), ("--json",)])
def test_help_names_every_command(cli: CommandLine, words: tuple[str, ...]):
    said = cli(*words)
    assert said.status == 0
    listed = re.findall(r"^  ([a-z][a-z-]*)  ", said.out, re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(cli: CommandLine, name: str):
    for words in ((name, "--help"), ("help", name)):
        said = cli(*words)
        assert said.status == 0
        assert f"Usage: mainspring {name}" in said.out
        assert not re.search(r"\bSTR\b|\bINT\b|\bARGS\b|default: False|Parameters ─", said.out), "words of the parser"


def test_the_version_is_the_packages(cli: CommandLine):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version() == project["version"]
    assert cli("--version").out == f"mainspring {project['version']}\n"


def test_help_and_version_load_no_parser_and_no_tables(cli: CommandLine):
    code = "import sys\nfrom mainspring.cli.main import main\nmain(sys.argv[1:])\nprint(*sys.modules, file=sys.stderr)"
    for word in ("--help", "--version"):
        done = subprocess.run(
            [sys.executable, "-c", code, word],
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert not {"cyclopts", "rich", "apsw", "asyncio"} & set(done.stderr.split())


def test_help_costs_less_than_400_ms_of_cpu(cli: CommandLine):
    def cost() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert cli.process("--help").status == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cost() for _ in range(3)) < 0.4


# --- wrong use ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("jobs", "--limit", "many"), "--limit is 'many'; it must be a whole number."),
        (("jobs", "--count=maybe"), "--count is 'maybe'; it must be given without a value."),
        (("jobs", "extra", "more"), "'extra', 'more' are one too many."),
        (("job", "1", "2"), "'2' is one too many."),
        (("job",), "ID is missing."),
        (("submit",), "TASK is missing."),
        (("up", "--port"), "--port needs a value."),
        (("up", "--port", "1", "--port", "2"), "--port is given more than once."),
    ],
)
def test_wrong_use_is_told_in_words_of_ours(cli: CommandLine, words: tuple[str, ...], said: str):
    assert cli(*words).err == f"error: {said}\n  See: mainspring {words[0]} --help\n"


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (("webhook", "list"), "List them with: mainspring webhooks"),
        (("schedule", "ls"), "List them with: mainspring schedules"),
        (("import", "crontabs"), "Did you mean crontab?"),
        (("db", "zzz"), "See: mainspring db --help"),
        (("schedule", "preview", "--every", "30s"), "See: mainspring schedule preview --help"),
        (("schedule", "--every", "30s"), "See: mainspring schedule --help"),
    ],
)
def test_a_wrong_verb_is_told_with_the_right_one(cli: CommandLine, words: tuple[str, ...], right: str):
    assert cli(*words).err.splitlines()[-1] == f"  {right}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("jbos",), r"There is no command 'jbos'\.\n  Did you mean jobs"),
        (("zzzz",), "List them with: mainspring --help"),
        (("jobs", "--stat", "dead"), r"--stat.*\n  See: mainspring jobs --help"),
        (("jobs", "--limit", "many"), "--limit"),
        (("jobs", "extra"), "extra"),
        (("job",), "ID"),
        (("job", "1", "2"), "2"),
        (("submit",), "TASK"),
        (("up", "--port"), "--port"),
    ],
)
def test_wrong_use_is_2_and_says_what_is_right(cli: CommandLine, words: tuple[str, ...], said: str):
    answer = cli(*words)
    assert (answer.status, answer.out) == (2, "")
    assert re.match(f"error: .*{said}", answer.err, re.DOTALL), answer.err
    assert not (cli.folder / ".mainspring").exists()


def test_options_of_all_commands_may_stand_before_the_command(cli: CommandLine):
    for name in ("a.db", "b.db"):
        connect(f"sqlite:///{name}").close()
    assert cli("--db", "sqlite:///a.db", "--json", "jobs").answer == []
    assert cli("--db=sqlite:///b.db", "jobs", "--json").answer == []
    assert cli("--db=sqlite:///c.db", "jobs", "--json").error["code"] == "no_database"


def test_a_server_is_spoken_to_where_one_is_named_and_no_database(cli: CommandLine, monkeypatch: pytest.MonkeyPatch):
    connect("sqlite:///a.db").close()
    refused = cli("jobs", "--api", "nowhere", "--json")
    assert (refused.status, refused.error["code"]) == (5, "server_unreachable")
    monkeypatch.setenv("MAINSPRING_API_URL", "nowhere")
    assert cli("jobs").status == 5
    assert cli("jobs", "--db", "sqlite:///a.db").status == 0


# --- errors ---------------------------------------------------------------------------------------------------------


def test_an_error_in_json_is_one_document_on_standard_error(cli: CommandLine):
    connect("sqlite:///.mainspring/mainspring.db").close()
    for words in (("job", "999", "--json"), ("--json", "job", "999")):
        said = cli(*words)
        assert (said.status, said.out, said.err.count("\n")) == (3, "", 1)
        assert said.error == {
            "code": "unknown_job",
            "message": "unknown job 999",
            "remedy": "List them with: mainspring jobs",
            "field": "id",
        }
    assert cli("jobs", "--bogus", "--json").error["code"] == "wrong_use"


@pytest.mark.parametrize(
    "words",
    [
        ("jobs",),
        ("jobs", "--count"),
        ("job", "1"),
        ("cancel", "1"),
        ("retry", "1"),
        ("logs", "1"),
        ("logs", "1", "-f"),
        ("events",),
        ("tasks",),
        ("workers",),
        ("publish", "orders.paid"),
        ("subscribe", "receipts", "orders.paid", "--task", "send"),
        ("webhook", "add", "on-call", "https://hooks.example.com/"),
        ("schedule", "add", "nightly", "--task", "send", "--every", "1h"),
        ("token", "revoke", "ops"),
        ("users", "change", "ann", "--role", "admin"),
    ],
)
@pytest.mark.parametrize("url", [None, "sqlite:///misspelt.db", "sqlite:///no/such/folder/m.db"])
def test_where_no_database_is_none_is_made(cli: CommandLine, words: tuple[str, ...], url: str | None):
    said = cli(*words, "--json", *(() if url is None else ("--db", url)))
    assert (said.status, said.out, said.error["code"]) == (5, "", "no_database")
    path = ".mainspring/mainspring.db" if url is None else url.removeprefix("sqlite:///")
    assert str(cli.folder / path) in said.error["message"]
    assert "mainspring up" in said.error["remedy"]
    assert list(cli.folder.iterdir()) == []


def test_an_empty_file_is_no_database_and_stays_empty(cli: CommandLine):
    (cli.folder / "notes.txt").touch()
    assert cli("jobs", "--db", "sqlite:///notes.txt", "--json").error["code"] == "no_database"
    assert [(path.name, path.stat().st_size) for path in cli.folder.iterdir()] == [("notes.txt", 0)]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://localhost/x", "store_unreachable"),
        ("mainspring.db", "store_unreachable"),
        ("sqlite:///broken.db", "store_corrupt"),
        ("sqlite:////proc/nowhere/m.db", "store_unreachable|store_read_only"),
    ],
)
def test_a_store_that_can_not_be_used_is_5(cli: CommandLine, url: str, code: str):
    (cli.folder / "broken.db").write_bytes(b"not a database" * 1_000)
    said = cli("submit", "hello", "--db", url, "--json")
    assert said.status == 5
    assert said.error["code"] in code.split("|")
    assert (cli.folder / "broken.db").read_bytes() == b"not a database" * 1_000


def test_a_wrong_setting_stops_every_command_with_its_place(cli: CommandLine):
    (cli.folder / "mainspring.toml").write_text("prot = 1\n")
    said = cli("jobs")
    assert said.status == 4
    assert "mainspring.toml line 1: 'prot' is not a setting.\n  Did you mean port or" in said.err
    assert cli("--help").status == 0


def test_a_fault_of_ours_shows_the_trace_and_asks_for_a_report(cli: CommandLine):
    said = cli.process("submit", "hello", MAINSPRING_FAULTS="migrate.before_commit=raise")
    assert said.status == 70
    assert "Traceback" in said.err
    assert f"fault of mainspring {version()}" in said.err
    assert said.out == ""


def test_a_reader_that_goes_away_is_no_fault(cli: CommandLine):
    command = subprocess.Popen(
        [sys.executable, "-m", "mainspring", "--help"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=(gone := os.pipe())[1],
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(gone[0])
    os.close(gone[1])
    _, err = command.communicate(timeout=60)
    assert (command.returncode, err) == (141, "")


def test_windows_is_refused_clearly(cli: CommandLine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "win32")
    said = cli("jobs")
    assert said.status == 2
    assert "WSL" in said.err


def test_errors_are_in_colour_on_a_terminal_only(cli: CommandLine):
    connect("sqlite:///.mainspring/mainspring.db").close()
    assert "\x1b" not in cli.process("job", "7").err
    reader, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "mainspring", "job", "7"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        timeout=30,
        check=False,
    )
    said = os.read(reader, 65_536).decode()
    os.close(reader)
    os.close(terminal)
    assert "\x1b[1;31merror:\x1b[0m unknown job 7" in said


def test_every_exit_status_of_an_error_is_documented():
    told = (ROOT / "docs" / "reference" / "cli.md").read_text()
    statuses = {MainspringError.exit_status}
    kinds = [MainspringError]
    while kinds:
        kind = kinds.pop()
        statuses.add(kind.exit_status)
        kinds += kind.__subclasses__()
    for status in statuses | {0, 70, 130, 141}:
        assert f"| {status} |" in told


# --- first steps ----------------------------------------------------------------------------------------------------


def test_init_writes_an_app_and_never_overwrites(cli: CommandLine):
    assert cli("init", "--json").answer == {"written": ["app.py", "mainspring.toml"], "kept": []}
    compile((cli.folder / "app.py").read_text(), "app.py", "exec")
    assert tomllib.loads((cli.folder / "mainspring.toml").read_text()) == {"app": "app.py"}
    (cli.folder / "app.py").write_text("mine")
    (cli.folder / "mainspring.toml").unlink()
    assert cli("init", "--json").answer == {"written": ["mainspring.toml"], "kept": ["app.py"]}
    assert (cli.folder / "app.py").read_text() == "mine"
    assert "mainspring up" in cli("init").out


@pytest.mark.parametrize("command", ["up", "worker"])
def test_without_an_app_it_says_how_to_get_one(cli: CommandLine, command: str):
    said = cli(command)
    assert said.status == 4
    for right in ("--app MODULE:ATTR", 'app = "app.py"', "mainspring init", "mainspring demo"):
        assert right in said.err


@pytest.mark.parametrize("command", ["up", "server", "worker"])
def test_a_database_in_memory_is_refused_for_a_platform(cli: CommandLine, command: str):
    said = cli.process(command, "--db", "sqlite://:memory:", MAINSPRING_APP="app.py")
    assert said.status == 4
    assert "can't be shared" in said.err
