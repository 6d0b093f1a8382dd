from __future__ import annotations

from typing import Any

import pytest

from mainspring.domain.references import Values, filled
from mainspring.errors import UnresolvedReference

VALUES = Values(
    params={"day": "monday", "deep": {"er": [1]}}, results={"raw": {"rows": [7, 8]}}, item={"id": 3}, number=4
)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"$node": "raw"}, {"rows": [7, 8]}),
        ({"$node": "raw", "path": ["rows", 1]}, 8),
        ({"$node": "skipped", "path": ["rows", 1]}, None),
        ({"$param": "day"}, "monday"),
        ({"$param": "deep", "path": ["er", 0]}, 1),
        ({"$param": "left_out"}, None),
        ({"$item": True}, {"id": 3}),
        ({"$item": True, "path": ["id"]}, 3),
        ({"$index": True}, 4),
        ({"$literal": {"$node": "raw"}}, {"$node": "raw"}),
        ([1, {"a": [{"$item": True}, {"b": {"$index": True}}]}], [1, {"a": [{"id": 3}, {"b": 4}]}]),
        ("plain", "plain"),
    ],
)
def test_a_reference_is_filled_with_what_it_stands_for(value: Any, result: Any) -> None:
    assert filled({"x": value}, VALUES) == {"x": result}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"$node": "raw", "path": ["row"]}, "params.x: the result of raw has no 'row': it has rows."),
        ({"$node": "raw", "path": ["rows", 2]}, "params.x: the result of raw['rows'] has no 2: it has 2 items."),
        ({"$node": "raw", "path": ["rows", "a"]}, "it is a list."),
        ({"$param": "day", "path": [0]}, "params.x: the parameter day has no 0: it is a text."),
    ],
)
def test_a_path_that_leads_nowhere_says_what_is_there(value: Any, said: str) -> None:
    with pytest.raises(UnresolvedReference) as caught:
        filled({"x": value}, VALUES)
    assert caught.value.code == "unresolved_reference"
    assert said in str(caught.value)
