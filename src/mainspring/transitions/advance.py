"""Advance: jobs of runs have ended; who may go now? In the transaction of those ends, in proportion to what changes.

A wave begins at the nodes that ended, adds up to one change for each node below them what their ends mean to it, and
asks joins.decide where something may have become certain. What goes becomes jobs in this transaction, so that the turn
that wrote the ends can claim them. What ends at once (skipped, an empty join) begins the next round of the wave. After
BUDGET nodes the rest is left as errands, so that no transaction is long; errands.py takes them up.

Nodes that wait for all their needs are decided when all have ended, also where one failure made it certain before: so
a run never ends while something of it runs, and a stop has reached everything once its jobs have ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mainspring.domain.attempt import Failure
from mainspring.domain.conditions import holds, parse
from mainspring.domain.ids import JobId, RunId
from mainspring.domain.job import Link
from mainspring.domain.joins import (
    AFTER_TROUBLE,
    Go,
    Needs,
    NodeState,
    Reason,
    RunState,
    Skip,
    Stop,
    Wait,
    Weight,
    decide,
    weight,
)
from mainspring.domain.node_states import NodeCause, cause_of
from mainspring.domain.steps import END_NAME
from mainspring.domain.workflow import OnFailure
from mainspring.errors import MainspringError
from mainspring.store import rows, run_replays, runs
from mainspring.store.free_slots import FreeSlots
from mainspring.store.jobs import Load, load_of
from mainspring.store.run_replays import Part, is_done
from mainspring.store.runs import Below, Errand, Glance, Gone, Happened, Held, Items, Key, Spec
from mainspring.store.transaction import Transaction
from mainspring.transitions.concluded import conclude
from mainspring.transitions.firing import Firing, Item, Refused
from mainspring.transitions.going import Going, at_once, going_of, items_of, refusal, wanted
from mainspring.transitions.inputs import Sources, Wants
from mainspring.transitions.nesting import Nesting
from mainspring.transitions.reached import Reaching, Told, cut

BUDGET = 400
"""Nodes below ended ones that one transaction looks at, and jobs that it lets go: some 20 ms on SQLite."""

KEPT = 100
"""Kept nodes that one transaction tells of."""


class End(NamedTuple):
    """A job of a run, or a nested run, has ended. ``nested``: then no event of a job says so of its node."""

    link: Link
    state: NodeState
    nested: bool = False
    failure: str | None = None


class Advanced(NamedTuple):
    """What a wave led to: jobs that may be claimed; ``more``: errands are left for the next turn."""

    born: Mapping[JobId, Load] = {}
    more: bool = False


class Chosen(NamedTuple):
    """Items of a map that begin, and what older runs have done of them, by number."""

    items: list[Item]
    parts: dict[int, Part]


NOWHERE = Advanced()


def advance(
    tx: Transaction, ends: Sequence[End], actor: str, seen: Glance | None = None, free: FreeSlots | None = None
) -> Advanced:
    """Let go what these ends let go. ``seen``: of their runs already; ``free``: slots for jobs that are born."""
    if not ends:
        return NOWHERE
    wave = Wave(tx, actor, {end.link.run for end in ends}, seen)
    wave.firing.free = free
    wave.ended(ends)
    return wave.run()


class Wave:
    """One transaction's worth of progress."""

    def __init__(self, tx: Transaction, actor: str, wanted: Iterable[RunId], seen: Glance | None = None) -> None:
        self._tx = tx
        self._actor = actor
        self._held: dict[RunId, Held] = {} if seen is None else dict(seen.held)
        self._seen = {} if seen is None or seen.below is None else seen.below
        self._wanted = set(wanted) - self._held.keys()
        self._told: list[Told] = []
        self._reaching = Reaching(tx)
        self._left: list[Gone] = []
        self._errands: list[Errand] = []
        self._failed: list[Key] = []
        self._events: list[Happened] = []
        self.firing = Firing(tx, actor, {} if seen is None else seen.declared)
        self._nesting = Nesting(tx, actor)
        self._lined: list[Key] = []
        self._roomy: set[RunId] = set()
        self._over: dict[Key, list[int]] = {}
        self._room = BUDGET
        self._born: dict[JobId, Load] = {}

    # --- what begins it ---------------------------------------------------------------------------------------

    def ended(self, ends: Sequence[End]) -> None:
        """Jobs, or nested runs, have ended."""
        for nested in (False, True):
            single = [end for end in ends if end.link.item is None and end.nested is nested]
            self._end([(e.link.run, e.link.node, e.state, e.failure) for e in single], silent=not nested)
        counts: dict[Key, list[int]] = {}
        place = {NodeState.SUCCEEDED: 0, NodeState.FAILED: 1, NodeState.CANCELLED: 2}
        for end in ends:
            if end.link.item is not None:
                counts.setdefault((end.link.run, end.link.node), [0, 0, 0])[place[end.state]] += 1
        if counts:
            changed = runs.count_items(self._tx, [(s, f, c, *key) for key, (s, f, c) in sorted(counts.items())])
            self.counted(changed)

    def counted(self, changed: Sequence[Items]) -> None:
        """Maps have got so far: they end, or their next items begin."""
        over = [one for one in changed if one.ended >= one.items]
        self._end([(one.run, one.number, one.state, None) for one in over], silent=False)
        going = [one for one in changed if one.ended < one.items and one.begun < one.items]
        if going and self._room > 0:
            self._hold()
            self.begin_items(going)
        else:
            self._errands += [Errand(one.run, "map", one.number, self._tx.now) for one in going]

    def go_on_with(self, maps: Sequence[Key]) -> None:
        """Let the next items of these maps go."""
        self.counted(runs.count_items(self._tx, [(0, 0, 0, *key) for key in sorted(maps)]))

    def admit(self, run: RunId) -> None:
        """Let the next nodes of a run with a limit go, of those that stand in line for room.

        Only one transaction does so for a run at a time: it has taken the errand for it. Of a run that was told to
        stop, those that don't clean up leave the line.
        """
        self._hold()
        held = self._held[run]
        if held.parallel is None or held.state is not None:
            return
        room = held.parallel - runs.count_active(self._tx, run)
        stopped = held.stop is not None
        if room <= 0 and not stopped:
            return
        line = runs.line(self._tx, run, self._room if stopped else min(room, self._room))
        specs = runs.specs(self._tx, line)
        going: list[Going] = []
        out: list[Key] = []
        for key in line:
            one = going_of(key, specs[key].document, specs[key].inputs, lined=True)
            if stopped and one.node.run_if not in AFTER_TROUBLE:
                self._leave(key, NodeState.CANCELLED)
                out.append(key)
            elif len(going) < room:
                going.append(one)
                out.append(key)
        if out:
            runs.leave_line(self._tx, out)
            self._go(going)
            self._make_room(run)  # there may be more of it, and what could not go has left some

    def _make_room(self, run: RunId) -> None:
        """An active node has ended, or one stands in line: a transaction that does nothing else lets the next go."""
        self._roomy.add(run)

    def tell(self, run: RunId, node: int, as_what: Weight, after: int = 0) -> None:
        """The end of a node is to be told to those below it."""
        self._told.append(Told(run, node, as_what, after))

    def tell_kept(self, run: RunId, after: int) -> None:
        """The nodes that a resumed run began with have ended: the next of them are to be told to those below them."""
        some = run_replays.kept_of(self._tx, run, after, KEPT)
        for one in some:
            self.tell(run, one.number, _weight(one.state, one.reason))
        if len(some) == KEPT:
            self._errands.append(Errand(run, "kept", 0, self._tx.now, some[-1].number))

    def _hold(self) -> None:
        wanted, self._wanted = self._wanted, set()
        if wanted:
            self._held |= runs.hold(self._tx, wanted)

    def _end(self, ends: Sequence[tuple[RunId, int, NodeState, str | None]], *, silent: bool = True) -> None:
        """Active nodes end. ``silent``: the end of a job says so already."""
        if not ends:
            return
        now = self._tx.now
        runs.end_nodes(self._tx, [(state, now, failure, run, number) for run, number, state, failure in sorted(ends)])
        self._roomy |= {run for run, *_ in ends}
        for run, number, state, _ in ends:
            self.tell(run, number, _weight(state))
            if not silent:
                self._note(run, number, NodeState.ACTIVE, state)
        self._failed += [(run, number) for run, number, state, _ in ends if state is NodeState.FAILED]

    def _fail_fast(self) -> None:
        """Where one failure stops a run, have it stopped by a transaction of its own, which waits for all others."""
        strict = [key for key in self._failed if self._strict(key[0])]
        if strict:
            stopped = {key[0] for key, spec in runs.specs(self._tx, strict).items() if not spec.may_fail}
            self._errands += [Errand(run, "stop", 0, self._tx.now, 0, Stop.FAIL_FAST.value) for run in stopped]

    def _strict(self, run: RunId) -> bool:
        held = self._held[run]
        return held.stop is None and held.on_failure == OnFailure.FAIL_FAST.value

    def _note(self, run: RunId, number: int, source: NodeState, target: NodeState, reason: str | None = None) -> None:
        detail = None if reason is None else rows.text({"reason": reason})
        self._events.append(Happened(cause_of(source, target), source, target, run, number, detail))

    # --- the wave ---------------------------------------------------------------------------------------------

    def run(self) -> Advanced:
        """Go on until nothing is left, or the budget is spent; then write what is left to do."""
        if not self._told:
            self._hold()
        while self._over or (self._told and self._room > 0):
            if self._over:
                self._count_over()
                continue
            told, self._told = self._told, []
            self._round(told)
        self._decide(*self._reaching.reach_ends())
        self._fail_fast()
        limited = [run for run in self._roomy if self._held[run].parallel is not None]
        self._errands += [Errand(run, "room", 0, self._tx.now) for run in limited]
        rest = [*self._told, *self._reaching.late]
        self._errands += [Errand(t.run, "tell", t.node, self._tx.now, t.after, t.weight) for t in rest]
        self._flush()
        runs.put_errands(self._tx, sorted(set(self._errands)))
        return Advanced(self._born, bool(self._errands))

    def _count_over(self) -> None:
        """Items that an older run has done, and those that could not go, have ended."""
        self._flush()
        over, self._over = self._over, {}
        self.counted(runs.count_items(self._tx, [(good, bad, 0, *key) for key, (good, bad) in sorted(over.items())]))

    def _flush(self) -> None:
        left, self._left = self._left, []
        if left:
            runs.leave(self._tx, left)
        lined, self._lined = self._lined, []
        if lined:
            runs.line_up(self._tx, lined)
        events, self._events = self._events, []
        runs.note(self._tx, events, self._actor)  # before what follows from them
        for job, birth in self.firing.write().items():
            self._born[job] = load_of(birth, self._held[birth.link.run].tick if birth.link is not None else None)

    def _round(self, told: list[Told]) -> None:
        self._flush()  # who has left in an earlier round is not let go again by this one
        first, left = cut(told, self._below(told), self._room)
        resumed = [(told[one.place].run, one.target) for one in first if self._held[told[one.place].run].kept]
        if resumed:
            kept = run_replays.kept(self._tx, sorted(set(resumed)))
            first = [one for one in first if (told[one.place].run, one.target) not in kept]
        first, late = self._reaching.in_order(told, first)
        self._told += left if not late else []  # it is among what is late
        self._room -= len(first)
        self._decide(*self._reaching.reach(told, first))

    def _below(self, told: list[Told]) -> list[Below]:
        """The nodes below these, in order."""
        if not self._wanted and all(not one.after and (one.run, one.node) in self._seen for one in told):
            found = [self._seen[one.run, one.node] for one in told]
            return [Below(place, *row[1:]) for place, some in enumerate(found) for row in some]
        wanted, self._wanted = self._wanted, set()
        sources = [(one.run, one.node, one.after) for one in told]
        held, below = runs.hold_and_look(self._tx, wanted, sources, self._room + 1)
        self._held |= held
        return below

    # --- decisions --------------------------------------------------------------------------------------------

    def _decide(self, certain: dict[Key, Needs], specs: dict[Key, Spec]) -> None:
        missing = sorted(certain.keys() - specs.keys())
        if missing:
            specs |= runs.specs(self._tx, missing)
        going: list[Going] = []
        for key in sorted(certain):
            spec = specs[key]
            if spec.name == END_NAME:
                self._finish(key[0], spec)
            else:
                self._judge(key, going_of(key, spec.document, spec.inputs), certain[key], going)
        if going:
            self._go(going)

    def _judge(self, key: Key, one: Going, needs: Needs, going: list[Going]) -> None:
        if self._held[key[0]].stop is not None and one.node.run_if not in AFTER_TROUBLE:
            if not needs.open:
                self._leave(key, NodeState.CANCELLED)
            return
        match decide(one.node.run_if, needs):
            case Wait():
                return
            case Skip(reason=reason):
                self._leave(key, NodeState.SKIPPED, reason)
            case Go():
                going.append(one)

    def _leave(
        self, key: Key, state: NodeState, reason: Reason | None = None, *, failure: Failure | None = None
    ) -> None:
        """A node leaves its place for its end."""
        run, number = key
        now = self._tx.now
        text = None if failure is None else rows.text(failure)
        late = int(self._held[run].stop is not None)
        self._left.append(Gone(run, number, state, reason, now, now, late=late, failure=text))
        self.tell(run, number, _weight(state, reason))
        through = NodeState.ACTIVE if state in {NodeState.SUCCEEDED, NodeState.FAILED} else NodeState.WAITING
        self._note(run, number, through, state, reason if failure is None else failure.message[:500])
        if state is NodeState.FAILED:
            self._failed.append(key)

    # --- going ------------------------------------------------------------------------------------------------

    def _go(self, going: list[Going]) -> None:
        sources = self._sources(going)
        for one in going:
            try:
                self._go_one(one, sources)
            except (Refused, MainspringError) as error:
                self._leave(one.key, NodeState.FAILED, failure=refusal(error))
        self._begin_nested()

    def _begin_nested(self) -> None:
        """Nested runs begin as any run does."""
        self._flush()
        begun = self._nesting.write()
        self._wanted |= begun.keys()
        for run, birth in begun.items():
            if birth.kept:
                self.tell_kept(run, 0)
            self.tell(run, 0, Weight.SUCCEEDED)

    def _sources(self, going: list[Going]) -> Sources:
        """What conditions and maps read."""
        sources = Sources(self._tx)
        read = wanted(going)
        if read:
            self._flush()  # a node that has left in this wave is read by the next one
            sources.fetch(read)
        return sources

    def _go_one(self, one: Going, sources: Sources) -> None:
        run, number = one.key
        node = one.node
        wants = at_once(one)
        when = None if one.lined else node.when
        if when is not None and wants is not None and not holds(parse(when), sources.facts(run, wants)):
            self._leave(one.key, NodeState.SKIPPED, Reason.CONDITION)
        elif node.task is None and node.workflow is None:
            self._leave(one.key, NodeState.SUCCEEDED)
        elif self._held[run].parallel is not None and not one.lined:
            self._lined.append(one.key)
            self._make_room(run)
        elif node.map is not None:
            self._map(one, sources)
        else:
            if node.workflow is None:
                self.firing.task(run, number, node, one.inputs)
            else:
                part = self._parts(one.key).get(run_replays.NO_ITEM)
                self._nesting.run(one.key, node, sources.values(run, wants or Wants()), part=part)
                self._note(run, number, NodeState.WAITING, NodeState.ACTIVE)
            self._active(one.key)
            self._room -= 1

    def _active(self, key: Key, items: int | None = None, begun: int | None = None, failure: str | None = None) -> None:
        late = int(self._held[key[0]].stop is not None)
        self._left.append(Gone(*key, NodeState.ACTIVE, None, self._tx.now, None, items, begun, late, None, failure))

    def _map(self, one: Going, sources: Sources) -> None:
        """The first items of a map; the others begin when there is room for them."""
        items = items_of(one.node, sources, one.key[0], at_once(one))
        if not items:
            self._leave(one.key, NodeState.SUCCEEDED)
            self._left[-1] = self._left[-1]._replace(items=0, begun=0)  # its result is an empty list, not nothing
            return
        chosen = self._choose(one.key, items, 0, one.node.parallel or len(items))
        failure = self._items(one, sources, chosen)
        self._active(one.key, len(items), len(chosen.items), failure)
        self._note(*one.key, NodeState.WAITING, NodeState.ACTIVE)

    def begin_items(self, maps: Sequence[Items]) -> None:
        """Let the next items of maps go, as far as there is room for them."""
        specs = runs.specs(self._tx, [(one.run, one.number) for one in maps])
        going = {key: going_of(key, spec.document, spec.inputs) for key, spec in specs.items()}
        sources = self._sources(list(going.values()))
        for one in maps:
            key = (one.run, one.number)
            node = going[key].node
            if self._held[one.run].stop is not None and node.run_if not in AFTER_TROUBLE:
                continue  # whoever halts the run gives them up
            try:
                items = items_of(node, sources, one.run, at_once(going[key]))
            except (Refused, MainspringError) as error:  # a row was spoiled by hand: what is left of it never goes
                runs.begin_items(self._tx, *key, one.items, rows.text(refusal(error)))
                self._over.setdefault(key, [0, 0])[1] += one.items - one.begun
                continue
            chosen = self._choose(key, items, one.begun, (node.parallel or one.items) - (one.begun - one.ended))
            if chosen.items:
                failure = self._items(going[key], sources, chosen)
                runs.begin_items(self._tx, *key, one.begun + len(chosen.items), failure)
        self._begin_nested()

    def _parts(self, key: Key, first: int = run_replays.NO_ITEM, last: int = run_replays.NO_ITEM) -> dict[int, Part]:
        """What an older run has done of a node, where this run resumes one."""
        resumed = self._held[key[0]].kept is not None
        return run_replays.parts(self._tx, key, first, last) if resumed else {}

    def _choose(self, key: Key, items: list[Any], begun: int, most: int) -> Chosen:
        """The next items of a map: at most so many, not counting those that an older run has done."""
        last = min(len(items), begun + max(1, self._room))
        parts = self._parts(key, begun, last - 1)
        chosen: list[Item] = []
        for number in range(begun, last):
            most -= not is_done(parts.get(number))
            if most < 0:
                return Chosen(chosen, parts)
            chosen.append(Item(number, items[number]))
        if last < len(items):
            self._errands.append(Errand(key[0], "map", key[1], self._tx.now))
        return Chosen(chosen, parts)

    def _items(self, one: Going, sources: Sources, chosen: Chosen) -> str | None:
        """Let some items of a map go. One that can't counts as failed; why the first of them can't is answered."""
        self._room -= len(chosen.items)
        refused: list[Failure] = []
        good = 0
        values = sources.values(one.key[0], at_once(one) or Wants())
        for item in chosen.items:
            part = chosen.parts.get(item.number)
            try:
                if is_done(part):
                    good += 1
                elif one.node.workflow is None:
                    self.firing.item(one.key, one.node, one.inputs, item)
                else:
                    self._nesting.run(one.key, one.node, values, item, part)
            except Refused as error:
                refused.append(error.failure)
        if good or refused:
            over = self._over.setdefault(one.key, [0, 0])
            over[0] += good
            over[1] += len(refused)
        return rows.text(refused[0]) if refused else None

    # --- the end ----------------------------------------------------------------------------------------------

    def _finish(self, run: RunId, spec: Spec) -> None:
        """All nodes of a run have ended."""
        self._flush()
        held = self._held[run]
        ended = conclude(self._tx, held, spec)
        if ended is None:
            return
        state = ended.state
        self._errands = [one for one in self._errands if one.run != run]
        self._failed = [key for key in self._failed if key[0] != run]
        self._roomy.discard(run)
        if held.parent_run is not None:
            self._errands.append(Errand(run, "over", 0, self._tx.now))
        cause = {RunState.SUCCEEDED: NodeCause.SUCCEED, RunState.FAILED: NodeCause.FAIL}.get(state, NodeCause.CANCEL)
        detail = None if ended.why is None else rows.text({"no_result": ended.why})
        self._events.append(Happened(cause, RunState.RUNNING, state, run, None, detail))


def _weight(state: NodeState, reason: Reason | None = None) -> Weight:
    told = weight(state, reason)
    if told is None:
        raise AssertionError(f"a node that is {state} has not ended")
    return told
