"""Words of the command line become parameters by the task's schema, and values become words for people."""

from __future__ import annotations

import io
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mainspring.cli import looks
from mainspring.cli.values import DOCUMENT_LIMIT, kind, params_of
from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration, Instant, length_text
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Executor, Task
from mainspring.domain.worker import WorkerState
from mainspring.errors import InvalidJson, InvalidParameters, PayloadTooLarge

DURATION = {"type": "string", "format": "duration"}
NOW = Instant(1_790_000_000_000_000)


def reading(schema: Any, text: str, **definitions: Any) -> Any:
    document = {"type": "object", "properties": {"p": schema}, "$defs": definitions}
    return params_of(Task("a.t", "a", Executor.ASYNC, "q", document, {}), [f"p={text}"], None)["p"]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "7", "7"),
        ({"type": "string"}, '"a"', '"a"'),
        ({"type": "string"}, "", ""),
        ({"type": "string"}, "a=b", "a=b"),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"const": "true"}, "true", "true"),
        ({"type": "integer"}, "7", 7),
        ({"type": "integer"}, "-7", -7),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "array"}, '["a", 1]', ["a", 1]),
        ({"type": "object"}, '{"a": null}', {"a": None}),
        ({"enum": [1, 2]}, "1", 1),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", None),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "null", None),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "7", "7"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text", "text"),
        ({"type": ["string", "integer"]}, "7", 7),
        ({"type": ["string", "integer"]}, "seven", "seven"),
        ({"type": ["string", "number"]}, "7", 7),
        ({"type": ["string", "integer"]}, '"7"', "7"),
        ({}, "7", 7),
        ({}, "seven", "seven"),
        ({"$ref": "#/$defs/Count"}, "7", 7),
        ({"$ref": "#/$defs/Name"}, "7", "7"),
        ({"oneOf": [{"$ref": "#/$defs/Name"}]}, "7", "7"),
    ],
)
def test_a_value_is_read_as_its_schema_wants_it(schema: Any, text: str, value: Any):
    found = reading(schema, text, Count={"type": "integer"}, Name={"type": "string"})
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("schema", "text", "right"),
    [
        ({"type": "integer"}, "x", "must be integer. Write a whole number such as 7."),
        ({"type": "boolean"}, "yes", "Write true or false."),
        ({"type": "array"}, "a,b", "Write a list such as '[1, 2]'."),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "must be integer or null."),
        ({"type": "object"}, "{a: 1}", "must be object"),
        ({"type": "number"}, "NaN", "must be number"),
    ],
)
def test_what_is_no_json_where_json_is_wanted_names_parameter_and_right(schema: Any, text: str, right: str):
    with pytest.raises(InvalidParameters) as raised:
        reading(schema, text)
    assert raised.value.field == "params.p"
    assert repr(text) in raised.value.message
    assert right in str(raised.value)


def test_a_number_that_can_not_be_kept_is_told_as_such():
    with pytest.raises(InvalidJson, match=r"beyond .* Pass it as text") as raised:
        reading({"type": "integer"}, "99999999999999999999")
    assert raised.value.field == "params.p"


def test_a_schema_that_refers_to_itself_is_read(monkeypatch: pytest.MonkeyPatch):
    assert reading({"$ref": "#/$defs/Loop"}, "[1]", Loop={"$ref": "#/$defs/Loop"}) == [1]
    assert reading({"$ref": "#/$defs/Nowhere"}, "x") == "x"


def test_a_document_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"p": 1}')))
    task = Task("a.t", "a", Executor.ASYNC, "q", {"type": "object"}, {})
    assert params_of(task, [], "@-") == {"p": 1}


def test_no_more_of_a_document_is_read_than_is_taken(tmp_path: Path):
    task = Task("a.t", "a", Executor.ASYNC, "q", {"type": "object"}, {})
    with pytest.raises(PayloadTooLarge, match="/dev/zero"):
        params_of(task, [], "@/dev/zero")
    (tmp_path / "most.json").write_bytes(b'{"p": 1}'.ljust(DOCUMENT_LIMIT))
    assert params_of(task, [], f"@{tmp_path}/most.json") == {"p": 1}
    (tmp_path / "more.json").write_bytes('{"p": "ü"}'.encode().ljust(DOCUMENT_LIMIT + 1))
    with pytest.raises(PayloadTooLarge):
        params_of(task, [], f"@{tmp_path}/more.json")


@pytest.mark.parametrize("schema", [DURATION, {"anyOf": [DURATION, {"type": "null"}]}])
@pytest.mark.parametrize(
    ("text", "length"),
    [("5s", timedelta(seconds=5)), ("250ms", timedelta(milliseconds=250)), ("1d1h", timedelta(hours=25))],
)
def test_a_duration_is_written_as_everywhere_else(schema: Any, text: str, length: timedelta):
    assert msgspec.convert(reading(schema, text), timedelta) == length
    assert reading(schema, "PT5S") == "PT5S"
    assert reading(schema, "soon") == "soon", "the schema refuses it and says why"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer"}, "integer"),
        (DURATION, "duration"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"type": ["integer", "array"]}, "integer or array"),
        ({"$ref": "#/$defs/Name"}, "string"),
        ({"enum": [1, 2]}, "integer"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_what_a_parameter_takes_is_told_in_few_words(schema: Any, words: str):
    assert kind(schema, {"$defs": {"Name": {"type": "string"}}}) == words


def test_a_plain_table_cuts_what_gives_and_never_an_id():
    rows = [["7", "x" * 130, "y" * 200, "end"], ["123456789012", "a", "b", "e"]]
    titles, first, second = looks.columns(("ID", "TASK", "PARAMS", "Z"), rows, right=[0], gives=[2])
    assert titles == f"{'ID':>12}  {'TASK':<130}  {'PARAMS':<16}  Z"
    assert first == f"{'7':>12}  {'x' * 130}  {'y' * 15}…  end"
    assert second == f"123456789012  {'a':<130}  {'b':<16}  e"
    wide = [["1", "y" * 90, "z" * 90]]
    for gives, right in (((1, 2), f"1   {'y' * 23}…  {'z' * 90}"), ((2, 1), f"1   {'y' * 90}  {'z' * 23}…")):
        assert looks.columns(("ID", "PARAMS", "MORE"), wide, right=(), gives=gives)[1] == right, "in this order"
    assert len(looks.columns(("ID", "PARAMS", "MORE"), [["1", "y" * 300, "z" * 300]], (), (1, 2))[1]) == looks.WIDE
    assert looks.columns(("A", "B"), [["1", "2"]], right=(), gives=[1]) == ["A  B", "1  2"]


def test_attempts_that_do_not_count_lead_to_no_two_of_one():
    assert [looks.tried(1, 4), looks.tried(4, 4), looks.tried(2, 1)] == ["1 of 4", "4 of 4", "2"]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (-5, "0ms"),
        (12 * MILLISECOND, "12ms"),
        (SECOND, "1.0s"),
        (59_999 * MILLISECOND, "59.9s"),
        (MINUTE, "1m 0s"),
        (3 * HOUR + 7 * MINUTE, "3h 7m"),
        (2 * DAY + 4 * HOUR, "2d 4h"),
        (400 * DAY, "400d 0h"),
    ],
)
def test_lengths_read_well(span: int, text: str):
    assert length_text(Duration(span)) == text


@pytest.mark.parametrize(
    ("then", "text"),
    [
        (NOW, "now"),
        (NOW - 12 * SECOND - 1, "12s ago"),
        (NOW + 5 * MINUTE, "in 5m 0s"),
        (NOW - 3 * DAY, "3d 0h ago"),
        (None, "-"),
    ],
)
def test_ages_read_well(then: int | None, text: str):
    assert looks.age(NOW, None if then is None else Instant(then)) == text


def test_every_state_has_icon_word_and_colour_of_its_own():
    looked = [looks.state_look(state) for state in State]
    assert len({look.icon for look in looked}) == len(State)
    assert [look.word for look in looked] == [state.value for state in State]
    assert all(look.style for look in looked)
    assert len({looks.outcome_look(outcome) for outcome in [None, *Outcome]}) == len(Outcome) + 1
    assert len({looks.worker_look(state) for state in WorkerState}) == len(WorkerState)


def test_texts_are_cut_with_a_mark():
    assert looks.cut("abcdef", 6) == "abcdef"
    assert looks.cut("abcdefg", 6) == "abcde…"
    assert looks.params_line({"a": 1, "b": "x" * 100, "c": [1]}) == f"a=1 b={'x' * 39}… c=[1]"
    assert len(looks.params_line({str(n): n for n in range(100)}, 30)) == 30
    assert looks.params_line([1, 2]) == "[1,2]"


def test_output_of_a_job_keeps_its_colours_and_moves_no_cursor():
    assert looks.harmless("\x1b[31mred\x1b[0m\ttab") == "\x1b[31mred\x1b[0m\ttab"
    assert looks.harmless("\x1b[2J\x1b]0;title\x07\r\x9b1A") == "\\x1b[2J\\x1b]0;title\\x07\\r\\x9b1A"
    assert looks.one_line("a\nb\x1b[31m") == "a\\nb\\x1b[31m"
