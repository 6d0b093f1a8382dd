"""The only place that prints. What a command found goes to standard output, everything else to standard error.

Plain lines need nothing but the standard library; tables and pages load rich when they are drawn.
"""

# ruff: noqa: T201 - this is where it is done

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from mainspring.cli import looks
from mainspring.cli.streams import give_up, writing
from mainspring.domain.states import FINAL, Outcome, State
from mainspring.domain.worker import WorkerState
from mainspring.errors import MainspringError, OutputFailed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_WIDE = 10_000  # where no terminal sets a width, nothing is cut or wrapped


def line(text: str = "") -> None:
    """A line of the answer. Raises OutputFailed, as all that answer do."""
    with writing():
        print(text)


def remark(text: str) -> None:
    """A line on standard output that nothing depends on: where nobody takes it, it is left unsaid."""
    try:
        print(text, flush=True)
    except OSError:
        give_up()


def note(text: str) -> None:
    """A line for the person who waits; not part of the answer."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def as_json(value: Any) -> None:
    """The answer as one JSON document; indented on a terminal."""
    data = msgspec.json.encode(value)
    line((msgspec.json.format(data, indent=2) if sys.stdout.isatty() else data).decode())


def json_line(value: Any, *, at_once: bool = True) -> None:
    """One JSON document of several; ``at_once`` for those who follow."""
    line(msgspec.json.encode(value).decode())
    if at_once:
        flush()


def complain(text: str) -> None:
    """Why the command did not do what was asked."""
    note(text)


@contextmanager
def done(what: str) -> Iterator[None]:
    """Around the answer of a command that has changed something: where it can't be written, say what was done."""
    try:
        yield
        flush()
    except (OutputFailed, BrokenPipeError):
        note(what)
        raise


def error_text(error: MainspringError, *, as_json: bool) -> str:
    """An error for people, what and remedy in a line each; or for programs."""
    if as_json:
        fields = {"code": error.code, "message": error.message, "remedy": error.remedy, "field": error.field}
        return json.dumps(fields, ensure_ascii=False)
    red, plain = ("\x1b[1;31m", "\x1b[0m") if sys.stderr.isatty() else ("", "")
    return "\n".join([f"{red}error:{plain} {error.message}", *([f"  {error.remedy}"] if error.remedy else [])])


def crash_text(error: Exception, version: str) -> str:
    """An error that nobody expected: all that helps to find it."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    return f"{trace}\nThis is a fault of mainspring {version}, not of yours. Please report it with the lines above."


def overview(version: str, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
    """The help of the whole command line; plain, as it has to come at once."""
    bold, plain = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    lines = [
        f"{bold}mainspring{plain} {version}: durable jobs, schedules and workflows",
        "",
        "Usage: mainspring COMMAND [OPTIONS]",
    ]
    wide = max(len(name) for _, commands in groups for name, _ in commands)
    for title, commands in groups:
        lines += ["", f"{bold}{title}{plain}", *(f"  {name:<{wide}}  {summary}" for name, summary in commands)]
    lines += [
        "",
        f"{bold}Everywhere{plain}",
        "  --db URL       The database: sqlite:///path (default: sqlite:///.mainspring/mainspring.db)",
        "  --api URL      A server to ask instead, with --token or MAINSPRING_TOKEN where it wants to know who asks",
        "  --config FILE  The configuration (default: mainspring.toml in this directory)",
        "  --json         Answer in JSON, errors too",
        "  --version      Print the version",
        "",
        "Start with: mainspring demo   or: mainspring init && mainspring up",
        "More on one: mainspring COMMAND --help",
    ]
    line("\n".join(lines))


def console(*, error: bool = False) -> Console:
    """A rich console on standard output or error; wide where it is no terminal."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    return Console(file=stream, highlight=False, markup=False, width=None if stream.isatty() else _WIDE)


def draw(*things: RenderableType) -> None:
    """What rich draws, on standard output."""
    screen = console()
    if screen.is_terminal:
        with writing():
            for thing in things:
                screen.print(thing)
        return
    with writing(), screen.capture() as drawn:
        for thing in things:
            screen.print(thing)
    line("\n".join(row.rstrip() for row in drawn.get().splitlines()))


def table(  # noqa: PLR0913 - how it looks
    titles: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    empty: str,
    right: Iterable[int] = (),
    gives: Iterable[int] = (),
    whole: bool = False,
) -> None:
    """A table with these columns, or the sentence for none.

    ``right``: columns of numbers; ``gives``: columns that are cut where there is little room, the first one first;
    ``whole``: only where a terminal sets the width. On a terminal too narrow even then each row is a block of lines.
    """
    numbers = set(right)
    if not on_terminal():
        plainly = [[str(cell) for cell in row] for row in rows]
        line("\n".join(looks.columns(titles, plainly, numbers, () if whole else gives)) if plainly else empty)
        return
    giving = set(gives)
    rows = list(rows)
    if looks.least_width(titles, [[str(cell) for cell in row] for row in rows], giving) > console().width:
        _blocks(titles, rows)
        return
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for index, name in enumerate(titles):
        side: Literal["left", "right"] = "right" if index in numbers else "left"
        drawn.add_column(name, justify=side, no_wrap=index not in giving, overflow="ellipsis")
    for row in rows:
        # Cells are texts, so that nothing in them is taken for markup; none is ever broken into several lines.
        cells = [Text(cell) if isinstance(cell, str) else cell for cell in row]
        for cell in cells:
            cell.no_wrap, cell.overflow = True, "ellipsis"
        drawn.add_row(*cells)
    if drawn.row_count:
        draw(drawn)
    else:
        line(empty)


def _blocks(titles: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """Each row as lines of title and value, without what is not there."""
    for number, row in enumerate(rows):
        told = [(name, cell) for name, cell in zip(titles, row, strict=True) if str(cell) not in {"", "-"}]
        draw(*([plain("")] if number else []), facts(told))


def title(*parts: str | Text) -> Text:
    """A line of names, the first in bold."""
    from rich.text import Text

    first, *others = parts
    return Text("  ").join(
        [Text(str(first), style="bold"), *(Text(one) if isinstance(one, str) else one for one in others)]
    )


def heading(text: str) -> None:
    """The name of the part that follows."""
    from rich.text import Text

    draw(Text(""), Text(text, style="bold underline"))


def facts(pairs: Iterable[tuple[str, str | Text]]) -> RenderableType:
    """Names and values, one pair a line."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name, value in pairs:
        drawn.add_row(Text(name, style="dim"), Text(value) if isinstance(value, str) else value)
    return drawn


def plain(text: str, style: str = "") -> Text:
    """A text in one style; what looks like markup is text."""
    from rich.text import Text

    return Text(text, style=style)


def document(value: Any) -> Text:
    """A JSON value, indented."""
    return plain(looks.harmless(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))


def look(one: looks.Look, more: str = "") -> Text:
    """Icon, word and colour."""
    return plain(f"{one.text}{more}", one.style)


def state(of: State, *, cancelling: bool = False) -> Text:
    """A job's state; one that runs may have been asked to stop."""
    return look(looks.state_look(of), ", cancelling" if cancelling and of not in FINAL else "")


def outcome(of: Outcome | None) -> Text:
    """An attempt's outcome."""
    return look(looks.outcome_look(of))


def worker_state(of: WorkerState) -> Text:
    """A worker's state."""
    return look(looks.worker_look(of))


def on_terminal() -> bool:
    """Whether a person sees the answer as it comes."""
    return sys.stdout.isatty()


def flush() -> None:
    """Let go of what was printed."""
    with writing():
        sys.stdout.flush()
