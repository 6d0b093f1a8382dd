"""A transaction on PostgreSQL: statements by name, asked through a pipe, waited for only where an answer is needed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from mainspring.chance import Chance
from mainspring.clock import Instant
from mainspring.store.postgres_pipe import Asked, Pipe
from mainspring.store.postgres_session import array
from mainspring.store.postgres_time import ServerClock
from mainspring.store.statements import numbered, statement
from mainspring.store.transaction import Told, Wanted

_LARGE = 1_000
"""Characters of values: with a batch the server begins at once, while we prepare the next one."""


class PostgresTransaction:
    """One transaction, or one look. Statements that answer nothing are sent on and checked with the next that does.

    ``mind``: what is told to be remembered goes in here, which the engine keeps once it is committed.
    """

    at_once = True
    one_writer = False

    __slots__ = ("_begun", "_expected", "_ids", "_mind", "_now", "_pipe", "_space", "chance")

    def __init__(  # noqa: PLR0913, PLR0917 - composition
        self,
        pipe: Pipe,
        begun: Begun,
        space: int,
        chance: Chance,
        given_now: Instant | None,
        mind: MutableMapping[Hashable, Any],
    ) -> None:
        self._pipe = pipe
        self._begun = begun
        self._now = given_now
        self._space = space
        self._ids: list[int] = []
        self._mind = mind
        self._expected: Asked | None = None
        self.chance = chance

    @property
    def now(self) -> Instant:
        """Its time; the answer to BEGIN is only waited for when somebody asks."""
        if self._now is None:
            self._now = self._begun.now()
        return self._now

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement by name and return all rows; ``:now`` and ``:space`` are bound by themselves.

        So is ``:given``, the time for statements that read the server's own where nobody has waited for it.
        """
        asked = self._ask(name, values)
        return self._answer(asked) if statement(name, "postgres").answers else []

    def _answer(self, asked: Asked) -> list[tuple[Any, ...]]:
        """Wait for it."""
        self._pipe.hear()
        return asked.rows()

    def _ask(self, name: str, values: dict[str, Any]) -> Asked:
        parameters = statement(name, "postgres").parameters
        if "now" in parameters:
            values["now"] = self.now
        if "given" in parameters:
            values["given"] = self._now
        if "space" in parameters:
            values["space"] = self._space
        return asked(self._pipe, name, values)

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        found = self.rows(name, **values)
        return found[0] if found else None

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Run a statement once for all tuples, which it takes as one array for each of its parameters."""
        batch = list(batch)
        if not batch:
            return []
        sent = self._ask_many(name, batch)
        return self._answer(sent) if statement(name, "postgres").answers else []

    def _ask_many(self, name: str, batch: Sequence[tuple[Any, ...]]) -> Asked:
        columns = zip(*batch, strict=True) if batch else [()] * len(statement(name, "postgres").parameters)
        arrays = [array(column) for column in columns]
        sent = self._pipe.ask(numbered(name), arrays, name.encode())
        if sum(map(len, arrays)) > _LARGE and not statement(name, "postgres").answers:
            self._pipe.part()
        return sent

    def changing(self, name: str, batch: Sequence[tuple[Any, ...]]) -> Told:
        """Send a statement that answers nothing once for all tuples; to ask how many rows that changed waits for it."""
        if not batch:
            return lambda: 0
        sent = self._ask_many(name, batch)

        def told() -> int:
            if sent.command is None:
                self._pipe.hear()
            return int((sent.command or "0").rpartition(" ")[2])

        return told

    def together(self, *wanted: Wanted) -> list[list[tuple[Any, ...]]]:
        """Run statements that don't need each other's answers, in this order, for one wait; the rows of each."""
        sent = [
            self._ask(name, values) if isinstance(values, dict) else self._ask_many(name, values)
            for name, values in wanted
        ]
        self._pipe.hear()
        return [one.rows() for one in sent]

    def ask(self, name: str, batch: Sequence[tuple[Any, ...]], /, **values: Any) -> Callable[[], list[tuple[Any, ...]]]:
        """Run a statement whose rows are wanted later, if at all; the columns of the batch are its first parameters."""
        columns = [array(column) for column in zip(*batch, strict=True)]
        sent = self._ask(name, dict(zip(statement(name, "postgres").parameters, columns, strict=False)) | values)
        if sum(map(len, columns)) > _LARGE:
            self._pipe.part()
        return lambda: sent.rows() if sent.command else self._answer(sent)

    def expect_ids(self, count: int) -> None:
        """So many job ids will be wanted: they come with the next answer. Those that nobody takes are lost."""
        if self._expected is None and len(self._ids) < count:
            self._expected = self._ask("job/take_ids", {"count": count - len(self._ids)})

    def job_ids(self, count: int) -> Sequence[int]:
        """So many new job ids, rising; others may take some in between."""
        self.expect_ids(count)
        if self._expected is not None:
            expected, self._expected = self._expected, None
            self._ids += [row[0] for row in (expected.rows() if expected.command else self._answer(expected))]
        if len(self._ids) < count:  # more than were expected
            self._ids += [row[0] for row in self.rows("job/take_ids", count=count - len(self._ids))]
        taken, self._ids = self._ids[:count], self._ids[count:]
        return taken

    def remember(self, what: Hashable, value: Any) -> None:
        """Keep something for later transactions of this process, once this one is committed."""
        self._mind[what] = value

    def recall(self, what: Hashable) -> Any:
        """What this transaction or a committed one of this process was told to remember; None where nothing is kept."""
        return self._mind.get(what)


def asked(pipe: Pipe, name: str, values: Mapping[str, Any]) -> Asked:
    """A statement by its name."""
    return pipe.ask(numbered(name), [values[key] for key in statement(name, "postgres").parameters], name.encode())


class Begun:
    """The answer to BEGIN, read when needed: start of the server, number of the transaction, the time."""

    def __init__(self, asked: Asked, pipe: Pipe, clock: ServerClock) -> None:
        self._asked = asked
        self._pipe = pipe
        self._clock = clock
        self._sent = clock.monotonic()
        self._row: tuple[Any, ...] = ()

    def _read(self) -> tuple[Any, ...]:
        if not self._row:
            if self._asked.command is None:
                self._pipe.hear()
            self._row = self._asked.rows()[0]
            self._clock.heard(Instant(self._row[-1]), self._sent)
        return self._row

    def now(self) -> Instant:
        return Instant(self._read()[-1])

    def identity(self) -> tuple[str, str]:
        """Start of the server and number of the transaction, which no other pair repeats."""
        started, number, _ = self._read()[-3:]
        return started, number
