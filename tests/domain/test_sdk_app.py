"""Declaring an app: tasks, commands and their options, and what is refused where it is written."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import mainspring
from mainspring import Context, Mainspring, Retry, current
from mainspring.domain.task import Executor
from mainspring.errors import (
    InvalidDuration,
    InvalidInput,
    InvalidJson,
    InvalidOption,
    InvalidParameters,
    InvalidTask,
    InvalidText,
    MainspringError,
    NotYetSupported,
    PayloadTooLarge,
)
from mainspring.sdk.context import running
from mainspring.sdk.fingerprint import code_hash

pickled = Mainspring("pickled")


@pickled.task
def by_name(n: int) -> int:
    return n + 1


@pickled.task
def early(when: Later) -> None:  # the class stands further below
    ...


class Later:
    pass


@pytest.fixture
def app() -> Mainspring:
    return Mainspring("shop")


def test_a_task_takes_its_name_description_and_defaults_from_the_function(app: Mainspring) -> None:
    @app.task
    async def send_receipt(order_id: int) -> dict[str, int]:
        """Send the receipt.

        By mail.
        """
        return {"order": order_id}

    said = send_receipt.declaration
    assert (said.name, said.short, said.app, said.queue) == ("shop.send_receipt", "send_receipt", "shop", "shop")
    assert said.executor is Executor.ASYNC
    assert said.description == "Send the receipt.\n\nBy mail."
    assert said.retry == Retry().document()
    assert (said.timeout, said.grace, said.priority, said.sandbox, said.argv) == (None, "5s", 5, "S0", ())
    assert list(app.tasks.items()) == [("send_receipt", send_receipt)]
    assert repr(send_receipt) == "<task shop.send_receipt>"
    assert repr(app) == "<app shop: 1 tasks>"


def test_options_are_kept_as_people_wrote_them(app: Mainspring) -> None:
    @app.task(
        name="crunch.v2",
        queue="cpu",
        retry=Retry(max_attempts=9),
        timeout=90,
        grace=timedelta(seconds=1.5),
        priority=-3,
        sandbox="S1",
        description="Crunches.",
    )
    def crunch(path: str) -> None: ...

    said = crunch.declaration
    assert (said.name, said.queue, said.priority) == ("shop.crunch.v2", "cpu", -3)
    assert (said.timeout, said.grace) == ("1m30s", "1s500ms")
    assert (said.sandbox, said.executor, said.description) == ("S1", Executor.PROCESS, "Crunches.")
    assert said.retry["max_attempts"] == 9
    assert list(app.tasks) == ["crunch.v2"]


@pytest.mark.parametrize(("sandbox", "executor"), [("S0", Executor.THREAD), ("S1", Executor.PROCESS)])
def test_where_a_plain_function_runs(app: Mainspring, sandbox: str, executor: Executor) -> None:
    @app.task(sandbox=sandbox)
    def task() -> None: ...

    assert task.declaration.executor is executor


def test_an_async_function_may_have_a_process_of_its_own(app: Mainspring) -> None:
    @app.task(sandbox="S1")
    async def task() -> None: ...

    assert task.declaration.executor is Executor.PROCESS


def test_the_queue_of_the_app_is_the_default(app: Mainspring) -> None:
    other = Mainspring("other", queue="slow")

    @other.task
    def task() -> None: ...

    assert task.declaration.queue == "slow"


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"queu": "x"}, InvalidOption, r"A task has no option 'queu'\. Did you mean queue\b"),
        ({"retries": 3}, InvalidOption, r"no option 'retries'\. Did you mean retry"),
        ({"xyzzy": 3}, InvalidOption, r"It may have: description, grace, name"),
        ({"memory": "512MiB"}, NotYetSupported, r"memory is not supported by this version"),
        ({"requires": "disk=fast"}, InvalidOption, r"requires is 'disk=fast'"),
        ({"requires": {"disk": 1}}, InvalidOption, r"requires has 'disk': 1"),
        ({"requires": {"": "fast"}}, InvalidOption, r"requires has ''"),
        ({"slots": 0}, InvalidOption, r"slots is 0"),
        ({"slots": True}, InvalidOption, r"slots is True"),
        ({"unique": "k"}, NotYetSupported, r"unique is not supported"),
        ({"sandbox": "S2"}, NotYetSupported, r"sandbox='S2' is not supported"),
        ({"sandbox": "S9"}, InvalidOption, r"sandbox is 'S9'\. It may be S0 or S1 here"),
        ({"sandbox": None}, InvalidOption, r"sandbox is None"),
        ({"priority": 1001}, InvalidOption, r"priority is 1001; .* from -1000 to 1000\. Lower goes first"),
        ({"priority": "high"}, InvalidOption, r"priority is 'high'"),
        ({"priority": True}, InvalidOption, r"priority is True"),
        ({"timeout": "soon"}, InvalidDuration, r"'soon' is not a duration"),
        ({"timeout": 0}, InvalidOption, r"timeout is 0; it must be longer\. Leave it out for none"),
        ({"grace": None}, InvalidDuration, r"None is not a duration"),
        ({"grace": -1}, InvalidDuration, r"-1 is not a duration"),
        ({"retry": 5}, InvalidOption, r"retry is 5\. Write retry=Retry\(max_attempts=5\)"),
        ({"retry": {"tries": 5}}, InvalidOption, r"retry has no 'tries'"),
        ({"queue": "a b"}, InvalidTask, r"Queue name 'a b' is not allowed"),
        ({"name": "a/b"}, InvalidTask, r"Task name 'a/b' is not allowed\. Use letters"),
        ({"name": ""}, InvalidTask, r"Task name '' is not allowed"),
    ],
)
def test_a_wrong_option_is_refused_where_it_is_written(
    app: Mainspring, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    def task() -> None: ...

    with pytest.raises(error, match=said):
        app.task(**options)(task)
    assert not app.tasks, "nothing was declared"


def generator() -> Iterator[int]:
    yield 1


def varied(*items: int) -> None: ...


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (5, "5 is not a function.*Wrap it in a def"),
        (functools.partial(varied, 1), "is not a function"),
        (int, "is not a function"),
        (len, "is not a function"),
        (staticmethod(varied), "is not a function"),
        (generator, "Task generator is a generator.*submit one job per item"),
        (lambda: 1, "Task name '<lambda>' is not allowed"),
        (varied, r"takes \*items"),
        ("send", r"app.task\('send'\) is not how a name is given.*name='send'"),
    ],
)
def test_what_is_no_function_with_named_parameters_is_refused(app: Mainspring, thing: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        app.task(thing)
    assert not app.tasks


def test_a_task_is_declared_once(app: Mainspring) -> None:
    @app.task
    def task() -> None: ...

    with pytest.raises(InvalidTask, match="is a task already"):
        app.task(task)


def test_two_tasks_of_one_name_are_refused_naming_both_places(app: Mainspring) -> None:
    @app.task
    def task() -> None: ...

    with pytest.raises(InvalidTask, match="App shop has two tasks named 'task'") as caught:

        @app.task(name="task")
        def other() -> None: ...

    here = Path(__file__).name
    first, second = inspect.unwrap(task).__code__.co_firstlineno, 0
    assert f"{here}:{first}" in caught.value.message
    assert caught.value.message.count(f"{here}:") == 2, second
    with pytest.raises(InvalidTask, match=rf"{here}:{first} and .*{here}:\d+"):
        app.command("task", ["true"])


@pytest.mark.parametrize("name", ["", "a b", "..", "-x", "x" * 201, 5])
def test_an_apps_name_is_plain(name: Any) -> None:
    with pytest.raises(InvalidTask, match=r"App name .* is not allowed"):
        Mainspring(name)


def test_nothing_is_opened_by_declaring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = Mainspring("shop")

    @app.task
    def task() -> None: ...

    task()
    app.catalog()
    task.options(priority=1)
    assert list(tmp_path.iterdir()) == []


# --- plain calls ---------------------------------------------------------------------------------------------------


def test_a_plain_call_runs_the_function_as_python_does(app: Mainspring) -> None:
    @app.task
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    @app.task
    async def later(a: int) -> int:
        return a

    assert add(1) == 2
    assert add(1, b=5) == 6
    assert asyncio.run(later(3)) == 3
    assert (add.__name__, add.__doc__, add.__module__) == ("add", "Add.", __name__)
    assert str(inspect.signature(add)) == "(a: 'int', b: 'int' = 1) -> 'int'"
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        add()  # type: ignore[call-arg]


def test_a_plain_call_gets_the_context_it_left_out(app: Mainspring) -> None:
    @app.task
    def first(ctx: Context, path: str) -> tuple[Context, str]:
        return ctx, path

    @app.task
    def last(path: str, ctx: Context) -> tuple[Context, str]:
        return ctx, path

    here = Context(job_id=5, attempt=1, task="shop.first")
    assert first("x") == (current(), "x")
    assert first(path="x")[0].detached
    assert last("x") == (current(), "x")  # type: ignore[call-arg]
    assert last("x", here) == (here, "x")
    assert last(path="x", ctx=here) == (here, "x")
    with running(here):
        assert first("x") == (here, "x")
    with pytest.raises(TypeError):
        last("x", path="y")  # type: ignore[call-arg, misc]


def test_a_task_can_be_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(by_name)) is by_name
    with pytest.raises(TypeError, match="is a command"):
        pickle.dumps(pickled.command("tick", ["true"]))


def test_a_name_that_is_defined_further_below_may_wait() -> None:
    with pytest.raises(InvalidTask, match=r"type Later, which has no JSON form.*declared at .*test_sdk_app\.py:\d+"):
        _ = early.declaration


# --- commands ------------------------------------------------------------------------------------------------------


def test_a_command_is_a_task_whose_parameters_fill_whole_words(app: Mainspring) -> None:
    backup = app.command(
        "backup", ["tar", "-czf", "{dest}", "--", "{src}"], params={"src": str, "dest": str}, timeout="1h"
    )
    said = backup.declaration
    assert (said.name, said.executor, said.sandbox) == ("shop.backup", Executor.COMMAND, "S1")
    assert said.argv == ("tar", "-czf", "{dest}", "--", "{src}")
    assert said.schema["required"] == ["src", "dest"]
    assert backup.bind_stored(b'{"src":"a","dest":"b"}') == {"src": "a", "dest": "b"}
    assert Path(__file__).name in backup.place
    with pytest.raises(InvalidTask, match=r"is a command and runs in a worker only\. Submit it: backup.submit"):
        backup(src="a", dest="b")


@pytest.mark.parametrize(
    ("argv", "params", "said"),
    [
        (["tar", "{src}"], {}, r"uses \{src\}, which is not in params\. Add it: params=\{\"src\": str\}"),
        (["tar", "{scr}"], {"src": str}, r"uses \{scr\}.*Did you mean src\?"),
        (["tar"], {"src": str}, r"Parameter 'src' .* is in no word.*Put \"\{src\}\""),
        (["tar", "--file={src}"], {"src": str}, r"holds the placeholder \{src\} in its middle.*word of its own"),
        ("tar -czf {src}", {"src": str}, r"must be a list of words.*no shell"),
        ([], {}, r"must be a list of words"),
        (["tar", 5], {}, r"must be a list of words"),
        (["a\0b"], {}, r"holds a NUL"),
        ([""], {}, r"names no program"),
        (["tar", "{src}"], {"src": complex}, r"'src' of task shop.x has the type complex"),
    ],
)
def test_a_command_that_can_not_be_filled_is_refused(app: Mainspring, argv: Any, params: Any, said: str) -> None:
    with pytest.raises(InvalidTask, match=said):
        app.command("x", argv, params=params)
    assert not app.tasks


def test_a_command_never_runs_in_the_shared_runner(app: Mainspring) -> None:
    with pytest.raises(InvalidOption, match=r"sandbox is 'S0'\. It may be S1 here"):
        app.command("x", ["true"], sandbox="S0")
    with pytest.raises(NotYetSupported, match="memory is not supported"):
        app.command("x", ["true"], memory="1GiB")  # type: ignore[call-arg]


# --- catalog, results, hashes --------------------------------------------------------------------------------------


def test_the_catalog_follows_the_declarations(app: Mainspring) -> None:
    empty = app.catalog()

    @app.task
    def one() -> None: ...

    first = app.catalog()
    assert app.catalog() is first, "it is made once"
    app.command("two", ["true"])
    second = app.catalog()
    assert [task.name for task in second.tasks] == ["shop.one", "shop.two"]
    assert len({empty.code_hash, first.code_hash, second.code_hash}) == 3
    assert first.app == "shop"


def made(source: str, **options: Any) -> tuple[str, str]:
    """The hash of a task, and that of its app."""
    scope: dict[str, Any] = {}
    exec(compile(source, "<made>", "exec"), scope)
    app = Mainspring("shop")
    return app.task(**options)(scope["task"]).declaration.code_hash, app.catalog().code_hash


def test_the_hash_of_a_task_changes_with_its_code_and_that_of_the_app_with_all_that_it_declares() -> None:
    base = "def task(n: int = 0): return {1, 2, n} | frozenset({'a', 'b'})"
    same = [made(base), made(base, timeout="1s"), made(base, retry=Retry(max_attempts=1))]
    other = [
        made(base + " | {3}"),
        made(base.replace("n: int", "n: float")),
        made(base, sandbox="S1"),
    ]
    assert len({own for own, _ in same}) == 1
    assert len({own for own, _ in (same[0], *other)}) == 4
    assert len({whole for _, whole in (*same, *other)}) == 6
    assert made(base) == same[0]


def test_decorators_are_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source names the options of a task, and other names for the app."""
    body = "async def one(n: int):\n    return n\n"
    for module, head in (("plain", "@app.task"), ("wordy", "@app.task(\n    timeout='1s',\n)")):
        text = f"from mainspring import Mainspring\napp = Mainspring('shop')\n{head}\n{body}"
        (tmp_path / f"{module}_decorated.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    plain, wordy = (importlib.import_module(f"{name}_decorated").app for name in ("plain", "wordy"))
    assert plain.tasks["one"].declaration.code_hash == wordy.tasks["one"].declaration.code_hash
    assert plain.catalog().code_hash != wordy.catalog().code_hash


def test_the_code_hash_is_the_same_in_every_process(tmp_path: Path) -> None:
    module = tmp_path / "tasks.py"
    module.write_text(
        "from mainspring import Mainspring\n"
        "app = Mainspring('shop')\n"
        "@app.task\n"
        "def one(n: int): return n in {'a', 'b', 'c'}\n"
    )
    program = (
        "import sys; sys.path.insert(0, '.'); import tasks; one = tasks.app.tasks['one'];"
        "from mainspring.sdk.fingerprint import _byte_code;"
        "print(one.declaration.code_hash, tasks.app.catalog().code_hash, hash(_byte_code(one.function.__code__)) * 0,"
        "_byte_code(one.function.__code__).hex())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_a_function_without_source_or_byte_code_has_a_hash_too() -> None:
    assert code_hash(len, b"{}") == code_hash(len, b"{}")
    assert code_hash(None, b"{}") != code_hash(None, b"[]")


def test_results_are_json_or_refused(app: Mainspring) -> None:
    @app.task
    def task() -> Any: ...

    assert task.encode_result({"day": date(2026, 1, 2), "at": Path("/x")}) == b'{"day":"2026-01-02","at":"/x"}'
    assert task.encode_result(None) == b"null"
    wrong: list[tuple[Any, type[MainspringError], str]] = [
        (float("nan"), InvalidJson, "result is NaN"),
        ({"a": ["\0"]}, InvalidText, r"result\.a\[0\] holds a NUL"),
        (object(), InvalidJson, "result is of type object"),
        ("x" * 2**20, PayloadTooLarge, "result is 1,048,578 bytes"),
        (2**70, InvalidJson, "whole number beyond"),
    ]
    for value, error, said in wrong:
        with pytest.raises(error, match=said):
            task.encode_result(value)


# --- names of later versions, and the front door -------------------------------------------------------------------


def test_every_public_name_is_there() -> None:
    for name in mainspring.__all__:
        assert getattr(mainspring, name) is not None
    assert set(mainspring.__all__) <= set(dir(mainspring))
    assert mainspring.errors.MainspringError is MainspringError
    assert {*mainspring._HOMES, "errors"} == set(mainspring.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = mainspring.Nonsense  # type: ignore[attr-defined]


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert mainspring.__version__ == project["version"]


def loaded(statement: str) -> set[str]:
    program = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    tops = {name.partition(".")[0] for name in ran.stdout.split()} - set(sys.stdlib_module_names)
    return {top for top in tops if not top.startswith("_sysconfigdata")}  # the library's own, one per platform


def test_importing_loads_the_standard_library_and_msgspec_at_most() -> None:
    assert loaded("import mainspring") == {"mainspring"}
    everything = f"from mainspring import {', '.join(mainspring.__all__)}; Mainspring('a').task(lambda: 1)"
    names = everything.replace("Mainspring('a').task(lambda: 1)", "app = Mainspring('a')")
    assert loaded(names) - {"typing_extensions"} == {"mainspring", "msgspec"}


def test_importing_the_package_alone_loads_no_room_of_it() -> None:
    program = "import sys, mainspring; print(*[name for name in sys.modules if name.startswith('mainspring.')])"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == []


@pytest.mark.parametrize("rows", [[1, 2], ["ab"], 5, None])
def test_rows_that_are_none_are_refused_with_what_would_be_right(rows: Any):
    app = Mainspring("shop")

    @app.task
    def echo(value: int) -> int:
        return value

    with pytest.raises(InvalidParameters, match=r"submit_many.*order_id"):
        echo.submit_many(rows)


@pytest.mark.parametrize("id_", ["7", 7.0, None])
def test_what_is_no_number_is_no_id(id_: Any):
    with pytest.raises(InvalidInput, match="is not the id of a job"):
        Mainspring("shop").job(id_)


def test_a_length_of_time_may_be_written_as_everywhere_else():
    app = Mainspring("shop")

    @app.task
    def rest(pause: timedelta, limit: timedelta | None = None) -> None: ...

    bound = rest.parameters.bind(("5s",), {"limit": "1h30m"})
    assert rest.parameters.values(bound) == {"pause": timedelta(seconds=5), "limit": timedelta(minutes=90)}
    assert rest.parameters.bind((timedelta(seconds=5),), {}) == {"pause": "PT5S"}
    with pytest.raises(InvalidParameters, match="pause"):
        rest.parameters.bind(("soon",), {})
