"""The acts: what is asked of the platform, and what must come of it. Each answers the rows of the table.

They speak to the platform through the SDK, as any program would. An act that goes wrong says so in its row.
"""

from __future__ import annotations

import hashlib
import sysconfig
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.demo import work
from mainspring.demo.dags import pipeline, traffic
from mainspring.demo.screen import Row, Screen
from mainspring.demo.stage import LEASE, SWEEP, Stage
from mainspring.domain.attempt import Attempt
from mainspring.domain.job import JobFilter
from mainspring.domain.states import FINAL, Outcome, State
from mainspring.errors import UnknownJob
from mainspring.sdk.handle import Handle

_PATIENCE = Duration(60 * SECOND)
_LEFT_OUT = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3", "turtledemo"}
_AT_ONCE, _FEWEST = 6, 200
_VICTIM = "alpha"
_ASKED = "(asking for job 999)"


def two_workers(stage: Stage, screen: Screen) -> list[Row]:
    """Two workers; a backup's status is asked until it is done; the archive is verified."""
    screen.title("1  Two workers, and a backup that is verified (System 2)")
    stage.until("the start of both workers", lambda: {"alpha", "beta"} <= set(stage.active_workers()))
    screen.step(f"workers {' and '.join(sorted(stage.active_workers()))} are up")
    source, archive = _make_files(stage.folder / "data"), stage.folder / "backup.tar.gz"
    job = work.backup.submit(src=str(source), dest=str(archive))
    seen: list[str] = []

    def done() -> bool:
        state = job.refresh().state
        if seen[-1:] != [state]:
            seen.append(state)
        return state in FINAL

    stage.until(f"the end of job {job.id}", done)
    screen.step(f"job {job.id}, asked until done: {' → '.join(seen)}")
    before = _checksums_of_folder(source)
    sound = job.state is State.SUCCEEDED and _checksums_of_archive(archive) == before
    shows = f"a real archive of {len(before)} files; the SHA-256 of each is as before"
    wrong = "" if sound else "the archive does not hold what the directory holds"
    return _shown(screen, [_row(job, State.SUCCEEDED, Outcome.SUCCEEDED, shows=shows, also=wrong)])


def payloads(stage: Stage, screen: Screen) -> list[Row]:
    """Jobs that fail as their payload says, one that kills its process, and one that is not there."""
    screen.title("2  What fails says why, and the rest goes on (XE001)")
    archive = stage.folder / "again.tar.gz"
    jobs: list[Handle[Any]] = [
        work.backup.submit(src=str(stage.folder / "data"), dest=str(archive)),
        work.cleanup.submit("old files"),
        work.test_fail.submit("please fail"),
        work.cleanup.submit(""),
        work.selfkill.submit(),
        work.cleanup.submit("after the crash"),
    ]
    stage.until("the end of these jobs", lambda: all(job.refresh().done for job in jobs))
    backup, cleanup, failing, empty, killed, after = jobs
    rows = [
        _row(backup, State.SUCCEEDED, Outcome.SUCCEEDED, shows="queued → running → succeeded, in this order"),
        _row(cleanup, State.SUCCEEDED, Outcome.SUCCEEDED, shows="queued → running → succeeded, in this order"),
        _row(failing, State.DEAD, Outcome.FAILED, message="payload requested failure"),
        _row(empty, State.DEAD, Outcome.FAILED, message="empty payload"),
        _row(killed, State.DEAD, Outcome.CRASHED, message="SIGKILL"),
        _row(after, State.SUCCEEDED, Outcome.SUCCEEDED, shows="the worker went on with the next job"),
    ]
    return _shown(screen, [*rows, _unknown()])


def survey(stage: Stage, screen: Screen) -> list[Row]:
    """Real work: read every module of the standard library in many jobs, and kill a worker in the middle of it."""
    screen.title("4  Real work: every module of Python's standard library, while a worker is killed")
    root, names = _modules(stage.folder / "modules")
    parts = [names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE)]
    jobs = work.read_sources.submit_many({"root": str(root), "names": part} for part in parts)
    screen.step(f"{len(jobs)} jobs submitted, for {len(names)} modules below {root}")
    killed = ""
    with screen.bar("jobs done", len(jobs)) as bar:

        def finished() -> bool:
            nonlocal killed
            succeeded, dead = (_count(stage, state) for state in (State.SUCCEEDED, State.DEAD))
            bar.at(succeeded)
            if not killed and succeeded >= len(jobs) // 4 and stage.kill_worker(_VICTIM):
                killed = _VICTIM
                bar.say(f"kill -9 of worker {killed}; its jobs run again after lease and sweep ({LEASE} + {SWEEP})")
            return succeeded + dead == len(jobs)

        stage.until("the end of all jobs that read modules", finished, within=_PATIENCE)
    attempts = {job.id: job.attempts() for job in jobs}
    rows = [_crash_row(jobs, attempts, killed)]
    return _shown(screen, [*rows, _summary_row(stage, jobs, root, names)])


def _count(stage: Stage, state: State) -> int:
    return stage.client.count(JobFilter(state=state, task=work.read_sources.name))


def _crash_row(jobs: list[Handle[Any]], attempts: dict[int, list[Attempt]], killed: str) -> Row:
    records = [job.refresh().record for job in jobs]
    succeeded = sum(1 for record in records if record.state is State.SUCCEEDED)
    lost = sum(1 for tries in attempts.values() if any(one.outcome is Outcome.LOST for one in tries))
    most = max(len(tries) for tries in attempts.values())
    wrong = "" if succeeded == len(jobs) else f"only {succeeded} of {len(jobs)} succeeded"
    if not killed:
        wrong = wrong or f"worker {_VICTIM} was not there to be killed"
    ends = [record.finished_at for record in records if record.finished_at is not None]
    took = Duration(max(ends, default=0) - min(record.created_at for record in records))
    return Row(
        f"{jobs[0].id}-{jobs[-1].id}",
        "read_sources",
        "succeeded" if succeeded == len(jobs) else "unfinished",
        f"1 to {most}: lost, succeeded" if lost else f"1 to {most}",
        _seconds(took),
        f"crash: killed -9 worker {killed or 'none'}; all {len(jobs)} jobs finished, {lost} of them ran again",
        wrong,
    )


def _summary_row(stage: Stage, jobs: list[Handle[Any]], root: Path, names: list[str]) -> Row:
    job = work.summary.submit(jobs=[one.id for one in jobs], report=str(stage.folder / "report.json"))
    stage.until("the end of the summary", lambda: job.refresh().done)
    found = job.record.result if isinstance(job.record.result, dict) else {}
    sources = {name: (root / name).read_bytes() for name in names}
    lines = sum(source.count(b"\n") for source in sources.values())
    checksum = work.checksum_of({name: hashlib.sha256(source).hexdigest() for name, source in sources.items()})
    right = (found.get("lines"), found.get("checksum"), found.get("modules")) == (lines, checksum, len(names))
    shows = (
        f"{found.get('modules', 0):,} modules, {found.get('lines', 0):,} lines, {found.get('functions', 0):,} functions"
        f"; SHA-256 {checksum[:12]}… counted again here, the same"
    )
    return _row(job, State.SUCCEEDED, Outcome.SUCCEEDED, shows=shows, also="" if right else "the totals are wrong")


def _unknown() -> Row:
    try:
        work.app.job(999)
    except UnknownJob as error:
        right = error.message.startswith("unknown job")
        return Row("", _ASKED, "refused", "", "", f"the answer is: {error.message}", "" if right else error.message)
    return Row("", _ASKED, "answered", "", "", "there should be no such job", "there is a job 999")


def _row(job: Handle[Any], state: State, *outcomes: Outcome, shows: str = "", message: str = "", also: str = "") -> Row:
    """The row of a job that must have ended so; ``message`` must be in its error, ``also`` is another complaint."""
    record, attempts = job.refresh().record, job.attempts()
    had = tuple(one.outcome for one in attempts)
    said = record.error.message if record.error is not None else ""
    steps = [event.target for event in work.app.events(after=0, follow=False) if event.job == job.id]
    wrong = also
    if record.state is not state or had != outcomes:
        wrong = f"{record.state} after {', '.join(str(one) for one in had)}, {said}"
    elif message not in said:
        wrong = f"its error is {said!r}"
    elif steps[:2] != [State.QUEUED, State.RUNNING] or steps[-1] is not state:
        wrong = f"its events are {', '.join(steps)}"
    took = Duration((record.finished_at or record.created_at) - record.created_at)
    times = Counter(str(one) for one in had)
    how = f"{len(had)}: " + ", ".join(name if count == 1 else f"{name} x{count}" for name, count in times.items())
    return Row(
        str(job.id),
        record.task.partition(".")[2],
        record.state.value,
        how,
        _seconds(took),
        shows or f"{had[-1] if had else 'no attempt'}: {said}",
        wrong,
    )


def _shown(screen: Screen, rows: list[Row]) -> list[Row]:
    for row in rows:
        screen.result(row)
    return rows


def _seconds(span: Duration) -> str:
    return f"{span // MILLISECOND} ms" if span < SECOND else f"{span / SECOND:.1f} s"


# --- data -------------------------------------------------------------------------------------------------------------


def _make_files(folder: Path) -> Path:
    """A directory worth a backup: 120 files in eight folders, and names that trip careless tools."""
    for number in range(120):
        path = folder / f"part {number % 8}" / f"file-{number:03}.dat"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(hashlib.sha256(str(number).encode()).digest() * 500)
    (folder / "grüße.txt").write_text("Unicode in names and content: ✓\n", encoding="utf-8")
    (folder / "-dash").touch()
    return folder


def _checksums_of_folder(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _checksums_of_archive(archive: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None:
                found[member.name.removeprefix("./")] = hashlib.sha256(content.read()).hexdigest()
    return found


def _modules(spare: Path) -> tuple[Path, list[str]]:
    """Where Python's own modules are, and their paths below it; where it came without sources, some of our making."""
    root = Path(sysconfig.get_path("stdlib"))
    found = [path.relative_to(root) for path in root.rglob("*.py") if path.is_file()]
    names = sorted(str(path) for path in found if not _LEFT_OUT & set(path.parts))
    if len(names) >= _FEWEST:
        return root, names
    spare.mkdir()
    names = [f"module_{number:03}.py" for number in range(_FEWEST)]
    for number, name in enumerate(names):
        (spare / name).write_text("".join(f"def f{line}():\n    return {line * number}\n" for line in range(2_000)))
    return spare, names


ACTS: tuple[Callable[[Stage, Screen], list[Row]], ...] = (two_workers, payloads, pipeline, survey, traffic)
