"""Every setting: name, kind, default, which layer may set it, one sentence. SETTINGS is the table, Settings the values.

Pure: it reads values that it is given and says what would be right. Files, environment and machine are config's.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration, duration, duration_text
from mainspring.domain.outward import networks_of
from mainspring.domain.task import NAME
from mainspring.errors import InvalidDuration

Value = str | int | tuple[str, ...] | dict[str, str]

DEFAULT_DATABASE = "sqlite:///.mainspring/mainspring.db"
_LONGEST_TEXT = 1_000


class Kind(StrEnum):
    """What a setting's value is."""

    TEXT = "text"
    WHOLE = "whole number"
    LENGTH = "duration"
    NAME = "name"
    NAMES = "names"
    PAIRS = "pairs"
    CHOICE = "choice"
    NETWORKS = "networks"


class Layer(StrEnum):
    """Where a value may come from; a later one wins."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"
    STORE = "store"


class Setting(msgspec.Struct, frozen=True):
    """One row of the table.

    ``default``: None where it depends on the machine or on another setting, as ``depends`` says; ``least`` and ``most``
    bound numbers and durations; ``flag``: its option on the command line; ``commands``: which commands take it;
    ``restart_only``: a change is seen by processes that start afterwards, so it can't be kept in the store.
    """

    name: str
    kind: Kind
    default: Value | None
    sentence: str
    flag: str
    commands: tuple[str, ...] = ("up", "server", "worker")
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    depends: str = ""
    restart_only: bool = True

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"MAINSPRING_{self.name.upper()}"

    @property
    def default_text(self) -> str:
        """The default, as people write it."""
        return self.depends or (value_text(self, self.default) if self.default is not None else "")

    @property
    def right(self) -> str:
        """What a value of it looks like: ``a duration from 1s to 1h, such as 30s``."""
        match self.kind:
            case Kind.TEXT:
                return f"a text of 1 to {_LONGEST_TEXT:,} characters"
            case Kind.WHOLE:
                return f"a whole number from {self.least:,} to {self.most:,}"
            case Kind.LENGTH:
                example = "30s" if self.default is None else self.default_text
                shortest, longest = duration_text(Duration(self.least)), duration_text(Duration(self.most))
                return f"a duration from {shortest} to {longest}, such as {example}"
            case Kind.NAME:
                return "made of letters, digits, dot, dash and underscore (at most 200)"
            case Kind.NAMES:
                return "names made of letters, digits, dot, dash and underscore"
            case Kind.PAIRS:
                return "pairs such as disk=fast"
            case Kind.NETWORKS:
                return "networks such as 10.1.0.0/16 or fd00::/8"
            case Kind.CHOICE:
                return f"one of {', '.join(self.choices)}"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The effective values; one field for each row of SETTINGS. Durations are microseconds, as everywhere inside."""

    app: str = ""
    database_url: str = DEFAULT_DATABASE
    host: str = "127.0.0.1"
    port: int = 8750
    auth: str = ""
    transport: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    workers: int = 1
    slots: int = 100
    processes: int = 32
    runners: int = 1
    lease: Duration = Duration(30 * SECOND)
    sweep: Duration = Duration(5 * SECOND)
    poll: Duration = SECOND
    drain: Duration = Duration(30 * SECOND)
    grace: Duration = Duration(5 * SECOND)
    queues: tuple[str, ...] = ()
    name: str = ""
    labels: dict[str, str] = {}
    keep_succeeded: Duration = Duration(7 * DAY)
    keep_dead: Duration = Duration(30 * DAY)
    keep_cancelled: Duration = Duration(30 * DAY)
    keep_ticks: Duration = Duration(90 * DAY)
    keep_deliveries: Duration = Duration(7 * DAY)
    keep_records: Duration = Duration(7 * DAY)
    webhook_networks: tuple[str, ...] = ()
    otlp_endpoint: str = ""
    request_rate: int = 0
    log_format: str = "json"
    restart_limit: int = 5
    restart_window: Duration = MINUTE


_EVERYWHERE = ("up", "server", "worker")
_WORKERS = ("up", "worker")
_SERVERS = ("up", "server")
_KEEPERS = ("up", "server", "db prune")

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "app", Kind.TEXT, "", "The app whose tasks the workers run: MODULE:ATTR or FILE.py[:ATTR].", "--app", _WORKERS
    ),
    Setting(
        "database_url",
        Kind.TEXT,
        DEFAULT_DATABASE,
        "The database: sqlite:///relative/path or sqlite:////absolute/path.",
        "--db",
    ),
    Setting("host", Kind.TEXT, "127.0.0.1", "The address that the server listens on.", "--host", _SERVERS),
    Setting("port", Kind.WHOLE, 8750, "The port that the server listens on.", "--port", _SERVERS, least=0, most=65_535),
    Setting(
        "auth",
        Kind.CHOICE,
        None,
        "Whether the server asks for tokens; without, only this machine may reach it.",
        "--auth",
        _SERVERS,
        choices=("token", "none"),
        depends="none at a loopback address, else token",
    ),
    Setting(
        "transport",
        Kind.CHOICE,
        None,
        "Whether the server speaks TLS itself; plain where a proxy in front of it does.",
        "--transport",
        _SERVERS,
        choices=("tls", "plain"),
        depends="plain at a loopback address, else tls",
    ),
    Setting(
        "tls_cert",
        Kind.TEXT,
        "",
        "The file of the certificate chain, in PEM.",
        "--tls-cert",
        _SERVERS,
        depends="none",
    ),
    Setting("tls_key", Kind.TEXT, "", "The file of its private key, in PEM.", "--tls-key", _SERVERS, depends="none"),
    Setting(
        "workers", Kind.WHOLE, 1, "How many worker processes `up` starts.", "--workers", ("up",), least=1, most=256
    ),
    Setting(
        "slots",
        Kind.WHOLE,
        100,
        "How many jobs one worker runs at once.",
        "--slots",
        _WORKERS,
        least=1,
        most=10_000,
        restart_only=False,
    ),
    Setting(
        "processes",
        Kind.WHOLE,
        None,
        "How many of them may be processes of their own (commands, process tasks).",
        "--processes",
        _WORKERS,
        least=1,
        most=10_000,
        depends="slots, at most 32",
        restart_only=False,
    ),
    Setting(
        "runners",
        Kind.WHOLE,
        None,
        "How many runner processes share the user's code in one worker.",
        "--runners",
        _WORKERS,
        least=1,
        most=256,
        depends="cores - 1, from 1 to 4",
    ),
    Setting(
        "lease",
        Kind.LENGTH,
        Duration(30 * SECOND),
        "How long a worker owns an attempt without renewing; after a crash its jobs wait this long.",
        "--lease",
        _WORKERS,
        least=SECOND,
        most=DAY,
        restart_only=False,
    ),
    Setting(
        "sweep",
        Kind.LENGTH,
        Duration(5 * SECOND),
        "How often expired leases are looked for.",
        "--sweep",
        least=100 * MILLISECOND,
        most=HOUR,
        restart_only=False,
    ),
    Setting(
        "poll",
        Kind.LENGTH,
        SECOND,
        "The longest that an idle loop goes without looking, when no wake-up reaches it.",
        "--poll",
        least=10 * MILLISECOND,
        most=MINUTE,
        restart_only=False,
    ),
    Setting(
        "drain",
        Kind.LENGTH,
        Duration(30 * SECOND),
        "How long running jobs may take to finish once the worker is asked to stop.",
        "--drain",
        _WORKERS,
        least=0,
        most=7 * DAY,
        restart_only=False,
    ),
    Setting(
        "grace",
        Kind.LENGTH,
        Duration(5 * SECOND),
        "How long after drain `up` kills what has not ended; a job that is asked to stop has the grace of its task.",
        "--grace",
        ("up",),
        least=0,
        most=HOUR,
    ),
    Setting(
        "queues",
        Kind.NAMES,
        (),
        "The queues that a worker takes from.",
        "--queue",
        _WORKERS,
        depends="all queues of its app",
    ),
    Setting(
        "name",
        Kind.NAME,
        "",
        "The worker's name; `up` with several workers appends -1, -2.",
        "--name",
        _WORKERS,
        depends="made from host and process id",
    ),
    Setting("labels", Kind.PAIRS, {}, "What is said of this worker in lists.", "--label", _WORKERS, depends="none"),
    *(
        Setting(
            f"keep_{state}",
            Kind.LENGTH,
            Duration(days * DAY),
            f"How long {state} jobs are kept after their end, with their attempts, events and output.",
            f"--keep-{state}",
            _KEEPERS,
            least=MINUTE,
            most=36_500 * DAY,
            restart_only=False,
        )
        for state, days in (("succeeded", 7), ("dead", 30), ("cancelled", 30))
    ),
    Setting(
        "keep_ticks",
        Kind.LENGTH,
        Duration(90 * DAY),
        "How long the records of what became of ticks of schedules are kept.",
        "--keep-ticks",
        _SERVERS,
        least=DAY,
        most=36_500 * DAY,
        restart_only=False,
    ),
    Setting(
        "keep_deliveries",
        Kind.LENGTH,
        Duration(7 * DAY),
        "How long deliveries of webhooks are kept after their end.",
        "--keep-deliveries",
        _SERVERS,
        least=MINUTE,
        most=36_500 * DAY,
        restart_only=False,
    ),
    Setting(
        "keep_records",
        Kind.LENGTH,
        Duration(7 * DAY),
        "How long the log of servers and workers is kept in the store.",
        "--keep-records",
        _SERVERS,
        least=MINUTE,
        most=36_500 * DAY,
        restart_only=False,
    ),
    Setting(
        "webhook_networks",
        Kind.NETWORKS,
        (),
        "Networks that webhooks may reach although they are not public, also without encryption.",
        "--webhook-network",
        _SERVERS,
        depends="none",
    ),
    Setting(
        "otlp_endpoint", Kind.TEXT, "", "Where a collector takes OTLP.", "--otlp-endpoint", _SERVERS, depends="none"
    ),
    Setting(
        "request_rate",
        Kind.WHOLE,
        None,
        "How many requests a second a server takes of one asker, over ten seconds; 0: as many as come.",
        "--request-rate",
        _SERVERS,
        least=0,
        most=100_000,
        depends="0 at a loopback address, else 1,000",
        restart_only=False,
    ),
    Setting(
        "log_format",
        Kind.CHOICE,
        None,
        "How server and worker write their own log to standard error.",
        "--log-format",
        choices=("pretty", "json"),
        depends="pretty on a terminal, else json",
    ),
    Setting(
        "restart_limit",
        Kind.WHOLE,
        5,
        "How often `up` restarts one process within restart_window before it gives up.",
        "--restart-limit",
        ("up",),
        least=0,
        most=1_000,
    ),
    Setting(
        "restart_window", Kind.LENGTH, MINUTE, "See restart_limit.", "--restart-window", ("up",), least=SECOND, most=DAY
    ),
)

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}


class Unfit(ValueError):
    """A value that the setting can't have; the caller knows where it came from."""


def read(setting: Setting, value: object) -> Value:
    """The value in its own type, from a text, or from what a TOML file holds. Raises Unfit."""
    match setting.kind:
        case Kind.TEXT:
            return _text(value)
        case Kind.WHOLE:
            return _whole(setting, value)
        case Kind.LENGTH:
            return _length(setting, value)
        case Kind.NAME:
            return _name(value)
        case Kind.NAMES:
            return _names(value)
        case Kind.PAIRS:
            return _pairs(value)
        case Kind.NETWORKS:
            return _networks(value)
        case Kind.CHOICE:
            if isinstance(value, str) and value in setting.choices:
                return value
            raise Unfit


def value_text(setting: Setting, value: Value) -> str:
    """A value as people write it in the environment or behind the flag."""
    if setting.kind is Kind.LENGTH and isinstance(value, int):
        return duration_text(Duration(value))
    if isinstance(value, dict):
        return ",".join(f"{key}={text}" for key, text in value.items())
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT or "\0" in value:
        raise Unfit
    return value.strip()


def _whole(setting: Setting, value: object) -> int:
    if isinstance(value, str) and value.strip().removeprefix("-").isdecimal() and value.isascii() and len(value) < 20:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not setting.least <= value <= setting.most:
        raise Unfit
    return value


def _length(setting: Setting, value: object) -> Duration:
    # A bare number would be seconds here and milliseconds elsewhere, so it is not taken.
    if not isinstance(value, str):
        raise Unfit
    try:
        length = duration(value)
    except InvalidDuration:
        raise Unfit from None
    if not setting.least <= length <= setting.most:
        raise Unfit
    return length


def _name(value: object) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise Unfit
    return value


def _names(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not parts:
        raise Unfit
    return tuple(dict.fromkeys(_name(part.strip() if isinstance(part, str) else part) for part in parts))


def _networks(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, str) for part in parts):
        raise Unfit
    try:
        return tuple(dict.fromkeys(map(str, networks_of(parts))))
    except ValueError:
        raise Unfit from None


def _pairs(value: object) -> dict[str, str]:
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise Unfit
        pairs = [_pair(part) for part in parts]
    for key, text in pairs:
        if not isinstance(text, str) or not NAME.fullmatch(str(key)) or not text or len(text) > 200 or "\0" in text:
            raise Unfit
    return {str(key): str(text) for key, text in pairs}


def _pair(part: object) -> tuple[str, str]:
    key, equals, text = part.partition("=") if isinstance(part, str) else ("", "", "")
    if not equals:
        raise Unfit
    return key.strip(), text.strip()
