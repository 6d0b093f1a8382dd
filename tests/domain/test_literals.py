"""What nodes give their tasks is checked as far as it stands there, and said with the node and the parameter."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.domain.schemas import validator_of
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import InvalidWorkflow
from mainspring.transitions.literals import Taker, Takers, check_literals
from mainspring.transitions.prepared import Taking
from mainspring.transitions.run_births import taking_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "names": {"type": "array", "items": {"$ref": "#/$defs/name"}},
        "length": {"type": "string", "format": "duration"},
    },
    "required": ["x"],
    "additionalProperties": False,
    "$defs": {"name": {"type": "string", "maxLength": 3}},
}
INNER = Workflow(
    "inner",
    (Node("A"),),
    parameters={
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "string", "default": "z"}},
        "required": ["x", "y"],
    },
)
TAKERS = Takers(
    {"t": Taker(Taking("shop.t", "shop.t", SCHEMA, validator_of(SCHEMA)))}, {"inner": Taker(taking_of(INNER), INNER)}
)
A, DAY, ITEM = {"$node": "A"}, {"$param": "day"}, {"$item": True}


def checked(params: dict[str, Any], **values: Any) -> None:
    fields = {"task": "t"} | values
    check_literals(Workflow("w", (Node("A"), Node("B", params=params, **fields))), TAKERS)


@pytest.mark.parametrize(
    ("params", "values"),
    [
        ({"x": 1, "names": ["a", "bc"], "length": "1h30m"}, {}),
        ({"x": A}, {}),
        ({"x": DAY, "names": ["a", A]}, {}),
        ({"x": {"$literal": 7}}, {}),
        ({"x": 7.0}, {}),
        ({"x": ITEM}, {"map": A}),
        ({"x": ITEM}, {"map": [1, 2]}),
        ({"x": ITEM}, {"map": [1, DAY]}),
        ({"x": {"$index": True}, "names": [ITEM]}, {"map": ["a", "b"]}),
        ({"x": ITEM | {"path": ["n"]}}, {"map": [{"n": 1}]}),
        ({}, {"map": []}),
        ({"x": 1}, {"task": None, "workflow": "inner"}),
        ({"anything": 1}, {"task": "unknown"}),
    ],
)
def test_what_fits_and_what_is_not_known_yet_is_taken(params: dict[str, Any], values: dict[str, Any]) -> None:
    checked(params, **values)


@pytest.mark.parametrize(
    ("params", "values", "place", "words"),
    [
        ({}, {}, "x", "node 'B': parameters of shop.t are wrong: parameter 'x' is missing"),
        ({"x": "1"}, {}, "x", 'is not of type "integer"'),
        ({"x": 1.5}, {}, "x", "1.5"),
        ({"x": 1, "nmaes": []}, {}, "nmaes", "there is no parameter 'nmaes'. Did you mean names?"),
        ({"x": A, "nmaes": A}, {}, "nmaes", "there is no parameter 'nmaes'"),
        ({"names": A}, {}, "x", "parameter 'x' is missing"),
        ({"x": A, "names": ["long"]}, {}, "names.0", '"long"'),
        ({"x": A, "names": ["a", {"$literal": A}]}, {}, "names.1", 'is not of type "string"'),
        ({"x": A, "length": "often"}, {}, "length", "often"),
        ({"x": ITEM}, {"map": [1, "two", 3]}, "x", "node 'B', item 1: parameters"),
        ({"x": ITEM | {"path": ["n"]}}, {"map": [{"n": 1}, {}]}, "", "item 1: the item has no 'n'"),
        ({"x": ITEM, "names": [1]}, {"map": A}, "names.0", "1 is not of type"),
        ({}, {"map": [1]}, "x", "node 'B': parameters of shop.t are wrong: parameter 'x' is missing"),
        ({"x": A, "names": [1]}, {"map": [1]}, "names.0", "node 'B': parameters"),
        ({"x": "1"}, {"task": None, "workflow": "inner"}, "x", "parameters of workflow inner are wrong"),
        ({"y": A}, {"task": None, "workflow": "inner"}, "x", "missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    params: dict[str, Any], values: dict[str, Any], place: str, words: str
) -> None:
    with pytest.raises(InvalidWorkflow) as refused:
        checked(params, **values)
    assert refused.value.field == f"nodes[1].params.{place}".rstrip(".")
    assert words in str(refused.value)


def test_a_parameter_with_a_default_need_not_be_given_beside_one_that_comes_later() -> None:
    checked({"x": A}, task=None, workflow="inner")
