"""The reference pages say what the code does: every error with its statuses, every route, every field of a job."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from mainspring.client.wire import job_wire
from mainspring.domain.job import JobRequest
from mainspring.errors import MainspringError
from mainspring.server.decode import FILTERS, LATER
from tests.api.samples import JOB

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE = REFERENCE / "errors.md"


class Row(NamedTuple):
    code: str
    name: str
    http_status: int
    exit_status: int


def classes(kind: type[MainspringError] = MainspringError) -> list[type[MainspringError]]:
    ours = [kind] if kind.__module__.startswith("mainspring.errors") else []
    return ours + [below for child in kind.__subclasses__() for below in classes(child)]


def rows() -> dict[Row, tuple[str, str]]:
    """What the page says of each error: its meaning and what to do."""
    found = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \| (\d+) \| (.*) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    return {Row(code, name, int(http), int(end)): (meaning, remedy) for code, name, http, end, meaning, remedy in found}


def test_the_page_lists_every_error_with_its_statuses() -> None:
    assert set(rows()) == {Row(kind.code, kind.__name__, kind.http_status, kind.exit_status) for kind in classes()}


def test_each_error_has_a_meaning_and_a_way_out() -> None:
    for row, (meaning, remedy) in rows().items():
        assert meaning.endswith("."), row
        assert remedy, row


def test_no_two_errors_share_a_code() -> None:
    codes = [kind.code for kind in classes()]
    assert len(codes) == len(set(codes))


def test_the_page_lists_every_filter_of_jobs() -> None:
    text = (REFERENCE / "rest.md").read_text()
    (filters,) = re.findall(r"^\| jobs \| (.*) \|$", text, re.MULTILINE)
    assert set(FILTERS) <= set(re.findall(r"`(\w+)`", filters))


def test_the_page_shows_every_field() -> None:
    text = (REFERENCE / "rest.md").read_text()
    (shown,) = [block for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if "created_at" in block]
    assert list(json.loads(shown)) == list(job_wire(JOB))
    submit = text.partition("### Submit")[2].partition("### Lists")[0]
    fields = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", submit, re.MULTILINE))))
    assert fields == set(JobRequest.__struct_fields__) - LATER
