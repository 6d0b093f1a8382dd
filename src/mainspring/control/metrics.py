"""Questions about numbers: what was counted so far, and series of it over time. Nothing is changed."""

from __future__ import annotations

from mainspring.domain.metric import READER, Figures, Point, SeriesWanted, check
from mainspring.store import Store, Transaction, depths, events, series


def figures(store: Store) -> Figures:
    """All numbers as they are now."""

    def look(tx: Transaction) -> Figures:
        read = series.cursor(tx, READER) or 0
        totals = series.totals(tx)
        return Figures(tx.now, totals, depths.shown(tx), max(0, events.last(tx) - read))

    return store.read(look)


def points(store: Store, wanted: SeriesWanted) -> list[Point]:
    """A metric over time. Raises InvalidOption for what can't be asked."""
    checked = check(wanted)
    return store.read(lambda tx: series.between(tx, checked))
