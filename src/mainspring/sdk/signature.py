"""Reading a function's signature as the parameters of a task.

What can't be a parameter of a job is refused here, at the user's own line, with the parameter's name.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

from mainspring.errors import InvalidTask
from mainspring.sdk.binding import Parameter, Parameters
from mainspring.sdk.codec import reader
from mainspring.sdk.context import Context

_PLAIN = frozenset({str, int, float, bool, type(None)})


def from_function(task: str, function: Callable[..., Any]) -> Parameters:
    """Read a function's signature. Raises InvalidTask for one that a job can't be made from."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError, NameError) as error:
        raise InvalidTask(f"The signature of task {task} can't be read: {error}.", field=task) from error
    named, order, context, others, open_ = [], [], None, None, False
    for parameter in signature.parameters.values():
        kind = annotation_of(
            function, parameter.name, parameter.annotation, f"parameter {parameter.name!r} of task {task}"
        )
        _check_kind(task, parameter)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            others, open_ = kind, True
        elif _is_context(kind):
            if context is not None:
                raise InvalidTask(
                    f"Task {task} has two Context parameters: {context} and {parameter.name}.", field=task
                )
            context = parameter.name
        else:
            required = parameter.default is inspect.Parameter.empty
            named.append(Parameter(parameter.name, kind, None if required else parameter.default, required))
            if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
                order.append(parameter.name)
    return Parameters(task, named, order=tuple(order), context=context, others=others, open_=open_)


def from_types(task: str, params: Mapping[str, Any]) -> Parameters:
    """The parameters of a command, from names to types; all are required."""
    return Parameters(task, [Parameter(name, kind, None, required=True) for name, kind in params.items()])


def result_reader(function: Callable[..., Any]) -> Callable[[Any], Any] | None:
    """A function from a stored result to the annotated return type, or None where there is nothing to do."""
    raw = getattr(function, "__annotations__", {}).get("return", Any)
    try:
        kind = annotation_of(function, "return", raw, "the result")
    except InvalidTask:
        return None
    return None if kind in _PLAIN else reader(kind)


def annotation_of(function: Callable[..., Any], name: str, annotation: Any, what: str) -> Any:
    """An annotation as a type, resolved where it is a text. Any where there is none."""
    if annotation is inspect.Parameter.empty:
        return Any

    def probe() -> None: ...

    probe.__annotations__ = {name: annotation}
    inner = inspect.unwrap(function)
    code, cells = getattr(inner, "__code__", None), getattr(inner, "__closure__", None) or ()
    enclosed = {}
    for variable, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
        try:
            enclosed[variable] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    try:
        hints = typing.get_type_hints(probe, {**getattr(inner, "__globals__", {}), **enclosed}, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise InvalidTask(
            f"The annotation {annotation!r} of {what} can't be resolved: {error}.",
            remedy="Define or import the name at module level, not only under TYPE_CHECKING.",
            field=name,
        ) from error
    kind = hints[name]
    return Any if kind is object else kind


def _check_kind(task: str, parameter: inspect.Parameter) -> None:
    name = parameter.name
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        raise InvalidTask(
            f"Task {task} takes *{name}; parameters of a job have names.",
            remedy=f"Take a list: {name}: list[...]",
            field=name,
        )
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise InvalidTask(
            f"Parameter {name!r} of task {task} is positional-only; parameters of a job have names.",
            remedy="Take out the / of the signature.",
            field=name,
        )
    if name in {"self", "cls"}:
        raise InvalidTask(
            f"Task {task} takes {name!r}: it looks like a method.",
            remedy="Declare a function of the module; it may make the object that it needs.",
            field=name,
        )


def _is_context(kind: Any) -> bool:
    return kind is Context or (Context in typing.get_args(kind) and len(typing.get_args(kind)) == 2)
