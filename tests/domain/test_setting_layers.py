"""Defaults < mainspring.toml < environment < flags; a wrong value is refused whole, with its place."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mainspring.clock import MINUTE, SECOND
from mainspring.config.layers import Loaded, database_url, load, sqlite_file
from mainspring.domain.setting import DEFAULT_DATABASE, SETTINGS
from mainspring.errors import InvalidSetting, MainspringError, NotYetSupported


def loaded(
    directory: Path,
    toml: str | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    file: str | None = None,
    **flags: object,
) -> Loaded:
    if toml is not None:
        (directory / "mainspring.toml").write_text(toml)
    return load(environment=environment or {}, directory=directory, file=file, flags=flags)


def test_with_nothing_given_the_defaults_hold(tmp_path: Path):
    found = loaded(tmp_path)
    assert found.settings.database_url == DEFAULT_DATABASE
    assert (found.settings.port, found.settings.slots, found.settings.processes) == (8750, 100, 32)
    assert set(found.origins.values()) == {"default"}
    assert list(found.origins) == [setting.name for setting in SETTINGS]


def test_each_layer_wins_over_the_one_below(tmp_path: Path):
    toml = 'port = 1001\nslots = 11\nlease = "11s"\n'
    found = loaded(tmp_path, toml, {"MAINSPRING_SLOTS": "12", "MAINSPRING_LEASE": "12s"}, lease="13s")
    assert (found.settings.port, found.settings.slots, found.settings.lease) == (1001, 12, 13 * SECOND)
    assert found.origins["port"] == f"{tmp_path}/mainspring.toml line 1"
    assert found.origins["slots"] == "MAINSPRING_SLOTS"
    assert found.origins["lease"] == "--lease"
    assert found.origins["sweep"] == "default"


def test_flags_that_were_not_given_hide_nothing(tmp_path: Path):
    found = loaded(tmp_path, 'queues = ["mail"]\nport = 1', port=None, queues=())
    assert (found.settings.queues, found.settings.port) == (("mail",), 1)


def test_an_empty_variable_is_one_that_is_not_set(tmp_path: Path):
    assert loaded(tmp_path, environment={"MAINSPRING_PORT": ""}).settings.port == 8750


def test_the_file_may_hold_lists_and_labels(tmp_path: Path):
    toml = 'queues = ["mail", "bulk"]\nrestart_window = "2m"\n\n[labels]\ndisk = "fast"\n'
    found = loaded(tmp_path, toml)
    assert found.settings.queues == ("mail", "bulk")
    assert found.settings.labels == {"disk": "fast"}
    assert found.settings.restart_window == 2 * MINUTE
    assert found.origins["labels"].endswith("line 4")


def test_processes_follow_slots_and_runners_follow_the_machine(tmp_path: Path):
    assert loaded(tmp_path, slots="3").settings.processes == 3
    assert loaded(tmp_path, slots="3", processes="7").settings.processes == 7
    cores = len(os.sched_getaffinity(0)) if sys.platform.startswith("linux") else os.cpu_count() or 1
    assert loaded(tmp_path).settings.runners == max(1, min(4, cores - 1))


def test_another_file_may_be_named_and_must_then_be_there(tmp_path: Path):
    (tmp_path / "other.toml").write_text("port = 7")
    assert loaded(tmp_path, "port = 8", file="other.toml").settings.port == 7
    with pytest.raises(InvalidSetting, match=r"There is no configuration file .*nothing\.toml"):
        loaded(tmp_path, file="nothing.toml")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('\nlaese = "3s"', r"line 2: 'laese' is not a setting\. Did you mean lease"),
        ("zzz = 1", r"'zzz' is not a setting\. Settings: app, auth, database_url"),
        ("lease = 30", r'lease is 30; it must be a duration from 1s to 1d, such as 30s\. .*lease = "30s"'),
        ('port = "none"', r"line 1: port is 'none'; it must be a whole number from 0 to 65,535"),
        ("port = true", "port is True"),
        ('log_format = "xml"', "one of pretty, json"),
        ("[server]\nport = 80", r"line 1: \[server\] is not a table .* Write port at the top"),
        ("[worker]\nspeed = 9", r"\[worker\] holds tables by name"),
        ("[[port]]\nx = 1", "port is"),
        ("[port]\nx = 1", "port is a table; it must be a whole number"),
        ('queues = "a b"', "queues is 'a b'"),
        ('labels = "x"', "labels is 'x'; it must be pairs such as disk=fast"),
        ("port = ", r"mainspring\.toml is not valid TOML: Invalid value"),
        ("port = 1\nport = 2", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_place_and_what_is_right(tmp_path: Path, toml: str, said: str):
    with pytest.raises(InvalidSetting, match=said) as raised:
        loaded(tmp_path, toml)
    assert "mainspring.toml" in raised.value.message


def test_a_file_that_is_no_text_is_refused(tmp_path: Path):
    (tmp_path / "mainspring.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSetting, match="can't be read"):
        loaded(tmp_path)
    (tmp_path / "mainspring.toml").write_text("# " + "x" * 1_100_000)
    with pytest.raises(InvalidSetting, match="larger than"):
        loaded(tmp_path)
    (tmp_path / "mainspring.toml").unlink()
    (tmp_path / "mainspring.toml").mkdir()
    with pytest.raises(InvalidSetting, match="can't be read"):
        loaded(tmp_path)


@pytest.mark.parametrize(
    ("environment", "error", "said"),
    [
        ({"MAINSPRING_PORT": "x"}, InvalidSetting, "Environment: MAINSPRING_PORT is 'x'; it must be a whole number"),
        ({"MAINSPRING_LEASE": "30"}, InvalidSetting, "MAINSPRING_LEASE is '30'; it must be a duration"),
        (
            {"MAINSPRING_LAESE": "3s"},
            InvalidSetting,
            r"MAINSPRING_LAESE is not a setting\. Did you mean MAINSPRING_LEASE",
        ),
    ],
)
def test_a_wrong_variable_is_refused(
    tmp_path: Path, environment: dict[str, str], error: type[MainspringError], said: str
):
    with pytest.raises(error, match=said):
        loaded(tmp_path, environment=environment)


def test_variables_of_others_are_left_alone(tmp_path: Path):
    environment = {"MAINSPRING_FAULTS": "x", "MAINSPRING_TOKEN": "y", "MAINSPRING_SHOP_COLOUR": "z", "PORT": "1"}
    assert loaded(tmp_path, environment=environment).settings.port == 8750


def test_a_wrong_flag_is_refused_by_its_name(tmp_path: Path):
    with pytest.raises(InvalidSetting, match="Flag: --queue is 'a b, c'; it must be names") as raised:
        loaded(tmp_path, queues=("a b", "c"))
    assert raised.value.field == "queues"


def test_a_program_finds_its_database_as_the_command_line_does(tmp_path: Path):
    assert database_url({}, tmp_path) == DEFAULT_DATABASE
    (tmp_path / "mainspring.toml").write_text('database_url = "sqlite:///a.db"')
    assert database_url({}, tmp_path) == "sqlite:///a.db"
    assert database_url({"MAINSPRING_DATABASE_URL": "sqlite:///b.db"}, tmp_path) == "sqlite:///b.db"
    with pytest.raises(NotYetSupported, match="MAINSPRING_API_URL"):
        database_url({"MAINSPRING_API_URL": "http://x"}, tmp_path)
    (tmp_path / "mainspring.toml").write_text("port = -1")
    with pytest.raises(InvalidSetting):
        database_url({}, tmp_path)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///a/b.db", "a/b.db"),
        ("sqlite:////a/b.db", "/a/b.db"),
        ("sqlite:///:memory:", None),
        ("sqlite://:memory:", None),
        ("sqlite:///", None),
        ("postgresql://x/y", None),
        ("a.db", None),
    ],
)
def test_only_a_file_of_sqlite_has_a_path(url: str, path: str | None):
    assert sqlite_file(url) == (None if path is None else Path(path))
