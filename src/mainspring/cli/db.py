"""``mainspring db ...``: what an operator does with a database as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec import structs

from mainspring.cli import access as of
from mainspring.cli import flags, show
from mainspring.cli.access import Access, option
from mainspring.cli.flags import KeepFlags
from mainspring.client import database
from mainspring.client.database import Finding, Level, Upgraded
from mainspring.clock import SECOND, Duration, SystemClock
from mainspring.domain.address import shown
from mainspring.domain.setting import Settings
from mainspring.errors import StoreError, WrongUse

_SIGNS = {Level.OK: "ok", Level.WARNING: "warning", Level.FAULT: "FAULT"}


def upgrade(*, access: Access = of.DEFAULT) -> int:
    """Bring the tables to this version. A SQLite file is copied first; PostgreSQL is yours to back up."""
    done = database.upgrade(access.load().settings.database_url)
    if access.json:
        show.as_json([one._asdict() for one in done])
        return 0
    for one in done:
        show.line(_upgraded(one))
    return 0


def _upgraded(one: Upgraded) -> str:
    if not one.made:
        return f"{one.place}: version {one.found}, nothing to do."
    saved = f" What it was before is in {one.backup}." if one.backup else ""
    return f"{one.place}: from version {one.found} to {one.made[-1]}.{saved}"


def check(
    *,
    repair: Annotated[bool, option("Put kept counts right that are not what the rows say.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Look for damage, rows out of place, what nobody sweeps, dead rows and who holds them. Exit 5 when unsound."""
    found = database.examine(access.load().settings.database_url, repair=repair)
    sound = all(one.level is not Level.FAULT for one in found)
    if access.json:
        show.as_json({"sound": sound, "findings": [structs.asdict(one) for one in found]})
    else:
        for one in found:
            _told(one)
        show.line("The database is sound." if sound else "The database is not sound.")
    return 0 if sound else StoreError.exit_status


def backup(path: Annotated[Path, Parameter(show=False)], /, *, access: Access = of.DEFAULT) -> int:
    """Copy a SQLite database to a new file while it runs. For PostgreSQL it names the command that does it."""
    made = database.back_up(access.load().settings.database_url, path)
    with show.done(f"The backup was made: {made[0]}"):
        if access.json:
            show.as_json([str(one) for one in made])
        else:
            for one in made:
                show.line(str(one))
    return 0


def prune(
    *,
    dry_run: Annotated[bool, option("Only say how many would go.")] = False,
    keep: KeepFlags = flags.KEEP,
    access: Access = of.DEFAULT,
) -> int:
    """Take out ended jobs that are old enough, with their attempts, events and output. Others can write meanwhile."""
    settings = access.load(flags.merged(keep)).settings
    gone = database.prune(
        settings.database_url, settings, dry=dry_run, say=lambda so_far: show.note(f"{so_far:,} gone")
    )
    if access.json:
        show.as_json(gone)
    else:
        told = ", ".join(f"{count:,} {state}" for state, count in gone.items())
        show.line(f"{'Would go' if dry_run else 'Gone'}: {told}.")
    return 0


def move(
    url_to: Annotated[str | None, Parameter(show=False)] = None,
    /,
    *,
    drain: Annotated[bool, option("Have workers that run end first, and wait for them.")] = False,
    abandon: Annotated[bool, option("Give up a move that is not finished: the source takes writes again.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Move everything into an empty database, SQLite to PostgreSQL or back. After a kill the same command goes on."""
    settings = access.load().settings
    url = settings.database_url
    if abandon:
        show.line(f"Given up: nothing goes to {database.abandon_move(url)}. What is there already may be deleted.")
        return 0
    if url_to is None:
        raise WrongUse("URL_TO is missing.", remedy="See: mainspring db move --help", field="url_to")
    moved = database.move(url, url_to, say=_Progress(), drain=_patience(settings) if drain else None)
    with show.done(f"Everything was moved to {shown(url_to)}."):
        if access.json:
            show.as_json(moved)
        else:
            show.line(f"Moved and verified: {', '.join(f'{rows:,} {table}' for table, rows in moved.items() if rows)}.")
            show.line(f"From now on: --db {shown(url_to)}")
    return 0


def _patience(settings: Settings) -> Duration:
    """How long a worker may take to end: it hears of it, its jobs finish or are stopped, it says goodbye."""
    return Duration(settings.poll + settings.drain + settings.grace + 10 * SECOND)


class _Progress:
    """A line on standard error now and then."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._told = self._clock.monotonic()

    def __call__(self, table: str, rows: int, total: int) -> None:
        if self._clock.monotonic() - self._told >= SECOND:
            self._told = self._clock.monotonic()
            show.note(f"{table}: {rows:,} of {total:,}")


def _told(one: Finding) -> None:
    show.line(f"{_SIGNS[one.level]:<8} {one.name:<10} {one.text}")
    for detail in one.details:
        show.line(f"{'':19} {detail}")
