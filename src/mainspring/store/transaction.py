"""What a transaction offers to those who write them, whatever the engine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from mainspring.chance import Chance
from mainspring.clock import Clock, Instant
from mainspring.domain.borrowed import Borrowed
from mainspring.store.bell import Behind
from mainspring.store.debt import Debt

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


Told = Callable[[], int]
"""How many rows a statement has changed; to ask waits for it."""

Wanted = tuple[str, dict[str, Any] | Sequence[tuple[Any, ...]]]
"""A statement by name, with its values: once, or for a batch."""


class Transaction(Protocol):
    """One transaction, or one look. ``now`` is its time by the database's clock; all statements inside see the same."""

    @property
    def at_once(self) -> bool:
        """Whether whole moves can be made here, many at a time (at_once.py)."""
        ...

    @property
    def one_writer(self) -> bool:
        """Whether nobody else writes until it is over, so that what it has read stays as it is."""
        ...

    @property
    def now(self) -> Instant:
        """When it began."""
        ...

    @property
    def chance(self) -> Chance:
        """Where randomness comes from."""
        ...

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement by name and return all rows; ``:now`` is bound by itself."""
        ...

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        ...

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Run a statement for each tuple (values in the order of its parameters' first appearance); all rows."""
        ...

    def changing(self, name: str, batch: Sequence[tuple[Any, ...]]) -> Told:
        """Run a statement that answers nothing for each tuple; what comes back tells how many rows that changed.

        At best it is asked when nothing else is to be run: elsewhere statements may be under way until then.
        """
        ...

    def together(self, *asked: Wanted) -> list[list[tuple[Any, ...]]]:
        """Run statements that don't need each other's answers, in this order; the rows of each."""
        ...

    def ask(self, name: str, batch: Sequence[tuple[Any, ...]], /, **values: Any) -> Callable[[], list[tuple[Any, ...]]]:
        """Run a statement whose rows are wanted later, if at all, where moves are made ``at_once``.

        The columns of the batch are its first parameters, as arrays.
        """
        ...

    def expect_ids(self, count: int) -> None:
        """So many new job ids will most likely be wanted, where that saves waiting for them."""
        ...

    def job_ids(self, count: int) -> Sequence[int]:
        """So many new job ids, rising."""
        ...

    def remember(self, what: Hashable, value: Any) -> None:
        """Keep something for later transactions of this process, once this one is committed."""
        ...

    def recall(self, what: Hashable) -> Any:
        """What this transaction or a committed one of this process was told to remember; None where nothing is kept."""
        ...


class Sent(Protocol[T_co]):
    """A write transaction that is on its way."""

    def answer(self) -> T_co:
        """Wait for its durable commit; what its work returned.

        Raises the StoreError that fits, with nothing changed but for OutcomeUnknown.
        """
        ...


class Engine(Protocol):
    """One database, whatever its kind.

    ``clock``: what decides about time there; ``path``: how people call it; ``one_writer``: a second one waits at the
    lock until the first has committed; ``sends``: a write may go on there while its writer does something else;
    ``debt``: early commits that their writer still has to wait for.
    """

    path: str
    clock: Clock
    chance: Chance
    one_writer: bool
    sends: bool
    debt: Debt

    def write(
        self,
        work: Callable[[Transaction], T],
        *,
        before_commit: Callable[[], None] | None = None,
        durable: bool = True,
        early: bool = False,
        behind: Behind | None = None,
    ) -> T:
        """Run ``work`` in a write transaction and return its value once the commit is durable.

        ``work`` may run again when it met with others. ``durable`` false: a crash of the machine may lose the last
        moments. ``early``: others may see it and build on it while the disk still writes, where that is to their gain;
        the answer waits all the same. ``behind``: rings that the database may tell right behind the commit.
        Raises what ``work`` raised, with nothing changed, and the StoreError that fits.
        """
        ...

    def send(self, work: Callable[[Transaction], T], *, before_commit: Callable[[], None] | None = None) -> Sent[T]:
        """Where it ``sends``: a write transaction with its commit, for which nobody waits yet.

        Raises what ``work`` raised, and the StoreError that fits, with nothing changed.
        """
        ...

    def read(self, work: Callable[[Transaction], T], *, latest: bool = False) -> T:
        """Run ``work`` on a snapshot of every commit so far; ``latest``: each statement sees those up to then."""
        ...

    def settle_in(self) -> None:
        """Make commits cheaper from now on, where something can be done for it once."""
        ...

    def within(self, borrowed: Borrowed, work: Callable[[Transaction], T], committed: Callable[[], None]) -> T:
        """Run ``work`` in the transaction that this connection is in. Raises InvalidOption where that can't be.

        ``committed`` is called once it is committed, where that can be known.
        """
        ...

    def close(self) -> None:
        """Finish what is queued and close every connection."""
        ...
