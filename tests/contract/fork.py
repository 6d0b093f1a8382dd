"""A program that forks while its store is busy; its children inherit the store and end as programs end.

    python -m tests.contract.fork URL FORKS

Each child tries to use what it inherited, opens a store of its own, and ends without ceremony. Prints how many writes
the parent was promised.
"""

from __future__ import annotations

import os
import sys
import threading

from mainspring.errors import StoreError
from mainspring.store import Store, Transaction


def insert(tx: Transaction) -> None:
    """A few pages of changes."""
    first = tx.job_ids(20)[0]
    for number in range(first, first + 20):
        tx.rows("policy/insert", document=f"{number} {'x' * 2000}")


def refused(store: Store) -> bool:
    """Whether what was inherited is refused with a sentence, at once."""
    for use in (lambda: store.write(insert), lambda: store.read(lambda tx: tx.rows("event/bound"))):
        try:
            use()
        except StoreError as error:
            if "forked" not in str(error):
                return False
        else:
            return False
    store.close()  # does nothing to what is the parent's
    return True


def main(url: str, forks: int) -> None:
    """Write without a pause, and fork in the middle of it."""
    store = Store.open(url)
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        while not stop.is_set():
            store.write(insert)
            written += 1

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(forks):
        pid = os.fork()
        if not pid:
            fine = refused(store)
            own = Store.open(url)
            own.read(lambda tx: tx.rows("event/bound"))
            own.close()
            sys.exit(0 if fine else 1)  # so that the interpreter takes everything down
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, "a child could use, or broke, what it had inherited"
    stop.set()
    writer.join()
    store.write(insert)
    store.close()
    print(written + 1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
