"""``mainspring init``: a first app to change and run. Never overwrites."""

from __future__ import annotations

from pathlib import Path

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access
from mainspring.errors import InvalidInput

APP = '''"""A first app. Run it with `mainspring up`, then: mainspring submit hello name=world --wait"""

import asyncio

from mainspring import Context, Mainspring, Retry

app = Mainspring("first")


@app.task
async def hello(name: str) -> str:
    """A task is a function. Its parameters are checked when a job is submitted; what it prints becomes its log."""
    print(f"saying hello to {name}")
    await asyncio.sleep(0.5)
    return f"hello, {name}"


@app.task(retry=Retry(max_attempts=5, delay="1s"), timeout="30s")
def flaky(ctx: Context, succeeds_at: int = 3) -> str:
    """Plain functions run in threads. This one fails at first; failed attempts are followed by others, with backoff."""
    if ctx.attempt < succeeds_at:
        raise RuntimeError(f"attempt {ctx.attempt} fails on purpose")
    return f"succeeded at attempt {ctx.attempt}"


# A command runs in a process of its own, without a shell; {what} is replaced by the parameter, always as one word.
say = app.command("say", ["echo", "{what}"], params={"what": str})
'''

SETTINGS = """# Settings of this directory. Flags and environment variables (MAINSPRING_PORT=...) win over them.
app = "app.py"

# database_url = "sqlite:///.mainspring/mainspring.db"
# port = 8750
# workers = 1
# slots = 100     # jobs that a worker runs at once
# drain = "30s"   # how long running jobs may take to finish when you stop it
"""


def init(*, access: Access = of.DEFAULT) -> int:
    """Write a first app.py and mainspring.toml into this directory. Files that are there already are kept."""
    written: list[str] = []
    kept: list[str] = []
    for name, text in (("app.py", APP), ("mainspring.toml", SETTINGS)):
        (written if _write(Path(name), text) else kept).append(name)
    if access.json:
        show.as_json({"written": written, "kept": kept})
        return 0
    for name in written:
        show.line(f"wrote {name}")
    for name in kept:
        show.line(f"kept  {name}, which was there already")
    show.line()
    show.line("Start it:       mainspring up")
    show.line("Give it work:   mainspring submit hello name=world --wait")
    show.line("See it retry:   mainspring submit flaky --wait")
    show.line("Look around:    mainspring jobs   mainspring tasks   mainspring workers")
    return 0


def _write(path: Path, text: str) -> bool:
    """Write a file that is not there yet; False when it is."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise InvalidInput(
            f"{path} can't be written: {error.strerror}.", remedy="Go to a directory that you may write to."
        ) from error
    return True
