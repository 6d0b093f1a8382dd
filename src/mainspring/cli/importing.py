"""``mainspring import crontab FILE``: command tasks and schedules, known here at once, and an app file that runs them.

Nothing is run by it; what could not be taken is told.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.domain.crontab import Crontab, Entry, parse
from mainspring.domain.retry import Retry
from mainspring.errors import InvalidOption

if TYPE_CHECKING:
    from mainspring.sdk.app import Mainspring

_HEAD = '''"""Taken over from {source}. Look it through; then: mainspring up --app {target}

Like cron: one try each. Unlike cron: a tick that finds the job of the one before unfinished is skipped, and after an
outage the latest missed tick is made up for; overlap="allow" and catch_up="none" are cron's ways.
"""

from mainspring import Mainspring, Retry, cron

app = Mainspring("{name}")
ONCE = Retry(max_attempts=1)
'''


def crontab(  # noqa: PLR0913 - each is an option
    file: Annotated[
        Path, Parameter(name="FILE", help="The crontab: crontab -l > FILE, or /etc/crontab, or /etc/cron.d/x.")
    ],
    /,
    *,
    out: Annotated[
        Path | None, option("The app file to write (default: FILE's name with _app.py, here).", "FILE")
    ] = None,
    tz: Annotated[str, option("The zone of the machine that it ran on (default: UTC).", "ZONE")] = "UTC",
    system: Annotated[bool | None, Parameter(help="Entries name a user (default: guessed).", negative="--user")] = None,
    force: Annotated[bool, option("Write over the file if it is there.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Make a command task and a schedule of each entry of a crontab, and print their names. Nothing is run.

    They are known at once, and stand in an app file, which a worker must host for their jobs.
    """
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise InvalidOption(f"{file} can't be read: {error.strerror}.", field="FILE") from error
    name = _stem(file)
    target = out or Path(f"{name}_app.py")
    if target.exists() and not force:
        raise InvalidOption(f"{target} is there already.", remedy="Choose another with --out, or --force.", field="out")
    with access.client(make=True, actor=of.operator()) as client:
        taken = {one.name for one in client.schedules() if one.app != name}  # of another crontab, for instance
        found = parse(text, system=system, tz=tz, taken=taken)
        if found.entries:
            target.write_text(app_file(found, file.name, target.name, name), encoding="utf-8")
            client.declare(_app(found, name).catalog())
    _report(found, target, as_json=access.json)
    return 0


def _app(found: Crontab, name: str) -> Mainspring:
    """The app that the file is of."""
    from mainspring.sdk.app import Mainspring  # no other command needs it
    from mainspring.sdk.times import cron

    app = Mainspring(name)
    for entry in found.entries:
        task = app.command(entry.name, entry.argv, retry=Retry(max_attempts=1))
        rule = cron(entry.recurrence["cron"], tz=entry.recurrence["tz"])
        if entry.jitter_minutes:
            app.schedule(entry.name, rule, task, jitter=f"{entry.jitter_minutes}m")
        else:
            app.schedule(entry.name, rule, task)
    return app


def _stem(file: Path) -> str:
    return (
        "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in file.name.partition(".")[0])
        or "crontab"
    )


def app_file(found: Crontab, source: str, target: str, name: str) -> str:
    """The text of an app with all entries."""
    return _HEAD.format(source=source, target=target, name=name) + "".join(_declared(entry) for entry in found.entries)


def _declared(entry: Entry) -> str:
    remarks = "".join(f"\n# {note}" for note in entry.notes)
    jitter = f', jitter="{entry.jitter_minutes}m"' if entry.jitter_minutes else ""
    zone = entry.recurrence["tz"]
    return f"""
# line {entry.line}: {entry.words}{remarks}
app.schedule(
    {entry.name!r},
    cron({entry.recurrence["cron"]!r}, tz={zone!r}),
    app.command({entry.name!r}, {entry.argv!r}, retry=ONCE),{f"{chr(10)}    {jitter[2:]}," if jitter else ""}
)
"""


def _report(found: Crontab, target: Path, *, as_json: bool) -> None:
    names = [entry.name for entry in found.entries]
    if as_json:
        show.as_json(names)
    else:
        show.table(
            ("NAME", "LINE", "WHEN", "NOTE"),
            [(one.name, str(one.line), one.words, "; ".join(one.notes)) for one in found.entries],
            empty="No entry could be taken.",
            right=(1,),
        )
    for refused in found.refused:
        show.note(f"line {refused.line} needs a person: {refused.why}  {refused.text}")
    for note in found.notes:
        show.note(note)
    if names:
        show.note(f"{len(names)} tasks with their schedules are known, read as a {_form(found)} crontab.")
        show.note(f"Look through {target}; then: mainspring up --app {target}")


def _form(found: Crontab) -> str:
    return "system" if found.system else "user"
