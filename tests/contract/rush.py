"""Many processes open one database at the same instant, several times over.

python -m tests.contract.rush URL PROCESSES
"""

from __future__ import annotations

import os
import sys
import traceback

from mainspring.control import read
from mainspring.domain.job import JobFilter
from mainspring.store import Store


def main(url: str, processes: int) -> int:
    """Fork first, then let all go at once; how many failed."""
    gate, go = os.pipe()
    pids = []
    for _ in range(processes):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                os.close(go)
                os.read(gate, 1)
                for _ in range(5):
                    store = Store.open(url)
                    read.counted(store, JobFilter())
                    store.write(lambda tx: tx.job_ids(1))
                    store.close()
                status = 0
            except BaseException:  # noqa: BLE001 - told to the parent
                traceback.print_exc()
            finally:
                os._exit(status)
        pids.append(pid)
    os.close(go)
    return sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in pids)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
