"""Due: everything whose instant has come, a bounded piece of it. For the turns of workers and servers."""

from __future__ import annotations

from mainspring.store.transaction import Transaction
from mainspring.transitions.errands import run_errands
from mainspring.transitions.waiting import BATCH, promote


def come(tx: Transaction, actor: str) -> int:
    """Promote due jobs, and do what is to be done for runs; how many moved, BATCH where more is due."""
    promoted = promote(tx, actor)
    done, more = run_errands(tx, actor)
    return BATCH if more else promoted + done
