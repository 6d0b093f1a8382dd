"""What processes say of themselves: levels, and secrets that are in no record."""

from __future__ import annotations

import logging

import pytest

from mainspring.cli.systemlog import JsonLines, PrettyLines
from mainspring.domain.record import level_name, level_of, masked
from mainspring.errors import InvalidInput

SECRET = "s3cr3t-Zq8vXw"


@pytest.mark.parametrize(
    "text",
    [
        f"connecting to postgresql://ann:{SECRET}@db.example/main failed",
        f"Authorization: Bearer {SECRET}",
        f"authorization: basic {SECRET}==",
        f"token mst_{SECRET} is revoked",
        f"cookie mss_{SECRET}",
        f"signed with whsec_{SECRET}==",
        f"password={SECRET} host=x",
        f"api_key: {SECRET}",
        f'{{"secret": "{SECRET}"}}',
        f"https://hooks.example/?token={SECRET}&x=1",
    ],
)
def test_what_looks_like_a_secret_is_in_no_line(text: str) -> None:
    assert SECRET not in masked(text)
    assert "***" in masked(text)
    record = logging.LogRecord("mainspring.x", logging.INFO, "", 0, "%s", (text,), None)
    for formatter in (JsonLines(), PrettyLines(colour=False)):
        assert SECRET not in formatter.format(record)


def test_what_is_no_secret_stays_as_it_is() -> None:
    for text in ("worker 3 runs 2 tasks of shop", "http://127.0.0.1:8750/api", "tokens: 3", "a@b", "no password given"):
        assert masked(text) == text


def test_a_line_says_what_it_is_about() -> None:
    record = logging.LogRecord("mainspring.worker", logging.WARNING, "", 0, "gone", (), None)
    record.job, record.attempt, record.worker = 7, 2, 3
    assert '"job": 7, "attempt": 2, "worker": 3' in JsonLines().format(record)


def test_levels_have_names() -> None:
    assert [level_name(level) for level in (0, 10, 20, 25, 30, 50, 60)] == [
        *("debug", "debug", "info", "info", "warning", "critical", "critical"),
    ]
    assert (level_of(None), level_of("error")) == (0, 40)
    with pytest.raises(InvalidInput, match="no level 'warn'"):
        level_of("warn")
