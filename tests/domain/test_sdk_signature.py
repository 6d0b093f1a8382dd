"""From a function's signature to a schema, and values both ways; what can't be a parameter is refused by name."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, Optional, TypedDict
from uuid import UUID

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainspring.domain.parameters import checked_json
from mainspring.errors import InvalidJson, InvalidParameters, InvalidTask
from mainspring.sdk.binding import Parameters
from mainspring.sdk.context import Context
from mainspring.sdk.signature import from_function, from_types, result_reader

if TYPE_CHECKING:
    from fractions import Fraction

OrderId = NewType("OrderId", int)


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Extras(TypedDict, total=False):
    note: str


@dataclass
class Item:
    name: str
    price: Decimal
    parts: list[Item] = field(default_factory=list)


class Point(msgspec.Struct):
    x: int
    y: int = 0


def rich(  # noqa: PLR0917 - one of each kind
    order: OrderId,
    items: list[Item],
    size: Size,
    day: date = date(2026, 1, 2),
    where: Path = Path("/tmp"),
    extras: Extras | None = None,
    mode: Literal["fast", "slow"] = "fast",
    count: Annotated[int, msgspec.Meta(ge=1)] = 1,
    raw: bytes = b"",
    id_: UUID | None = None,
    point: Point = Point(1),  # noqa: B008 - a struct that nobody changes
    free=None,  # noqa: ANN001 - no annotation is any JSON
) -> None: ...


def parameters(function: Callable[..., Any]) -> Parameters:
    return from_function("shop.task", function)


def checks(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(value)


RICH: dict[str, Any] = {
    "order": 7,
    "items": [Item("a", Decimal("1.50"), [Item("b", Decimal(2))])],
    "size": Size.LARGE,
    "day": date(2027, 3, 4),
    "where": Path("/srv/x"),
    "extras": {"note": "n"},
    "raw": b"\x00\xff",
    "id_": UUID(int=5),
    "point": Point(3, 4),
    "free": [1, {"a": None}],
}


def test_values_go_there_and_back_and_fit_the_schema_on_the_way() -> None:
    spec = parameters(rich)
    plain = spec.bind((), RICH)
    assert checks(spec.schema, plain)
    assert msgspec.json.decode(checked_json(plain, "params")) == plain
    assert spec.bind_stored(checked_json(plain, "params")) == RICH
    assert plain["where"] == "/srv/x"


def test_the_schema_says_what_a_submit_from_elsewhere_must_be() -> None:
    spec = parameters(rich)
    assert spec.schema["type"] == "object"
    assert spec.schema["required"] == ["order", "items", "size"]
    assert spec.schema["additionalProperties"] is False
    assert spec.schema["properties"]["order"] == {"type": "integer"}
    assert spec.schema["properties"]["day"] == {"type": "string", "format": "date", "default": "2026-01-02"}
    assert spec.schema["properties"]["where"]["default"] == "/tmp"
    assert spec.schema["properties"]["free"] == {"default": None}
    assert spec.schema["properties"]["point"]["default"] == {"x": 1, "y": 0}
    assert {"Item", "Point", "Size", "Extras"} <= set(spec.schema["$defs"])
    good = {"order": 1, "items": [], "size": "s"}
    assert checks(spec.schema, good)
    for wrong in (
        {"order": "1"},
        {"items": [{"name": "a"}]},
        {"size": "xl"},
        {"mode": "medium"},
        {"count": 0},
        {"other": 1},
    ):
        assert not checks(spec.schema, good | wrong), wrong


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"order": "7"}, "order", "expected `int`, got `str`"),
        ({"order": True}, "order", "expected `int`, got `bool`"),
        ({"order": None}, "order", "got `null`"),
        (
            {"items": [{"name": "a", "price": "1", "parts": [{"name": 1, "price": "1"}]}]},
            "items[0].parts[0].name",
            "got `int`",
        ),
        ({"items": [{"name": "a"}]}, "items[0]", "missing required field `price`"),
        ({"size": "xl"}, "size", "invalid enum value 'xl'"),
        ({"count": 0}, "count", ">= 1"),
        ({"day": "yesterday"}, "day", "Write a day as 2026-11-29."),
        ({"where": 5}, "where", "for a path"),
        ({"mode": "medium"}, "mode", "medium"),
        ({"ordr": 1}, "ordr", "there is no parameter 'ordr'"),
        ({"raw": object()}, "raw", "can't be written as JSON"),
    ],
)
def test_a_wrong_parameter_is_named_with_the_way_to_it(changes: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        parameters(rich).bind((), RICH | changes)
    assert caught.value.field == f"params.{path}"
    assert said.lower() in str(caught.value).lower()
    assert "shop.task takes: order, items, size" in caught.value.remedy
    assert "\n" not in str(caught.value)


def test_a_missing_parameter_is_named_and_a_slip_gets_the_near_match() -> None:
    with pytest.raises(InvalidParameters, match="parameter 'items' is missing"):
        parameters(rich).bind((1,), {"size": "s"})
    with pytest.raises(InvalidParameters, match=r"there is no parameter 'ordr'.*Did you mean order or mode\?"):
        parameters(rich).bind((), {"ordr": 1})


def test_positional_arguments_stand_for_the_names_in_order() -> None:
    def task(a: int, ctx: Context, b: int, *, c: int = 0) -> None: ...

    spec = parameters(task)
    assert spec.context == "ctx"
    assert spec.bind((1, 2), {"c": 3}) == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(InvalidParameters, match="at most 2 positional arguments, and 3 were given"):
        spec.bind((1, 2, 3), {})
    with pytest.raises(InvalidParameters, match="parameter 'a' was given twice"):
        spec.bind((1,), {"a": 1, "b": 2})
    with pytest.raises(InvalidParameters, match="there is no parameter 'ctx'"):
        spec.bind((1, 2), {"ctx": 1})


@pytest.mark.parametrize(
    "annotation",
    [Context, "Context", Optional[Context], "Context | None", Annotated[Context, 1]],  # noqa: UP045 - as some write
)
def test_the_context_is_found_however_it_is_written(annotation: Any) -> None:
    def task(a: int, b=None) -> None: ...  # noqa: ANN001

    task.__annotations__["b"] = annotation
    assert parameters(task).context == "b"
    assert list(parameters(task).schema["properties"]) == ["a"]


def test_open_keywords_take_more_parameters_of_their_type() -> None:
    def task(a: int, **others: int) -> None: ...

    spec = parameters(task)
    assert spec.schema["additionalProperties"] == {"type": "integer"}
    assert spec.bind((), {"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert spec.bind_stored(b'{"a":1,"b":2}') == {"a": 1, "b": 2}
    with pytest.raises(InvalidParameters):
        spec.bind((), {"a": 1, "b": "x"})

    def free(**others) -> None: ...  # noqa: ANN003

    assert parameters(free).schema["additionalProperties"] is True
    assert parameters(free).bind_stored(b'{"x":[1]}') == {"x": [1]}


def test_what_is_left_out_is_left_to_the_function() -> None:
    def task(a: int = 1, b: list[int] = [2]) -> None: ...  # noqa: B006 - as users write

    assert parameters(task).bind((), {}) == {}
    assert parameters(task).bind_stored(b"{}") == {}
    assert parameters(task).schema["required"] == []


@pytest.mark.parametrize(
    ("text", "value"), [(b'{"n":7.0,"x":7}', 7), (b'{"n":-0.0,"x":1}', 0), (b'{"n":1e2,"x":0}', 100)]
)
def test_a_whole_number_is_an_int_however_it_was_written(text: bytes, value: int) -> None:
    def task(n: int, x: float) -> None: ...

    found = parameters(task).bind_stored(text)
    assert (type(found["n"]), found["n"]) == (int, value)
    assert type(found["x"]) is float
    with pytest.raises(InvalidParameters, match="expected `int`, got `float`"):
        parameters(task).bind_stored(b'{"n":7.5,"x":1}')


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        (b'{"a":"x"}', InvalidParameters),
        (b"{}", InvalidParameters),
        (b'{"a":1,"gone":2}', InvalidParameters),
        (b"[1]", InvalidParameters),
        (b"{", InvalidJson),
        (b'{"a":1,"a":2}x', InvalidJson),
    ],
)
def test_stored_parameters_that_fit_no_more_are_refused(stored: bytes, error: type[Exception]) -> None:
    def task(a: int) -> None: ...

    with pytest.raises(error):
        parameters(task).bind_stored(stored)


plain_values = st.fixed_dictionaries(
    {
        "a": st.integers(-(2**63), 2**63 - 1),
        "b": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        "c": st.lists(st.floats(allow_nan=False, allow_infinity=False)),
        "d": st.none() | st.booleans(),
        "e": st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.dates()),
        "f": st.datetimes() | st.datetimes(timezones=st.timezones()).map(lambda moment: moment.replace(tzinfo=None)),
        "g": st.timedeltas(timedelta(-1000), timedelta(1000)),
    }
)


@given(plain_values)
def test_every_value_of_the_plain_types_survives(values: dict[str, Any]) -> None:
    def task(
        *, a: int, b: str, c: list[float], d: bool | None, e: dict[str, date], f: datetime, g: timedelta
    ) -> None: ...

    spec = parameters(task)
    plain = spec.bind((), values)
    assert checks(spec.schema, plain)
    assert spec.bind_stored(msgspec.json.encode(plain)) == values


class Word(str):
    __slots__ = ()


class Number:
    def __index__(self) -> int:
        return 5


class Real(float):
    __slots__ = ()


def test_look_alikes_of_text_and_numbers_are_written_as_what_they_look_like() -> None:
    def task(a: str, b: int, c: float) -> None: ...

    assert parameters(task).bind((Word("x"), Number(), Real(1.5)), {}) == {"a": "x", "b": 5, "c": 1.5}


# --- refusals ------------------------------------------------------------------------------------------------------


def star(*files: str) -> None: ...
def positional(a: int, /) -> None: ...
def method(self: Any) -> None: ...
def two(a: Context, b: Context) -> None: ...
def number(a: complex) -> None: ...
def nested(a: list[threading.Lock]) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def hidden(a: Fraction) -> None: ...
def custom(a: Number) -> None: ...
def mixed(a: Path | int) -> None: ...
def callback(a: Callable[[], None]) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (star, r"takes \*files.*Take a list: files: list"),
        (positional, "'a'.*positional-only.*Take out the /"),
        (method, "takes 'self': it looks like a method"),
        (two, "two Context parameters: a and b"),
        (number, "Parameter 'a' of task shop.task has the type complex, which has no JSON form"),
        (nested, "parameter 'a'.*can't be resolved: name 'threading' is not defined"),
        (hidden, "parameter 'a'.*can't be resolved.*not only under TYPE_CHECKING"),
        (custom, "Parameter 'a' of task shop.task has the type Number"),
        (mixed, "Parameter 'a'.*no JSON form.*union"),
        (callback, "Parameter 'a'.*no JSON form"),
    ],
)
def test_what_can_not_be_a_parameter_is_refused_by_name_with_what_would_be_right(
    function: Callable[..., Any], said: str
) -> None:
    with pytest.raises(InvalidTask, match=said) as caught:
        parameters(function)
    assert caught.value.code == "invalid_task"


def test_names_of_an_enclosing_function_are_found() -> None:
    class Local(msgspec.Struct):
        n: int

    def task(a: Local) -> int:
        return Local(a.n).n

    assert parameters(task).bind((Local(3),), {}) == {"a": {"n": 3}}


def test_a_wrapped_function_keeps_its_own_signature() -> None:
    def task(day: date) -> None: ...

    @functools.wraps(task)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        task(*args, **kwargs)

    assert parameters(wrapper).bind((date(2026, 1, 1),), {}) == {"day": "2026-01-01"}


def test_a_commands_parameters_are_all_required() -> None:
    spec = from_types("shop.tar", {"src": str, "level": int, "files": list[str]})
    assert spec.schema["required"] == ["src", "level", "files"]
    assert spec.bind_stored(b'{"src":"a","level":3,"files":["x"]}') == {"src": "a", "level": 3, "files": ["x"]}
    with pytest.raises(InvalidTask, match=r"'x' of task shop\.tar has the type complex"):
        from_types("shop.tar", {"x": complex})


@pytest.mark.parametrize(
    ("annotation", "stored", "value"),
    [
        ("Item", {"name": "a", "price": "1"}, Item("a", Decimal(1))),
        ("list[date]", ["2026-01-02"], [date(2026, 1, 2)]),
        ("Path | None", "/x", Path("/x")),
    ],
)
def test_results_come_back_as_annotated(annotation: str, stored: Any, value: Any) -> None:
    def task() -> None: ...

    task.__annotations__["return"] = annotation
    read = result_reader(task)
    assert read is not None
    assert read(stored) == value


@pytest.mark.parametrize("annotation", ["int", "None", "Any", "object", "Fraction", "Number", "nowhere.Name"])
def test_results_without_a_readable_type_stay_plain(annotation: str) -> None:
    def task() -> None: ...

    task.__annotations__["return"] = annotation
    assert result_reader(task) is None


def test_a_function_without_a_signature_is_refused() -> None:
    class Odd:
        __signature__ = 5

        def __call__(self) -> None: ...

    with pytest.raises(InvalidTask, match=r"signature of task shop\.task can't be read"):
        parameters(Odd())


def test_annotations_that_are_no_types_do_not_pass() -> None:
    def task(a: int) -> None: ...

    for odd in (types.ModuleType("m"), "list[", "a b"):
        task.__annotations__["a"] = odd
        with pytest.raises(InvalidTask, match=r"[Pp]arameter 'a' of task shop"):
            parameters(task)
