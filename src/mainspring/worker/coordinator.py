"""The coordinator: the shell around engine.dispatch. It moves bytes between runners and turns; it runs no user code.

One thread, one selector: frames in -> a turn -> frames out. Group commit comes by construction, as everything that
came in while the last commit ran goes into the next one.
"""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress

from mainspring.chance import SystemChance
from mainspring.client.direct import DirectClient
from mainspring.clock import MILLISECOND, SECOND, Duration, from_seconds, seconds
from mainspring.config.live import Live
from mainspring.domain.frame import BULK, Ended, Frame, FromRunner, Hello, Request, Stop, Unusable
from mainspring.domain.ids import WorkerId
from mainspring.domain.task import Lodging
from mainspring.domain.worker import WorkerState
from mainspring.engine.declaring import bring_large, report
from mainspring.engine.dispatch import STARTS_FIRST, Dispatch
from mainspring.engine.held import Outbox
from mainspring.engine.record import Recorder
from mainspring.errors import STORE_AWAY, AppNotLoadable, MainspringError, ProtocolViolation, StoreError, StoreMoved
from mainspring.faults import InjectedFault
from mainspring.store import BINARY, Store, Transaction, settings, workers
from mainspring.store.bell import Listening
from mainspring.worker import signalled
from mainspring.worker.forensics import RunnerDeath
from mainspring.worker.frames import Channel
from mainspring.worker.heeding import Heeding
from mainspring.worker.options import WorkerOptions
from mainspring.worker.recording import Diary, diary, say_aloud, tell_death, tell_trouble
from mainspring.worker.requests import RequestDesk
from mainspring.worker.roster import Roster
from mainspring.worker.runners import RunnerProcess, RunnerSpec

_BACKOFF_FIRST = Duration(100 * MILLISECOND)
_BACKOFF_LONGEST = Duration(5 * SECOND)
_STOP_PATIENCE = Duration(2 * SECOND)


def run(
    options: WorkerOptions,
    *,
    live: Live | None = None,
    say: Callable[[str], None] | None = None,
    leave: Callable[[str], object] | None = None,
) -> int:
    """Run a worker until it is told to stop; the exit status.

    SIGTERM or SIGINT drains (running jobs may end within the drain time), a second one gives them back at once.
    ``live``: what it is configured to be while it runs; ``leave`` is told why it is over when somebody has drained it
    from outside, so that nobody starts it again. Raises AppNotLoadable when no runner can load the app, and the
    StoreError that fits.
    """
    store = Store.open(options.database, inline=True)
    try:
        store.settle_in()
        with diary(Recorder(store, store.clock, "worker"), store.clock) as kept:
            coordinator = Coordinator(options, store, say or say_aloud, kept, live)
            status = coordinator.run()
        if coordinator.drained_by is not None and leave is not None:
            leave(f"was drained, as {coordinator.drained_by} asked")
        return status
    finally:
        store.close()


class Coordinator:
    """One worker process. ``drained_by``: who has drained it from outside."""

    def __init__(
        self, options: WorkerOptions, store: Store, say: Callable[[str], None], kept: Diary, live: Live | None
    ) -> None:
        self._options = options
        self._configured = Heeding(options, live, store.clock, lambda: store.read(settings.kept), self._resize)
        self._store = store
        self._say = say
        self._diary = kept
        self._clock = store.clock
        self._chance = SystemChance()
        self._incarnation = self._chance.incarnation()
        self._selector = selectors.DefaultSelector()
        self._runners: dict[int, RunnerProcess] = {}
        self._roster = Roster(options.runners)
        self._worker: WorkerId | None = None
        self._greeted: list[tuple[RunnerProcess, Hello]] = []
        self._dispatch: Dispatch | None = None
        self._desk = RequestDesk(lambda job: DirectClient(store, actor=f"job:{job}", parent=job), store.debt)
        self._signals = 0
        self._waiting_for_turn = Duration(0)
        self._backoff = _BACKOFF_FIRST
        self._writing: dict[int, Channel[FromRunner]] = {}
        self._dirty: set[Channel[FromRunner]] = set()
        self._exit = 0
        self._heeding = False
        self._untold = False  # of starts: who wakes for them would have the processor that they need
        self.drained_by: str | None = None
        self._hung: list[tuple[Listening, Callable[..., None]]] = []
        self._bells_at = Duration(0)

    # --- life -------------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Start runners, turn until drained, stop them."""
        bell = self._store.work_bell.listen(self._incarnation)
        self._store.work_bell.own = self._incarnation  # what the desk submits or cancels is told by its turn
        news = self._store.news_bell.listen(self._incarnation)
        self._hung = [(bell, self._rung), (news, self._desk.heard)]
        if bell.fileno() >= 0:
            self._selector.register(bell, selectors.EVENT_READ, self._rung)
        signals, restore = signalled.catch()
        self._selector.register(signals, selectors.EVENT_READ, self._signalled)
        try:
            while not self._step():
                pass
        finally:
            self._stop_runners()
            self._say_goodbye()
            bell.close()
            news.close()
            restore()
        return self._exit

    def _step(self) -> bool:
        """Wait for something, take it in, turn, send. True when the worker is done."""
        self._start_due_runners()
        self._listen_for_news(self._desk.curious)
        timeout = max(0.0, seconds(self._waiting_for_turn))
        for key, mask in self._selector.select(timeout):
            key.data(key.fileobj, mask)
        self._hang_again()
        moved = self._desk.turn()
        if not self._store.debt.open or self._dispatch is None:
            self._desk.give(self._put)
        self._flush()
        self._admit()
        if self._dispatch is None:
            self._waiting_for_turn = min([SECOND, *self._until_starts()])
            return self._signals > 0
        if moved:
            self._dispatch.hint()
        self._configured.heed(self._dispatch)
        return self._turn(self._dispatch)

    def _turn(self, dispatch: Dispatch) -> bool:
        dispatch.waits(self._desk.waits(dispatch.held))
        try:
            out = dispatch.turn()
        except (InjectedFault, AppNotLoadable, StoreMoved):
            raise
        except Exception as error:  # noqa: BLE001 - a loop outlives every fault of one turn
            tell_trouble(f"{type(error).__name__}: {error} Trying again in {seconds(self._backoff):.1f} s.")
            self._waiting_for_turn, self._backoff = self._backoff, Duration(min(_BACKOFF_LONGEST, 2 * self._backoff))
            self._desk.give(self._put)
            self._carry_out(dispatch.salvage())
            return dispatch.done
        self._backoff = _BACKOFF_FIRST
        if out.starts:
            self._store.debt.paid()  # their claims are on the disk, and what was committed before them
        self._desk.give(self._put)
        self._carry_out(out)
        self._diary.write()  # behind the frames, and not while the store takes nothing
        soon = [STARTS_FIRST] if self._untold else []
        waits = [out.wait, self._desk.wait, self._configured.wait, *soon, *self._until_starts()]
        self._waiting_for_turn = min(waits)
        return out.drained

    def _carry_out(self, out: Outbox) -> None:
        for number in out.extend:
            if number in self._runners:
                self._runners[number].extend(out.extend_until)
        batches: dict[Channel[FromRunner], list[Frame]] = {}
        for number, frame in out.frames:
            runner = self._runners.get(number)
            if runner is not None:
                channel = runner.bulk if isinstance(frame, BULK) else runner.control
                batches.setdefault(channel, []).append(frame)
        for channel, frames in batches.items():
            channel.put_all(frames)
            self._dirty.add(channel)
        self._flush()
        self._order_runners(out)
        if out.drain_by is not None and self._dispatch is not None:
            self.drained_by = out.drain_by
            self._say(f"draining {_counted(len(self._dispatch.held), 'running job')}, as {out.drain_by} asked")
        for note in out.notes:
            self._say(note)
        if out.calls:
            self._store.work_bell.ring(besides=self._incarnation)
        if out.news or self._untold:
            self._desk.tell()
            self._store.news_bell.ring(besides=self._incarnation)
        self._untold = out.starts and not (out.news or self._untold)

    def _order_runners(self, out: Outbox) -> None:
        """End, start and retire runners as the turn wants it."""
        for number in out.kill:
            if number in self._runners:
                self._runners[number].kill()
        for number in out.replace:
            if number in self._runners:
                self._roster.leaves(number)
        self._roster.want(out.wanted)
        for number in out.retire:
            self._roster.leaves(number)
            self._put(number, Stop())
            self._flush()

    # --- signals and bells ------------------------------------------------------------------------------------

    def _signalled(self, end: socket.socket, _: int) -> None:
        told, reads = signalled.wishes(end)
        self._signals += told
        if reads:
            self._configured.hear()
        if self._dispatch is None or not told:
            return
        if self._signals == 1:
            running = _counted(len(self._dispatch.held), "running job")
            self._say(f"draining {running}; a second signal gives back at once what runs")
            self._dispatch.drain()
        else:
            self._dispatch.hurry()

    def _hang_again(self) -> None:
        """Bells that somebody has removed, as cleaners of old files do, are made again; looked for once a poll."""
        now = self._clock.monotonic()
        if now < self._bells_at:
            return
        self._bells_at = Duration(now + self._options.poll)
        for listener, heard in self._hung:
            if listener.gone:
                heeded = listener.fileno() in self._selector.get_map()
                if heeded:
                    self._selector.unregister(listener)
                listener.make_again()
                if heeded:
                    self._selector.register(listener, selectors.EVENT_READ, heard)

    def _listen_for_news(self, curious: bool) -> None:  # noqa: FBT001
        """Only where a running job waits for some: each ring would cost a step, often while a start is under way."""
        news, heard = self._hung[1]
        if news.fileno() < 0 or curious is self._heeding:
            return
        self._heeding = curious
        if curious:
            self._selector.register(news, selectors.EVENT_READ, heard)
        else:
            self._selector.unregister(news)

    def _rung(self, listener: object, _: int) -> None:
        listener.drain()  # type: ignore[attr-defined]
        if self._dispatch is not None:
            self._dispatch.hint()

    # --- runners ----------------------------------------------------------------------------------------------

    def _start_due_runners(self) -> None:
        for number, _ in self._roster.due(self._clock.monotonic()):
            self._start_runner(number)

    def _until_starts(self) -> list[Duration]:
        at = self._roster.next_start()
        return [] if at is None else [Duration(max(0, at - self._clock.monotonic()))]

    def _start_runner(self, number: int) -> None:
        spec = RunnerSpec(app=self._options.app, argv=self._options.runner_argv or None)
        runner = self._runners[number] = RunnerProcess.start(spec, number)
        for channel in (runner.control, runner.bulk):
            self._selector.register(channel, selectors.EVENT_READ, self._reader(runner))
        self._selector.register(runner.guard_fd, selectors.EVENT_READ, lambda *_: self._guard_spoke(runner))

    def _reader(self, runner: RunnerProcess) -> Callable[[Channel[FromRunner], int], None]:
        def ready(channel: Channel[FromRunner], mask: int) -> None:
            if mask & selectors.EVENT_WRITE:
                self._dirty.add(channel)
                self._writing[channel.fileno()] = channel
            if mask & selectors.EVENT_READ:
                self._read(runner, channel)

        return ready

    def _read(self, runner: RunnerProcess, channel: Channel[FromRunner]) -> None:
        try:
            frames = channel.read()
        except ProtocolViolation as error:
            tell_trouble(f"runner {runner.number}: {error} It is ended.")
            runner.kill()
            frames = []
        for frame in frames:
            if type(frame) is Ended and self._dispatch is not None:  # nearly all of them
                self._dispatch.receive(runner.number, frame)
            else:
                self._take(runner, frame)
        if channel.closed:
            # Its guard will report the death; until then there is nothing to read.
            with suppress(KeyError, ValueError):
                self._selector.unregister(channel)

    def _take(self, runner: RunnerProcess, frame: FromRunner) -> None:
        match frame:
            case Hello():
                self._greeted.append((runner, frame))
            case Unusable():
                self._unusable(runner, frame.message)
            case Request():
                self._desk.receive(runner.number, frame)
            case _:
                if self._dispatch is not None:
                    self._dispatch.receive(runner.number, frame)

    def _admit(self) -> None:
        """Let in the runners that have said hello, as soon as the store takes it."""
        while self._greeted:
            runner, hello = self._greeted[0]
            if self._dispatch is None:
                try:
                    self._dispatch = self._register(hello)
                except STORE_AWAY as error:
                    tell_trouble(f"{type(error).__name__}: {error} Trying again in a second.")
                    return
            del self._greeted[0]
            if runner.number in self._runners:
                lodging = self._roster.greeted(runner.number)
                self._dispatch.add_runner(runner.number, [task.name for task in hello.catalog.tasks], lodging)
                self._record_pids()

    def _register(self, said: Hello) -> Dispatch:
        """The first hello: the platform learns of the tasks and of this worker."""
        options, declared = self._options, said.catalog
        host = socket.gethostname()
        name = options.name or f"{host}-{os.getpid()}"

        def work(tx: Transaction) -> WorkerId:
            report(tx, declared, self._say)
            hello = workers.Hello(
                incarnation=self._incarnation,
                name=name,
                host=host,
                pid=os.getpid(),
                app=declared.app,
                code_hash=declared.code_hash,
                version=BINARY,
                queues=options.queues,
                labels=options.labels,
                slots=options.slots,
                tasks=[task.name for task in declared.tasks],
                pids=self._pids(),
            )
            worker = workers.register(tx, hello)
            workers.beat(tx, worker, WorkerState.ACTIVE, options.lease)
            return worker

        bring_large(self._store, declared.workflows)
        worker = self._worker = self._store.write(work)
        dispatch = Dispatch(
            self._store,
            self._clock,
            worker=worker,
            app=declared.app,
            queues=options.queues,
            labels=options.labels,
            limits=self._configured.limits,
            timing=self._configured.timing,
            sweep_offset=from_seconds(seconds(options.sweep) * self._chance.fraction()),
            traced=said.traced,
        )
        if self._signals:
            dispatch.drain()
        self._store.news_bell.ring()
        self._diary.registered(worker)
        self._say(
            f"{name} (worker {worker}) runs {_counted(len(declared.tasks), 'task')} of "
            f"{declared.app} in {_counted(options.slots, 'slot')}"
        )
        return dispatch

    def _unusable(self, runner: RunnerProcess, message: str) -> None:
        """The app can't be loaded: at start that ends the worker; later it is retried with a growing pause."""
        if self._dispatch is None:
            raise AppNotLoadable(message)
        tell_trouble(f"runner {runner.number} can't load the app:\n{message}")

    def _guard_spoke(self, runner: RunnerProcess) -> None:
        death = runner.poll_death()
        if death is None:
            if self._roster.has_greeted(runner.number):
                self._record_pids()
            return
        self._bury(runner, death)

    def _bury(self, runner: RunnerProcess, death: RunnerDeath) -> None:
        """A runner is gone: take in what it still said, then end what was in it."""
        for channel in (runner.control, runner.bulk):
            self._read(runner, channel)
            with suppress(KeyError, ValueError):
                self._selector.unregister(channel)
        with suppress(KeyError, ValueError):
            self._selector.unregister(runner.guard_fd)
        runner.close()
        self._runners.pop(runner.number, None)
        self._roster.died(runner.number, self._clock.monotonic())
        if self._dispatch is None and runner not in [one for one, _ in self._greeted]:
            raise AppNotLoadable(f"The runner ended before it said hello: {death.failure.message}")
        if self._dispatch is not None:
            tell_death(runner.number, death.failure.message, self._dispatch.held.values())
            self._dispatch.remove_runner(runner.number, death.failure, lost=death.killed == "deadline")
        self._desk.forget(runner.number)

    def _resize(self, slots: int) -> None:
        worker = self._worker
        if worker is not None:
            self._store.write(lambda tx: workers.set_slots(tx, worker, slots))

    def _pids(self) -> dict[str, object]:
        """Those of runners: the shared ones first."""
        kinds = list(Lodging)
        known = [one for one in self._runners.values() if one.pid]
        known.sort(key=lambda one: kinds.index(self._roster.kind(one.number)))
        return {"coordinator": os.getpid(), "runners": [one.pid for one in known]}

    def _record_pids(self) -> None:
        worker, pids = self._worker, self._pids()
        if worker is not None:
            with suppress(StoreError):
                self._store.write(lambda tx: workers.set_pids(tx, worker, pids))

    # --- bytes ------------------------------------------------------------------------------------------------

    def _put(self, number: int, frame: Frame) -> None:
        runner = self._runners.get(number)
        if runner is None:
            return
        channel = runner.bulk if isinstance(frame, BULK) else runner.control
        channel.put(frame)
        self._dirty.add(channel)

    def _flush(self) -> None:
        for channel in self._dirty:
            if channel.closed:
                continue
            done = channel.flush()
            watched = channel.fileno() in self._writing
            if done and watched:
                del self._writing[channel.fileno()]
                self._watch(channel, selectors.EVENT_READ)
            elif not done and not watched:
                self._writing[channel.fileno()] = channel
                self._watch(channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
        self._dirty.clear()

    def _watch(self, channel: Channel[FromRunner], mask: int) -> None:
        with suppress(KeyError, ValueError):
            self._selector.modify(channel, mask, self._selector.get_key(channel).data)

    # --- end --------------------------------------------------------------------------------------------------

    def _stop_runners(self) -> None:
        for number in self._runners:
            self._put(number, Stop())
        self._flush()
        deadline = self._clock.monotonic() + _STOP_PATIENCE
        while self._runners:
            left = deadline - self._clock.monotonic()
            if left <= 0:
                break
            self._selector.select(min(0.2, left / 1_000_000))
            self._collect_dead()
        for runner in self._runners.values():
            runner.kill()
        last = self._clock.monotonic() + _STOP_PATIENCE
        while self._runners and self._clock.monotonic() < last:
            self._selector.select(0.05)
            self._collect_dead()

    def _collect_dead(self) -> None:
        for runner in list(self._runners.values()):
            for channel in (runner.control, runner.bulk):
                with suppress(MainspringError, OSError):
                    channel.read()
            if runner.poll_death() is not None:
                self._runners.pop(runner.number)
                runner.close()

    def _say_goodbye(self) -> None:
        worker = self._worker
        if worker is not None:
            with suppress(StoreError):
                self._store.write(lambda tx: workers.beat(tx, worker, WorkerState.STOPPED, Duration(0)))
            self._store.work_bell.ring()


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
