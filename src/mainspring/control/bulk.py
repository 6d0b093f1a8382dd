"""One action on many jobs: page by page, in short transactions, so that nobody waits for long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import structs, to_builtins

from mainspring.clock import SECOND, Duration
from mainspring.control import jobs, read
from mainspring.domain.bulk import Bulk, BulkDone, cursor_text, read_cursor, states_of
from mainspring.domain.ids import LARGEST, JobId
from mainspring.domain.states import State
from mainspring.errors import Conflict, NotFound
from mainspring.store import Store, trail
from mainspring.store.trail import Deed

_PAGE = 50
"""Jobs that are looked at together, and cancelled in one transaction."""

_PATIENCE = Duration(10 * SECOND)
"""One request ends after this, however much is left: who asks over a network must not run out of patience first."""


def bulk(store: Store, asked: Bulk, *, actor: str) -> BulkDone:
    """Do it to up to ``limit`` jobs; what was done. Raises InvalidInput and its kinds, UnknownTask.

    A job that meanwhile is in no state for it is skipped. What was done before an error of the store stays done.
    """
    states = states_of(asked)
    first, cursor = (states[0], None) if asked.cursor is None else read_cursor(asked.cursor, states)
    ahead = states[states.index(first) :]
    if asked.dry_run:
        matched = sum(read.counted(store, structs.replace(asked.filter, state=one)) for one in ahead)
        return BulkDone(matched, 0, {}, None)
    done = _all(store, asked, ahead, cursor, actor)
    if done.changed:
        after = {"changed": done.changed, "skipped": done.skipped}
        deed = Deed(f"jobs.{asked.action}", "jobs", {"filter": to_builtins(asked.filter)}, after)
        store.write(lambda tx: trail.note(tx, actor, deed))
    return done


def _all(store: Store, asked: Bulk, ahead: Sequence[State], cursor: str | None, actor: str) -> BulkDone:
    act = _cancel if asked.action == "cancel" else _retry
    matched, skipped, began = 0, Counter[str](), store.clock.monotonic()
    for state in ahead:
        before: str | None = cursor or str(LARGEST)
        cursor = None
        while before is not None:
            room = asked.limit - matched
            if not room or store.clock.monotonic() - began > _PATIENCE:
                return BulkDone(matched, matched - skipped.total(), dict(skipped), cursor_text(state, before))
            page = read.listed(store, structs.replace(asked.filter, state=state, cursor=before, limit=min(_PAGE, room)))
            matched += len(page.items)
            if page.items:
                skipped.update(act(store, [job.id for job in page.items], actor))
            before = page.next
    return BulkDone(matched, matched - skipped.total(), dict(skipped), None)


def _cancel(store: Store, found: Sequence[JobId], actor: str) -> list[str]:
    return ["illegal_state"] * jobs.cancel_all(store, found, actor=actor)


def _retry(store: Store, found: Sequence[JobId], actor: str) -> list[str]:
    """Each in a transaction of its own, as what is in the way of one is in nobody else's."""
    skipped = []
    for job in found:
        try:
            jobs.retry(store, job, actor=actor)
        except (Conflict, NotFound) as error:
            skipped.append(error.code)
    return skipped
