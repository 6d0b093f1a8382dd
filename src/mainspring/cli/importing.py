"""``mainspring import crontab FILE``: an app file with command tasks and schedules, and a report. Runs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.domain.crontab import Crontab, Entry, parse
from mainspring.errors import InvalidOption

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
    """Make an app file of a crontab: a command task and a schedule for each entry. Nothing is run."""
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise InvalidOption(f"{file} can't be read: {error.strerror}.", field="FILE") from error
    found = parse(text, system=system, tz=tz)
    target = out or Path(f"{_stem(file)}_app.py")
    if target.exists() and not force:
        raise InvalidOption(f"{target} is there already.", remedy="Choose another with --out, or --force.", field="out")
    if found.entries:
        target.write_text(
            app_file(found, file.name, target.name, f"{_stem(file)}"), encoding="utf-8", errors="surrogateescape"
        )
    _report(found, target, as_json=access.json)
    return 0


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
    made: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "line": entry.line,
            "when": entry.words,
            "command": entry.command,
            "notes": list(entry.notes),
        }
        for entry in found.entries
    ]
    person = [refused._asdict() for refused in found.refused]
    if as_json:
        names = [entry.name for entry in found.entries]
        written = str(target) if made else None
        show.as_json({"names": names, "file": written, "made": made, "refused": person, "notes": found.notes})
        return
    show.table(
        ("NAME", "LINE", "WHEN", "NOTE"),
        [(one["name"], str(one["line"]), one["when"], "; ".join(one["notes"])) for one in made],
        empty="No entry could be taken.",
        right=(1,),
    )
    for refused in found.refused:
        show.line(f"line {refused.line} needs a person: {refused.why}  {refused.text}")
    for note in found.notes:
        show.line(note)
    if made:
        show.line(f"Written to {target}: {len(made)} tasks with their schedules, read as a {_form(found)} crontab.")


def _form(found: Crontab) -> str:
    return "system" if found.system else "user"
