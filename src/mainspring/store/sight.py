"""Looking for all the loops of a server in one question."""

from __future__ import annotations

from mainspring.domain.metric import DEPTHS, READER
from mainspring.domain.sight import Sight
from mainspring.store.transaction import Transaction


def see(tx: Transaction) -> Sight:
    """Look once."""
    (found,) = tx.rows("sight/all", reader=READER, depths=DEPTHS)
    rules, due, lease, expiry, tick, waiting, backfills, messages, event, counted, told, deliveries = found
    flags = bool(waiting), bool(backfills), bool(messages)
    return Sight(rules or 0, due, lease, expiry, tick, *flags, event or 0, counted, told, bool(deliveries))
