"""The server process: REST and health at one address, sweep, schedules, retention on threads. Composition only.

It opens the store, hands it on, and ends when it is told: requests at hand are answered, loops come to their end.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import uvicorn

from mainspring.client.direct import DirectClient
from mainspring.client.operating import ServingClient
from mainspring.client.webhook_wire import news_of_event, news_of_message
from mainspring.clock import MINUTE, Clock, Duration, SystemClock, seconds
from mainspring.config.layers import environment
from mainspring.config.live import Live
from mainspring.control import declared_schedules
from mainspring.control import settings as control_settings
from mainspring.control.access import recognise
from mainspring.control.users import recognise as recognise_session
from mainspring.domain.access import SESSION_PREFIX, Asker
from mainspring.domain.address import is_postgres, shown
from mainspring.domain.outward import networks_of
from mainspring.domain.secrecy import hiding
from mainspring.domain.setting import Settings
from mainspring.engine.carry import Carry
from mainspring.engine.drive import Drive
from mainspring.engine.fire import Fire
from mainspring.engine.lookout import Lookout, Watched
from mainspring.engine.notify import Forms, Notify
from mainspring.engine.record import Recorder, recording
from mainspring.engine.retention import Retention, keep_of
from mainspring.engine.rollup import RollUp
from mainspring.engine.sweep import Sweep
from mainspring.engine.telemetry import Telemetry
from mainspring.engine.turn import Turn
from mainspring.errors import AddressRefused, InvalidSetting
from mainspring.process import has_terminal
from mainspring.server import request_id
from mainspring.server.admission import Admission
from mainspring.server.courier import Courier
from mainspring.server.exchange import Entry
from mainspring.server.exposition import Family
from mainspring.server.file_schedules import FileSchedules
from mainspring.server.health import Health
from mainspring.server.heeding import Heeding, Shared
from mainspring.server.listen import Terms, check, listen, url
from mainspring.server.measures import of_machine, of_store, of_workers
from mainspring.server.pace import Pace
from mainspring.server.routes.access import AccessRoutes
from mainspring.server.routes.catalog import CatalogRoutes
from mainspring.server.routes.config import ConfigRoutes
from mainspring.server.routes.documents import DocumentRoutes
from mainspring.server.routes.events import EventRoutes
from mainspring.server.routes.front import front_page
from mainspring.server.routes.health import HealthRoutes
from mainspring.server.routes.jobs import JobRoutes
from mainspring.server.routes.metrics import MetricRoutes
from mainspring.server.routes.records import RecordRoutes
from mainspring.server.routes.runs import RunRoutes
from mainspring.server.routes.schedules import ScheduleRoutes
from mainspring.server.routes.topics import TopicRoutes
from mainspring.server.routes.users import UserRoutes
from mainspring.server.routes.webhooks import WebhookRoutes
from mainspring.server.serving import Serving
from mainspring.server.web import Web
from mainspring.store import Store, database_path
from mainspring.store.mark import mark

_LOOK_UNASKED = Duration(5 * MINUTE)
"""A loop that is never rung looks for itself so often: a safety net, the look-out is its eye."""

_GIVE_WAY = 0.0005
"""Seconds after which a thread that computes gives way to one that waits. A request changes threads several times, and
each time it would wait up to Python's own 5 ms while a long list is written beside it."""


def run(live: Live, *, say: Callable[[str], None] | None = None) -> int:
    """Serve as configured until SIGTERM or SIGINT; the exit status.

    Port 0 takes a free one; ``say`` is told the address once requests are taken. Raises AddressRefused,
    AddressUnavailable and the StoreError that fits.
    """
    settings = live.settings
    sys.setswitchinterval(_GIVE_WAY)
    ending = _Ending(live.hear)
    terms = Terms(settings.host, settings.port, settings.auth, settings.transport, settings.tls_cert, settings.tls_key)
    check(terms)
    with ExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        store = Store.open(settings.database_url)
        stack.callback(store.close)
        pace = Pace(store.clock, settings.request_rate)
        loops = _loops(store, live, stack, pace)
        client = DirectClient(store, live=live)
        admission = _admission(store, client, terms)
        engine = _engine(settings.database_url) if terms.asks else ""
        health = Health(loops, store.clock, lambda: store.write(mark), client.workers, engine=engine)
        stack.callback(health.close)
        secure = terms.encrypted or terms.exposed
        entries = routes(client, health, store.clock, _disk(settings.database_url), admission=admission, secure=secure)
        port, encrypted = listener.getsockname()[1], terms.encrypted
        web = Web(entries, port, store.chance, admission=admission, encrypted=encrypted, pace=pace)
        stack.callback(web.close)
        said = f"listening at {url(listener, encrypted=terms.encrypted)}"
        server = Serving(web, terms, lambda: (say or _say)(said))
        if ending.follow(server):
            server.run(sockets=[listener])
    return 0


def _loops(store: Store, live: Live, stack: ExitStack, pace: Pace) -> list[Drive]:
    """Every loop, each on a thread; one looks out for those that wait for what others write."""
    settings = live.settings
    sweep = Sweep(store, store.clock, settings.sweep, poll=_LOOK_UNASKED)
    fire = Fire(store, store.clock, poll=_LOOK_UNASKED, keep=settings.keep_ticks)
    retention = Retention(store, store.clock, keep_of(settings))
    returned = threading.Event()
    notify = _notify(store, settings, returned, stack)
    hide = hiding(environment())
    kept = Recorder(store, store.clock, "server", keep=settings.keep_records, hide=hide, current=request_id.bound)
    recorder = stack.enter_context(recording(kept))

    filed = FileSchedules(
        lambda stated: declared_schedules.declare(store, stated), logging.getLogger("mainspring.server").warning
    )
    live.reads(filed.read)

    def adopt(now: Settings) -> None:
        sweep.adopt(now.sweep)
        fire.adopt(now.keep_ticks)
        retention.adopt(keep_of(now))
        notify.adopt(now.keep_deliveries)
        recorder.adopt(now.keep_records)
        lookout.adopt(now.poll)
        pace.adopt(now.request_rate)

    watched: dict[str, Watched] = {
        "sweeper": sweep,
        "scheduler": fire,
        "configuration": Heeding(live, _shared(store, f"file:{live.loaded.file}", filed.take), adopt),
        "roll-up": RollUp(store, store.clock, poll=_LOOK_UNASKED),
        "bus": Carry(store, store.clock, poll=_LOOK_UNASKED),
        "webhooks": notify,
    }
    if settings.otlp_endpoint:
        watched["telemetry"] = _telemetry(store, settings, stack)
    bells = {name: threading.Event() for name in watched} | {"webhooks": returned}
    lookout = Lookout(store, [(turn, bells[name].set) for name, turn in watched.items()], settings.poll)
    turns: dict[str, Turn] = {"look-out": lookout, "retention": retention, "log": recorder, **watched}
    return [_driven(name, turn, store.clock, bells.get(name, threading.Event()), stack) for name, turn in turns.items()]


def _shared(store: Store, actor: str, declare: Callable[[], None]) -> Shared:
    """The configuration that is in the store, as the server's own looks at it."""
    return Shared(
        lambda: control_settings.stated(store),
        lambda stated: control_settings.publish(store, stated, actor=actor),
        declare,
        lambda before, after: control_settings.note_file(store, before, after, actor=actor),
    )


def _admission(store: Store, client: ServingClient, terms: Terms) -> Admission | None:
    """Who is let in; None where nobody is asked. Raises AddressRefused where there is nobody who could be."""
    if not terms.asks:
        return None
    known = any(token.valid(store.clock.now()) for token in client.tokens())
    if not known and all(user.removed_at is not None for user in client.users()):
        raise AddressRefused(
            "The server would ask who is there, and nobody could say: there is no valid token and no user.",
            remedy="Make one: mainspring token create NAME --role admin",
            field="auth",
        )

    def recognise_any(secret: str) -> Asker:
        return recognise_session(store, secret) if secret.startswith(SESSION_PREFIX) else recognise(store, secret)

    return Admission(recognise_any, store.clock, lambda job: client.job(job).queue)


def routes(  # noqa: PLR0913 - what routes need, each once
    client: ServingClient,
    health: Health,
    clock: Clock | None = None,
    disk: str = ".",
    *,
    admission: Admission | None = None,
    secure: bool = False,
) -> list[Entry]:
    """Every route that there is. ``secure``: whether cookies are for encrypted connections only."""
    entries = [
        *JobRoutes(client).entries(),
        *CatalogRoutes(client).entries(),
        *RunRoutes(client).entries(),
        *ScheduleRoutes(client).entries(),
        *AccessRoutes(client).entries(),
        *ConfigRoutes(client).entries(),
        *EventRoutes(client, clock or SystemClock()).entries(),
        *TopicRoutes(client).entries(),
        *WebhookRoutes(client).entries(),
        *RecordRoutes(client).entries(),
        *MetricRoutes(client, health, disk).entries(),
        *UserRoutes(client, admission, secure=secure).entries(),
        *HealthRoutes(health).entries(),
    ]
    entries.insert(0, front_page(entries))
    return [*entries, *DocumentRoutes(entries).entries()]


def _engine(database: str) -> str:
    return "PostgreSQL" if is_postgres(database) else "SQLite"


def _disk(database: str) -> str:
    """The directory whose file system is worth watching: that of the database, else where we were started."""
    return "." if is_postgres(database) else str(Path(database_path(database)).absolute().parent)


def _notify(store: Store, settings: Settings, returned: threading.Event, stack: ExitStack) -> Notify:
    """What tells webhooks; ``returned`` is set when a try is over. Ended with the stack."""
    courier = Courier(store.clock, returned.set, networks_of(settings.webhook_networks))
    forms = Forms(news_of_event, news_of_message)
    notify = Notify(store, store.clock, courier, forms, poll=_LOOK_UNASKED, keep=settings.keep_deliveries)
    stack.callback(notify.end)
    stack.callback(courier.close)
    return notify


def _telemetry(store: Store, settings: Settings, stack: ExitStack) -> Telemetry:
    """What tells an OpenTelemetry collector. Raises InvalidSetting."""
    if not settings.otlp_endpoint.startswith(("http://", "https://")):
        raise InvalidSetting(
            f"otlp_endpoint is {shown(settings.otlp_endpoint)!r}; it must begin with http:// or https://.",
            remedy="Collectors take OTLP over HTTP at port 4318: http://127.0.0.1:4318",
            field="otlp_endpoint",
        )
    try:
        from mainspring.server.otlp import Otlp  # costs 200 ms and 6 MB, and is an extra
    except ImportError as error:
        raise InvalidSetting(
            f"otlp_endpoint is set, and OpenTelemetry is not installed: {error}.",
            remedy="In the clone that mainspring came from: pip install '.[otel]'",
            field="otlp_endpoint",
        ) from error
    client, disk = DirectClient(store), _disk(settings.database_url)

    def whole() -> list[Family]:
        return [*of_store(client.figures()), *of_workers(client.workers())]

    otlp = Otlp(settings.otlp_endpoint, store.clock, whole, lambda: of_machine(disk))
    stack.callback(otlp.close)
    return Telemetry(store, store.clock, otlp, poll=_LOOK_UNASKED)


def _driven(name: str, turn: Turn, clock: Clock, bell: threading.Event, stack: ExitStack) -> Drive:
    """A loop on a thread of its own, woken by its bell, ended with the stack."""

    def wait(length: Duration) -> None:
        bell.wait(seconds(length))
        bell.clear()

    stop = threading.Event()
    drive = Drive(name, turn, clock, wait)
    thread = threading.Thread(target=drive.run, args=(stop.is_set,), name=f"mainspring-{name}")
    thread.start()
    stack.callback(thread.join)
    stack.callback(bell.set)
    stack.callback(stop.set)
    return drive


def _say(text: str) -> None:
    sys.stderr.write(f"mainspring server: {text}\n")
    sys.stderr.flush()


class _Ending:
    """Signals that come before uvicorn listens to them, or after; they end us in order, never by default."""

    def __init__(self, reload: Callable[[], None]) -> None:
        self._told = False
        self._reload = reload
        self._server: uvicorn.Server | None = None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:
                signal.signal(number, self._heard)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP and not has_terminal():
            self._reload()
            return
        self._told = True
        if self._server is not None:
            self._server.should_exit = True

    def follow(self, server: uvicorn.Server) -> bool:
        """Pass what comes on to the server. False when we were told to end already."""
        self._server = server
        return not self._told
