"""The OpenAPI document: valid, served, and with examples that are what they are examples of."""

from __future__ import annotations

import httpx2
import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from mainspring.server.openapi import PATH_OF_DOCUMENT, SCHEMAS, document, example
from mainspring.server.schemas.values import named
from tests.api import conformance
from tests.api.serving import Serving
from tests.house.openapi_file import entries


def test_the_document_is_valid_and_its_examples_fit() -> None:
    found = document(entries())
    errors = list(OpenAPIV31SpecValidator(found).iter_errors())
    assert not errors, errors[0]
    for name in SCHEMAS:
        schema = {**named(name), "components": found["components"]}
        jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(example(named(name)))


def test_it_is_served_with_every_route_and_as_a_page(server: Serving) -> None:
    found = server.http.get(PATH_OF_DOCUMENT).json()
    served = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    assert served == {(entry.method, entry.path) for entry in entries()}
    page = server.http.get("/api/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert all(f"<code>{method} {path}</code>" in page.text for method, path in served)


@pytest.mark.usefixtures("worker")
def test_an_answer_that_the_document_does_not_tell_of_fails_the_test_that_gets_it(server: Serving) -> None:
    """Plants what the hook of all these tests must find."""
    job = server.submit("echo")
    asked = server.http.build_request("GET", f"/api/v1/jobs/{job['id']}")
    for status, body in ((200, job | {"more": 1}), (200, {**job, "id": "7"}), (418, job), (404, job)):
        answer = httpx2.Response(status, json=body, request=asked)
        with pytest.raises((AssertionError, jsonschema_rs.ValidationError)):
            conformance.check(answer)
