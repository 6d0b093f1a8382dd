"""Carry: the turn in which messages of topics become jobs and runs, each once for each subscription.

Any number of servers do it: whoever moves the cursor of a subscription has made the jobs, in the same transaction. A
message of which nothing can be made is counted and passed, so that it holds up none behind it.
"""

from __future__ import annotations

from collections.abc import Callable

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.ids import RunId
from mainspring.domain.job import JobRequest
from mainspring.domain.sight import Sight
from mainspring.domain.topic import KEPT, Message, Subscription, params_of
from mainspring.errors import MainspringError, StoreError
from mainspring.store import Store, Transaction, catalog, topics
from mainspring.transitions.begun import begin, header_of, named
from mainspring.transitions.born import born
from mainspring.transitions.prepared import birth, declared_of, find, prepare
from mainspring.transitions.run_births import prepare_run

BATCH = 50
"""Messages in one transaction."""

_MOST_AT_ONCE = 20
_TIDY_EVERY = Duration(10 * MINUTE)


class Carry:
    """Takes messages to those who subscribe. ``made``: jobs and runs so far."""

    def __init__(self, store: Store, clock: Clock, *, poll: Duration = SECOND, actor: str = "bus") -> None:
        self._store = store
        self._clock = clock
        self._poll = poll
        self._actor = actor
        self._tidy_at = Duration(0)
        self.made = 0

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether a subscription is behind."""
        return sight.messages

    def turn(self) -> Duration:
        """A batch for each subscription that is behind; how long to wait until the next turn."""
        behind = self._store.read(lambda tx: topics.behind(tx, _MOST_AT_ONCE))
        for one in behind:
            self.made += self._store.write(lambda tx, one=one: self._carried(tx, one))  # type: ignore[misc]
        if behind:
            self._store.work_bell.ring()
            self._store.news_bell.ring()
            return MILLISECOND
        self._tidy()
        return self._poll

    def _carried(self, tx: Transaction, one: Subscription) -> int:
        found = topics.messages(tx, one.topic, after=one.cursor, limit=BATCH)
        refusal: str | None = None
        wanted = []
        for message in found:
            try:
                wanted.append(_prepared(tx, one, message))
            except StoreError:
                raise
            except MainspringError as error:
                refusal = f"message {message.number}: {error}"[:500]
        last = found[-1].number if found else one.cursor
        if not found or not topics.go_on(
            tx, one, last, made=len(wanted), refused=len(found) - len(wanted), refusal=refusal
        ):
            return 0
        for make in wanted:
            make(tx, self._actor)
        return len(wanted)

    def _tidy(self) -> None:
        now = self._clock.monotonic()
        if now >= self._tidy_at:
            self._tidy_at = Duration(now + _TIDY_EVERY)
            before = Instant(self._store.clock.now() - KEPT)
            self._store.write(lambda tx: topics.forget(tx, before))


def _prepared(tx: Transaction, one: Subscription, message: Message) -> Callable[[Transaction, str], None]:
    """What makes the job or run of a message. Raises InvalidInput, UnknownTask, UnknownWorkflow."""
    params = params_of(one.params, message.data)
    tags = {"topic": message.topic, "message": str(message.number)}
    if one.workflow is not None:
        found = named(tx, one.workflow)
        run = prepare_run(found.version, header_of(found), params, tags)
        return lambda tx, actor: begin(tx, [(RunId(tx.job_ids(1)[0]), run.born(tx.now))], actor)
    checked = prepare(JobRequest(one.task or "", params=params, tags=tags), declared_of(find(tx, one.task or "")))

    def bear(tx: Transaction, actor: str) -> None:
        _, lane, policy = catalog.ground(tx, checked.ground)
        born(tx, [birth(tx, checked, None, lane, policy)], actor)

    return bear
