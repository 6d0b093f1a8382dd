"""``mainspring`` and ``python -m mainspring``: a runner starts without the command line, everything else through it."""

from __future__ import annotations

import gc
import sys

_YOUNG = 20_000
"""So many new objects before the youngest are looked at for cycles: what is loaded at a start stays."""


def main() -> int:
    """Run what the arguments name; the exit status."""
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, *before[1:])
    if sys.argv[1:2] == ["runner"]:
        # A runner starts often and beside user code, so it loads nothing that it does not need.
        from mainspring.runner.main import main as run

        gc.set_threshold(*before)  # user code has what Python gives it
        return run(sys.argv[2:])
    from mainspring.cli.main import main as command_line

    status = command_line(sys.argv[1:])
    gc.freeze()  # what is left goes with the process: nobody need look at it once more
    return status


if __name__ == "__main__":
    sys.exit(main())
