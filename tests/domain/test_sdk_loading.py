"""Finding the user's app by name, and telling what is wrong with the user's own lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainspring.errors import AppNotLoadable
from mainspring.sdk.loading import load_app

APP = "from mainspring import Mainspring\napp = Mainspring('shop')\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")) or name.startswith(("pkg", "empty")):
            del sys.modules[name]


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    "target",
    [
        "shoptasks:app",
        "shoptasks",
        "shoptasks.py",
        "shoptasks.py:app",
        "./shoptasks.py",
        " shoptasks:app ",
        "shoptasks:box.inner",
    ],
)
def test_an_app_is_found_by_module_or_file_with_or_without_its_name(target: str) -> None:
    write("shoptasks.py", APP + "class box:\n    inner = app\n")
    assert load_app(target).name == "shop"


def test_a_file_elsewhere_finds_its_neighbours(here: Path) -> None:
    write("deep/away/neighbour_x.py", "NAME = 'deep'\n")
    write(
        "deep/away/apps_x.py", "from neighbour_x import NAME\nfrom mainspring import Mainspring\na = Mainspring(NAME)\n"
    )
    assert load_app("deep/away/apps_x.py").name == "deep"
    assert load_app(f"{here}/deep/away/apps_x.py:a").name == "deep"


def test_a_file_in_a_package_is_imported_as_part_of_it(here: Path) -> None:
    write("src/pkg/__init__.py", "")
    write("src/pkg/sub/__init__.py", "")
    write("src/pkg/names.py", "NAME = 'packed'\n")
    write(
        "src/pkg/sub/jobs.py", "from ..names import NAME\nfrom mainspring import Mainspring\napp = Mainspring(NAME)\n"
    )
    app = load_app("src/pkg/sub/jobs.py")
    assert app.name == "packed"
    assert "pkg.sub.jobs" in sys.modules
    assert load_app("pkg.sub.jobs:app") is app


def test_the_same_file_is_imported_once() -> None:
    write("once_x.py", APP)
    assert load_app("once_x.py") is load_app("once_x:app") is load_app("once_x.py:app")


@pytest.mark.parametrize("name", ["queue", "json", "my-app", "2nd"])
def test_a_file_never_hides_a_module_of_that_name(name: str) -> None:
    before = sys.modules.get(name)
    write(f"{name}.py", APP)
    assert load_app(f"{name}.py").name == "shop"
    assert sys.modules.get(name) is before


def test_two_names_for_one_app_are_one_app() -> None:
    write("alias_x.py", APP + "application = app\n")
    assert load_app("alias_x").name == "shop"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("", "names no app. Write MODULE:ATTR or FILE.py"),
        (":app", "names no app"),
        ("nowhere_x:app", "There is no module 'nowhere_x' .looked in .*Run in the directory that holds it"),
        ("nowhere_x.tasks:app", "There is no module 'nowhere_x'"),
        ("nowhere.py", r"There is no file nowhere\.py"),
        ("two words:app", "'two words' is not a module name"),
        ("several_x", r"holds 2 apps. Say which: It has :first and :second\."),
        ("several_x:frist", r"has no 'frist'. Did you mean first\?"),
        ("several_x:zzz", r"has no 'zzz'. It has :first and :second"),
        ("several_x:number", r"is of type int, not a Mainspring. It has :first and :second"),
        ("empty_x", r"holds no Mainspring. It needs one: app = Mainspring\(\"shop\"\)"),
        ("empty_x:number", r"is of type int, not a Mainspring. Name the object that Mainspring"),
    ],
)
def test_a_wrong_name_is_told_with_what_would_be_right(target: str, said: str) -> None:
    write(
        "several_x.py",
        "from mainspring import Mainspring\nfirst = Mainspring('a')\nsecond = Mainspring('b')\nnumber = 1\n",
    )
    write("empty_x.py", "number = 1\n")
    with pytest.raises(AppNotLoadable, match=said) as caught:
        load_app(target)
    assert (caught.value.code, caught.value.exit_status) == ("app_not_loadable", 4)


def refusal(target: str) -> str:
    with pytest.raises(AppNotLoadable) as caught:
        load_app(target)
    return str(caught.value)


def test_an_error_while_importing_is_told_with_the_users_lines_only() -> None:
    write("inner_x.py", "import json\n\ndef setup():\n    return json.loads('{nonsense')\n")
    write("outer_x.py", "import inner_x\n\nVALUE = inner_x.setup()\n")
    for target in ("outer_x:app", "outer_x.py"):
        said = refusal(target)
        assert 'outer_x.py", line 3' in said
        assert "VALUE = inner_x.setup()" in said
        assert 'inner_x.py", line 4' in said
        assert "JSONDecodeError: Expecting property name" in said
        for foreign in ("importlib", "json/decoder.py", "sdk/loading.py"):
            assert foreign not in said


def test_a_wrong_task_is_told_with_its_line() -> None:
    write("wrong_x.py", APP + "\n@app.task(queu='x')\ndef task(): ...\n")
    said = refusal("wrong_x:app")
    assert 'wrong_x.py", line 4' in said
    assert "A task has no option 'queu'. Did you mean queue" in said
    assert "sdk/" not in said


def test_a_syntax_error_is_told_with_its_place() -> None:
    write("syntax_x.py", "def f(:\n    pass\n")
    said = refusal("syntax_x:app")
    assert 'syntax_x.py", line 1' in said
    assert "SyntaxError" in said
    assert "def f(:" in said


def test_a_module_that_the_app_lacks_is_the_apps_own_error() -> None:
    write("lacks_x.py", "import not_installed_x\n")
    said = refusal("lacks_x:app")
    assert "No module named 'not_installed_x'" in said
    assert 'lacks_x.py", line 1' in said


@pytest.mark.parametrize("line", ["raise SystemExit(3)", "import sys; sys.exit('no')", "exit()"])
def test_a_module_that_exits_is_refused_rather_than_obeyed(line: str) -> None:
    write("exits_x.py", f"{line}\n")
    said = refusal("exits_x.py")
    assert "called exit while it was imported" in said
    assert 'exits_x.py", line 1' in said


def test_a_file_that_failed_can_be_mended_and_loaded_again() -> None:
    write("mended_x.py", "1 / 0\n")
    assert "ZeroDivisionError" in refusal("mended_x.py")
    write("mended_x.py", APP + "# mended, and of another length\n")
    assert load_app("mended_x.py").name == "shop"
