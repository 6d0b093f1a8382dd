"""What a task takes, as one object: its JSON Schema, and values both ways.

The schema goes into the catalog, where every submit is checked against it without user code. Inside a program that
holds the function the types themselves check too, so that a date is a date already at submit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from mainspring.domain.parameters import duration_names, form_hint, iso_durations, loads_strict
from mainspring.errors import InvalidParameters, InvalidTask, near
from mainspring.sdk.codec import Schemas, decode_other, encode_other
from mainspring.sdk.context import Context, current

_EXACT = 2**53
"""Up to here a float that looks whole is exactly that number."""
_PLAIN = frozenset({str, int, float, bool, type(None)})


class Parameter(NamedTuple):
    """One named parameter: its type (Any where it has no annotation) and whether a submit may leave it out."""

    name: str
    type: Any
    default: Any
    required: bool


class Parameters:
    """What a task takes.

    ``context``: the name of the parameter that gets the Context, or None; it is no part of the schema. ``order``: the
    names that positional arguments stand for.
    """

    def __init__(  # noqa: PLR0913 - the facts of a signature
        self,
        task: str,
        named: list[Parameter],
        *,
        order: tuple[str, ...] = (),
        context: str | None = None,
        others: Any = None,
        open_: bool = False,
    ) -> None:
        self.task = task
        self.context = context
        self.order = order
        self.names = tuple(parameter.name for parameter in named)
        self.required = frozenset(parameter.name for parameter in named if parameter.required)
        self._open = open_
        self._others = None if others is Any or not open_ else others
        self.schema = _schema(task, named, others=self._others, open_=open_)
        self._lengths = duration_names(self.schema)
        self._struct = _struct(named)
        self._read = msgspec.json.Decoder(self._struct, dec_hook=decode_other)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call as JSON-ready parameters. Raises InvalidParameters naming the first wrong one."""
        given = self._named(args, kwargs)
        self._check_names(given)
        if self._lengths:
            given = iso_durations(given, self._lengths)
        params: dict[str, Any] = {}
        for name, value in given.items():
            if type(value) in _PLAIN:
                params[name] = value
                continue
            try:
                params[name] = msgspec.to_builtins(value, enc_hook=encode_other)
            except (TypeError, ValueError, OverflowError, RecursionError) as error:
                raise self._refusal(name, f"parameter {name!r} can't be written as JSON: {error}") from error
        self.values(params)
        return params

    def bind_stored(self, params: bytes) -> dict[str, Any]:
        """Stored JSON as keyword arguments of the function. Raises InvalidParameters when they don't fit any more."""
        if not self._open:
            try:
                return _present(self._read.decode(params))
            except (msgspec.ValidationError, msgspec.DecodeError):
                pass  # the slower way finds whole numbers written as 7.0, or says what is wrong
        values = loads_strict(params, "params")
        if not isinstance(values, dict):
            raise InvalidParameters(f"params of {self.task} must be an object.", field="params")
        return self.values(_whole_numbers(values))

    def values(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """JSON-ready parameters as values of the annotated types. Raises InvalidParameters."""
        self._check_names(params)
        known = {name: value for name, value in params.items() if name in self.names}
        others = {name: value for name, value in params.items() if name not in self.names}
        try:
            found = _present(msgspec.convert(known, self._struct, dec_hook=decode_other))
            if self._others is not None:
                others = msgspec.convert(others, dict[str, self._others], dec_hook=decode_other)  # type: ignore[name-defined]
        except msgspec.ValidationError as error:
            raise self._misfit(str(error)) from error
        return found | others

    def _check_names(self, given: Mapping[str, Any]) -> None:
        """Nothing unknown, nothing missing."""
        for name in given:
            if name not in self.names and not self._open:
                raise self._refusal(name, f"there is no parameter {name!r}", near(name, self.names))
        missing = next((name for name in self.names if name in self.required and name not in given), None)
        if missing is not None:
            raise self._refusal(missing, f"parameter {missing!r} is missing")

    def with_context(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments of a plain call that left the Context to us, by name and with it; None for any other call."""
        if self.context is None or self.context in kwargs or any(isinstance(value, Context) for value in args):
            return None
        if len(args) > len(self.order) or set(self.order[: len(args)]) & set(kwargs):
            return None  # Python's own error says it best
        return {**dict(zip(self.order, args, strict=False)), **kwargs, self.context: current()}

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], item: Any = None) -> dict[str, Any]:
        """The arguments by name, whatever their values. ``item`` goes to the first parameter that is left.

        Raises InvalidParameters for an unknown, doubled or missing name.
        """
        given = self._named(args, kwargs)
        if item is not None:
            left = next((name for name in self.names if name not in given), None)
            if left is None:
                raise self._refusal("", "no parameter is left for the item of the map")
            given[left] = item
        self._check_names(given)
        return given

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) > len(self.order):
            message = f"it takes at most {len(self.order)} positional arguments, and {len(args)} were given"
            raise self._refusal("", message)
        given = dict(zip(self.order, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise self._refusal(name, f"parameter {name!r} was given twice")
            given[name] = value
        return given

    def _misfit(self, text: str) -> InvalidParameters:
        """What msgspec says (``Expected `int`, got `str` - at `$.order_id` ``) in our words."""
        what, _, where = text.rpartition(" - at `$")
        path = where.rstrip("`").lstrip(".") if what else ""
        if not what:
            what = text
        lines = [line.strip() for line in what.splitlines() if "For further information" not in line]
        what = "; ".join(line for line in lines if line)
        said = f"parameter {path!r}: {what[:1].lower()}{what[1:]}" if path else what
        return self._refusal(path, said, form_hint(what))

    def _refusal(self, path: str, message: str, hint: str = "") -> InvalidParameters:
        remedy = f"{hint} {self.task} takes: {', '.join(self.names) or 'no parameters'}.".strip()
        field = f"params.{path}" if path else "params"
        return InvalidParameters(f"Parameters of {self.task} are wrong: {message}.", remedy=remedy, field=field)


def _schema(task: str, named: list[Parameter], *, others: Any, open_: bool) -> dict[str, Any]:
    """The JSON Schema of an object with these parameters."""
    types = {parameter.name: parameter.type for parameter in named}
    if others is not None:
        types["**"] = others
    for name, kind in types.items():
        _check_type(task, name, kind)
    try:
        schemas, definitions = Schemas().of(types)
    except TypeError as error:
        raise InvalidTask(
            f"The parameters of task {task} can't be described: {_first_line(error)}.", field=task
        ) from error
    for parameter in named:
        if not parameter.required:
            schemas[parameter.name] = _with_default(schemas[parameter.name], parameter.default)
    extra = schemas.pop("**", True) if open_ else False
    schema: dict[str, Any] = {
        "type": "object",
        "properties": schemas,
        "required": [parameter.name for parameter in named if parameter.required],
        "additionalProperties": extra,
    }
    return schema | {"$defs": definitions} if definitions else schema


def _check_type(task: str, name: str, kind: Any) -> None:
    try:
        Schemas().of({name: kind})
    except (TypeError, NameError, RecursionError) as error:
        shown = kind.__qualname__ if isinstance(kind, type) else kind
        raise InvalidTask(
            f"Parameter {name!r} of task {task} has the type {shown}, which has no JSON form ({_first_line(error)}).",
            remedy="Use text, numbers, bool, lists, dicts, dates, enums, dataclasses, msgspec or pydantic models;"
            " leave out the annotation for any JSON.",
            field=name,
        ) from error


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return (lines[-1] if lines[0].startswith("Generating JSON schema") else lines[0]).rstrip(".")


def _with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    try:
        plain = msgspec.to_builtins(default, enc_hook=encode_other)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return schema
    return {**schema, "default": plain}


def _struct(named: list[Parameter]) -> type[msgspec.Struct]:
    """A struct with one field per parameter, so that one call reads and checks them all."""
    fields: list[Any] = []
    for parameter in named:
        if parameter.required:
            fields.append((parameter.name, parameter.type))
        else:
            fields.append((parameter.name, parameter.type, msgspec.UNSET))
    return msgspec.defstruct("Parameters", fields, kw_only=True, forbid_unknown_fields=True)


def _present(struct: msgspec.Struct) -> dict[str, Any]:
    found = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if value is not msgspec.UNSET:
            found[name] = value
    return found


def _whole_numbers(value: Any) -> Any:
    """7.0 as 7: JSON Schema and JavaScript know one kind of number, msgspec's ``int`` does not take 7.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return value
