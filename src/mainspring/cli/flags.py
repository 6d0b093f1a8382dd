"""The settings as options of ``up``, ``server`` and ``worker``: text here, checked by config like every layer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Parameter

from mainspring.cli.access import option
from mainspring.domain.setting import BY_NAME, Kind, Setting


def _flag(name: str) -> Parameter:
    setting = BY_NAME[name]
    default = f" (default: {setting.default_text})" if setting.default_text else ""
    return option(f"{setting.sentence[:-1]}{default}.", _value(setting), name=(setting.flag,))


def _value(setting: Setting) -> str:
    """What the value is called in the help."""
    if setting.choices:
        return "|".join(setting.choices)
    words = {Kind.WHOLE: "N", Kind.LENGTH: "DURATION", Kind.PAIRS: "KEY=VALUE", Kind.NETWORKS: "NETWORK"}
    return words.get(setting.kind, setting.flag.lstrip("-").upper())


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LoopFlags:
    """Of every process that turns."""

    sweep: Annotated[str | None, _flag("sweep")] = None
    poll: Annotated[str | None, _flag("poll")] = None
    log_format: Annotated[str | None, _flag("log_format")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ServerFlags:
    """Of a server."""

    host: Annotated[str | None, _flag("host")] = None
    port: Annotated[str | None, _flag("port")] = None
    auth: Annotated[str | None, _flag("auth")] = None
    transport: Annotated[str | None, _flag("transport")] = None
    tls_cert: Annotated[str | None, _flag("tls_cert")] = None
    tls_key: Annotated[str | None, _flag("tls_key")] = None
    keep_ticks: Annotated[str | None, _flag("keep_ticks")] = None
    keep_deliveries: Annotated[str | None, _flag("keep_deliveries")] = None
    keep_records: Annotated[str | None, _flag("keep_records")] = None
    otlp_endpoint: Annotated[str | None, _flag("otlp_endpoint")] = None
    webhook_networks: Annotated[tuple[str, ...], _flag("webhook_networks")] = ()
    request_rate: Annotated[str | None, _flag("request_rate")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class KeepFlags:
    """Of whoever clears ended jobs."""

    keep_succeeded: Annotated[str | None, _flag("keep_succeeded")] = None
    keep_dead: Annotated[str | None, _flag("keep_dead")] = None
    keep_cancelled: Annotated[str | None, _flag("keep_cancelled")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WorkerFlags:
    """Of a worker."""

    app: Annotated[str | None, _flag("app")] = None
    slots: Annotated[str | None, _flag("slots")] = None
    processes: Annotated[str | None, _flag("processes")] = None
    runners: Annotated[str | None, _flag("runners")] = None
    name: Annotated[str | None, _flag("name")] = None
    queues: Annotated[tuple[str, ...], _flag("queues")] = ()
    labels: Annotated[tuple[str, ...], _flag("labels")] = ()
    lease: Annotated[str | None, _flag("lease")] = None
    drain: Annotated[str | None, _flag("drain")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TreeFlags:
    """Of a supervisor."""

    workers: Annotated[str | None, _flag("workers")] = None
    grace: Annotated[str | None, _flag("grace")] = None
    restart_limit: Annotated[str | None, _flag("restart_limit")] = None
    restart_window: Annotated[str | None, _flag("restart_window")] = None


LOOP, SERVER, KEEP, WORKER, TREE = LoopFlags(), ServerFlags(), KeepFlags(), WorkerFlags(), TreeFlags()


def merged(*flags: LoopFlags | ServerFlags | KeepFlags | WorkerFlags | TreeFlags) -> dict[str, object]:
    """By setting what was given on the command line; None or empty where nothing was."""
    return {name: value for one in flags for name, value in asdict(one).items()}
