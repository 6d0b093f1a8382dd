"""Loading the user's app by name: ``MODULE:ATTR`` or ``FILE.py[:ATTR]``.

Only processes that run user code, or that were told to import it, may call this. What goes wrong is told with the
lines of the user's own code.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import sysconfig
import traceback
from pathlib import Path
from types import ModuleType, TracebackType

from mainspring.errors import AppNotLoadable, MainspringError, near
from mainspring.sdk.app import Mainspring

_OURS = str(Path(__file__).parents[1])
_THEIRS = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def load_app(target: str) -> Mainspring:
    """Import the module or file and answer its app.

    ATTR may be left out where the module holds exactly one Mainspring. The working directory (for a file: the
    directory of its package) is put in front of the import path, as ``python FILE`` does. Raises AppNotLoadable.
    """
    place, _, attribute = _split(target)
    if not place:
        raise AppNotLoadable(
            f"{target!r} names no app.", remedy="Write MODULE:ATTR or FILE.py, for instance shop.tasks:app."
        )
    module = _import_file(Path(place), target) if place.endswith(".py") else _import_module(place, target)
    return _named(module, attribute, target) if attribute else _only(module, target)


def _split(target: str) -> tuple[str, str, str]:
    head, colon, tail = target.strip().rpartition(":")
    if not colon or tail.endswith(".py") or "/" in tail:
        return target.strip(), "", ""
    return head, colon, tail


def _import_module(name: str, target: str) -> ModuleType:
    _prepend(Path.cwd())
    if not all(part.isidentifier() for part in name.split(".")):
        raise AppNotLoadable(
            f"{target!r}: {name!r} is not a module name.",
            remedy="Write MODULE:ATTR, or the path of a file that ends in .py.",
        )
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise AppNotLoadable(
                f"There is no module {missing!r} (looked in {Path.cwd()} and the import path).",
                remedy="Run in the directory that holds it, or give the file: --app path/to/file.py",
            ) from error
        raise _refused(target, error) from error
    except (Exception, SystemExit) as error:
        raise _refused(target, error) from error


def _import_file(path: Path, target: str) -> ModuleType:
    path = path.expanduser()
    if not path.is_file():
        raise AppNotLoadable(f"There is no file {path} (in {Path.cwd()}).", remedy="Check the path of --app.")
    path = path.resolve()
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file() and root.parent != root:
        parts.insert(0, root.name)
        root = root.parent
    _prepend(root)
    name = ".".join(parts)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if len(parts) > 1:
        return _import_module(name, target)
    if loaded is not None or name in sys.stdlib_module_names or not name.isidentifier():
        # A name of its own, so that it never hides somebody else's module.
        name = f"app_{''.join(letter if letter.isalnum() else '_' for letter in name)}"
    return _execute(name, path, target)


def _execute(name: str, path: Path, target: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AppNotLoadable(f"{path} can't be imported.", remedy="Give a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _refused(target, error) from error
    return module


def _prepend(directory: Path) -> None:
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


def _named(module: ModuleType, attribute: str, target: str) -> Mainspring:
    found: object = module
    for step in attribute.split("."):
        if not hasattr(found, step):
            hint = near(step, dir(found)) or _apps_hint(module)
            raise AppNotLoadable(f"{target!r}: {module.__name__} has no {attribute!r}.", remedy=hint)
        found = getattr(found, step)
    if not isinstance(found, Mainspring):
        raise AppNotLoadable(
            f"{target!r} is of type {type(found).__name__}, not a Mainspring.",
            remedy=_apps_hint(module) or 'Name the object that Mainspring("...") returned.',
        )
    return found


def _only(module: ModuleType, target: str) -> Mainspring:
    apps = _apps(module)
    different = {id(app): app for app in apps.values()}
    if len(different) == 1:
        return next(iter(different.values()))
    if not apps:
        raise AppNotLoadable(
            f"{target!r} holds no Mainspring.",
            remedy='It needs one: app = Mainspring("shop"), with tasks declared on it.',
        )
    raise AppNotLoadable(f"{target!r} holds {len(different)} apps.", remedy=f"Say which: {_apps_hint(module)}")


def _apps(module: ModuleType) -> dict[str, Mainspring]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Mainspring)}


def _apps_hint(module: ModuleType) -> str:
    names = [f":{name}" for name in _apps(module)]
    return f"It has {' and '.join(names)}." if names else ""


def _refused(target: str, error: BaseException) -> AppNotLoadable:
    if isinstance(error, SystemExit):
        remedy = 'The module called exit while it was imported; put that under if __name__ == "__main__".'
    elif isinstance(error, MainspringError):
        remedy = "Correct the line of yours that it ends at."
    else:
        remedy = "Correct it; python -c 'import ...' shows the same."
    lines = "".join(traceback.format_list(_own_frames(error.__traceback__)))
    said = "".join(traceback.format_exception_only(error))
    return AppNotLoadable(f"The app {target!r} can't be imported:\n{lines}{said}".rstrip(), remedy=f"\n{remedy}")


def _own_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames of user code; all but the import machinery where there is none."""
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith((_OURS, "<frozen"))]
    own = [frame for frame in frames if not frame.filename.startswith(_THEIRS)]
    return own or frames
