"""Shapes: what stands below the nodes of definitions, as far as this process has read it.

A definition never changes, so what was read of it once holds for every run of it. It is known by its content, as the
number of a version that is forgotten may be given again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mainspring.domain.ids import RunId
from mainspring.store.runs import Below, Held, Key

MOST = 10_000
"""Nodes, and runs: some megabytes."""


class Shapes:
    """What one process has read."""

    def __init__(self) -> None:
        self._content: dict[RunId, str] = {}
        self._below: dict[tuple[str, int], Sequence[Below]] = {}

    def below(self, key: Key) -> Sequence[Below] | None:
        """The nodes below one; None where that is not known."""
        run, number = key
        content = self._content.get(run)
        return None if content is None else self._below.get((content, number))

    def learn(self, held: Mapping[RunId, Held], below: Mapping[Key, Sequence[Below]]) -> None:
        """This was read of these runs: all that is below these nodes."""
        if len(self._below) + len(below) > MOST:
            self._below.clear()
        if len(self._content) + len(held) > MOST:
            self._content.clear()
        self._content.update((run, one.content) for run, one in held.items())
        self._below.update(
            ((held[run].content, number), found) for (run, number), found in below.items() if run in held
        )
