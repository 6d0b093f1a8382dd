"""Schemas of parameters: what can't be one is refused with its place, and nothing is ever fetched for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from mainspring import Node, Workflow
from mainspring.domain.schemas import validator_of
from mainspring.errors import InvalidWorkflow
from mainspring.importers.written import read


def of(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        (of({"type": "text"}), "parameters.properties.x.type"),
        (of({"pattern": "("}), "parameters.properties.x.pattern"),
        (of({"multipleOf": 0}), "parameters.properties.x.multipleOf"),
        (of({"anyOf": [{"type": "text"}]}), "parameters.properties.x.anyOf.0.type"),
        (of(5), "parameters.properties.x"),
        (of({"$ref": "#/$defs/nowhere"}), "parameters"),
        (of({"$ref": "file:///etc/hostname"}), "parameters"),
        ({"type": "object", "required": "x"}, "parameters.required"),
        ({"type": "object", "$schema": "https://nowhere.example/schema"}, "parameters"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidWorkflow, match="no JSON Schema that can be used") as caught:
        Workflow("w", [Node("a", task="a")], parameters=schema)
    assert caught.value.field == place


def test_a_file_is_refused_with_the_line() -> None:
    text = "parameters:\n  type: object\n  properties:\n    x: {type: text}\nnodes: [{name: a}]\n"
    with pytest.raises(InvalidWorkflow, match=r"w.yaml line 4, parameters.properties.x.type: it is no JSON Schema"):
        read(text, "w.yaml")


def test_a_schema_may_refer_to_what_stands_in_it() -> None:
    schema = of({"$ref": "#/$defs/day"}) | {"$defs": {"day": {"type": "string"}}}
    Workflow("w", [Node("a", task="a")], parameters=schema)
    assert not validator_of(schema).is_valid({"x": 5})


@contextmanager
def listener() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/inside", asked
        finally:
            server.shutdown()


def test_no_address_is_asked_for_a_schema() -> None:
    with listener() as (address, asked):
        with pytest.raises(InvalidWorkflow, match="nothing is fetched"):
            validator_of(of({"$ref": address}))
        assert asked == []


@pytest.mark.parametrize(
    ("given", "place"), [({"nodes": 5}, "nodes"), ({"nodes": [5]}, "nodes[0]"), ({"parameters": 5}, "parameters")]
)
def test_what_is_no_list_of_nodes_or_no_schema_at_all_is_refused(given: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        Workflow("w", **({"nodes": [Node("a", task="a")]} | given))
    assert caught.value.field == place
