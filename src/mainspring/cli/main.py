"""The command line's front door: finds the command, loads it, and turns how it ends into an exit status.

Nothing heavy is imported here, so that ``--help`` and ``--version`` answer at once. A command is a function in a module
of its own that returns an exit status; it is named here as text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mainspring.cli import streams
from mainspring.errors import MainspringError, OutputFailed, WrongUse, near

if TYPE_CHECKING:
    from cyclopts import App

    from mainspring.supervisor.child import Supervised

FAULT_OF_OURS = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


class Command(NamedTuple):
    """A command: its name, where its function is, one line of help, and the words that it takes besides options.

    One with ``verbs`` has commands below it, ``mainspring db check``, and a function of its own only if it has a place.
    """

    name: str
    place: str
    summary: str
    takes: str = ""
    verbs: tuple[Command, ...] = ()

    def has_verb(self, words: Sequence[str]) -> bool:
        """Whether the first of these words is a command below it."""
        return any(verb.name == word for verb in self.verbs for word in words[:1])


WORKER = (Command("drain", "mainspring.cli.workers:drain", "Let a worker end when its running jobs have.", " ID"),)
IMPORT = (
    Command("crontab", "mainspring.cli.importing:crontab", "Make an app file of a crontab; runs nothing.", " FILE"),
    Command("wfformat", "mainspring.cli.import_workflows:wfformat", "Import an instance of WfFormat.", " FILE"),
    Command("pipeline", "mainspring.cli.import_workflows:pipeline", "Import a pipeline in the neutral JSON.", " FILE"),
)
QUEUE = (
    Command("pause", "mainspring.cli.queues:pause", "Let no more jobs of a queue start.", " NAME"),
    Command("resume", "mainspring.cli.queues:resume", "Let them start again.", " NAME"),
    Command("set", "mainspring.cli.queues:set_", "Set how many jobs of a queue may run at once.", " NAME"),
)
TOKEN = (
    Command("create", "mainspring.cli.token:create", "Make one; its secret is printed once.", " NAME"),
    Command("list", "mainspring.cli.token:list_", "List them, newest first."),
    Command("revoke", "mainspring.cli.token:revoke", "Take one back.", " ID|NAME"),
)
WEBHOOK = (
    Command("add", "mainspring.cli.webhooks:add", "Tell a receiver of what happens.", " NAME URL"),
    Command("show", "mainspring.cli.webhooks:show_", "Show one and its last deliveries.", " NAME"),
    Command("set", "mainspring.cli.webhooks:set_", "Change where it sends to, or what it is told of.", " NAME"),
    Command("pause", "mainspring.cli.webhooks:pause", "Send nothing until it is resumed.", " NAME"),
    Command("resume", "mainspring.cli.webhooks:resume", "Send again.", " NAME"),
    Command("test", "mainspring.cli.webhooks:check", "Deliver something that tells of nothing.", " NAME"),
    Command("deliveries", "mainspring.cli.webhooks:deliveries", "List what was delivered, newest first.", " NAME"),
    Command("redeliver", "mainspring.cli.webhooks:redeliver", "Deliver something once more.", " NAME ID"),
    Command("secret", "mainspring.cli.webhooks:secret", "Give it a new secret, printed once.", " NAME"),
    Command("remove", "mainspring.cli.webhooks:remove", "Take one away.", " NAME"),
)
CONFIG = (
    Command("show", "mainspring.cli.config:show_", "Show every setting with its value, and where it comes from."),
    Command("get", "mainspring.cli.config:get", "Say what holds for one setting.", " NAME"),
    Command("set", "mainspring.cli.config:set_", "Set settings for everybody, while all runs.", " NAME=VALUE ..."),
    Command("unset", "mainspring.cli.config:unset", "Take back what was set for everybody.", " NAME ..."),
    Command("history", "mainspring.cli.config:history", "List what was changed, newest first."),
    Command("revert", "mainspring.cli.config:revert", "Set all as it was right after a change.", " ID"),
    Command("validate", "mainspring.cli.config:validate", "Check a file and the environment.", " [FILE]"),
)
USERS = (
    Command("create", "mainspring.cli.users:create", "Let somebody sign in.", " NAME"),
    Command("list", "mainspring.cli.users:list_", "List them by name."),
    Command("change", "mainspring.cli.users:change", "Change their role, queues or password.", " NAME"),
    Command("remove", "mainspring.cli.users:remove", "Take one away.", " NAME"),
)
SCHEDULE = (
    Command("add", "mainspring.cli.schedules:add", "Declare a schedule.", " NAME [NAME=VALUE ...]"),
    Command("show", "mainspring.cli.schedules:show_", "Show a schedule and its last ticks.", " NAME"),
    Command("set", "mainspring.cli.schedules:set_", "Change fields of a schedule.", " NAME FIELD=VALUE ..."),
    Command("pause", "mainspring.cli.schedules:pause", "Let none of its ticks make a job.", " NAME"),
    Command("resume", "mainspring.cli.schedules:resume", "Let them make jobs again.", " NAME"),
    Command("trigger", "mainspring.cli.schedules:trigger", "Make a job now.", " NAME"),
    Command("backfill", "mainspring.cli.schedules:backfill", "Make the jobs of ticks of the past.", " NAME"),
    Command("preview", "mainspring.cli.lookahead:preview", "Show when a rule fires, in words and times.", " EXPR"),
    Command("outage", "mainspring.cli.lookahead:outage", "Show what an outage would do to it.", " NAME|EXPR"),
    Command("load", "mainspring.cli.lookahead:load", "Show how many ticks come in each minute."),
    Command("reset", "mainspring.cli.schedules:reset", "Take back what operators have changed.", " NAME"),
    Command("remove", "mainspring.cli.schedules:remove", "Take a schedule away.", " NAME"),
)
RUNNING = (
    Command("up", "mainspring.cli.up:up", "Start server and workers, and keep them running."),
    Command("server", "mainspring.cli.server:server", "Start a server alone: REST API, health, sweep, retention."),
    Command("worker", "mainspring.cli.worker:worker", "Start a worker alone, for one app; or drain one.", verbs=WORKER),
    Command("demo", "mainspring.cli.demo:demo", "See it at work: a whole platform in a temporary directory."),
    Command("init", "mainspring.cli.init:init", "Write a first app.py and mainspring.toml here."),
)
JOBS = (
    Command(
        "submit", "mainspring.cli.submit:submit", "Submit a job: submit TASK name=value ...", " TASK [NAME=VALUE ...]"
    ),
    Command("jobs", "mainspring.cli.jobs:jobs", "List jobs, newest first, or count them."),
    Command("job", "mainspring.cli.job:job", "Show one job: attempts, events, result, error.", " ID"),
    Command("explain", "mainspring.cli.explain:explain", "Say why a job waits, or why it ended as it did.", " ID"),
    Command("cancel", "mainspring.cli.job:cancel", "Cancel a job that waits or runs.", " ID"),
    Command("retry", "mainspring.cli.job:retry", "Run an ended job again, as a new job.", " ID"),
    Command("logs", "mainspring.cli.logs:logs", "Show what a job wrote; -f follows it.", " ID"),
    Command("events", "mainspring.cli.events:events", "Show what happened to jobs; -f follows it."),
)
SCHEDULES = (
    Command("schedules", "mainspring.cli.schedules:schedules", "List schedules, and when they fire next."),
    Command("schedule", "", "Look after a schedule: add, show, pause, trigger ...", " VERB NAME", SCHEDULE),
)
DATABASE = (
    Command("upgrade", "mainspring.cli.db:upgrade", "Bring the tables to this version."),
    Command("check", "mainspring.cli.db:check", "Say whether it is sound, and what needs care."),
    Command("backup", "mainspring.cli.db:backup", "Copy it to a new file while it runs (SQLite).", " PATH"),
    Command("prune", "mainspring.cli.db:prune", "Take out ended jobs that are old enough, now."),
    Command("move", "mainspring.cli.db:move", "Move everything into an empty database of either kind.", " URL_TO"),
)
PLATFORM = (
    Command("tasks", "mainspring.cli.tasks:tasks", "List the tasks that apps have reported."),
    Command("workers", "mainspring.cli.workers:workers", "List workers and what they do."),
    Command("queues", "mainspring.cli.queues:queues", "List queues, what waits in them, and their limits."),
    Command("queue", "", "Pause or resume a queue, or set its limit.", " VERB NAME", QUEUE),
    Command("top", "mainspring.cli.top:top", "Show queues and workers live."),
    Command("topics", "mainspring.cli.topics:topics", "List topics, or the messages of one.", " [TOPIC]"),
    Command("publish", "mainspring.cli.topics:publish", "Add a message to a topic.", " TOPIC"),
    Command("subscriptions", "mainspring.cli.topics:subscriptions", "List who takes the messages of topics."),
    Command("subscribe", "mainspring.cli.topics:subscribe", "Make a job or a run of each message.", " NAME TOPIC"),
    Command("unsubscribe", "mainspring.cli.topics:unsubscribe", "Make nothing of further messages.", " NAME"),
    Command("webhooks", "mainspring.cli.webhooks:webhooks", "List who is told of what happens, over HTTP."),
    Command("webhook", "", "Look after a webhook: add, show, pause, test, deliveries ...", " VERB NAME", WEBHOOK),
    Command("token", "", "Say who may ask a server over REST.", " VERB", TOKEN),
    Command("users", "", "Say who may sign in to a server.", " VERB", USERS),
    Command("audit", "mainspring.cli.token:audit", "List what people changed, newest first."),
    Command("config", "", "See and change settings: show, get, set, unset, history, revert.", " VERB", CONFIG),
    Command("db", "", "Look after a database: upgrade, check, backup, prune, move.", " VERB", DATABASE),
    Command("import", "", "Make other systems' definitions known here.", " KIND FILE", IMPORT),
    Command("draw", "mainspring.cli.draw:draw", "Check a workflow file and show its graph.", " FILE"),
    Command(
        "export",
        "mainspring.cli.export:export",
        "Write out all there is of a kind, or a run.",
        " jobs|events|ticks|run ID",
    ),
)
WORKFLOWS = (
    Command("workflows", "mainspring.cli.runs:workflows", "List the workflows that are known."),
    Command("run", "mainspring.cli.runs:run", "Start a run of a workflow.", " NAME|FILE [name=value ...]"),
    Command("runs", "mainspring.cli.runs:runs", "List runs, newest first."),
    Command("run-show", "mainspring.cli.runs:run_show", "Show a run and its nodes.", " ID"),
    Command("resume", "mainspring.cli.runs:resume", "Go on from what failed in a run.", " RUN"),
    Command("restart", "mainspring.cli.runs:restart", "Run an ended run again from its start.", " RUN"),
    Command("run-cancel", "mainspring.cli.runs:run_cancel", "Cancel a run with all of its nodes.", " ID"),
)
GROUPS = (
    ("Run it", RUNNING),
    ("Jobs", JOBS),
    ("Workflows", WORKFLOWS),
    ("Schedules", SCHEDULES),
    ("Platform", PLATFORM),
)
COMMANDS = {command.name: command for _, commands in GROUPS for command in commands}

_ANYWHERE = {"--db": 1, "--config": 1, "--api": 1, "--token": 1, "--json": 0}
"""Options of all commands, with the number of values they take: they may also stand before the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.platform == "win32":
        sys.stderr.write("mainspring runs on Linux and macOS. On Windows, use it inside WSL 2.\n")
        return WrongUse.exit_status
    streams.stand_in()
    supervised = _join_tree()
    return _ended(words, supervised)


def version() -> str:
    """The version of this package; import contracts keep its front door for users."""
    return str(sys.modules["mainspring"].__version__)


def _join_tree() -> Supervised | None:
    """Take up the place that a supervisor prepared, before anything slower is loaded."""
    if "MAINSPRING_SUPERVISOR_PID" not in os.environ:
        return None
    from mainspring.supervisor.child import join

    supervised = join(os.environ)
    if supervised is not None:
        supervised.listen()
    return supervised


def _ended(words: list[str], supervised: Supervised | None) -> int:
    """Run the command; every way in which it may end becomes an exit status here."""
    from mainspring.cli import show

    as_json = "--json" in words
    try:
        status = _run(words, supervised)
        show.flush()
    except MainspringError as error:
        text = show.error_text(error, as_json=as_json)
        status = error.exit_status
        if isinstance(error, OutputFailed):
            streams.give_up()
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not stumble over the rest of it when it ends.
        streams.give_up()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        text, status = "", _status_of(end)
    except Exception as error:  # noqa: BLE001 - what nobody expected is shown whole
        text = show.crash_text(error, version())
        status = FAULT_OF_OURS
    else:
        text = ""
    if supervised is not None and status and supervised.leave(text):
        return status
    if text:
        show.complain(text)
    return status


def _status_of(end: SystemExit) -> int:
    if isinstance(end.__context__, BrokenPipeError):  # what draws our tables and help ends so where nobody reads on
        return PIPE_CLOSED
    return end.code if isinstance(end.code, int) else int(end.code is not None)


def _run(words: list[str], supervised: Supervised | None) -> int:
    words = _command_first(words)
    if words[:1] in (["--version"], ["-V"], ["version"]):
        return _version()
    if not words or words[0] in {"--help", "-h", "help"}:
        return _help(words)
    if words[0] not in COMMANDS:
        raise _no_command(words[0])
    from mainspring.cli import processes

    if supervised is not None and words[0] in {"server", "worker"}:
        return processes.run(words[0], supervised.loaded, supervised.leave)
    processes.arm_faults()
    return _call(COMMANDS[words[0]], words[1:])


def _command_first(words: list[str]) -> list[str]:
    """Move options that stand before the command behind it."""
    at = 0
    while at < len(words) and words[at].partition("=")[0] in _ANYWHERE:
        at += 1 if "=" in words[at] else 1 + _ANYWHERE[words[at]]
    named = words[at : at + 1]
    if named and named[0] in COMMANDS and COMMANDS[named[0]].has_verb(words[at + 1 : at + 2]):
        named = words[at : at + 2]
    return [*named, *words[:at], *words[at + len(named) :]] if named else []


def _no_command(word: str) -> WrongUse:
    return WrongUse(
        f"There is no command {word!r}.", remedy=near(word, COMMANDS) or "List them with: mainspring --help", field=word
    )


def _version() -> int:
    from mainspring.cli import show

    show.line(f"mainspring {version()}")
    return 0


def _help(words: list[str]) -> int:
    from mainspring.cli import show

    if words[1:] and words[1] in COMMANDS:
        return _call(COMMANDS[words[1]], ["--help"])
    show.overview(version(), [(title, [(one.name, one.summary) for one in commands]) for title, commands in GROUPS])
    return 0


def _right_use(command: Command, words: Sequence[str]) -> str:
    """Where it stands how a command is used; for a verb that is not there, the one that was meant."""
    if command.has_verb(words):
        return f"See: mainspring {command.name} {words[0]} --help"
    if command.verbs and not command.place and words and not words[0].startswith("-"):
        if words[0] in {"list", "ls"} and f"{command.name}s" in COMMANDS:
            return f"List them with: mainspring {command.name}s"
        if close := near(words[0], [verb.name for verb in command.verbs]):
            return close
    return f"See: mainspring {command.name} --help"


def _call(command: Command, words: Sequence[str]) -> int:
    """Parse the words for the command and call it."""
    from cyclopts import CycloptsError

    try:
        function, bound, _ = application(command).parse_args(
            [command.name, *words], print_error=False, exit_on_error=False, verbose=False
        )
    except CycloptsError as error:
        from mainspring.cli.misuse import told

        raise WrongUse(told(error), remedy=_right_use(command, words)) from error
    if {"--help", "-h"} & set(words) or not (command.place or words):  # then the parser's own function prints
        with streams.writing():
            function(*bound.args, **bound.kwargs)
        return 0
    status = function(*bound.args, **bound.kwargs)
    return status if isinstance(status, int) else 0


def application(*wanted: Command) -> App:
    """These commands for the parser (default: all); a module is imported when its command is called or has verbs."""
    from cyclopts import App

    app = App(
        name="mainspring",
        version_flags=[],
        help_flags=["--help", "-h"],
        group_parameters="Options",
        suppress_keyboard_interrupt=False,
    )
    for command in wanted or COMMANDS.values():
        _add(app, command, "mainspring")
    return app


def _add(app: App, command: Command, above: str) -> None:
    from cyclopts import App

    words = f"{above} {command.name}"
    usage = f"Usage: {words}{command.takes} [OPTIONS]"
    if command.place:
        app.command(command.place, name=command.name, help=command.summary, usage=usage)
        group = app[command.name] if command.verbs else app
    else:
        group = App(name=command.name, help=command.summary, usage=usage, help_flags=["--help", "-h"], version_flags=[])
        app.command(group)
    for verb in command.verbs:
        _add(group, verb, words)


def __getattr__(name: str) -> App:
    """``app``, for tools that want the parser's tree (documentation, completion)."""
    if name == "app":
        return application()
    raise AttributeError(name)
