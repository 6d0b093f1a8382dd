"""What may be used only in one place, or nowhere, with the name of the right one and the reason for each place.

Import contracts (pyproject.toml) say which of our rooms may know which; this table is about other people's names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatch


@dataclass(frozen=True)
class Ban:
    """A module (``time``), a name in one (``os.environ``) or a builtin (``print``).

    ``places``: where it is right all the same, and why; paths below ``src/mainspring``. ``never``: when given, the ban
    holds only there.
    """

    name: str
    instead: str
    places: dict[str, str] = field(default_factory=dict)
    never: tuple[str, ...] = ()

    def holds_in(self, path: str) -> bool:
        if self.never:
            return any(fnmatch(path, place) for place in self.never)
        return not any(fnmatch(path, place) for place in self.places)

    def covers(self, name: str) -> bool:
        return name == self.name or name.startswith(f"{self.name}.")

    @property
    def is_module(self) -> bool:
        return "." not in self.name and self.name not in BUILTINS


BUILTINS = {"print", "eval", "exec", "input", "breakpoint"}
DECIDING = ("domain/*", "transitions/*", "engine/*", "control/*")

_TIME = "take a Clock as an argument (mainspring.clock): now(), monotonic(), wait()"
_CHANCE = "take a Chance as an argument (mainspring.chance)"
_STARTS = {
    "supervisor/*": "starts server and workers",
    "worker/*": "starts runners and commands",
    "runner/*": "starts tasks in a process of their own",
    "demo/*": "starts the platform as a person would",
    "cli/main.py": "turns into the process that the command names",
}

PACKAGE_BANS = [
    # time and chance: injected, so that a seed replays a world
    Ban(
        "time",
        _TIME,
        {
            "clock.py": "the one place that asks the machine",
            "worker/guard.py": "runs as a lone file, without the package around it",
        },
    ),
    *(
        Ban(f"datetime.{name}", "use Clock.now() and instant_text() of mainspring.clock", {"clock.py": "see time"})
        for name in ("datetime.now", "datetime.utcnow", "datetime.today", "date.today")
    ),
    Ban("sched", _TIME),
    Ban("threading.Timer", "be a turn of mainspring.engine.drive"),
    Ban("asyncio.sleep", "wait for an event with a time-out (asyncio.wait_for), or be a turn"),
    Ban("anyio.sleep", "wait for an event with a time-out, or be a turn"),
    Ban("random", _CHANCE, {"chance.py": "the one place that rolls dice"}),
    Ban("secrets", _CHANCE, {"chance.py": "see random"}),
    Ban("uuid", "take an id from the store, or Chance.incarnation()"),
    Ban("os.urandom", _CHANCE),
    # speaking and listening
    Ban(
        "print",
        "draw with cli/show.py, or write to the log",
        {
            "cli/show.py": "the only place that draws",
            "worker/guard.py": "has only its standard error, as it must run without the rest",
        },
    ),
    Ban("input", "ask through a parameter of the command"),
    Ban("breakpoint", "take it out"),
    Ban("eval", "parse the text"),
    Ban("exec", "import the module"),
    *(
        Ban(
            name,
            "take the value from mainspring.config",
            {
                "config/*": "the layer that reads the environment",
                "runner/*": "hands the environment on to user code",
                **_STARTS,
            },
        )
        for name in ("os.environ", "os.environb", "os.getenv", "os.putenv")
    ),
    # processes
    *(
        Ban(name, "start processes in worker, runner or supervisor", _STARTS)
        for name in (
            "subprocess",
            "os.fork",
            "os.forkpty",
            "os.posix_spawn",
            "os.system",
            "os.popen",
            "asyncio.create_subprocess_exec",
        )
    ),
    Ban("asyncio.create_subprocess_shell", "give the command as a list: no shell"),
    Ban("multiprocessing", "use the runner protocol", {"runner/*": "its own children only"}),
    Ban("concurrent.futures.ProcessPoolExecutor", "use the runner protocol"),
    Ban("pickle", "use msgspec: nothing from data becomes an object", {"runner/*": "its own children only"}),
    Ban("marshal", "use msgspec"),
    Ban("shelve", "use the store"),
    # what decides does not wait
    *(
        Ban(name, "decisions are values; waiting is the business of the shells around them", never=DECIDING)
        for name in ("asyncio", "threading", "concurrent", "queue", "selectors", "socket", "signal", "anyio")
    ),
    Ban("os", "domain is pure; pass in what it needs to know", never=("domain/*",)),
    Ban("pathlib", "domain is pure; pass in what it needs to know", never=("domain/*",)),
    # other people's engines and frameworks, each in one room
    Ban("sqlite3", "use the store: two SQLite libraries in one process break its locks"),
    Ban("apsw", "use the store", {"store/sqlite*.py": "the SQLite engine"}),
    Ban("psycopg", "use the store", {"store/postgres*.py": "the PostgreSQL engine"}),
    *(
        Ban(name, "speak HTTP in server only", {"server/*": "the HTTP room"})
        for name in ("starlette", "fastapi", "uvicorn", "httptools")
    ),
    *(
        Ban(
            name, "use mainspring.client", {"client/http.py": "the client over REST", "server/posting.py": "deliveries"}
        )
        for name in ("httpx2", "httpx", "requests", "urllib.request", "http.client")
    ),
    Ban("cyclopts", "commands live in cli", {"cli/*": "the command line"}),
    Ban("rich", "draw with cli/show.py", {"cli/*": "what people see in a terminal", "demo/*": "see cli"}),
    Ban("unittest", "write the test in tests/"),
]

TEST_BANS = [
    *(
        Ban(
            name,
            "move the virtual clock (mainspring.testing.Harness), or wait for the condition itself",
            {
                "*/apps/*": "stands for user code that takes its time",
                "*engine/test_harness*.py": "task code on the virtual loop, where it costs no time",
                "*engine/test_rules.py": "task code on the virtual loop, where it costs no time",
                "*engine/test_fleet.py": "task code on the virtual loop, where it costs no time",
            },
        )
        for name in ("time.sleep", "asyncio.sleep", "anyio.sleep")
    ),
    Ban("unittest.mock", "use the real thing: an in-memory store, a Harness, a runner of the test"),
    Ban("mock", "use the real thing"),
]
