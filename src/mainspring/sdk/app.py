"""Mainspring: an app, the named set of tasks that user code declares.

Making one and declaring tasks opens nothing: the first submit or question does (connection.py).
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar, Unpack, overload

import msgspec

from mainspring.domain.event import Event
from mainspring.domain.nesting import check_nesting
from mainspring.domain.parameters import checked_json, placeholders
from mainspring.domain.plan import DeclaredSchedule
from mainspring.domain.task import Catalog, Executor, checked_name
from mainspring.domain.topic import Subscription, SubscriptionWanted
from mainspring.domain.workflow import content_hash
from mainspring.errors import InvalidInput, InvalidOption, InvalidParameters, InvalidTask, near
from mainspring.sdk import connection
from mainspring.sdk.context import Context
from mainspring.sdk.events import stream, stream_async
from mainspring.sdk.fingerprint import code_hash, combined
from mainspring.sdk.handle import Handle
from mainspring.sdk.options import CommandOptions, TaskOptions, declared, refuse_others
from mainspring.sdk.run import RunHandle
from mainspring.sdk.schedules import ScheduleOptions, declared_schedule
from mainspring.sdk.signature import from_types
from mainspring.sdk.task import Clients, RegisteredTask
from mainspring.sdk.waiting import in_thread
from mainspring.sdk.workflow import RegisteredWorkflow, Workflow, WorkflowOptions, adopted, drawn

if TYPE_CHECKING:
    from mainspring.client import Client
    from mainspring.domain.recurrence import Recurrence

P = ParamSpec("P")
R = TypeVar("R")


class TaskDecorator(Protocol):
    """What ``@app.task(...)`` with options is."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> RegisteredTask[P, R, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], R], /) -> RegisteredTask[P, R, R]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> RegisteredTask[P, R, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> RegisteredTask[P, R, R]: ...


class Mainspring:
    """An app: a named set of tasks.

    ``name``: letters, digits, dot, dash, underscore; ``queue``: of tasks that name none (default: the app's name);
    ``database_url``: where its jobs are (default: MAINSPRING_DATABASE_URL, ``database_url`` of mainspring.toml in the
    working directory, or ``sqlite:///.mainspring/mainspring.db``). Raises InvalidTask for a name that is not allowed.
    """

    def __init__(self, name: str, *, queue: str | None = None, database_url: str | None = None) -> None:
        self.name = checked_name(name, "App")
        self.queue = checked_name(name if queue is None else queue, "Queue")
        self.database_url = database_url
        self._tasks: dict[str, RegisteredTask[..., Any, Any]] = {}
        self._workflows: dict[str, RegisteredWorkflow[Any]] = {}
        self._schedules: dict[str, DeclaredSchedule] = {}
        self._catalog: Catalog | None = None
        self._clients = Clients(
            lambda: connection.declaring_client_of(self),
            self.client,
            lambda: connection.enlisting_client_of(self),
            lambda: connection.loop_client_of(self),
        )

    def __repr__(self) -> str:
        return f"<app {self.name}: {len(self._tasks)} tasks>"

    # --- declaring ------------------------------------------------------------------------------------------------

    @overload
    def task(
        self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> RegisteredTask[P, R, Coroutine[Any, Any, R]]: ...
    @overload
    def task(self, function: Callable[Concatenate[Context, P], R], /) -> RegisteredTask[P, R, R]: ...
    @overload
    def task(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> RegisteredTask[P, R, Coroutine[Any, Any, R]]: ...
    @overload
    def task(self, function: Callable[P, R], /) -> RegisteredTask[P, R, R]: ...
    @overload
    def task(self, function: None = None, /, **options: Unpack[TaskOptions]) -> TaskDecorator: ...

    def task(self, function: Any = None, /, **options: Any) -> Any:
        """Declare a function as a task: ``@app.task``, or with options ``@app.task(queue="mail", retry=Retry(...))``.

        An async function runs on the runner's event loop, a plain one in a thread, either in a process of its own with
        ``sandbox="S1"``. Options: see TaskOptions. Raises InvalidTask for a function that no job can be made from,
        InvalidOption for an option that is not there, NotYetSupported for one that later versions have.
        """
        if function is None:
            return lambda function: self._from_function(function, options)
        return self._from_function(function, options)

    def command(
        self,
        name: str,
        argv: Sequence[str],
        *,
        params: Mapping[str, Any] | None = None,
        **options: Unpack[CommandOptions],
    ) -> RegisteredTask[..., Any, NoReturn]:
        """Declare a command as a task: ``app.command("backup", ["tar", "-czf", "{dest}", "{src}"], params={...})``.

        No shell is involved. A word that is ``{name}`` stands for the parameter, as one word (a list: as many). Every
        placeholder must be in ``params`` (name to type) and the reverse. Put ``"--"`` before placeholders whose values
        might start with a dash. Raises InvalidTask.
        """
        words = _checked_argv(name, argv)
        types = dict(params or {})
        _check_placeholders(name, words, types)
        checked = declared(options, queue=self.queue, sandbox="S1", allowed=("S1",))
        short = checked_name(name, "Task")
        task: RegisteredTask[..., Any, NoReturn] = RegisteredTask(
            app=self.name,
            name=short,
            function=None,
            executor=Executor.COMMAND,
            options=checked,
            description=options.get("description", ""),
            place=_caller(),
            clients=self._clients,
            parameters=from_types(f"{self.name}.{short}", types),
            argv=words,
        )
        return self._add(short, task)

    def schedule(
        self,
        name: str,
        recurrence: Recurrence,
        task: RegisteredTask[..., Any, Any] | RegisteredWorkflow[Any],
        *,
        params: Mapping[str, Any] | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> DeclaredSchedule:
        """Declare a schedule: ``app.schedule("nightly", cron("0 3 * * *", tz="Europe/Berlin"), backup, params={...})``.

        Each of its ticks makes one job of the task, or one run of the workflow, with these parameters. It holds from
        when a worker with this app starts. ``name``: unique on the platform; options: see ScheduleOptions. Raises
        InvalidOption, InvalidParameters, InvalidTask (for the name), InvalidSchedule.
        """
        declared_one = declared_schedule(name, recurrence, task, params, options)
        if declared_one.name in self._schedules:
            raise InvalidOption(f"App {self.name} has two schedules named {name!r}.", field="name")
        self._schedules[declared_one.name] = declared_one
        self._catalog = None
        return declared_one

    @overload
    def workflow(self, function: Callable[P, Any], /) -> RegisteredWorkflow[P]: ...
    @overload
    def workflow(
        self, function: None = None, /, **options: Unpack[WorkflowOptions]
    ) -> Callable[[Callable[P, Any]], RegisteredWorkflow[P]]: ...

    def workflow(self, function: Any = None, /, **options: Any) -> Any:
        """Declare a workflow: in the function, each call of a task adds a node, and what it gives back is passed on.

        The function runs when the workflow is first needed, with stand-ins for its parameters; its own result, if it
        has one, is that of a run that another workflow nests. Options: see WorkflowOptions. Raises InvalidTask for a
        signature that can't be, InvalidOption, InvalidWorkflow.
        """
        if function is None:
            return lambda function: self.workflow(function, **options)
        refuse_others(options, WorkflowOptions.__optional_keys__, "A workflow")
        short = checked_name(options.get("name", function.__name__), "Workflow")
        place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
        return self._add_workflow(short, drawn(function, f"{self.name}.{short}", options, place, self._clients))

    def add(self, workflow: Workflow) -> RegisteredWorkflow[Any]:
        """Make a written workflow one of this app's. Short names of its tasks are those of this app where it has them.

        Add it behind the tasks that it names. Raises InvalidTask for a name that the app has already.
        """
        short = workflow.document.name
        added = adopted(workflow, self.name, self._tasks, self._workflows, place=_caller(), clients=self._clients)
        return self._add_workflow(short, added)

    def _add_workflow(self, short: str, workflow: RegisteredWorkflow[Any]) -> RegisteredWorkflow[Any]:
        there = self._workflows.get(short)
        if there is not None:
            raise InvalidTask(
                f"App {self.name} has two workflows named {short!r}: {there.place} and {workflow.place}.",
                remedy="Rename one.",
                field="name",
            )
        self._workflows[short] = workflow
        self._catalog = None
        return workflow

    @property
    def workflows(self) -> Mapping[str, RegisteredWorkflow[Any]]:
        """The workflows by short name, in the order of their declaration."""
        return MappingProxyType(self._workflows)

    def _from_function(self, function: Any, options: Mapping[str, Any]) -> RegisteredTask[..., Any, Any]:
        _check_function(function)
        checked = declared(options, queue=self.queue, sandbox="S0", allowed=("S0", "S1"))
        short = checked_name(options.get("name", function.__name__), "Task")
        if checked.sandbox == "S1":
            executor = Executor.PROCESS
        else:
            executor = Executor.ASYNC if inspect.iscoroutinefunction(function) else Executor.THREAD
        code = getattr(inspect.unwrap(function), "__code__", function.__code__)
        task: RegisteredTask[..., Any, Any] = RegisteredTask(
            app=self.name,
            name=short,
            function=function,
            executor=executor,
            options=checked,
            description=options.get("description", inspect.getdoc(function) or ""),
            place=f"{code.co_filename}:{code.co_firstlineno}",
            clients=self._clients,
        )
        return self._add(short, task)

    def _add(self, short: str, task: RegisteredTask[..., Any, Any]) -> RegisteredTask[..., Any, Any]:
        there = self._tasks.get(short)
        if there is not None:
            raise InvalidTask(
                f"App {self.name} has two tasks named {short!r}: {there.place} and {task.place}.",
                remedy="Rename one, or give it a name: @app.task(name=...).",
                field="name",
            )
        self._tasks[short] = task
        self._catalog = None
        return task

    @property
    def tasks(self) -> Mapping[str, RegisteredTask[..., Any, Any]]:
        """The tasks by short name, in the order of their declaration."""
        return MappingProxyType(self._tasks)

    def catalog(self) -> Catalog:
        """What the platform gets to know of this app.

        Raises InvalidTask when an annotation can't be resolved, InvalidWorkflow for one that can't be.
        """
        if self._catalog is None:
            tasks = tuple(task.declaration for task in self._tasks.values())
            workflows = tuple(workflow.document for workflow in self._workflows.values())
            for workflow in workflows:
                check_nesting(workflow, {one.name: one for one in workflows}.get)
            schedules = tuple(self._schedules.values())
            hashes = [content_hash(workflow) for workflow in workflows]
            hashes += [code_hash(None, msgspec.json.encode(one, order="deterministic")) for one in (*tasks, *schedules)]
            self._catalog = Catalog(self.name, combined(hashes), tasks, workflows, schedules)
        return self._catalog

    # --- asking ---------------------------------------------------------------------------------------------------

    def client(self) -> Client:
        """The client that this app's calls use. Raises StoreError."""
        return connection.client_of(self)

    def job(self, id: int) -> Handle[Any]:  # noqa: A002 - the word of the contract
        """The handle of a job, of this app or any other. Raises UnknownJob, and InvalidInput for what is no number."""
        try:
            number = operator.index(id)
        except TypeError:
            raise InvalidInput(f"{id!r} is not the id of a job.", remedy="Pass its number: 7.", field="id") from None
        record = self.client().job(number)
        task = next((task for task in self._tasks.values() if task.name == record.task), None)
        return Handle(self.client, record.id, read=task.read_result if task else None, record=record)

    async def ajob(self, id: int) -> Handle[Any]:  # noqa: A002
        """``job`` for async code."""
        return await in_thread(self.job, id)

    def run(self, id: int) -> RunHandle:  # noqa: A002 - the word of the contract
        """The handle of a run, of this app or any other. Raises UnknownRun."""
        return RunHandle(self.client, self.client().run(id))

    def events(
        self, kinds: Sequence[str] | None = None, after: int | None = None, *, follow: bool = True
    ) -> Iterator[Event]:
        """The events of all jobs in order; with ``follow`` those to come too, for ever.

        ``kinds``: names of states entered or of causes (default: all). ``after``: the ``seq`` of the last event seen;
        0 is the beginning, None is now when following and the beginning when not. Raises InvalidInput for a wrong
        kind.
        """
        return stream(self.client, tuple(kinds or ()), after, forever=follow)

    def aevents(
        self, kinds: Sequence[str] | None = None, after: int | None = None, *, follow: bool = True
    ) -> AsyncIterator[Event]:
        """``events`` for async code; "now" is the moment of the first step."""
        return stream_async(self.client, tuple(kinds or ()), after, forever=follow)

    # --- topics -----------------------------------------------------------------------------------------------------

    def publish(self, topic: str, data: Any = None) -> int:
        """Add a message, any JSON, to a topic; its number, once it is durable. Inside a job its coordinator does it.

        A topic comes into being with its first message. Raises InvalidTask for a name that can't be, InvalidJson,
        PayloadTooLarge.
        """
        checked_json(data, "data")
        return self._clients.submitting().publish(topic, [data])

    async def apublish(self, topic: str, data: Any = None) -> int:
        """``publish`` for async code."""
        return await in_thread(self.publish, topic, data)

    def subscribe(
        self,
        topic: str,
        to: RegisteredTask[..., Any, Any] | RegisteredWorkflow[...],
        *,
        name: str | None = None,
        params: Mapping[str, Any] | None = None,
        after: int | None = None,
    ) -> Subscription:
        """Make a job of a task, or a run of a workflow, of each message of a topic, from the next one on.

        ``name``: of the subscription (default: topic and task with a dash between them); one that there is goes on
        where it was. ``params``: what each has besides the fields of the message; ``after``: the number of the message
        behind which it begins, 0 for the oldest that is kept. Raises InvalidInput.
        """
        if not isinstance(to, RegisteredTask | RegisteredWorkflow):
            raise InvalidOption(
                f"{to!r} is neither a task nor a workflow.", remedy="Pass the decorated function.", field="task"
            )
        task, workflow = (to.name, None) if isinstance(to, RegisteredTask) else (None, to.name)
        wanted = SubscriptionWanted(name or f"{topic}-{to.name}", topic, task, workflow, dict(params or {}), after)
        return self._clients.submitting().subscribe(wanted)


def _check_function(function: Any) -> None:
    if isinstance(function, str):
        raise InvalidOption(
            f"app.task({function!r}) is not how a name is given.",
            remedy=f"Write @app.task(name={function!r}).",
            field="name",
        )
    if isinstance(function, RegisteredTask):
        raise InvalidTask(f"{function!r} is a task already.", remedy="Decorate the function once.", field="name")
    if not inspect.isfunction(function):
        raise InvalidTask(
            f"{function!r} is not a function, so it can't be a task.",
            remedy="Wrap it in a def with named, annotated parameters.",
            field="name",
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidTask(
            f"Task {function.__name__} is a generator; a job has one result.",
            remedy="Return a list, or submit one job per item.",
            field="name",
        )


def _checked_argv(name: str, argv: Sequence[str]) -> tuple[str, ...]:
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv):
        raise InvalidTask(
            f"The argv of command {name!r} is {argv!r}; it must be a list of words.",
            remedy='Write ["tar", "-czf", "{dest}", "{src}"]; no shell splits it.',
            field="argv",
        )
    if any("\0" in word for word in argv) or not argv[0]:
        raise InvalidTask(f"The argv of command {name!r} holds a NUL or names no program.", field="argv")
    return tuple(argv)


def _check_placeholders(name: str, argv: tuple[str, ...], params: Mapping[str, Any]) -> None:
    try:
        used = placeholders(argv, params)
    except InvalidParameters as error:
        raise InvalidTask(f"Command {name!r}: {error.message}", remedy=error.remedy, field="argv") from error
    for placeholder in sorted(used - set(params)):
        hint = near(placeholder, params) or f'Add it: params={{"{placeholder}": str}}.'
        raise InvalidTask(
            f"Command {name!r} uses {{{placeholder}}}, which is not in params.", remedy=hint, field="params"
        )
    for param in params:
        if param not in used:
            raise InvalidTask(
                f"Parameter {param!r} of command {name!r} is in no word of its argv.",
                remedy=f'Put "{{{param}}}" where it belongs, or take it out of params.',
                field="params",
            )


def _caller() -> str:
    """Where user code called a method of the app."""
    frame = sys._getframe(2)  # noqa: SLF001 - the caller's place, as the logging module finds it
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
