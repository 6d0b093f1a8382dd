"""``mainspring users``: the people who may sign in to a server, and what they may do there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from msgspec import UNSET

from mainspring.chance import SystemChance
from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.wire import user_wire
from mainspring.clock import Instant, SystemClock
from mainspring.domain.access import User, UserChange, role_of
from mainspring.errors import InvalidInput, InvalidOption

_Name = Annotated[str, Parameter(name="NAME", help="What the user signs in as.")]
_File = Annotated[
    Path | None, option("A file whose first line is the password; - is standard input (default: one is made).", "FILE")
]
_Queues = Annotated[tuple[str, ...], option("Keep them to this queue (may be given again).", "NAME", name=("--queue",))]


def create(
    name: _Name,
    /,
    *,
    role: Annotated[str, option("What they may do; each role may what those before it may.", "viewer|operator|admin")],
    queues: _Queues = (),
    password_file: _File = None,
    access: Access = of.DEFAULT,
) -> int:
    """Let somebody sign in. A password that is made is printed once and kept nowhere."""
    password, made = _password(password_file)
    with access.client(actor=of.operator(), make=True) as client:
        user = client.create_user(name, password, role_of(role), queues=queues or None)
    return _tell(user, f"user {user.name} ({user.role.value}) was made", password if made else None, access)


def change(  # noqa: PLR0913 - options
    name: _Name,
    /,
    *,
    role: Annotated[str | None, option("What they may do from now on.", "viewer|operator|admin")] = None,
    queues: _Queues = (),
    all_queues: Annotated[bool, option("Keep them to no queue any more.")] = False,
    new_password: Annotated[bool, option("Make another password, and end all their sessions.")] = False,
    password_file: _File = None,
    access: Access = of.DEFAULT,
) -> int:
    """Change what a user may do, or their password."""
    if queues and all_queues:
        raise InvalidOption("--queue and --all-queues contradict each other.", remedy="Give one.", field="queues")
    if not (role or queues or all_queues or new_password or password_file):
        raise InvalidOption("Nothing is to be changed.", remedy="Give --role, --queue or --new-password.", field="role")
    password, made = _password(password_file) if new_password or password_file else (UNSET, False)
    wanted = UserChange(
        role=UNSET if role is None else role_of(role),
        queues=None if all_queues else queues or UNSET,
        password=password,
    )
    with access.client(actor=of.operator()) as client:
        user = client.change_user(name, wanted)
    return _tell(user, f"user {user.name} ({user.role.value}) was changed", str(password) if made else None, access)


def remove(name: _Name, /, *, access: Access = of.DEFAULT) -> int:
    """Take a user away: their sessions end within seconds."""
    with access.client(actor=of.operator()) as client:
        user = client.remove_user(name)
    return _tell(user, f"user {user.name} was removed", None, access)


def list_(*, access: Access = of.DEFAULT) -> int:
    """List users by name, removed ones last."""
    with access.client() as client:
        found = client.users()
    if access.json:
        show.as_json([user_wire(user) for user in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("NAME", "ROLE", "STATE", "QUEUES", "MADE", "BY", "SIGNED IN"),
        [_row(user, now) for user in found],
        empty="No users: make one with mainspring users create NAME --role ROLE.",
        gives=(3, 5),
    )
    return 0


def _tell(user: User, said: str, password: str | None, access: Access) -> int:
    with show.done(said):
        if access.json:
            show.as_json(user_wire(user) | ({} if password is None else {"password": password}))
        elif password is None:
            show.line(said)
        else:
            show.note(f"{said}; the password:")
            show.line(password)
    return 0


def _password(file: Path | None) -> tuple[str, bool]:
    """The password, and whether it was made here."""
    if file is None:
        return SystemChance().secret(), True
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} can't be read: {error}.", remedy="Give a file in UTF-8.", field="FILE") from error
    return (text.splitlines() or [""])[0], False


def _row(user: User, now: Instant) -> tuple[Any, ...]:
    return (
        user.name,
        user.role.value,
        "may sign in" if user.removed_at is None else "removed",
        "all" if user.queues is None else ", ".join(user.queues),
        looks.age(now, user.created_at),
        user.created_by,
        looks.age(now, user.used_at),
    )
