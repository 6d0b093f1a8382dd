"""``python -m mainspring``: a runner starts without the command line, everything else through it."""

from __future__ import annotations

import sys


def main() -> int:
    """Run what the arguments name; the exit status."""
    if sys.argv[1:2] == ["runner"]:
        # A runner starts often and beside user code, so it loads nothing that it does not need.
        from mainspring.runner.main import main as run

        return run(sys.argv[2:])
    from mainspring.cli.main import main as command_line

    return command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
