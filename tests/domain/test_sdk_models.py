"""Parameters and results that are models: pydantic's, and any class that can do what they can."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from mainspring.domain.parameters import checked_json
from mainspring.errors import InvalidParameters, InvalidTask
from mainspring.sdk.codec import encode_other
from mainspring.sdk.signature import from_function, result_reader


class Duck:
    """Not pydantic, but it can do what is asked of a model."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duck) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @classmethod
    def model_validate(cls, value: Any) -> Duck:
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            raise ValueError("a duck needs a name")  # noqa: TRY004 - as pydantic does
        return cls(value["name"])

    def model_dump(self, *, mode: str) -> dict[str, str]:
        assert mode == "json"
        return {"name": self.name}

    @classmethod
    def model_json_schema(cls, *, ref_template: str) -> dict[str, Any]:
        assert ref_template == "#/$defs/{model}"
        return {
            "type": "object",
            "properties": {"name": {"$ref": "#/$defs/Name"}},
            "$defs": {"Name": {"type": "string"}},
        }


def test_a_model_goes_there_and_back_and_is_checked_by_its_schema_and_by_itself() -> None:
    def task(ducks: list[Duck], first: Duck | None = None) -> None: ...

    spec = from_function("pond.task", task)
    values = {"ducks": [Duck("a"), Duck("b")], "first": Duck("c")}
    plain = spec.bind((), values)
    assert plain == {"ducks": [{"name": "a"}, {"name": "b"}], "first": {"name": "c"}}
    assert spec.bind_stored(checked_json(plain, "params")) == values
    validator = jsonschema_rs.validator_for(spec.schema)
    assert validator.is_valid(plain)
    assert not validator.is_valid({"ducks": [{"name": 5}]})
    with pytest.raises(InvalidParameters, match="a duck needs a name") as caught:
        spec.bind((), {"ducks": [Duck("a"), {}]})
    assert caught.value.field == "params.ducks[1]"


def test_a_model_is_a_result_too() -> None:
    def task() -> Duck:
        return Duck("a")

    assert checked_json(Duck("a"), "result", enc_hook=encode_other) == b'{"name":"a"}'
    read = result_reader(task)
    assert read is not None
    assert read({"name": "a"}) == Duck("a")


def test_pydantic_models_are_taken() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Address(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        street: str
        number: int

    class Person(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        name: str
        home: Address | None = None
        friends: list[Person] = []  # noqa: RUF012 - a pydantic field

    Person.model_rebuild()

    def task(person: Any, other: Any = None) -> None: ...

    task.__annotations__ |= {"person": Person, "other": Address | None}

    spec = from_function("town.task", task)
    ann = Person(name="Ann", home=Address(street="Elm", number=3), friends=[Person(name="Bob")])
    plain = spec.bind((ann,), {})
    assert spec.bind_stored(checked_json(plain, "params")) == {"person": ann}
    validator = jsonschema_rs.validator_for(spec.schema)
    assert validator.is_valid(plain)
    assert not validator.is_valid({"person": {"name": "x", "home": {"street": "s"}}})
    with pytest.raises(InvalidParameters, match=r"home\.number") as caught:
        spec.bind((), {"person": {"name": "a", "home": {"street": "s", "number": "many"}}})
    assert caught.value.field == "params.person"
    assert "\n" not in str(caught.value)


def test_two_models_of_one_name_are_not_mixed_up() -> None:
    class Other(Duck):
        @classmethod
        def model_json_schema(cls, *, ref_template: str) -> dict[str, Any]:
            schema = super().model_json_schema(ref_template=ref_template)
            return {**schema, "$defs": {"Name": {"type": "integer"}}}

    def task(a: Duck, b: Duck) -> None: ...

    task.__annotations__["b"] = Other

    with pytest.raises(InvalidTask, match="two different models are named Name"):
        from_function("pond.task", task)
