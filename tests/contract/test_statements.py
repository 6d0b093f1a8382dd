"""Statements against the code that uses them: every column and every parameter, so that none is ever wrong silently."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import pytest

import mainspring.store
from mainspring.chance import Chance
from mainspring.clock import HOUR, MINUTE, SECOND, Instant
from mainspring.control import replays, resumption, submit, workflows
from mainspring.control import runs as control_runs
from mainspring.control.explain import explanation
from mainspring.domain.access import ChangeFilter, Role, UserChange
from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event
from mainspring.domain.ids import RunId
from mainspring.domain.job import Job, JobFilter, JobRequest, Unique
from mainspring.domain.joins import RunState
from mainspring.domain.queue import QueueChange
from mainspring.domain.run import RunFilter
from mainspring.domain.states import Outcome, State
from mainspring.domain.worker import Worker, WorkerState
from mainspring.domain.workflow import Node, Workflow
from mainspring.store import (
    Store,
    Transaction,
    alike,
    at_once,
    catalog,
    depths,
    events,
    export,
    jobs,
    keys,
    lanes,
    retention,
    rows,
    run_replays,
    workers,
)
from mainspring.store import queues as store_queues
from mainspring.store import runs as store_runs
from mainspring.store import workflows as store_workflows
from mainspring.store.at_once import Wish
from mainspring.store.jobs import FIRST, Look
from mainspring.store.mark import mark
from mainspring.store.sight import see
from mainspring.store.statements import ENGINES, ROOT, names, statement
from mainspring.store.transaction import Told, Wanted
from tests.contract.engines import Bench
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story

FOR_CHECKERS = ("audit/", "check/", "session/")
"""Questions of the simulated world's judge, and those of the engine itself, read where they are asked."""


# --- columns ----------------------------------------------------------------------------------------------------------


def test_every_statement_prepares_and_answers_the_columns_that_rows_declares(store: Store, bench: Bench) -> None:
    for name in names(bench.dialect):
        if name == "schema/create_version":
            continue  # the table is there already; test_migrations runs it
        described = bench.columns(store, name)  # prepares it
        if not name.startswith(FOR_CHECKERS):
            assert described == rows.COLUMNS.get(name, ()), name


def test_rows_declares_no_columns_of_statements_that_do_not_exist() -> None:
    assert set(rows.COLUMNS) <= {name for engine in ENGINES for name in names(engine)}


RENAMED = {
    "failure": ("error", "failure"),
    "due": ("run_at",),
    "created": ("created_at",),
    "started": ("started_at",),
    "finished": ("finished_at",),
    "expires": ("expires_at",),
    "ended": ("ended_at",),
    "details": ("progress", "details"),
    "policy": ("timeout",),
}
"""Columns that a value shows under another name."""

SAMPLES: dict[str, Any] = {
    "tick": '{"schedule":"from tick","origin":"regular","at":1}',
    "state": "dead",
    "outcome": "lost",
    "charge": "loss",
    "cause": "claim",
    "source": "queued",
    "target": "running",
    "failure": '{"type":"T","message":"from failure"}',
    "tags": '{"k":"from tags"}',
    "labels": '{"k":"from labels"}',
    "pids": '{"k":"from pids"}',
    "queues": '["from queues"]',
    "cancel_requested": 1,
    "policy": '{"retry":{"max_attempts":77},"timeout":"77s","grace":"5s"}',
    "outdated": 1,
    "detail": '{"k":"from detail"}',
}
"""What a column may hold where not any text will do."""


@pytest.mark.parametrize(
    ("statement_name", "decoded"),
    [("job/one", Job), ("attempt/of_job", Attempt), ("event/after", Event), ("worker/all", Worker)],
)
def test_each_column_goes_to_the_field_of_its_name(statement_name: str, decoded: type[msgspec.Struct]) -> None:
    columns = rows.COLUMNS[statement_name]
    json_texts = {"params", "result", "meta", "details", "tasks"}
    samples = SAMPLES | {"state": "draining"} if decoded is Worker else SAMPLES
    row = tuple(samples.get(name, f'["from {name}"]' if name in json_texts else f"from {name}") for name in columns)
    decoder = {Job: rows.job, Attempt: rows.attempt, Event: rows.event, Worker: rows.worker}[decoded]
    value = msgspec.structs.asdict(decoder(row))
    told = set()
    for name, stored in zip(columns, row, strict=True):
        (field,) = [field for field in (*RENAMED.get(name, ()), name) if field in value][:1]
        told.add(field)
        shown = value[field]
        if name == "policy":
            assert (shown, value["max_attempts"], value["retry"]["max_attempts"]) == ("77s", 77, 77)
        else:
            assert f"from {name}" in repr(shown) or shown == stored or shown is True, name
    assert set(value) - told <= {"max_attempts", "retry", "params_open"}, "a field that no column fills"


# --- parameters -------------------------------------------------------------------------------------------------------


class Recorder:
    """A transaction that checks each call against the statement's parameters, then makes it."""

    def __init__(self, tx: Transaction, dialect: str, called: set[str]) -> None:
        self._tx = tx
        self._dialect = dialect
        self._called = called

    @property
    def now(self) -> Instant:
        return self._tx.now

    @property
    def chance(self) -> Chance:
        return self._tx.chance

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        wanted = set(statement(name, self._dialect).parameters)
        assert wanted - BOUND == set(values), name
        self._called.add(name)
        return self._tx.rows(name, **values)

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        found = self.rows(name, **values)
        return found[0] if found else None

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        values = list(batch)
        wanted = statement(name, self._dialect).parameters
        assert not BOUND & set(wanted), f"{name}: a batch is bound by position, and nobody binds :now"
        assert all(len(one) == len(wanted) for one in values), name
        self._called.add(name)
        return self._tx.many(name, values)

    def changing(self, name: str, batch: Sequence[tuple[Any, ...]]) -> Told:
        found = statement(name, self._dialect)
        assert not found.answers, f"{name}: what it answers would be thrown away"
        assert all(len(one) == len(found.parameters) for one in batch), name
        self._called.add(name)
        return self._tx.changing(name, batch)

    def together(self, *asked: Wanted) -> list[list[tuple[Any, ...]]]:
        return [
            self.rows(name, **values) if isinstance(values, dict) else self.many(name, values) for name, values in asked
        ]

    @property
    def at_once(self) -> bool:
        return self._tx.at_once

    @property
    def one_writer(self) -> bool:
        return self._tx.one_writer

    def ask(self, name: str, batch: Sequence[tuple[Any, ...]], /, **values: Any) -> Callable[[], list[tuple[Any, ...]]]:
        columns = {len(one) for one in batch} or {0}
        wanted = statement(name, self._dialect).parameters
        assert columns == {len(wanted) - len(BOUND & set(wanted)) - len(values)}, name
        assert set(values) <= set(wanted), name
        self._called.add(name)
        return self._tx.ask(name, batch, **values)

    def expect_ids(self, count: int) -> None:
        self._tx.expect_ids(count)

    def remember(self, what: Hashable, value: Any) -> None:
        self._tx.remember(what, value)

    def recall(self, what: Hashable) -> Any:
        return self._tx.recall(what)

    def job_ids(self, count: int) -> Sequence[int]:
        self._called |= {"counter/take", "job/take_ids"}
        return self._tx.job_ids(count)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> set[str]:
    """The statements that are called from now on; each call is checked on its way."""
    called: set[str] = set()
    real_write, real_read = Store.write, Store.read

    def write(self: Store, work: Any, **points: Any) -> Any:
        return real_write(self, lambda tx: work(Recorder(tx, bench.dialect, called)), **points)

    def read(self: Store, work: Any, **how: Any) -> Any:
        return real_read(self, lambda tx: work(Recorder(tx, bench.dialect, called)), **how)

    monkeypatch.setattr(Store, "write", write)
    monkeypatch.setattr(Store, "read", read)
    return called


BOUND = {"now", "space", "given"}
"""Parameters that the transaction itself knows."""

OUTSIDE = ("schema/", "log/", "event/announce")
"""Called by migration, or on the log file, where no recorder sits; test_logs and the upgrade tests run them."""


def test_every_call_binds_exactly_the_parameters_of_its_statement(recorded: set[str], bench: Bench) -> None:
    a_whole_life(Story(bench))
    missing = {name for name in names(bench.dialect) if not name.startswith((*FOR_CHECKERS, *OUTSIDE))} - recorded
    assert not missing, f"never called: {sorted(missing)}"


def a_whole_life(story: Story) -> None:
    """Every verb of the store at least once."""
    from mainspring.control import access, queues, read, settings, users
    from mainspring.control import workers as control_workers

    store = story.store
    store.write(mark)
    store.read(see)
    _, secret = access.create(store, "deploy", Role.VIEWER, lasts=None, actor="ann")
    access.recognise(store, secret)
    for wanted_token in ("deploy", "1"):
        access.revoke(store, wanted_token, actor="ann")
    access.tokens(store)
    for about in (ChangeFilter(), ChangeFilter("queue a"), ChangeFilter(actor="ann"), ChangeFilter(action="put")):
        access.changes(store, about)
    users.create(store, "ann", "correct horse battery", Role.VIEWER, actor="boss")
    cookie, _ = users.sign_in(store, "ann", "correct horse battery", address="")
    users.sign_out(store, cookie, address="")
    users.change(store, "ann", UserChange(password="another horse battery"), actor="boss")
    users.remove(store, "ann", actor="boss")
    story.submit_many([JobRequest("send", expires="1h"), JobRequest("mail", delay="5s")])
    story.submit_many([JobRequest("send")] * alike.FEWEST)
    for state in State:
        if state is not State.NEW:
            job = story.bring(state, expires="2h", tags={"a": "b"})
            read.attempts(store, job)
            for wanted in (JobFilter(state=state, tag="a=b"), JobFilter(tag="a=b", task="send")):
                read.listed(store, wanted)
                read.counted(store, wanted)
    running = story.running()
    child = story.submit(parent=running)
    story.renew(running)
    store.write(lambda tx: jobs.note_details(tx, [("1", running, story.claims[running])]))
    story.end(running, Outcome.CRASHED, shared=1)
    story.claim(running)
    store.read(lambda tx: jobs.last_details(tx, running))
    for tasks in (None, ["shop.send"]):
        store.write(lambda tx, tasks=tasks: jobs.heads(tx, [Look({jobs_lane(tx): 5}, 5)], {}, tasks))  # type: ignore[misc]
    story.submit_many([JobRequest("send"), JobRequest("crunch")])
    store.write(lambda tx: jobs.heads(tx, [Look({lane.id: 5 for lane in lanes.read_map(tx).lanes}, 5)], {}, None))
    store.read(lambda tx: jobs.ready_lane(tx, running, None))
    story.clock.forward(10 * SECOND)
    story.promote()
    story.clock.forward(HOUR)
    story.expire()
    story.lose_expired()
    story.cancel(child)
    story.retry(child)
    story.cancel(story.submit(delay="1d"))
    story.cancel(story.running())
    lives_with_keys(story)
    lives_with_schedules(story)
    lives_with_clocks(story)
    lives_of_runs(Runs(story))
    store.read(lambda tx: lanes.policy(tx, 1))
    store.read(lambda tx: jobs.leased_by(tx, story.worker))
    read.history(store, after=0, job=child, kinds=("queued",), limit=5)
    read.history(store, after=0, job=None, kinds=("queued",), limit=5)
    read.happenings(store, after=0, limit=5)
    lives_in_numbers(story)
    lives_with_topics(story)
    lives_with_webhooks(story)
    lives_on_record(story)
    lives_in_traces(story)
    read.last_event(store)
    read.tasks(store)
    read.all_workers(store)
    queues.change(store, "mail", QueueChange(limit=1), actor="ann")
    queues.listed(store)
    settings.change(store, {"lease": "9s"}, actor="ann")
    settings.change(store, {"lease": None}, actor="ann")
    settings.version(store)
    settings.history(store)
    store.write(lambda tx: workers.set_slots(tx, story.worker, 3))
    for state in (State.QUEUED, State.DEAD):
        explanation(store, story.bring(state))
    control_workers.drain(store, story.hello("beta"), actor="ann")
    store.write(lambda tx: (store_queues.left(tx), store_queues.room(tx, {"mail": 1})))
    store.write(lambda tx: workers.set_pids(tx, story.worker, {}))
    store.read(lambda tx: workers.poll(tx, question(story, tx)))
    store.write(lambda tx: workers.beat_and_poll(tx, question(story, tx), WorkerState.ACTIVE, LEASE))
    export.jobs(store, lambda *_: None)
    export.events(store, lambda _: None)
    ended = story.bring(State.SUCCEEDED)
    store.read(lambda tx: retention.old(tx, State.SUCCEEDED, Instant(tx.now), after=0, look=9, most=9))
    store.write(lambda tx: retention.forget(tx, [ended]))
    store.read(lambda tx: retention.old_runs(tx, RunState.SUCCEEDED, Instant(tx.now), after=0, look=9, most=9))
    store.write(lambda tx: retention.forget_run(tx, 0, 9))
    store.write(lambda tx: workers.retire(tx, HOUR))
    store.write(workers.forget)
    store.read(lambda tx: (catalog.of_app(tx, "shop"), catalog.names(tx), events.last(tx)))
    store.write(lambda tx: tx.at_once and at_once.claim(tx, wish(tx), story.worker, LEASE, "worker:1"))


def wish(tx: Transaction) -> Wish:
    known = lanes.read_map(tx)
    return Wish(known.lanes[0], FIRST, 1, known.rules, ())


def lives_in_numbers(story: Story) -> None:
    """Events that are counted, levels that are looked at, series that are asked for."""
    from mainspring.control import metrics
    from mainspring.domain.metric import SeriesWanted
    from mainspring.engine.rollup import RollUp

    turn = RollUp(story.store, story.clock)
    for _ in range(2):
        turn.turn()
    metrics.figures(story.store)
    story.store.read(lambda tx: depths.live(tx, -1))
    metrics.points(story.store, SeriesWanted("moved", Instant(story.clock.now() - HOUR), story.clock.now()))


def lives_with_topics(story: Story) -> None:
    """Messages that are published, read, taken and forgotten."""
    from mainspring.control import topics
    from mainspring.domain.topic import SubscriptionWanted
    from mainspring.engine.carry import Carry

    topics.subscribe(story.store, SubscriptionWanted("s", "t", "send", after=0), actor="ann")
    topics.publish(story.store, "t", [{}], actor="ann")
    turn = Carry(story.store, story.clock)
    for _ in range(3):
        turn.turn()
    topics.messages(story.store, "t", after=0, limit=5)
    topics.listed(story.store)
    topics.unsubscribe(story.store, "s", actor="ann")


def lives_with_webhooks(story: Story) -> None:
    """A webhook that is made, changed, told, paused, resumed and removed."""
    from mainspring.client.webhook_wire import news_of_test
    from mainspring.control import webhooks
    from mainspring.domain.webhook import WebhookChange, WebhookWanted
    from tests.contract.test_webhooks import Serving

    store = story.store
    webhooks.create(store, WebhookWanted("w", "https://example.com/"), inside=(), actor="ann")
    webhooks.change(store, "w", WebhookChange(kinds=("queued",)), inside=(), actor="ann")
    webhooks.renew_secret(store, "w", actor="ann")
    delivery = webhooks.test(store, "w", news_of_test("w", story.clock.now()), actor="ann")
    story.submit()
    server = Serving(story)
    server.turn()
    while server.hand.carried:
        server.hand.end(200)
    server.turn()
    webhooks.deliveries(store, "w", cursor=None, state=None, limit=5)
    webhooks.redeliver(store, "w", delivery.id, actor="ann")
    webhooks.pause(store, "w", reason=None, actor="ann")
    webhooks.resume(store, "w", skip=True, actor="ann")
    webhooks.remove(store, "w", actor="ann")


def lives_in_traces(story: Story) -> None:
    """Something that a collector is told."""
    from mainspring.engine.lineage import Origins
    from tests.contract.test_telemetry import Telling

    telling = Telling(story)
    child = story.running(parent=story.running())
    story.end(child)
    Runs(story).start(node("only"))
    Runs(story).end("only")
    telling.all()
    story.store.read(lambda tx: Origins().of_jobs(tx, [child]))


def lives_on_record(story: Story) -> None:
    """Something that is said, read and forgotten."""
    from mainspring.control import records
    from mainspring.domain.record import Entry, RecordFilter
    from mainspring.engine.record import Recorder

    recorder = Recorder(story.store, story.clock, "server", keep=HOUR)
    recorder.take(Entry(story.clock.now(), "server", 1, 20, "x", "said"))
    recorder.turn()
    for after in (None, 0):
        records.found(story.store, RecordFilter(after=after))


def lives_with_keys(story: Story) -> None:
    """Keys that are taken, found held, replaced, taken over, remembered and forgotten."""
    replace = Unique("k", on_conflict="replace")
    for _ in range(2):
        story.submit(unique="k")
    story.submit(unique=replace)
    ended = story.running(unique="e")
    story.end(ended)
    story.submit(unique="e")
    for _ in range(2):
        submit.submit(story.store, [JobRequest("send")], actor="c", idempotency_key="once")
        story.clock.forward(25 * HOUR)
    story.store.write(lambda tx: keys.forget(tx, keys.stale(tx, 0, 10)))


def lives_with_schedules(story: Story) -> None:
    """A schedule that is declared, fires, waits, is looked at, filled, changed, paused and forgotten."""
    from mainspring.control import catalog as control_catalog
    from mainspring.control import schedules
    from mainspring.domain.backfill import BackfillRequest
    from mainspring.domain.plan import DeclaredSchedule, Plan
    from mainspring.domain.task import Catalog
    from mainspring.domain.timetable import Origin
    from mainspring.engine.fire import Fire
    from mainspring.store import schedules as kept
    from mainspring.store import ticks
    from tests.contract.stories import SHOP

    store = story.store
    plan = Plan({"every": "1m"}, task="send", overlap="buffer_one")
    made = schedules.put(store, "pulse", plan, origin=Origin.CLI, actor="ann")
    fire = Fire(store, story.clock)
    for _ in range(2):
        story.clock.forward(MINUTE)
        fire.turn()
    (first,) = [tick for tick in schedules.listed_ticks(store, "pulse", cursor=None, limit=9).items if tick.job]
    story.claims |= story.claim(first.job)  # type: ignore[arg-type]
    story.end(first.job)  # type: ignore[arg-type]
    for _ in range(2):
        fire.turn()
    schedules.backfill(store, "pulse", BackfillRequest(first.nominal, first.nominal, again=True), actor="ann")
    fire.turn()
    schedules.backfill(store, "pulse", BackfillRequest(first.nominal, first.nominal, dry=True), actor="ann")
    schedules.listed_backfills(store, "pulse")
    schedules.pause(store, "pulse", note=None, actor="ann")
    store.write(lambda tx: kept.pause(tx, made.id, by="ann", note="why"))
    control_catalog.declare(store, Catalog("shop", "x", SHOP.tasks, schedules=(DeclaredSchedule("code", plan),)))
    schedules.listed(store)
    store.read(lambda tx: ticks.all_ticks(tx, (made.id, Instant(0), ""), 5))
    store.write(lambda tx: ticks.insert_new(tx, []))
    store.write(lambda tx: ticks.forget(tx, Instant(tx.now), 5))
    store.read(lambda tx: kept.coming(tx, (Instant(0), made.id), Instant(tx.now), 5))


def lives_with_clocks(story: Story) -> None:
    """A schedule that is made and fires while the clock is ahead, and is set right when that has gone back."""
    from mainspring.control import schedules
    from mainspring.domain.plan import Plan
    from mainspring.domain.timetable import Origin
    from mainspring.engine.fire import Fire

    fire = Fire(story.store, story.clock)
    schedules.put(story.store, "ahead", Plan({"every": "1m"}, task="send"), origin=Origin.CLI, actor="ann")
    story.clock.forward(57 * SECOND)
    fire.turn()
    story.clock.forward(10 * MINUTE)
    fire.turn()
    for back in (3 * MINUTE, HOUR):
        story.clock.jump(-back)
        fire.turn()
    story.clock.jump(HOUR)


def lives_of_runs(runs: Runs) -> None:
    """Runs that go through everything that a run can."""
    parts = (
        node("top"),
        node("a", "top"),
        node("b", "top"),
        node("join", "a", "b"),
        node("one", "a", "b", run_if="one_done"),
    )
    workflows.put(runs.store, Workflow("kept", parts), actor="ann")
    workflows.one(runs.store, "kept")
    workflows.listed(runs.store)
    run = runs.start(
        *parts, node("each", map={"$param": "xs"}, parallel=1), params={"xs": [1, 2]}, parameters={"type": "object"}
    )
    for name in ("top", "a", "b"):
        runs.end(name)
    runs.work_off()
    conditional = runs.start(node("a"), node("b", "a", when="results.a == 1"))
    runs.work_off()
    control_runs.events(runs.store, conditional)
    taking = runs.start(node("a"), node("b", "a", params={"x": {"$node": "a"}}))
    runs.end("a")
    runs.story.job(runs.job(taking, "b").id)
    control_runs.document(runs.store, run)
    for state in (None, "live", "running", "failed"):
        control_runs.listed(runs.store, RunFilter("w", state))
    runs.nodes(run)
    replays.restart(runs.store, conditional, actor="ann")
    replays.resume(runs.store, conditional, actor="ann", since="b")
    runs.work_off()
    runs.start(*(node(f"n{number}") for number in range(alike.FEWEST)))
    runs.work_off()
    runs.start(node("a"), node("b"), Node("sub", workflow="kept"), parallel=1)
    runs.work_off()
    each = node("each", map=[1, 2])
    parted = runs.start(each, Node("sub", workflow="kept"), node("sum", params={"x": {"$node": "each"}}))
    runs.work_off({"each[1]": Outcome.FAILED, "b": Outcome.FAILED})
    again = replays.resume(runs.store, parted, actor="ann").run.id
    runs.work_off()
    runs.story.job(runs.job(again, "sum").id)
    plan = resumption.Planner(runs.store, as_it_was=True).plan(parted, None)
    unborn = RunId(parted + 1_000)
    rows_of_it = [*resumption.rows_of(plan, unborn, iter([unborn + 1]))]
    runs.store.write(lambda tx: run_replays.keep(tx, rows_of_it))
    runs.store.write(lambda tx: run_replays.take_unborn(tx, unborn))
    while not runs.store.write(lambda tx: retention.forget_run(tx, unborn, 100)).whole:
        pass
    for name in ("a", "b"):
        workflows.put(runs.store, Workflow("renamed", (node(name),)), actor="ann")
    runs.store.write(_forget_idle)
    runs.store.write(lambda tx: store_workflows.use(tx, 1))
    stopped = runs.start(node("a"), node("each", map=[1, 2], parallel=1), timeout="1s")
    runs.cancel(stopped)
    runs.later()


def _forget_idle(tx: Transaction) -> None:
    """A version that nothing refers to, at once."""
    soon = Instant(tx.now + 1)
    version = retention.idle_version(tx, soon)
    assert version is not None
    while not retention.forget_version(tx, version, soon, 9).whole:
        pass


def question(story: Story, tx: Transaction) -> workers.Question:
    return workers.Question(story.worker, "shop", [(jobs_lane(tx), *jobs.FIRST)], Instant(tx.now))


def jobs_lane(tx: Transaction) -> Any:
    return lanes.read_map(tx).lanes[0].id


# --- functions --------------------------------------------------------------------------------------------------------


def public_functions() -> Iterator[str]:
    """``jobs.renew`` and its like: what the store offers to those above."""
    for module in (jobs, keys, lanes, workers, catalog, events, store_queues, store_runs, store_workflows):
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__.rpartition('.')[2]}.{name}"


def test_every_function_of_the_store_is_used_by_the_code_above_it() -> None:
    """One that nobody calls is dead; the suite calls the others through control, transitions and engine, or itself."""
    package = ROOT.parent.parent
    used = set()
    for path in package.rglob("*.py"):
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.Attribute) and isinstance(found.value, ast.Name):
                used.add(f"{found.value.id}.{found.attr}")
            elif isinstance(found, ast.ImportFrom) and (found.module or "").startswith(mainspring.store.__name__):
                used |= {f"{(found.module or '').rpartition('.')[2]}.{alias.name}" for alias in found.names}
            elif isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and path.parent == ROOT.parent:
                used.add(f"{path.stem}.{found.func.id}")
    assert set(public_functions()) <= used, sorted(set(public_functions()) - used)
