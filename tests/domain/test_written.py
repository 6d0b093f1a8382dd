"""Documents from YAML and JSON files: what is read, and what is refused with its line."""

from __future__ import annotations

import json

import pytest

from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import InvalidInput, InvalidWorkflow
from mainspring.importers.written import read

GOOD = """\
# a comment
parameters:
  type: object
  properties: {day: {type: string}}
nodes:
  - name: raw
    task: extract
    params: {day: {$param: day}, on: yes, date: 2026-11-29, dry: false, n: 3, x: 1.5, none: null}
  - name: load
    task: load
    params:
      rows: {$node: raw, path: [rows, 0]}
    retry: {max_attempts: 2}
"""


def test_yaml_is_read_as_its_newer_version_means_it() -> None:
    document = read(GOOD, "some/where/daily.yaml")
    assert document.name == "daily"
    assert document.nodes[0].params == {
        "day": {"$param": "day"},
        "on": "yes",
        "date": "2026-11-29",
        "dry": False,
        "n": 3,
        "x": 1.5,
        "none": None,
    }
    assert document.nodes[1].params == {"rows": {"$node": "raw", "path": ["rows", 0]}}


def test_json_is_the_same_document() -> None:
    text = json.dumps({"name": "w", "nodes": [{"name": "a"}, {"name": "b", "needs": ["a"]}]})
    assert read(text, "w.json") == Workflow("w", (Node("a"), Node("b", needs=("a",))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            GOOD.replace("$node: raw", "$node: row"),
            "f.yaml line 12, nodes[1].params.rows: it takes the result of 'row'",
        ),
        (GOOD.replace("name: load", "name: raw"), "f.yaml line 9, nodes[1].name: there are two nodes named 'raw'"),
        (
            GOOD.replace("    retry", "    retyr"),
            "f.yaml line 9, nodes[1]: there is no field 'retyr'. Did you mean retry",
        ),
        (GOOD.replace("max_attempts: 2", "max_attempts: 0"), "f.yaml line 13, nodes[1].retry.max_attempts"),
        (GOOD + "nodes: []\n", "f.yaml line 14: the key 'nodes' comes twice"),
        ("nodes: [\n", "f.yaml line 2, column 1"),
        ("nodes: !!python/object:os.system {}\n", "f.yaml line 1: the tag"),
        ("a: !!binary xyz\nnodes: []", "f.yaml line 1: the tag"),
        ("a: &a [*a]\nnodes: []", "nested too deep"),
        ("a: !!python/object/apply:os.system [ls]\nnodes: []", "f.yaml line 1: the tag"),
        ("a: !!set {x, y}\nnodes: []", "f.yaml line 1: the tag"),
        (f"a: {'[' * 3000}{']' * 3000}\nnodes: []", "f.yaml: it is nested too deep"),
        ("- a\n", "f.yaml"),
        ("", "Expected 'object'"),
    ],
)
def test_what_is_wrong_in_yaml_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(text, "f.yaml")
    assert said.lower() in str(caught.value).lower()


def test_what_is_wrong_in_json_is_told_with_its_place() -> None:
    with pytest.raises(InvalidInput, match=r"w.json is not JSON: .* at line 1, column 2"):
        read("{nodes}", "w.json")
    with pytest.raises(InvalidInput, match=r"w.json, nodes\[0\].needs\[0\]: a cycle: a -> a"):
        read('{"nodes": [{"name": "a", "needs": ["a"]}]}', "w.json")


def test_aliases_that_multiply_are_refused_soon() -> None:
    rows = [f"x{number + 1}: &x{number + 1} [{', '.join([f'*x{number}'] * 10)}]" for number in range(7)]
    text = "\n".join(["name: w", "x0: &x0 [a, b]", *rows, "nodes: [{name: a}]"])
    with pytest.raises(InvalidWorkflow, match="aliases make it too large"):
        read(text, "w.yaml")
    shared = "name: w\nnodes:\n  - {name: a, params: &p {n: 1}, task: t}\n  - {name: b, params: *p, task: t}\n"
    assert [node.params for node in read(shared, "w.yaml").nodes] == [{"n": 1}, {"n": 1}]
