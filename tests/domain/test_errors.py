"""The error tree: families share their answers, and every error says what would be right."""

import re
from pathlib import Path

import pytest

from mainspring import errors
from mainspring.errors import Conflict, Forbidden, InvalidInput, MainspringError, NotFound, StoreError


def every(kind: type[MainspringError]) -> list[type[MainspringError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in every(child))]


@pytest.mark.parametrize(
    ("family", "exit_status"), [(InvalidInput, 4), (NotFound, 3), (Conflict, 4), (Forbidden, 4), (StoreError, 5)]
)
def test_a_family_ends_a_command_with_one_status(family: type[MainspringError], exit_status: int):
    assert {kind.exit_status for kind in every(family)} == {exit_status}


def test_codes_are_stable_words_and_each_stands_for_one_error():
    codes = [kind.code for kind in every(MainspringError)]
    assert len(codes) == len(set(codes))
    assert all(code.isidentifier() and code == code.lower() for code in codes)


def test_the_tree_at_the_top_of_the_file_names_every_error():
    drawing = errors.__doc__ or ""
    assert [kind.__name__ for kind in every(MainspringError) if kind.__name__ not in drawing] == []


def test_an_error_reads_as_one_sentence_with_its_remedy():
    error = Conflict("job 7 is running.", remedy="Wait for its end.")
    assert str(error) == "job 7 is running. Wait for its end."
    assert (error.http_status, error.code) == (409, "conflict")
    assert Forbidden("no").http_status == 403


def test_the_reference_tells_of_every_failure_that_is_of_our_own_making():
    root = Path(__file__).parents[2]
    told = (root / "docs" / "reference" / "errors.md").read_text()
    ours = {
        name
        for path in (root / "src" / "mainspring").rglob("*.py")
        if "testing" not in path.parts
        for name in re.findall(r'Failure\(\s*"(\w+)"', path.read_text())
    }
    assert {"ResultTooLarge", "LostWorker"} <= ours
    assert [name for name in sorted(ours) if f"| `{name}` |" not in told] == []
