"""Soon: a claim that goes to the store together with its commit, so that its jobs wait once less.

Where the store is a server, each wait is two switches between processes that have rested. What is taken needs no
decision then: the first of a lane that is this worker's alone. What its start needs beyond that is asked behind it.
"""

from __future__ import annotations

from mainspring import faults
from mainspring.engine.claiming import Claimer, Claims
from mainspring.engine.doubts import Doubts
from mainspring.engine.held import Custody, Limits
from mainspring.engine.reach import Reach
from mainspring.engine.vouching import Vouching
from mainspring.errors import StoreError
from mainspring.faults import FaultPoint
from mainspring.store import Store
from mainspring.store.at_once import Taken, Wish


class Soon:
    """Such claims of one worker."""

    def __init__(  # noqa: PLR0913, PLR0917 - composition
        self, store: Store, claimer: Claimer, reach: Reach, custody: Custody, vouching: Vouching, doubts: Doubts
    ) -> None:
        self._store = store
        self._claimer = claimer
        self._reach = reach
        self._custody = custody
        self._vouching = vouching
        self._doubts = doubts

    def claim(self, limits: Limits) -> Claims | None:
        """Take what comes first. None where that can't be done so, or nothing was there.

        Raises StoreError: what was taken all the same is given back by the next commit.
        """
        may = (
            self._store.engine.sends and self._reach.version and self._reach.known is None and not self._claimer.traced
        )
        wish = self._claimer.wish(self._reach.map, self._custody.room(limits), self._custody.held) if may else None
        if wish is None:
            return None
        self._vouching.begin()
        try:
            claims = self._taken(wish, self._take(wish))
        except StoreError:
            self._doubts.open = True
            raise
        self._vouching.strike(starts=claims is not None)
        return claims

    def _take(self, wish: Wish) -> list[Taken]:
        sent = self._store.send(
            lambda tx: self._claimer.take_blindly(tx, wish), before=FaultPoint.DISPATCH_BEFORE_COMMIT
        )
        told = sent.answer()
        faults.hit(FaultPoint.DISPATCH_AFTER_COMMIT)
        return told()

    def _taken(self, wish: Wish, found: list[Taken]) -> Claims | None:
        plain = self._claimer.taken_plainly(wish, found)
        if plain is not None or not found:
            return plain
        return self._store.read(lambda tx: self._claimer.taken(tx, wish, found))
