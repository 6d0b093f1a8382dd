"""Holds every answer that a test gets against the OpenAPI document, and every body that was taken as well.

A hook of the tests' HTTP client: no test has to think of it.
"""

from __future__ import annotations

import json
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import httpx2
import jsonschema_rs

from mainspring.errors import MainspringError
from mainspring.server.app import routes
from mainspring.server.exchange import Entry
from mainspring.server.fresh import is_list
from mainspring.server.openapi import document, refusals, shape_schema
from mainspring.server.operation import JSON, STREAM, Page, Schema
from mainspring.server.problems import PROBLEM
from mainspring.server.schemas.values import named
from mainspring.server.security import Gate


@lru_cache(maxsize=1)
def _entries() -> list[Entry]:
    return routes(None, None)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def _gate() -> Gate:
    return Gate(_entries(), 0)


@lru_cache(maxsize=1)
def _components() -> dict[str, Any]:
    components: dict[str, Any] = document(_entries())["components"]
    return components


@lru_cache(maxsize=200)
def _validator(name: str) -> jsonschema_rs.Validator:
    return _made(named(name))


def _made(schema: Schema) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator({**schema, "components": _components()}, validate_formats=True)


@lru_cache(maxsize=200)
def _of_answer(shape: str | Page) -> jsonschema_rs.Validator:
    return _made(shape_schema(shape))


def entry_of(method: str, path: str) -> Entry | None:
    """The route of a request."""
    try:
        return _gate().matched(method, path).entry
    except MainspringError:
        return None


def check(answer: httpx2.Response) -> None:
    """Fail where the document tells of no such answer."""
    media = answer.headers.get("content-type", "").partition(";")[0]
    if media == STREAM:
        return
    answer.read()
    asked = answer.request
    entry = entry_of(asked.method if asked.method != "HEAD" else "GET", asked.url.path)
    told = f"{asked.method} {asked.url.path}: {answer.status_code} {answer.text[:500]}"
    if media == PROBLEM and answer.content:
        _validator("Problem").validate(answer.json())
    if entry is None:
        assert media == PROBLEM, told
    elif answer.status_code == HTTPStatus.NOT_MODIFIED:
        assert is_list(entry), told
        assert not answer.content, told
    elif answer.status_code in entry.tells.answers:
        assert media in entry.tells.media, told
        if media == JSON and answer.content:
            assert not list(_of_answer(entry.tells.answers[answer.status_code]).iter_errors(answer.json())), told
    else:
        assert answer.status_code in refusals(entry), told
        assert media == PROBLEM, told
    if entry is not None and entry.tells.body and answer.status_code < 300:
        _taken(entry.tells.body, asked)


def _taken(body: str, asked: httpx2.Request) -> None:
    content = asked.read()
    if content:
        errors = list(_validator(body).iter_errors(json.loads(content)))
        assert not errors, f"{asked.method} {asked.url.path} took what {body} does not tell of: {errors[0]}"
