"""JSON at the door: what passes can be stored and read back, and what does not is refused with its path."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections import OrderedDict, defaultdict
from datetime import date
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainspring.domain.job import PAYLOAD_LIMIT
from mainspring.domain.parameters import DEEPEST, checked_json, filled, loads_strict, placeholders
from mainspring.errors import InvalidJson, InvalidParameters, InvalidText, PayloadTooLarge

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_what_passes_is_read_back_as_it_was_by_both_readers(value: Any) -> None:
    data = checked_json(value, "params")
    assert msgspec.json.decode(data) == value
    assert loads_strict(data, "params") == value
    assert json.loads(data) == value


@given(values)
def test_any_json_that_python_writes_is_taken(value: Any) -> None:
    assert loads_strict(json.dumps(value), "body") == value
    assert loads_strict(json.dumps(value, ensure_ascii=False).encode(), "body") == value


POISON: list[tuple[Any, type[Exception], str]] = [
    (math.nan, InvalidJson, "is NaN"),
    (math.inf, InvalidJson, "is infinite"),
    (-math.inf, InvalidJson, "is infinite"),
    ("a\0b", InvalidText, "holds a NUL character"),
    ("\ud800", InvalidText, "half of a surrogate pair"),
    (2**64, InvalidJson, "a whole number beyond"),
    (-(2**63) - 1, InvalidJson, "a whole number beyond"),
    (10**400, InvalidJson, "a whole number beyond"),
    ({1: 2}, InvalidJson, "has the key 1, which is not text"),
    ({None: 2}, InvalidJson, "has the key None, which is not text"),
    ({"a\0": 2}, InvalidText, "has the key"),
    ({"\udfff": 2}, InvalidText, "has the key"),
    (object(), InvalidJson, "is of type object"),
    (1j, InvalidJson, "is of type complex"),
    ((item for item in "ab"), InvalidJson, "is of type generator"),
]


@pytest.mark.parametrize(("poison", "error", "said"), POISON)
@pytest.mark.parametrize(
    ("wrap", "path"),
    [
        (lambda value: value, "params"),
        (lambda value: {"items": [0, 1, {"name": value}]}, "params.items[2].name"),
        (lambda value: {"odd key": (value,)}, 'params["odd key"][0]'),
        (lambda value: [[{}, value]], "params[0][1]"),
    ],
)
def test_poison_is_refused_with_the_way_to_it(
    poison: Any, error: type[Exception], said: str, wrap: Any, path: str
) -> None:
    with pytest.raises((InvalidJson, InvalidText)) as caught:
        checked_json(wrap(poison), "params")
    assert type(caught.value) is error
    assert caught.value.field == path
    assert caught.value.message.startswith(f"{path} ")
    assert said in caught.value.message


@given(values, st.sampled_from(POISON[:8]), st.data())
def test_poison_is_found_wherever_it_is_hidden(value: Any, poison: tuple[Any, Any, str], data: st.DataObject) -> None:
    def hide(inside: Any) -> Any:
        if isinstance(inside, list) and inside and data.draw(st.booleans()):
            index = data.draw(st.integers(0, len(inside) - 1))
            return [hide(item) if at == index else item for at, item in enumerate(inside)]
        if isinstance(inside, dict) and inside and data.draw(st.booleans()):
            key = data.draw(st.sampled_from(sorted(inside)))
            return {**inside, key: hide(inside[key])}
        return poison[0]

    with pytest.raises(poison[1]):
        checked_json(hide(value), "params")


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_a_hundred_levels_are_taken_and_not_one_more() -> None:
    assert DEEPEST == 100
    assert loads_strict(checked_json(nested(100), "params"), "params") == nested(100)
    for depth in (101, 200, 5_000):
        with pytest.raises(InvalidJson, match="nested deeper than 100 levels"):
            checked_json(nested(depth), "params")
        with pytest.raises(InvalidJson, match="nested deeper than 100 levels"):
            loads_strict("[" * depth + "]" * depth, "body")


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidJson, match="contains itself"):
        checked_json({"loop": loop}, "params")


def test_the_path_of_a_deep_fault_stays_readable() -> None:
    with pytest.raises(InvalidJson) as caught:
        checked_json(nested(150), "params")
    assert len(caught.value.field) < 250


def test_the_limit_is_a_mebibyte_of_json_as_written() -> None:
    assert PAYLOAD_LIMIT == 2**20
    fits = "x" * (PAYLOAD_LIMIT - 2)
    assert len(checked_json(fits, "params")) == PAYLOAD_LIMIT
    with pytest.raises(PayloadTooLarge, match=r"params is 1,048,577 bytes; the limit is 1,048,576 bytes") as caught:
        checked_json(fits + "x", "params")
    assert (caught.value.code, caught.value.http_status) == ("payload_too_large", 413)
    with pytest.raises(PayloadTooLarge):
        checked_json("ä" * (PAYLOAD_LIMIT // 2), "params")


class Colour(enum.Enum):
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: float


@dataclasses.dataclass
class Order:
    day: date
    prices: dict[Any, float]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Colour.RED, "red"),
        ({"c": [Colour.RED]}, {"c": ["red"]}),
        (Pair(1, 2.5), [1, 2.5]),
        (Order(date(2026, 1, 2), {"a": 1.5}), {"day": "2026-01-02", "prices": {"a": 1.5}}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (frozenset({7}), [7]),
        (b"abc", "YWJj"),
    ],
)
def test_richer_values_are_written_as_msgspec_writes_them(value: Any, written: Any) -> None:
    assert json.loads(checked_json(value, "result")) == written


@pytest.mark.parametrize(
    "value",
    [Pair(1, math.nan), Order(date(2026, 1, 2), {"a": math.inf}), Order(date(2026, 1, 2), {3: 1.0}), [{math.nan}]],
)
def test_poison_inside_richer_values_is_found_too(value: Any) -> None:
    with pytest.raises(InvalidJson):
        checked_json({"deep": [value]}, "result")


def test_a_hook_may_write_what_nobody_knows() -> None:
    assert checked_json({"z": [1j]}, "params", enc_hook=lambda value: [value.real, value.imag]) == b'{"z":[[0.0,1.0]]}'
    with pytest.raises(InvalidJson, match=r"params\.z\[0\]"):
        checked_json({"z": [1j]}, "params", enc_hook=lambda _: math.nan)


@pytest.mark.parametrize(
    ("body", "said", "path"),
    [
        (b'{"a": 1, "a": 2}', 'has the key "a" twice', "body"),
        (b'{"x": [{"k": 1, "q": {"k": 1, "k": 1}}]}', 'has the key "k" twice', "body.x[0].q"),
        (b'{"a": NaN}', "is NaN", "body.a"),
        (b"[-Infinity]", "is infinite", "body[0]"),
        (b'{"a": {"b": 1e999}}', "is infinite, or a number too large", "body.a.b"),
        (b'{"n": ' + b"9" * 300 + b"}", "a whole number beyond", "body.n"),
        (b'{"n": [-' + b"9" * 5000 + b"]}", "a whole number beyond", "body.n[0]"),
        (b'{"a": "\\u0000"}', "holds a NUL character", "body.a"),
        (b'{"\\u0000": 1}', "holds a NUL character", "body"),
        (b'{"a": "\\ud83d"}', "half of a surrogate pair", "body.a"),
        (b'{"a": 1', "is not JSON", "body"),
        (b"", "is not JSON: Expecting value at line 1, column 1", "body"),
        (b"{'a': 1}", "is not JSON", "body"),
        (b"[1,]", "is not JSON", "body"),
        (b"\xff\xfe", "is not UTF-8", "body"),
        (b'{"a": "\xc3"}', "is not UTF-8", "body"),
        (b"\xef\xbb\xbf{}", "is not JSON", "body"),
        (b"[" * 10_000, "nested deeper than 100 levels", "body"),
        (b"[" * 200_000 + b"]" * 200_000, "nested deeper than 100 levels", "body"),
    ],
)
def test_a_body_that_others_would_read_differently_is_refused(body: bytes, said: str, path: str) -> None:  # B193
    with pytest.raises((InvalidJson, InvalidText)) as caught:
        loads_strict(body, "body")
    assert said in caught.value.message
    assert caught.value.field.startswith(path)


def test_a_surrogate_pair_is_one_character() -> None:
    assert loads_strict(b'"\\ud83d\\ude00"', "body") == "\N{GRINNING FACE}"


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:0123456789.eE-+ \\u\0ntf', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_and_what_is_read_can_be_stored(body: bytes) -> None:
    try:
        value = loads_strict(body, "body")
    except (InvalidJson, InvalidText):
        return
    assert msgspec.json.decode(checked_json(value, "body")) == value


# --- commands ------------------------------------------------------------------------------------------------------


def test_a_parameter_is_one_word_whatever_it_holds() -> None:
    argv = ["tar", "-czf", "{dest}", "--", "{src}", "{", "{}", "{1}", "a{b"]
    params = {"dest": "a b;rm -rf $HOME", "src": "{dest}"}
    assert filled(argv, params) == ["tar", "-czf", "a b;rm -rf $HOME", "--", "{dest}", "{", "{}", "{1}", "a{b"]


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), texts, min_size=3))
def test_no_text_splits_vanishes_or_is_filled_again(params: dict[str, str]) -> None:
    assert filled(["x", "{a}", "{b}", "{c}"], params) == ["x", params["a"], params["b"], params["c"]]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (7, ["7"]),
        (-1.5, ["-1.5"]),
        (True, ["true"]),
        ("", [""]),
        ([], []),
        (["a b", 2], ["a b", "2"]),
        ({"k": [1]}, ['{"k":[1]}']),
    ],
)
def test_other_values_are_written_as_json_and_lists_as_several_words(value: Any, words: list[str]) -> None:
    assert filled(["x", "{v}", "y"], {"v": value}) == ["x", *words, "y"]


def test_a_missing_or_null_parameter_is_refused() -> None:
    with pytest.raises(InvalidParameters, match=r"'dest' of the command is missing\. Did you mean dst\?") as caught:
        filled(["{dest}"], {"dst": "x"})
    assert caught.value.field == "params.dest"
    with pytest.raises(InvalidParameters, match="is null"):
        filled(["{dest}"], {"dest": None})


def test_placeholders_are_whole_words() -> None:
    assert placeholders(["tar", "{a}", "{b}", "{}", "awk", "{print $1}"], ["a"]) == {"a", "b"}
    assert placeholders(["sh", "-c", "echo {x}"], []) == set(), "braces in a text of the program's own"
    with pytest.raises(InvalidParameters, match="in its middle") as caught:
        placeholders(["--out={a}"], ["a"])
    assert "a word of its own" in caught.value.remedy
