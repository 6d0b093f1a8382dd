"""RegisteredTask: a function (or command) that an app has declared as a task.

Users call it, submit it, and give a submit its options; the runner takes its declaration, binds stored parameters
and encodes results. Neither the store nor processes are known here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar, Unpack, cast, overload

import msgspec

from mainspring.domain.borrowed import Borrowed
from mainspring.domain.job import JobRequest, Receipt
from mainspring.domain.parameters import checked_json
from mainspring.domain.task import Executor, Task
from mainspring.errors import InvalidInput, InvalidParameters, InvalidTask
from mainspring.sdk.binding import Parameters
from mainspring.sdk.codec import encode_other
from mainspring.sdk.drawing import NodeCall, NodeOptions, Output, present, refuse_while_drawing
from mainspring.sdk.fingerprint import code_hash
from mainspring.sdk.handle import Handle
from mainspring.sdk.lending import lend
from mainspring.sdk.options import Declared, SubmitOptions, submit_fields
from mainspring.sdk.signature import from_function, result_reader
from mainspring.sdk.tracing import in_trace
from mainspring.sdk.waiting import in_thread

if TYPE_CHECKING:
    from mainspring.client import Client
    from mainspring.sdk.connection import SubmitsSoon

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")
_ROWS = 'Write submit_many([{"order_id": 1}, {"order_id": 2}]).'


class TaskUse(SubmitOptions, NodeOptions, total=False):
    """What ``task.options(...)`` takes: SubmitOptions, and inside a workflow NodeOptions."""


class Clients:
    """How a task reaches the platform: ``submitting`` has recorded the app's catalog, ``asking`` need not.

    ``enlisting``: for a submit on a connection of the caller's, which also a job may have; ``soon``: for a submit on
    the event loop, None where a thread must do it.
    """

    def __init__(
        self,
        submitting: Callable[[], Client],
        asking: Callable[[], Client],
        enlisting: Callable[[], Client],
        soon: Callable[[], SubmitsSoon | None],
    ) -> None:
        self.soon = soon
        self.submitting = submitting
        self.asking = asking
        self.enlisting = enlisting


class RegisteredTask(Generic[P, R, C]):
    """A task of an app. Calling it runs its function right here, as Python does; ``submit`` makes a job of it.

    ``P``: its parameters, without a leading Context; ``R``: what a job's result is; ``C``: what a plain call returns.
    ``name``: the full name; ``function``: the undecorated function, None for a command; ``place``: where it was
    declared.
    """

    __name__: str

    def __init__(  # noqa: PLR0913 - all that makes a task
        self,
        *,
        app: str,
        name: str,
        function: Callable[..., Any] | None,
        executor: Executor,
        options: Declared,
        description: str,
        place: str,
        clients: Clients,
        parameters: Parameters | None = None,
        argv: tuple[str, ...] = (),
    ) -> None:
        self.app = app
        self.name = f"{app}.{name}"
        self.function = function
        self.place = place
        self._clients = clients
        self._executor = executor
        self._options = options
        self._description = description
        self._argv = argv
        self._parameters = parameters
        if function is not None:
            functools.update_wrapper(self, function)
            self._declare_early()

    def _declare_early(self) -> None:
        """Find what is wrong while the user's line is at hand. A name that is defined further below may wait."""
        try:
            _ = self.declaration
        except InvalidTask as error:
            if not isinstance(error.__cause__, NameError):
                raise

    def __repr__(self) -> str:
        return f"<task {self.name}>"

    def __reduce__(self) -> str:
        """Pickled by name, as its function would be, for the user's own pools of processes."""
        if self.function is None:
            raise TypeError(f"{self!r} is a command, which has no name to be found by")
        return self.function.__qualname__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> C:
        """Run the function here and now, without a job. A Context parameter that was left out gets the current one.

        Inside a function with ``@app.workflow``: add a node, and give back what stands for its result. ``after``,
        beside the parameters: nodes that it waits for although it takes nothing of them.
        """
        if present() is not None:
            return cast("C", self._as_node(args, kwargs))
        if self.function is None:
            self._refuse_call()
        together = self.parameters.with_context(args, kwargs)
        found: C = self.function(*args, **kwargs) if together is None else self.function(**together)
        return found

    @overload
    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]: ...
    @overload
    def submit(self, *args: Any, connection: object, **kwargs: Any) -> Handle[R]: ...
    def submit(self, *args: Any, **kwargs: Any) -> Handle[R]:
        """Make a job of it, and return once the job is stored for good.

        ``connection``, beside the parameters: one to the PostgreSQL database of the jobs; then the job is stored in its
        transaction, and is there when that is committed. A type checker leaves the parameters unchecked then;
        ``options(connection=...).submit(...)`` has them checked. Raises InvalidParameters (which parameter, and why),
        InvalidJson, InvalidText, PayloadTooLarge above 1 MiB, KeyHeld (with ``options(unique=...)`` only), StoreError.
        """
        return Submission(self, {}).submit(*args, **kwargs)

    @overload
    async def asubmit(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]: ...
    @overload
    async def asubmit(self, *args: Any, connection: object, **kwargs: Any) -> Handle[R]: ...
    async def asubmit(self, *args: Any, **kwargs: Any) -> Handle[R]:
        """``submit`` for async code."""
        return await Submission(self, {}).asubmit(*args, **kwargs)

    def submit_many(self, rows: Iterable[Mapping[str, Any]], *, connection: Any = None) -> list[Handle[R]]:
        """One job per row of parameters, much faster than one by one. Up to 2,000: all or none."""
        return Submission(self, {}).submit_many(rows, connection=connection)

    async def asubmit_many(self, rows: Iterable[Mapping[str, Any]], *, connection: Any = None) -> list[Handle[R]]:
        """``submit_many`` for async code."""
        return await Submission(self, {}).asubmit_many(rows, connection=connection)

    def options(self, **options: Unpack[TaskUse]) -> Submission[P, R]:
        """The task with options for a submit: ``task.options(priority=1, delay="10m").submit(...)``.

        Inside a workflow: for a node, ``task.options(after=[a], run_if="all_done")(...)``; see NodeOptions. Raises
        InvalidOption for an option that is not there, NotYetSupported for one that later versions have.
        """
        if present() is not None:
            return cast("Submission[P, R]", NodeCall(self, options))
        return Submission(self, submit_fields(options), options.get("connection"))

    # --- as a node of a workflow ----------------------------------------------------------------------------------

    node_kind = "task"

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], item: Any = None) -> dict[str, Any]:
        """Arguments as parameters by name, without a look at their values. Raises InvalidParameters."""
        return self.parameters.named(args, kwargs, item)

    def map(self, over: Any, /, **kwargs: Any) -> Output:
        """Inside a workflow: a node with one job per item of a list or of a result.

        The item goes to the first parameter that is not given; or say where: ``load.map(rows, key=item["id"])``. The
        node's result is the list of the jobs' results, in the order of the items.
        """
        return NodeCall(self, {}).map(over, **kwargs)

    def _as_node(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        options = {}
        if "after" in kwargs and "after" not in self.parameters.names:
            options["after"] = kwargs.pop("after")
        return NodeCall(self, options)(*args, **kwargs)

    # --- for the runner -------------------------------------------------------------------------------------------

    @functools.cached_property
    def parameters(self) -> Parameters:
        """What it takes. Raises InvalidTask when an annotation still can't be resolved."""
        if self._parameters is None and self.function is not None:
            try:
                self._parameters = from_function(self.name, self.function)
            except InvalidTask as error:
                message = f"{error.message} It is declared at {self.place}."
                raise InvalidTask(message, remedy=error.remedy, field=error.field) from error.__cause__
        if self._parameters is None:
            raise InvalidTask(f"Task {self.name} has neither a function nor parameters.", field=self.name)
        return self._parameters

    @functools.cached_property
    def declaration(self) -> Task:
        """What the catalog says of it."""
        options = self._options
        plain = Task(
            name=self.name,
            app=self.app,
            executor=self._executor,
            queue=options.queue,
            schema=self.parameters.schema,
            retry=options.retry.document(),
            timeout=options.timeout,
            grace=options.grace,
            priority=options.priority,
            sandbox=options.sandbox,
            argv=self._argv,
            description=self._description,
            requires=options.requires,
            slots=options.slots,
        )
        code = {"executor": plain.executor, "schema": plain.schema, "argv": plain.argv}
        return msgspec.structs.replace(plain, code_hash=code_hash(self.function, msgspec.json.encode(code)))

    @property
    def context_parameter(self) -> str | None:
        """The parameter that takes the Context, or None."""
        return self.parameters.context

    def bind_stored(self, params: bytes) -> dict[str, Any]:
        """A job's stored parameters as keyword arguments, without the Context. Raises InvalidParameters."""
        return self.parameters.bind_stored(params)

    def encode_result(self, value: Any) -> bytes:
        """What the function returned, as JSON. Raises InvalidJson, InvalidText or PayloadTooLarge above 1 MiB."""
        return checked_json(value, "result", enc_hook=encode_other)

    @functools.cached_property
    def read_result(self) -> Callable[[Any], Any] | None:
        """A function from plain JSON to the annotated return type; None where they are the same."""
        return None if self.function is None else result_reader(self.function)

    def store(self, requests: list[JobRequest], borrowed: Borrowed | None = None) -> list[Handle[R]]:
        """Submit prepared requests; ``borrowed``: in the transaction of this connection."""
        refuse_while_drawing(f"a job of {self.name} is submitted")
        if not requests:
            return []
        if borrowed is None:
            receipts = self._clients.submitting().submit(requests)
        else:
            receipts = self._clients.enlisting().submit(requests, borrowed=borrowed)
        return self._handles(receipts)

    async def store_soon(self, requests: Callable[[], list[JobRequest]]) -> list[Handle[R]]:
        """``store`` for async code. In a job it asks on the loop itself, elsewhere in a thread, as that may block."""
        client = self._clients.soon()
        if client is None:
            return await in_thread(lambda: self.store(requests()))
        wanted = requests()
        return self._handles(await client.submit_soon(wanted)) if wanted else []

    def _handles(self, receipts: list[Receipt]) -> list[Handle[R]]:
        return [Handle(self._clients.asking, one.job, read=self.read_result, new=one.new) for one in receipts]

    def _refuse_call(self) -> NoReturn:
        raise InvalidTask(
            f"Task {self.name} is a command and runs in a worker only.",
            remedy=f"Submit it: {self.name.rpartition('.')[2]}.submit(...)",
            field=self.name,
        )


class Submission(Generic[P, R]):
    """A task with options for its submits. Make it with ``task.options(...)``; it can be kept and used again."""

    def __init__(self, task: RegisteredTask[P, R, Any], fields: dict[str, Any], connection: Any = None) -> None:
        self._task = task
        self._fields = fields
        self._connection = connection

    def options(self, **options: Unpack[SubmitOptions]) -> Submission[P, R]:
        """The same with further options; a later one wins."""
        connection = options.get("connection", self._connection)
        return Submission(self._task, self._fields | submit_fields(options), connection)

    def __call__(self, *args: Any, **kwargs: Any) -> Output:
        """For workflows only, which have a NodeCall in this place. Raises InvalidWorkflow."""
        return NodeCall(self._task, {})(*args, **kwargs)

    def map(self, over: Any, /, **kwargs: Any) -> Output:
        """For workflows only; see the task's ``map``. Raises InvalidWorkflow."""
        return NodeCall(self._task, {}).map(over, **kwargs)

    @overload
    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]: ...
    @overload
    def submit(self, *args: Any, connection: object, **kwargs: Any) -> Handle[R]: ...
    def submit(self, *args: Any, **kwargs: Any) -> Handle[R]:
        """Make a job; see the task's ``submit``."""
        connection = self._taken_from(kwargs)
        return self._stored([self._request(args, kwargs)], connection)[0]

    @overload
    async def asubmit(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]: ...
    @overload
    async def asubmit(self, *args: Any, connection: object, **kwargs: Any) -> Handle[R]: ...
    async def asubmit(self, *args: Any, **kwargs: Any) -> Handle[R]:
        """``submit`` for async code."""
        connection = self._taken_from(kwargs)
        return (await self._stored_async(lambda: [self._request(args, kwargs)], connection))[0]

    def submit_many(self, rows: Iterable[Mapping[str, Any]], *, connection: Any = None) -> list[Handle[R]]:
        """One job per row of parameters; see the task's ``submit_many``."""
        return self._stored(self._requests(rows), self._connection if connection is None else connection)

    async def asubmit_many(self, rows: Iterable[Mapping[str, Any]], *, connection: Any = None) -> list[Handle[R]]:
        """``submit_many`` for async code."""
        connection = self._connection if connection is None else connection
        return await self._stored_async(lambda: self._requests(rows), connection)

    def _stored(self, requests: list[JobRequest], connection: Any) -> list[Handle[R]]:
        return self._task.store(requests, None if connection is None else Borrowed(connection))

    async def _stored_async(self, requests: Callable[[], list[JobRequest]], connection: Any) -> list[Handle[R]]:
        if connection is None:
            return await self._task.store_soon(requests)
        return await lend(connection, lambda borrowed: self._task.store(requests(), borrowed))

    def _taken_from(self, kwargs: dict[str, Any]) -> Any:
        """The connection that was given beside the parameters, unless the task has a parameter of that name."""
        if "connection" in kwargs and "connection" not in self._task.parameters.names:
            return kwargs.pop("connection")
        return self._connection

    def _requests(self, rows: Iterable[Mapping[str, Any]]) -> list[JobRequest]:
        requests = []
        if not isinstance(rows, Iterable):
            raise InvalidParameters(
                f"submit_many takes rows of parameters, not {type(rows).__name__}.", remedy=_ROWS, field="params"
            )
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InvalidParameters(
                    f"Row {index} of submit_many is {row!r:.80}; it must be a mapping.", remedy=_ROWS, field="params"
                )
            try:
                requests.append(self._request((), row))
            except InvalidInput as error:
                error.add_note(f"in row {index} of submit_many")
                raise
        return requests

    def _request(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> JobRequest:
        return JobRequest(self._task.name, self._task.parameters.bind(args, kwargs), **in_trace(self._fields))
