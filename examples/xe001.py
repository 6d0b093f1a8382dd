"""XE001: three jobs, one of which fails; an empty payload; a task that kills its own process; a job that is not there.

python examples/xe001.py
"""

import os
import signal
import sys

from mainspring import Mainspring, Retry

app = Mainspring("xe001")
once = Retry(max_attempts=1)


def handle(payload):
    if not payload:
        raise ValueError("empty payload")
    if "fail" in payload:
        raise ValueError("payload requested failure")
    return f"{payload}: done"


@app.task(retry=once)
def backup(payload: str) -> str:
    return handle(payload)


@app.task(retry=once)
def cleanup(payload: str) -> str:
    return handle(payload)


@app.task(name="test-fail", retry=once)
def test_fail(payload: str) -> str:
    return handle(payload)


@app.task(retry=once, sandbox="S1")
def selfkill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main():
    from driver import Platform

    from mainspring.errors import UnknownJob

    with Platform(__file__) as platform:
        platform.up("--workers", "1", "--slots", "4")
        platform.wait_for_workers(1)

        jobs = [backup.submit("/var/data"), cleanup.submit("/tmp/old"), test_fail.submit("please fail")]
        empty = backup.submit("")
        first, second, third = (list(job.watch()) for job in jobs)

        platform.check(jobs[0].result(timeout="10s") == "/var/data: done", "backup succeeded")
        platform.check(jobs[1].result(timeout="10s") == "/tmp/old: done", "cleanup succeeded")
        platform.check(
            outcome(jobs[2]) == ("dead", "failed", "payload requested failure"), f"test-fail: {told(jobs[2])}"
        )
        platform.check(outcome(empty) == ("dead", "failed", "empty payload"), f"an empty payload: {told(empty)}")

        for name, events in (("backup", first), ("cleanup", second)):
            steps = [event.target for event in events]
            platform.check(
                steps == ["queued", "running", "succeeded"], f"events of {name} in order: {', '.join(steps)}"
            )
        steps = [event.target for event in third]
        platform.check(steps == ["queued", "running", "dead"], f"events of test-fail in order: {', '.join(steps)}")

        killed, after = selfkill.submit(), cleanup.submit("after the crash")
        state, how, message = outcome(killed)
        platform.check((state, how) == ("dead", "crashed") and "SIGKILL" in message, f"selfkill: {told(killed)}")
        platform.check(after.result(timeout="10s") == "after the crash: done", "the platform went on with the next job")

        everything = [event.seq for event in app.events(after=0, follow=False)]
        platform.check(everything == sorted(set(everything)), f"all {len(everything)} events in one order")

        try:
            app.job(999)
        except UnknownJob as error:
            platform.check("unknown job" in str(error), f"job 999: {error.message}")
        else:
            platform.check(False, "job 999 is unknown")
        status, answer = platform.ask("job", "999")
        platform.check((status, answer["code"]) == (3, "unknown_job"), f"mainspring job 999: exit status {status}")
        return platform.verdict()


def outcome(job):
    """The final state of a job, and outcome and message of its last attempt."""
    for _ in job.watch():
        pass
    last = job.attempts()[-1]
    return str(job.refresh().state), str(last.outcome), last.failure.message if last.failure else ""


def told(job):
    state, how, message = outcome(job)
    return f"{how}, {message!r}, and the job is {state}"


if __name__ == "__main__":
    sys.exit(main())
