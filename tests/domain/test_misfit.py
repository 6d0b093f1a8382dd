"""What does not fit is told of the field that it is about, also where a field is missing or has a name of its own."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mainspring.domain.misfit import misfit


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    key: str


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    tags: dict[str, str] = {}
    one: Inner | None = None
    several: list[Inner] = []


@pytest.mark.parametrize(
    ("value", "path", "what"),
    [
        ({}, "name", "it is missing"),
        ({"name": 5}, "name", "expected `str`, got `int`"),
        ({"name": "a", "tags": {"a": 1}}, "tags", "expected `str`, got `int`"),
        ({"name": "a", "tags": {1: "a"}}, "tags", "expected `str`, got `int`"),
        ({"name": "a", "one": {}}, "one.key", "it is missing"),
        ({"name": "a", "several": [{"key": "a"}, {"kye": 1}]}, "several[1].kye", "there is no such field"),
        ({"name": "a", "other": 1}, "other", "there is no such field"),
        ([], "", "expected `object`, got `array`"),
    ],
)
def test_the_field_is_told(value: Any, path: str, what: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Outer)
    found = misfit(caught.value)
    assert (found.path, found.what) == (path, what)
