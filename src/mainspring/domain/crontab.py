"""Crontab files read: environment lines, entries with or without a user, ``%``, comments. Nothing is run or written.

What can be taken becomes an ``Entry`` (a command for the shell, and a recurrence); what can't is told with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from mainspring.domain.recurrence import read
from mainspring.errors import MainspringError

_ASSIGNMENT = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z_]\w*))\s*=\s*(.*?)\s*""", re.ASCII)
_USER = re.compile(r"[a-z_][a-z0-9_-]*\$?", re.ASCII)
_USUAL = {"root", "daemon", "nobody", "www-data", "operator", "mail", "bin", "sys", "backup", "postgres", "munin"}
_NAME = re.compile(r"[^A-Za-z0-9]+", re.ASCII)
_NOT_A_NAME = {
    "",
    "sh",
    "bash",
    "env",
    "test",
    "if",
    "cd",
    "nice",
    "ionice",
    "sudo",
    "php",
    "python",
    "python3",
    "exec",
    "root",
}
_MEANT_FOR_CRON = {"MAILTO", "MAILFROM", "CONTENT_TYPE", "CRON_TZ", "RANDOM_DELAY", "SHELL", "CRON_WITHIN"}
_BROKEN = re.compile("[\ud800-\udfff]")
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Entry:
    """An entry that was taken.

    ``name``: made from the command, unique in the file; ``line``: its number; ``command``: for ``shell -c``; ``stdin``:
    what stands after a ``%``; ``environment``: of the lines above it; ``recurrence``: a document for ``read``;
    ``notes``: what a person should know.
    """

    name: str
    line: int
    recurrence: dict[str, Any]
    words: str
    command: str
    shell: str
    stdin: str | None
    user: str | None
    environment: dict[str, str]
    jitter_minutes: int
    notes: tuple[str, ...]

    @property
    def argv(self) -> list[str]:
        """What runs it, without a terminal and with its own standard input."""
        setting = [f"{name}={value}" for name, value in sorted(self.environment.items())]
        before = ["env", *setting] if setting else []
        if self.stdin is None:
            return [*before, self.shell, "-c", self.command]
        fed = f'printf "%s" "$1" | {{ {self.command}\n}}'
        return [*before, self.shell, "-c", fed, "crontab", self.stdin]


class Refused(NamedTuple):
    """A line that needs a person: its number, its text and why."""

    line: int
    text: str
    why: str


class Crontab(NamedTuple):
    """A file as it was read. ``system``: its entries name a user."""

    system: bool
    entries: list[Entry]
    refused: list[Refused]
    notes: list[str]


@dataclass
class _Reading:
    system: bool
    zone: str
    taken: AbstractSet[str]
    tz: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def parse(text: str, *, system: bool | None = None, tz: str = "UTC", taken: AbstractSet[str] = frozenset()) -> Crontab:
    """Read a crontab.

    ``system``: whether entries name a user (None: guessed); ``tz``: the zone of the old machine; ``taken``: names that
    no entry may have. What is not UTF-8 stands in ``text`` as halves of surrogate pairs, and is refused.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if system is None:
        system = _names_users([line for _, line in lines if not _ASSIGNMENT.fullmatch(line)])
    reading = _Reading(system, tz, taken)
    for number, line in lines:
        if _BROKEN.search(line):
            shown = line.encode(errors="surrogateescape").decode(errors="backslashreplace")
            reading.refused.append(Refused(number, shown, "it is not UTF-8"))
            continue
        assignment = _ASSIGNMENT.fullmatch(line)
        if assignment:
            _assign(reading, assignment)
            continue
        try:
            reading.entries.append(_entry(reading, number, line))
        except MainspringError as error:
            reading.refused.append(Refused(number, line, str(error)))
        except ValueError as error:
            reading.refused.append(Refused(number, line, f"{error}"))
    return Crontab(system, reading.entries, reading.refused, reading.notes)


def _names_users(entries: list[str]) -> bool:
    """Whether what stands before the command is like a user in each entry, and a usual one in some."""
    rests = [_split(line)[1].split(None, 1) for line in entries]
    users = [words[0] for words in rests if len(words) == 2]
    return any(user in _USUAL for user in users) and all(_USER.fullmatch(user) for user in users)


def _assign(reading: _Reading, assignment: re.Match[str]) -> None:
    name = assignment[1] or assignment[2] or assignment[3] or ""
    value = assignment[4]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if name == "CRON_TZ":
        reading.tz = value
    elif name == "MAILTO" and value:
        _note(reading, f"MAILTO={value}: output is kept with the job and not mailed")
    reading.environment[name] = value


def _note(reading: _Reading, text: str) -> None:
    if text not in reading.notes:
        reading.notes.append(text)


def _split(line: str) -> tuple[str, str]:
    """The times of an entry, and the rest."""
    if line.startswith("@"):
        word, _, rest = line.partition(" ")
        tabbed = word.split(None, 1)
        return (tabbed[0], f"{tabbed[1]} {rest}" if len(tabbed) > 1 else rest.strip())
    words = line.split(None, 5)
    return " ".join(words[:5]), words[5] if len(words) > 5 else ""


def _entry(reading: _Reading, number: int, line: str) -> Entry:
    times, rest = _split(line)
    user = None
    if reading.system:
        user, _, rest = rest.partition(" ") if "\t" not in rest.split(" ", 1)[0] else rest.partition("\t")
        rest = rest.strip()
    if times.lower() == "@reboot":
        raise ValueError(
            "@reboot is no time: submit the command from what starts with the machine, for instance systemd"
        )
    document = {"cron": times, "tz": reading.tz or reading.zone}
    rule = read(document)
    command, stdin = _percent(rest)
    if not command:
        raise ValueError(f"there is no command{' behind the user' if user else ''}")
    notes = []
    if user:
        notes.append(f"ran as user {user}: workers run commands as their own user")
    environment = {name: value for name, value in reading.environment.items() if name not in _MEANT_FOR_CRON}
    delay = reading.environment.get("RANDOM_DELAY", "0")
    entry = Entry(
        name="",
        line=number,
        recurrence=document,
        words=rule.words(),
        command=command,
        shell=reading.environment.get("SHELL") or "/bin/sh",
        stdin=stdin,
        user=user,
        environment=environment,
        jitter_minutes=int(delay) if delay.isdigit() and delay.isascii() else 0,
        notes=tuple(notes),
    )
    return replace(entry, name=_named(command, {other.name for other in reading.entries} | reading.taken))


def _percent(text: str) -> tuple[str, str | None]:
    r"""The command and its standard input: the first bare ``%`` ends it, further ones are newlines, ``\%`` is one."""
    parts = [part.replace("\\%", "%") for part in re.split(r"(?<!\\)%", text)]
    if len(parts) == 1:
        return parts[0].strip(), None
    return parts[0].strip(), "\n".join(parts[1:])


def _named(command: str, taken: set[str]) -> str:
    """The first word of the command that says something, as a name; numbered where it is taken."""
    for word in re.split(r"[\s;&|(){}\[\]]+", command):
        plain = _NAME.sub("-", word.rpartition("/")[2].partition(".")[0]).strip("-")
        if plain and plain not in _NOT_A_NAME and "=" not in word and not word.startswith(("-", "$", '"', "'")):
            break
    else:
        plain = "command"
    name = plain[:_LONGEST_NAME]
    count = 2
    while name in taken:
        name = f"{plain[:_LONGEST_NAME]}-{count}"
        count += 1
    return name
