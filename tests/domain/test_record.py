"""What processes say of themselves: levels, what a line is about, and secrets that are in none."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from mainspring.cli.systemlog import JsonLines, PrettyLines
from mainspring.domain.ids import ClaimId, JobId, RunId
from mainspring.domain.job import Link
from mainspring.domain.record import Bound, level_name, level_of, of_record
from mainspring.domain.secrecy import hiding
from mainspring.domain.task import Lodging
from mainspring.engine.held import Held
from mainspring.errors import InvalidInput
from mainspring.worker.recording import tell_death


def test_a_line_says_no_secret_of_its_process_and_none_that_looks_like_one() -> None:
    record = logging.LogRecord("mainspring.x", logging.INFO, "", 0, "%s", ("password=hunter22 for opensesame",), None)
    try:
        raise ValueError("no opensesame, no token=abcdefgh")  # noqa: TRY301
    except ValueError:
        record.exc_info = sys.exc_info()
    hide = hiding({"X_TOKEN": "opensesame"})
    for formatter in (JsonLines("server", hide), PrettyLines(colour=False, hide=hide)):
        shown = formatter.format(record)
        assert [word for word in ("hunter22", "opensesame", "abcdefgh") if word in shown] == []


def test_a_line_says_what_it_is_about() -> None:
    record = logging.LogRecord("mainspring.worker", logging.WARNING, "", 0, "gone", (), None)
    record.job, record.attempt, record.worker, record.request = 7, 2, 3, "r-1"
    line = json.loads(JsonLines("worker").format(record))
    assert (line["job"], line["attempt"], line["worker"], line["pid"]) == (7, 2, 3, record.process)
    assert line["request"] == "r-1"
    assert (line["process"], line["level"], line["source"]) == ("worker", "warning", "mainspring.worker")


def test_a_dead_runner_is_told_of_with_each_job_that_was_in_it(caplog: pytest.LogCaptureFixture) -> None:
    one = Held(JobId(7), ClaimId(1), 2, "shop.send", 3, Lodging.SHARED, None, trace="4bf9")  # type: ignore[arg-type]
    other = Held(JobId(8), ClaimId(2), 1, "shop.send", 4, Lodging.SHARED, None)  # type: ignore[arg-type]
    one.link = Link(RunId(5), 0)
    tell_death(3, "killed", [other, one])
    (record,) = caplog.records
    assert record.getMessage() == "job 7 was in runner 3: killed"
    assert of_record(record) == Bound(job=7, attempt=2, run=5, trace="4bf9")


def test_levels_have_names() -> None:
    assert [level_name(level) for level in (0, 10, 20, 25, 30, 50, 60)] == [
        *("debug", "debug", "info", "info", "warning", "critical", "critical"),
    ]
    assert (level_of(None), level_of("error")) == (0, 40)
    with pytest.raises(InvalidInput, match="no level 'warn'"):
        level_of("warn")
