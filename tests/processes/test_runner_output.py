"""What jobs print reaches their own logs, whole and in order, cut where it is too much, and never blocks them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from mainspring.domain.frame import LOG_CREDIT, Credit
from mainspring.domain.logline import LOG_LIMIT
from mainspring.domain.states import Outcome
from tests.processes.runners.driver import Driver, driving

MIB = 1_048_576


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving() as driver:
        yield driver


def test_what_async_jobs_print_side_by_side_stays_apart(runner: Driver):
    claims = {name: runner.start("talk", name=name, lines=200) for name in ("a", "b", "c")}
    for name, claim in claims.items():
        assert runner.end(claim).outcome is Outcome.SUCCEEDED
        assert runner.text(claim, "stdout").splitlines() == [f"{name} {number}" for number in range(200)]


def test_what_threads_print_side_by_side_stays_apart(runner: Driver):
    claims = {name: runner.start("talk_thread", name=name, lines=100) for name in ("a", "b", "c")}
    for name, claim in claims.items():
        runner.end(claim)
        assert runner.text(claim).splitlines() == [f"{name} {number}" for number in range(100)]


def test_every_way_to_say_something_is_heard(runner: Driver):
    claim = runner.start("say_everywhere")
    assert runner.end(claim).outcome is Outcome.SUCCEEDED
    assert runner.text(claim, "stdout") == "to stdout\nbytes \\xff and \\x00\nfrom a thread\n"
    assert runner.text(claim, "stderr") == "to stderr\n"
    logged = {chunk.level: chunk.text for chunk in runner.chunks[claim] if chunk.stream == "log"}
    assert logged["INFO"] == "to the log\n"
    assert logged["WARNING"] == "a warning of others\n"
    assert logged["ERROR"].startswith("it broke\nTraceback")
    assert "ValueError: invalid literal" in logged["ERROR"]


def test_a_line_arrives_while_its_job_goes_on(runner: Driver):
    claim = runner.start("say_and_wait")
    assert runner.printed(claim, "first line", within=2) == "first line\n"
    runner.cancel(claim)
    runner.end(claim)


def test_the_last_words_before_a_kill_are_kept():
    with driving() as driver:
        claim = driver.start("die", signum=9, first="these are my last words")
        driver.death()
        assert driver.text(claim) == "these are my last words\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("nul \0 here", "nul \\x00 here"),
        ("Grüße, 世界 🌍", "Grüße, 世界 🌍"),
        ("line\rwith\x1b[31m colour", "line\rwith\x1b[31m colour"),
    ],
)
def test_odd_characters_are_shown_and_never_fail_the_job(runner: Driver, text: str, kept: str):
    claim = runner.start("say", text=text)
    assert runner.end(claim).outcome is Outcome.SUCCEEDED
    assert runner.text(claim) == f"{kept}\n"


@pytest.mark.parametrize("task", ["say_in_parts", "say_in_parts_process"])
def test_secrets_of_the_environment_and_of_parameters_are_in_no_log_and_no_error(task: str):
    with driving(env={"SHOP_TOKEN": "0pen-sesame", "SHOP_DSN": "postgresql://ann:h0rse-battery@db/x"}) as driver:
        parts = ["begun with 0pen-", "sesame and h0rse-b", "attery\n", "so be it, tr0ub4dor\n"]
        claim = driver.start(task, parts=parts, password="tr0ub4dor")
        failure = driver.end(claim).failure
        assert failure is not None
        assert driver.text(claim) == "begun with *** and ***\nso be it, ***\n"
        assert failure.message == "can't go on with ***"
        assert failure.traceback.count("***") == 1
        assert [word for word in ("sesame", "battery", "tr0ub4dor") if word in str(failure)] == []


def test_half_of_a_surrogate_pair_is_shown_too(runner: Driver):
    claim = runner.start("say_half")
    assert runner.end(claim).outcome is Outcome.SUCCEEDED
    assert runner.text(claim) == "half \\udc80\n"


def test_a_line_without_an_end_is_kept(runner: Driver):
    claim = runner.start("say", text="no newline", end="")
    runner.end(claim)
    assert runner.text(claim) == "no newline"


def test_a_character_is_whole_although_a_pipe_cuts_it(runner: Driver):
    claim = runner.start("shell", script="printf '\\303'; sleep 0.3; printf '\\274\\n'; printf '\\377\\0end'")
    runner.end(claim)
    assert runner.text(claim, "stdout") == "ü\n\\xff\\x00end"


@pytest.mark.parametrize("task", ["flood", "flood_loop", "shell"])
def test_thirty_mib_end_in_seconds_and_ten_are_kept_with_a_mark(runner: Driver, task: str):
    began = time.monotonic()
    if task == "shell":
        claim = runner.start(task, script="yes " + "x" * 99 + " | head -c 31457200; echo the end")
    else:
        claim = runner.start(task, mebibytes=30)
    assert runner.end(claim, within=40).outcome is Outcome.SUCCEEDED
    assert time.monotonic() - began < 30
    text = runner.text(claim)
    marks = [chunk.text for chunk in runner.chunks[claim] if chunk.stream == "mainspring"]
    assert len(marks) == 1
    assert marks[0].startswith("[mainspring: 2")
    assert marks[0].endswith(" bytes cut here; 10 MiB are kept per job]\n")
    kept = len(text.encode()) - len(marks[0])
    assert LOG_LIMIT - MIB // 4 < kept <= LOG_LIMIT
    said = int(marks[0].split()[1].replace(",", ""))
    assert said + kept == (30 * MIB // 100 * 100 if task != "shell" else 31_457_208)
    if task == "shell":
        assert text.endswith("the end\n")


def test_a_second_attempt_has_only_the_room_that_is_left(runner: Driver):
    claim = runner.start("flood", mebibytes=2, room=1000)
    runner.end(claim)
    mark, kept = runner.chunks[claim][0], runner.text(claim, "stdout")
    assert mark.stream == "mainspring"
    assert 900 <= len(kept) <= 1000
    none = runner.start("say", text="nothing of it", room=0)
    runner.end(none)
    assert runner.text(none) == "[mainspring: 14 bytes cut here; 10 MiB are kept per job]\n"


def test_without_credit_the_job_goes_on_and_its_end_waits_behind_its_log():
    with driving() as driver:
        driver.pays = False
        claim = driver.start("flood", mebibytes=8)
        driver.until(lambda: len(driver.text(claim)) >= LOG_CREDIT, within=20)
        other = driver.start("noop")
        assert driver.end(other).outcome is Outcome.SUCCEEDED
        assert claim not in driver.ends
        assert len(driver.text(claim)) < LOG_CREDIT + 2 * 65_536
        driver.process.control.put(Credit(16 * MIB))
        assert driver.end(claim).outcome is Outcome.SUCCEEDED
        assert len(driver.text(claim)) == 8 * MIB // 100 * 100
