"""Open a database as somebody who may do little, and say what came of it.

    python -m tests.contract.nobody URL

Root is allowed everything, so a process of root becomes nobody first. Prints the code of the error, or ``fine``.
"""

from __future__ import annotations

import os
import sys

from mainspring.errors import StoreError
from mainspring.store import Store

NOBODY = 65534


def main(url: str) -> None:
    """Give up all rights, then open and write."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        store = Store.open(url)
        store.write(lambda tx: tx.job_ids(1))
        store.close()
    except StoreError as error:
        print(error.code, str(error), sep="\n")
    else:
        print("fine")


if __name__ == "__main__":
    main(sys.argv[1])
