"""The OpenAPI document of the REST API, made of the table of routes: what is served is what is described.

Refusals follow from a route's access and path. Examples are put together from those of the schemas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mainspring.server import fresh
from mainspring.server.admission import COOKIE, PROOF
from mainspring.server.exchange import MUST_HAVE_BODY, TAKES_BODY, Access, Entry
from mainspring.server.operation import HTML, JSON, PLAIN, STREAM, Page, Schema
from mainspring.server.problems import PROBLEM
from mainspring.server.schemas import access, catalog, config, general, jobs, metrics, runs, schedules, topics, webhooks
from mainspring.server.schemas import records as record_schemas
from mainspring.server.schemas.query import HEADERS, PATH, QUERY
from mainspring.server.schemas.values import named

PATH_OF_DOCUMENT = "/api/openapi.json"

SCHEMAS: dict[str, Schema] = {
    **general.SCHEMAS,
    **jobs.SCHEMAS,
    **catalog.SCHEMAS,
    **runs.SCHEMAS,
    **schedules.SCHEMAS,
    **access.SCHEMAS,
    **config.SCHEMAS,
    **metrics.SCHEMAS,
    **topics.SCHEMAS,
    **webhooks.SCHEMAS,
    **record_schemas.SCHEMAS,
}
"""Every schema that an operation may name."""

_INFO = {
    "title": "mainspring",
    "version": "1",
    "summary": "Durable background jobs, schedules and workflows.",
    "description": "Errors are problem documents (RFC 9457) with a stable `code`. Lists page by `cursor`.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_ALWAYS = {
    401: "No token, or none that is valid (only where the server asks for them).",
    403: "The role does not cover this, or another site's page asks.",
    422: "The request is wrong in itself; `field` says where.",
    429: "Too many requests; nothing was changed.",
    500: "The server's own mistake; its log says more.",
    503: "The store can't be reached or used.",
    504: "No answer in time; whether a change was made is not known.",
}
_OF_CHANGES = {
    400: "The body is not JSON.",
    408: "The body did not arrive in time.",
    409: "The present state does not allow it.",
    413: "The body, or a part of it, is too large.",
    415: "The body is not sent as JSON.",
}
_UNKNOWN = {404: "There is no such thing."}
_JOBS = {"POST /api/v1/jobs", "POST /api/v1/jobs/batch"}
_BY_ROUTE = {
    "Idempotency-Key": _JOBS,
    "traceparent": {*_JOBS, "POST /api/v1/runs", "POST /api/v1/workflows/{name}/runs"},
}
_TAG = {"schema": {"type": "string"}, "description": "Of this answer, for If-None-Match."}
_RESUMED = "Last-Event-ID"
_TEXTS = {HTML, PLAIN, STREAM}
_PLAIN: dict[str, Any] = {"object": {}, "string": "text", "integer": 1, "number": 1.5, "boolean": False}


def document(entries: Iterable[Entry]) -> dict[str, Any]:
    """OpenAPI 3.1 of these routes, with all schemas that they name."""
    paths: dict[str, dict[str, Any]] = {}
    for entry in sorted(entries, key=lambda one: (one.path, one.method)):
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"session": []}, {}],
        "tags": [{"name": name} for name in sorted({_tag(entry) for entry in entries})],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "responses": {
                f"Refused{code}": _refusal(code, why)
                for code, why in sorted((_ALWAYS | _OF_CHANGES | _UNKNOWN).items())
            },
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "mainspring token create NAME --role ROLE",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": COOKIE,
                    "description": f"Of /api/v1/login. Changes send what it answered as {PROOF} too.",
                },
            },
        },
    }


def refusals(entry: Entry) -> list[int]:
    """The statuses that a route may refuse with."""
    if entry.access is Access.PROBE:
        return [403, 422, 500, 504]
    found = [*_ALWAYS, *(_OF_CHANGES if entry.access in TAKES_BODY else ())]
    if "{" in entry.path or entry.access in MUST_HAVE_BODY:  # a body may name what there is not, too
        found += _UNKNOWN
    return sorted(found)


def _operation(entry: Entry) -> dict[str, Any]:
    told = entry.tells
    said = " ".join((entry.handler.__doc__ or "").split())
    found: dict[str, Any] = {
        "operationId": _name(entry),
        "tags": [_tag(entry)],
        "summary": said.partition(".")[0],
        "description": f"{said} {_needs(entry)}".strip(),
        "parameters": _parameters(entry),
        "responses": {
            **{str(code): _answer(shape, told.media) for code, shape in told.answers.items()},
            **{str(code): _refused(code) for code in refusals(entry) if code not in told.answers},
        },
    }
    if fresh.is_list(entry):
        found["responses"]["200"]["headers"] = {"ETag": _TAG}
        found["responses"]["304"] = {"description": "The list is as If-None-Match says.", "headers": {"ETag": _TAG}}
    if entry.access in TAKES_BODY:
        schema = named(told.body or "Nothing")
        found["requestBody"] = {
            "required": entry.access in MUST_HAVE_BODY,
            "content": {JSON: {"schema": schema, "example": example(schema)}},
        }
    if entry.needs is None:
        found["security"] = [{}]
    return found


def _needs(entry: Entry) -> str:
    return "Open to everybody." if entry.needs is None else f"Needs the role {entry.needs.value}."


def _parameters(entry: Entry) -> list[dict[str, Any]]:
    values = entry.tells.values
    found = [
        {"name": name, "in": "path", "required": True, "schema": values.get(name) or PATH[name]}
        for name in re.findall(r"\{(\w+)\}", entry.path)
    ]
    found += [{"name": name, "in": "query", "schema": values.get(name) or QUERY[name]} for name in entry.query]
    headers = [name for name, routes in _BY_ROUTE.items() if f"{entry.method} {entry.path}" in routes]
    if STREAM in entry.tells.media:
        headers.append(_RESUMED)
    if fresh.is_list(entry):
        headers.append("If-None-Match")
    return found + [{"name": name, "in": "header", "schema": HEADERS[name]} for name in headers]


def _answer(shape: str | Page, media: Iterable[str]) -> dict[str, Any]:
    schema = shape_schema(shape)
    content = {
        kind: {"schema": named("Text")} if kind in _TEXTS else {"schema": schema, "example": example(schema)}
        for kind in media
    }
    return {"description": "As asked for.", "content": content}


def shape_schema(shape: str | Page) -> Schema:
    """The schema of an answer."""
    if isinstance(shape, str):
        return named(shape)
    items = {"type": "array", "items": named(shape.of)}
    more = {"type": ["string", "null"], "description": "The cursor of the next page.", "examples": [None]}
    return {
        "type": "object",
        "properties": {"items": items, "next": more},
        "required": ["items", "next"],
        "additionalProperties": False,
    }


def _refused(code: int) -> dict[str, str]:
    return {"$ref": f"#/components/responses/Refused{code}"}


def _refusal(code: int, why: str) -> dict[str, Any]:
    found: dict[str, Any] = {"description": why, "content": {PROBLEM: {"schema": named("Problem")}}}
    if code == 429:
        seconds = {"schema": {"type": "string", "pattern": "^[0-9]+$"}, "description": "Seconds to wait."}
        found["headers"] = {"Retry-After": seconds}
    return found


def _name(entry: Entry) -> str:
    """A name for generated clients: ``get_job_attempts``."""
    steps = [step.strip("{}") for step in entry.path.removeprefix("/api/v1").split("/") if step]
    return "_".join([entry.method.lower(), *(re.sub(r"\W", "_", step) for step in steps)])


def _tag(entry: Entry) -> str:
    steps = [step for step in entry.path.removeprefix("/api/v1").split("/") if step]
    return steps[0] if entry.path.startswith("/api/v1/") else "server"


def example(schema: Mapping[str, Any]) -> Any:
    """An example of a schema, made of its own and those of its parts."""
    if "$ref" in schema:
        return example(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    if schema.get("examples"):
        return schema["examples"][0]
    for kind in ("anyOf", "oneOf"):
        if kind in schema and "properties" not in schema:
            return example(schema[kind][0])
    if "properties" in schema:
        names = schema.get("required") or list(schema["properties"])[:3]
        return {name: example(schema["properties"][name]) for name in names}
    if schema.get("type") == "array":
        return [example(schema["items"])]
    if "enum" in schema:
        return schema["enum"][0]
    return _PLAIN.get(str(schema.get("type")))
