"""Workflows in Python: written out (``Workflow(nodes=[Node(...)])``) or drawn by a function (``@app.workflow``)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, ParamSpec, TypedDict

import msgspec

from mainspring.domain import workflow as domain
from mainspring.domain.graph import compiled
from mainspring.domain.joins import Rule
from mainspring.domain.retry import Retry
from mainspring.domain.run import RunRequest
from mainspring.domain.schemas import check_schema
from mainspring.domain.task import checked_name
from mainspring.domain.workflow import OnFailure
from mainspring.errors import InvalidOption, InvalidTask, InvalidWorkflow, near
from mainspring.sdk.binding import Parameter, Parameters
from mainspring.sdk.drawing import NodeCall, Output, StandIn, drawing, node_fields, plain, refuse_while_drawing
from mainspring.sdk.options import Length
from mainspring.sdk.run import RunHandle
from mainspring.sdk.signature import from_function, from_types
from mainspring.sdk.task import Clients
from mainspring.sdk.tracing import in_trace
from mainspring.sdk.waiting import in_thread

P = ParamSpec("P")


_NOT_DRAWN = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


class WorkflowOptions(TypedDict, total=False):
    """What ``@app.workflow(...)`` takes.

    ``name``: within its app (default: the function's name); ``on_failure``: ``"continue"`` (default: what does not
    depend on a failed node goes on) or ``"fail_fast"``; ``timeout``: of a run as a whole (default: none); ``parallel``:
    most nodes of a run that are active at a time (default: any number); ``description`` (default: the docstring).
    """

    name: str
    on_failure: OnFailure | str
    timeout: Length
    parallel: int
    description: str


class Node:
    """A node that is written out. ``task`` and ``workflow``: names, or what the decorators gave.

    All else is as in a document (docs/guides/workflows.md): references in ``params`` are ``{"$node": "raw", "path":
    ["rows"]}`` and so on. Raises InvalidOption, InvalidDuration, InvalidWorkflow.
    """

    def __init__(  # noqa: PLR0913 - each is a documented field
        self,
        name: str,
        task: Any = None,
        needs: Iterable[str] | str = (),
        *,
        workflow: Any = None,
        params: Mapping[str, Any] | None = None,
        map: Any = None,  # noqa: A002 - the word of the document
        run_if: Rule | str = Rule.ALL_SUCCESS,
        when: str | None = None,
        may_fail: bool = False,
        parallel: int | None = None,
        description: str = "",
        retry: Retry | dict[str, Any] | None = None,
        timeout: Length | None = None,
        delay: Length | None = None,
        expires: Length | None = None,
        queue: str | None = None,
        priority: int | None = None,
        tags: dict[str, str] | None = None,
    ) -> None:
        options = {
            "node": name,
            "after": needs,
            "run_if": run_if,
            "when": when,
            "may_fail": may_fail or None,
            "parallel": parallel,
            "retry": retry,
            "timeout": timeout,
            "delay": delay,
            "expires": expires,
            "queue": queue,
            "priority": priority,
            "tags": tags,
        }
        fields = node_fields(name, {key: value for key, value in options.items() if value is not None})
        self.document = domain.Node(
            task=_name_of(task),
            workflow=_name_of(workflow),
            params={key: _written(value, f"{key} of {name}") for key, value in (params or {}).items()},
            map=None if map is None else _written(map, f"map of {name}"),
            description=description,
            **fields,
        )

    def __repr__(self) -> str:
        return f"<node {self.document.name}>"


class Workflow:
    """A DAG that is written out: ``Workflow("pair", [Node("A", task="a"), Node("B", task="b", needs=["A"])])``.

    ``parameters``: the JSON Schema of an object, or names to types (default: a run takes none); ``result``: a value
    with references, the result of a run that is nested; the rest as in WorkflowOptions. ``app.add(workflow)`` makes it
    known to the platform with the app's tasks. Raises InvalidWorkflow with the exact place.
    """

    def __init__(  # noqa: PLR0913 - each is a documented field
        self,
        name: str,
        nodes: Sequence[Node],
        *,
        parameters: Mapping[str, Any] | None = None,
        on_failure: OnFailure | str = OnFailure.CONTINUE,
        timeout: Length | None = None,
        parallel: int | None = None,
        result: Any = None,
        description: str = "",
    ) -> None:
        schema = _schema(name, parameters or {})
        self.document = domain.Workflow(
            name=name,
            nodes=tuple(_documents(nodes)),
            parameters=schema,
            result=None if result is None else _written(result, f"result of {name}"),
            **_whole_fields(on_failure, timeout, parallel, description),
        )
        compiled(self.document)
        if schema == parameters:  # one that is made of types is right
            check_schema(self.document)

    def __repr__(self) -> str:
        return f"<workflow {self.document.name}: {len(self.document.nodes)} nodes>"

    @property
    def name(self) -> str:
        """Its name."""
        return self.document.name


class RegisteredWorkflow(Generic[P]):
    """A workflow of an app. ``name``: the full name; ``place``: where it was declared."""

    def __init__(
        self, name: str, place: str, parameters: Parameters, draw: Callable[[], domain.Workflow], clients: Clients
    ) -> None:
        self._clients = clients
        self.name = name
        self.place = place
        self.parameters = parameters
        self._draw = draw

    def __repr__(self) -> str:
        return f"<workflow {self.name}>"

    @functools.cached_property
    def document(self) -> domain.Workflow:
        """Its document, drawn when it is first asked for. Raises InvalidWorkflow."""
        try:
            document = self._draw()
            compiled(document)
        except InvalidWorkflow as error:
            place = f"workflow {self.name}, {error.field}".removesuffix(", ")
            raise InvalidWorkflow(error.what, place=place, remedy=error.remedy) from error
        return document

    node_kind = "workflow"

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], item: Any = None) -> dict[str, Any]:
        """Arguments as parameters by name. Raises InvalidParameters."""
        return self.parameters.named(args, kwargs, item)

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> RunHandle:
        """Begin a run, and return once it is stored for good. Raises InvalidParameters, InvalidWorkflow, StoreError."""
        refuse_while_drawing(f"a run of {self.name} is submitted")
        request = RunRequest(self.name, self.parameters.bind(args, kwargs), **in_trace({}))
        return RunHandle(self._clients.asking, self._clients.submitting().start_run(request))

    async def asubmit(self, *args: P.args, **kwargs: P.kwargs) -> RunHandle:
        """``submit`` for async code."""
        return await in_thread(self.submit, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Output:
        """Inside another workflow: a node that nests this one."""
        return NodeCall(self, {})(*args, **kwargs)

    def map(self, over: Any, /, **kwargs: Any) -> Output:
        """Inside another workflow: a node with one run of this per item."""
        return NodeCall(self, {}).map(over, **kwargs)

    def options(self, **options: Any) -> NodeCall:
        """Inside another workflow: with options for the node; see NodeOptions."""
        return NodeCall(self, options)


def drawn(
    function: Callable[..., Any], full_name: str, options: Mapping[str, Any], place: str, clients: Clients
) -> RegisteredWorkflow[Any]:
    """The workflow that a function draws. Raises InvalidTask for a signature that can't be; InvalidOption."""
    fields = _whole_fields(
        options.get("on_failure", OnFailure.CONTINUE),
        options.get("timeout"),
        options.get("parallel"),
        options.get("description", function.__doc__ or ""),
    )
    parameters = from_function(full_name, function)
    if any(is_such(function) for is_such in _NOT_DRAWN):
        raise InvalidTask(
            f"Workflow {full_name} is async, or yields: its function is called once, to be drawn, and never run.",
            remedy="Write a plain def that calls tasks.",
            field=full_name,
        )

    def draw() -> domain.Workflow:
        with drawing(full_name) as under_way:
            given = function(**{name: StandIn({"$param": name}, f"parameter {name}") for name in parameters.names})
            result = None if given is None else plain(given, f"the result of {full_name}")
        nodes = tuple(under_way.nodes.values())
        return domain.Workflow(name=full_name, nodes=nodes, parameters=parameters.schema, result=result, **fields)

    return RegisteredWorkflow(full_name, place, parameters, draw, clients)


def adopted(  # noqa: PLR0913 - all that an app knows
    workflow: Workflow, app: str, tasks: Iterable[str], workflows: Iterable[str], *, place: str, clients: Clients
) -> RegisteredWorkflow[Any]:
    """A written workflow as one of an app's: short names that the app has become full ones."""
    own_tasks, own_workflows = {*tasks}, {*workflows}
    document = workflow.document

    def full(name: str | None, own: set[str]) -> str | None:
        return f"{app}.{name}" if name in own else name

    nodes = tuple(
        msgspec.structs.replace(node, task=full(node.task, own_tasks), workflow=full(node.workflow, own_workflows))
        for node in document.nodes
    )
    name = f"{app}.{checked_name(document.name, 'Workflow')}"
    changed = msgspec.structs.replace(document, name=name, nodes=nodes)
    parameters = Parameters(name, [_parameter(changed.schema, one) for one in changed.schema.get("properties", {})])
    return RegisteredWorkflow(name, place, parameters, lambda: changed, clients)


def _parameter(schema: Mapping[str, Any], name: str) -> Parameter:
    return Parameter(name, Any, None, name in schema.get("required", ()))


def _name_of(what: Any) -> str | None:
    name = what if what is None or isinstance(what, str) else getattr(what, "name", None)
    if what is not None and not isinstance(name, str):
        raise InvalidOption(f"{what!r} is neither a task nor a workflow.", remedy="Give it or its name.", field="task")
    return name


def _written(value: Any, what: str) -> Any:
    """A value as written by hand: objects with ``$`` are references already."""
    if isinstance(value, StandIn):
        return value.reference
    if isinstance(value, list | tuple):
        return [_written(one, what) for one in value]
    if isinstance(value, dict):
        return {key: _written(one, what) for key, one in value.items()}
    return plain(value, what)


def _documents(nodes: Any) -> Iterator[domain.Node]:
    if not isinstance(nodes, Iterable) or isinstance(nodes, str):
        raise InvalidWorkflow(f"they are {nodes!r:.100}", place="nodes", remedy='Write [Node("A", task="a"), ...].')
    for number, node in enumerate(nodes):
        if not isinstance(node, Node):
            raise InvalidWorkflow(f"{node!r:.100} is no Node", place=f"nodes[{number}]", remedy="Write Node(name).")
        yield node.document


def _schema(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as it is, or one made from names and types."""
    if not isinstance(parameters, Mapping):
        what = f"{parameters!r:.100} is neither a JSON Schema nor names with types"
        raise InvalidWorkflow(what, place="parameters", remedy='Write {"day": str}.')
    if not parameters or any(isinstance(value, str | dict | list | bool) for value in parameters.values()):
        return dict(parameters)
    return from_types(name, parameters).schema


def _whole_fields(on_failure: Any, timeout: Any, parallel: int | None, description: str) -> dict[str, Any]:
    try:
        policy = OnFailure(on_failure)
    except ValueError:
        hint = near(str(on_failure), OnFailure) or f"It is {' or '.join(OnFailure)}."
        raise InvalidOption(f"on_failure is {on_failure!r}.", remedy=hint, field="on_failure") from None
    length = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    return {"on_failure": policy, "timeout": length, "parallel": parallel, "description": description.strip()}
