"""What people write in bodies and queries, to the values that the client takes. Strict: what is not known is refused.

Values are checked against the catalog by control; here only shapes are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from mainspring.clock import Instant, instant
from mainspring.domain.bulk import Bulk
from mainspring.domain.job import ATOMIC, JobFilter, JobRequest, checked_tag
from mainspring.domain.misfit import misfit
from mainspring.domain.parameters import loads_strict
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import State
from mainspring.errors import (
    InvalidInput,
    InvalidInstant,
    InvalidJson,
    InvalidOption,
    InvalidParameters,
    InvalidText,
    MalformedJson,
    NotYetSupported,
    TooManyJobs,
    near,
)
from mainspring.server.exchange import Asked

FILTERS = ("state", "task", "queue", "tag", "since", "until", "cursor", "limit")
"""The query of a list of jobs."""

NARROWING = FILTERS[:-2]
"""The filter of a bulk action: the same without the page."""

COUNTING = (*NARROWING, "cursor")
"""The query of a count."""

LATER = frozenset(
    (
        *("requires", "labels", "slots", "memory", "cpu", "sandbox"),
        *("schedule", "workflow", "run", "node", "nodes", "needs", "when", "map", "run_if"),
    )
)
"""Fields of a submit that later versions take."""

_FIELDS = tuple(field for field in JobRequest.__struct_fields__ if field not in LATER)
_STATES = tuple(state.value for state in State if state is not State.NEW)
_BATCH = 'Send a list of jobs, such as [{"task": "..."}, {"task": "..."}], or {"jobs": [...]}.'
_BULK = 'Send {"action": "cancel" or "retry", "filter": {"task": "..."}, "dry_run": true}.'
_ITEM = re.compile(r"(body|jobs)\[(?P<index>\d+)\]\.?(?P<field>.*)")
Body = TypeVar("Body", bound=msgspec.Struct)
_PLUS_LOST = re.compile(r" (?=\d\d:?\d\d$)")


def job_request(asked: Asked) -> JobRequest:
    """The body of a submit. Raises InvalidInput and its kinds."""
    return _job_request(_object(asked.body))


def job_requests(asked: Asked) -> list[JobRequest]:
    """The body of a batch: a list of submits, bare or as ``jobs``. Raises InvalidInput and its kinds with an index."""
    jobs = _list(asked.body)
    if not jobs:
        raise InvalidJson("The list of jobs is empty.", remedy=_BATCH, field="jobs")
    if len(jobs) > ATOMIC:
        raise TooManyJobs(len(jobs), ATOMIC)
    requests = []
    for index, one in enumerate(jobs):
        try:
            if not isinstance(one, dict):
                raise InvalidJson(f"A job is {_kind(one)}; it must be an object.", field="body")
            requests.append(_job_request(one))
        except InvalidInput as error:
            error.index = index
            raise
    return requests


def _list(text: bytes) -> list[Any]:
    """The jobs of a batch, whatever they are."""
    if not text:
        raise MalformedJson("The body is empty.", remedy=_BATCH, field="body")
    try:
        body = _value(text)
    except InvalidInput as error:
        if found := _ITEM.fullmatch(error.field):
            error.index, error.field = int(found["index"]), found["field"] or "body"
        raise
    if isinstance(body, dict):
        for name in body:
            if name != "jobs":
                raise InvalidOption(f"A batch has no field {name[:80]!r}.", remedy=_BATCH, field=name[:80])
        body = body.get("jobs")
    if not isinstance(body, list):
        raise InvalidJson(f"The jobs of the batch are {_kind(body)}; they must be a list.", remedy=_BATCH, field="jobs")
    return body


def _job_request(body: dict[str, Any]) -> JobRequest:
    for name in body:
        if name in LATER:
            raise NotYetSupported(name)
        if name not in _FIELDS:
            raise _no_field("A submit", name, _FIELDS)
    if "task" not in body:
        raise InvalidOption("The field task is missing.", remedy="Name the task to run.", field="task")
    try:
        return msgspec.convert(body, JobRequest)
    except msgspec.ValidationError as error:
        raise _misfit(error) from error


def no_fields(asked: Asked) -> None:
    """The body of an action: nothing, or an empty object. Raises InvalidInput for anything else."""
    if not asked.body:
        return
    for name in _object(asked.body):
        raise InvalidOption(f"This action has no field {name[:80]!r}.", remedy="It takes none.", field=name[:80])


def queue_change(asked: Asked) -> QueueChange:
    """The body of a change of a queue. Raises InvalidInput naming the field."""
    return body_of(asked, QueueChange, "A change of a queue")


def object_of(asked: Asked) -> dict[str, Any]:
    """The body, which must be an object. Raises InvalidInput."""
    return _object(asked.body)


def body_of(asked: Asked, shape: type[Body], what: str) -> Body:
    """The body as a value of this struct, called ``what`` where it does not fit. Raises InvalidInput with the field."""
    body = _object(asked.body)
    known = shape.__struct_encode_fields__
    for name in body:
        if name not in known:
            raise _no_field(what, name, known)
    try:
        return msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        raise _misfit(error) from error


def bulk_request(asked: Asked) -> Bulk:
    """The body of a bulk action. Raises InvalidInput naming the field."""
    body = _object(asked.body)
    for name in body:
        if name not in Bulk.__struct_fields__:
            raise _no_field("A bulk action", name, Bulk.__struct_fields__)
    for name in ("action", "filter"):
        if name not in body:
            raise InvalidOption(f"The field {name} is missing.", remedy=_BULK, field=name)
    filtered = _narrowed(body["filter"])
    try:
        return msgspec.convert(body | {"filter": filtered}, Bulk)
    except msgspec.ValidationError as error:
        raise _misfit(error) from error


def _narrowed(given: object) -> JobFilter:
    """The filter of a bulk action. Raises InvalidInput naming the place in the body."""
    if not isinstance(given, dict):
        raise InvalidOption(f"filter is {_kind(given)}; it must be an object.", remedy=_BULK, field="filter")
    for name, value in given.items():
        if name not in NARROWING:
            raise _no_field("A filter", name, NARROWING, "filter.")
        if not isinstance(value, str):
            raise InvalidOption(f"filter.{name} is {_kind(value)}; it must be a text.", field=f"filter.{name}")
    try:
        return _filter(given)
    except InvalidInput as error:
        error.field = f"filter.{error.field}"
        raise


def _filter(query: Mapping[str, str]) -> JobFilter:
    return JobFilter(
        state=_state(query),
        task=query.get("task"),
        queue=query.get("queue"),
        tag=checked_tag(query.get("tag")),
        since=instant_of(query, "since"),
        until=instant_of(query, "until"),
    )


def _no_field(what: str, name: str, known: Sequence[str], place: str = "") -> InvalidOption:
    remedy = near(name, known) or f"It may have: {', '.join(known)}."
    return InvalidOption(f"{what} has no field {name[:80]!r}.", remedy=remedy, field=f"{place}{name[:80]}")


def job_filter(asked: Asked) -> JobFilter:
    """The query of a list. Raises InvalidInput naming the parameter."""
    return msgspec.structs.replace(
        _filter(asked.query), cursor=asked.query.get("cursor"), limit=asked.whole("limit", 50, 1, 1000)
    )


def _object(body: bytes) -> dict[str, Any]:
    if not body:
        raise MalformedJson("The body is empty.", remedy='Send a JSON object, such as {"task": "..."}.', field="body")
    value = _value(body)
    if not isinstance(value, dict):
        raise InvalidJson(f"The body is {_kind(value)}; it must be an object.", field="body")
    return value


def _value(body: bytes) -> Any:
    try:
        return loads_strict(body, "body")
    except (InvalidJson, InvalidText) as error:
        if isinstance(error.__cause__, ValueError):  # the reader could not make sense of it at all
            raise MalformedJson(error.message, remedy="Check it with a JSON formatter.", field="body") from error
        error.field = error.field.removeprefix("body.")
        raise


def _misfit(error: msgspec.ValidationError) -> InvalidInput:
    """What msgspec says of a value of the wrong type, in our words."""
    found = misfit(error)
    kind = InvalidParameters if re.split(r"[.\[]", found.path)[0] == "params" else InvalidOption
    if found.missing:
        return kind(f"The field {found.path} is missing.", field=found.path)
    if found.unknown:
        return kind(f"There is no field {found.path[:200]}.", field=found.path[:200])
    what = found.what.replace("`", "")
    return kind(f"{found.path or 'The body'} is of the wrong type: {what}.", field=found.path)


def _state(query: Mapping[str, str]) -> State | None:
    text = query.get("state")
    if text is None:
        return None
    if text not in _STATES:
        remedy = near(text, _STATES) or f"States: {', '.join(_STATES)}."
        raise InvalidInput(f"There is no state {text[:80]!r}.", remedy=remedy, field="state")
    return State(text)


def instant_of(query: Mapping[str, str], name: str) -> Instant | None:
    """A time in the query. Raises InvalidInstant naming the parameter."""
    text = query.get(name)
    if text is None:
        return None
    try:
        # A "+" in a query means a space; the offset of a zone is where people forget to write %2B.
        return instant(_PLUS_LOST.sub("+", text))
    except InvalidInstant as error:
        raise InvalidInstant(text[:80], field=name) from error


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
