"""Drawing a workflow: its function runs once, with stand-ins for parameters, and each call of a task adds a node.

Nothing of the tasks runs here. What a call gives back stands for the node's result; to pass it on is to need the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, Protocol, TypedDict

import msgspec

from mainspring.domain.joins import Rule
from mainspring.domain.workflow import Node
from mainspring.errors import InvalidOption, InvalidWorkflow, near
from mainspring.sdk.codec import encode_other
from mainspring.sdk.options import SubmitOptions, submit_fields


class NodeOptions(TypedDict, total=False):
    """What ``task.options(...)`` takes inside a workflow, beside options of jobs.

    Those are ``priority``, ``queue``, ``retry``, ``timeout``, ``delay``, ``expires`` and ``tags``.

    ``node``: its name (default: the task's, then ``name_2`` ...); ``after``: nodes that it waits for although it takes
    nothing of them; ``run_if``: the join rule; ``when``: a condition; ``may_fail``: its failure is none of the run;
    ``parallel``: of a map, most jobs at a time.
    """

    node: str
    after: Any
    run_if: Rule | str
    when: str
    may_fail: bool
    parallel: int


NODE_OPTIONS = NodeOptions.__optional_keys__
_JOB_OPTIONS = SubmitOptions.__optional_keys__ - {"run_at", "meta", "unique", "connection"}


_drawing: ContextVar[Drawing | None] = ContextVar("drawing", default=None)


class StandIn:
    """A value that is not there yet. ``[...]`` takes a part of it; nothing else can be done with it but pass it on."""

    def __init__(self, reference: dict[str, Any], words: str, path: tuple[str | int, ...] = ()) -> None:
        self._reference = reference
        self._words = words
        self._path = path
        self._drawn_in = _drawing.get()

    def __repr__(self) -> str:
        return f"<{self._words}{''.join(f'[{step!r}]' for step in self._path)}>"

    def __getitem__(self, step: str | int) -> StandIn:
        if isinstance(step, bool) or not isinstance(step, str | int):
            raise InvalidWorkflow(f"{self!r} has a part [{step!r}]", remedy="A part is a key or the number of an item.")
        return StandIn(self._reference, self._words, (*self._path, step))

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{self!r} has no attribute {name!r}; a part of what will be there is taken with [{name!r}]"
        )

    __hash__ = object.__hash__

    @property
    def reference(self) -> dict[str, Any]:
        """What stands in the document."""
        return {**self._reference, "path": list(self._path)} if self._path else dict(self._reference)

    def _refuse(self, *_: Any) -> NoReturn:
        raise InvalidWorkflow(
            f"{self!r} is not there yet: a workflow is drawn before its first run",
            remedy="Let a task look at it or make a text of it, give a node when='...', or map a task over it.",
        )

    @property
    def foreign(self) -> bool:
        """Whether it was made while another workflow was drawn."""
        return self._drawn_in is not None and self._drawn_in is not _drawing.get()

    # To compare it, or to put it into a text, would give an answer, and a wrong one.
    __eq__ = __ne__ = __str__ = __format__ = _refuse
    __bool__ = __iter__ = __len__ = __int__ = __float__ = __index__ = __call__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __mul__ = __contains__ = _refuse


class Output(StandIn):
    """The result of a node."""

    def __init__(self, name: str) -> None:
        super().__init__({"$node": name}, f"result of {name}")
        self.node = name


item = StandIn({"$item": True}, "item")
"""In ``task.map(list, row=item["row"])``: the item of a job of the map."""

index = StandIn({"$index": True}, "index")
"""The number of the item, from 0."""


class Drawn(Protocol):
    """What can be a node: a task or a workflow."""

    name: str

    @property
    def node_kind(self) -> str:
        """The field of the node that names it."""
        ...

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], item: Any = None) -> dict[str, Any]:
        """Arguments as parameters by name; ``item`` goes to the first that is left. Raises InvalidParameters."""
        ...


class Drawing:
    """The nodes that were added so far."""

    def __init__(self, workflow: str) -> None:
        self.workflow = workflow
        self.nodes: dict[str, Node] = {}

    def add(self, what: Drawn, params: Mapping[str, Any], options: Mapping[str, Any], over: Any = None) -> Output:
        """A node of it. ``over``: what it is mapped over."""
        fields = node_fields(what.name, options)
        name = fields.pop("name", None) or self._free_name(what.name.rpartition(".")[2])
        if name in self.nodes:
            raise InvalidWorkflow(f"workflow {self.workflow} has two nodes named {name!r}", remedy="Rename one.")
        if over is not None:
            fields["map"] = plain(over, f"an item of node {name!r}")
        values = {key: plain(value, f"parameter {key!r} of node {name!r}") for key, value in params.items()}
        fields[what.node_kind] = what.name
        self.nodes[name] = Node(name, params=values, **fields)
        return Output(name)

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.nodes:
            number += 1
            name = f"{wanted}_{number}"
        return name


def _holds_item(value: Any) -> bool:
    if isinstance(value, StandIn):
        return "$item" in value.reference or "$index" in value.reference
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(_holds_item(one) for one in inside)


def present() -> Drawing | None:
    """The drawing that is under way, if one is."""
    return _drawing.get()


def refuse_while_drawing(what: str) -> None:
    """Raise InvalidWorkflow while a workflow is drawn: nothing is submitted then, or it would be again and again."""
    if present() is not None:
        raise InvalidWorkflow(
            f"{what} while it is drawn",
            remedy="Call the task or workflow without .submit: that adds a node to it.",
        )


@contextmanager
def drawing(workflow: str) -> Iterator[Drawing]:
    """While it is open, calls of tasks add nodes to it."""
    begun = Drawing(workflow)
    token = _drawing.set(begun)
    try:
        yield begun
    finally:
        _drawing.reset(token)


class NodeCall:
    """A task or workflow with options for a node of the workflow that is being drawn."""

    def __init__(self, what: Drawn, options: Mapping[str, Any]) -> None:
        self._what = what
        self._options = dict(options)

    def options(self, **options: Any) -> NodeCall:
        """The same with further options; a later one wins."""
        return NodeCall(self._what, self._options | options)

    def __call__(self, *args: Any, **kwargs: Any) -> Output:
        """Add the node."""
        return self._added(args, kwargs, None)

    def map(self, over: Any, /, **kwargs: Any) -> Output:
        """Add the node, with one job per item; see the task's ``map``."""
        if not isinstance(over, StandIn | list | tuple):
            raise InvalidWorkflow(
                f"{self._what!r} is mapped over {over!r}", remedy="Map over a list, or over a result."
            )
        return self._added((), kwargs, over)

    def _added(self, args: tuple[Any, ...], kwargs: dict[str, Any], over: Any) -> Output:
        under_way = present()
        if under_way is None:
            raise InvalidWorkflow(
                f"{self._what!r} is called as a node, and no workflow is being drawn",
                remedy="Call it inside a function with @app.workflow, or submit it.",
            )
        given = None if over is None or _holds_item(kwargs) else item
        return under_way.add(self._what, self._what.named(args, kwargs, given), self._options, over)


def node_fields(what: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a node that options stand for. Raises InvalidOption."""
    known = NODE_OPTIONS | _JOB_OPTIONS
    for name in options:
        if name not in known:
            hint = near(name, known) or f"It may have: {', '.join(sorted(known))}."
            raise InvalidOption(f"A node has no option {name!r}.", remedy=hint, field=name)
    fields = submit_fields({name: value for name, value in options.items() if name in _JOB_OPTIONS})
    for name in NODE_OPTIONS & options.keys():
        if options[name] is not None:
            fields[{"node": "name", "after": "needs"}.get(name, name)] = options[name]
    if "needs" in fields:
        fields["needs"] = tuple(dict.fromkeys(_after(fields["needs"], what)))
    if "run_if" in fields:
        try:
            fields["run_if"] = Rule(fields["run_if"])
        except ValueError:
            hint = near(str(fields["run_if"]), Rule) or f"There are: {', '.join(Rule)}."
            raise InvalidOption(f"run_if is {fields['run_if']!r}.", remedy=hint, field="run_if") from None
    return fields


def _after(value: Any, what: str) -> Iterator[str]:
    if isinstance(value, Output):
        plain(value, f"what {what} goes after")
        yield value.node
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, StandIn | Mapping):
        for one in value:
            yield from _after(one, what)
    else:
        raise InvalidOption(
            f"{what} is to go after {value!r}.",
            remedy="Give what the call of a task gave back, or a list.",
            field="after",
        )


def plain(value: Any, what: str) -> Any:
    """A value as it stands in a document: stand-ins as references, the rest as JSON. Raises InvalidWorkflow."""
    if isinstance(value, StandIn):
        if value.foreign:
            raise InvalidWorkflow(
                f"{what} is {value!r} of another workflow", remedy="Pass it between workflows as a parameter."
            )
        return value.reference
    if isinstance(value, list | tuple):
        return [plain(one, what) for one in value]
    if isinstance(value, dict):
        inner = {key: plain(one, what) for key, one in value.items()}
        return {"$literal": inner} if any(str(key).startswith("$") for key in inner) else inner
    try:
        return msgspec.to_builtins(value, enc_hook=encode_other)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidWorkflow(f"{what} can't be written as JSON: {error}") from error
