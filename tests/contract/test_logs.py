"""Job output: order, cursors, attempts, limits, and writers that overlap."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mainspring.clock import Instant
from mainspring.control import read
from mainspring.domain.ids import JobId
from mainspring.domain.logline import LOG_LIMIT, LogChunk, LogLine
from mainspring.errors import InvalidInput
from mainspring.store.logs import line_count
from tests.contract.stories import Story

THEN = Instant(1_790_000_000_000_000)


@pytest.fixture
def job(story: Story) -> JobId:
    return story.submit()


def chunk(text: str, *, stream: str = "stdout", level: str = "") -> LogChunk:
    return LogChunk(THEN, stream, text, level)


def write(story: Story, job: JobId, first: int, *texts: str, attempt: int = 1) -> int:
    """Store chunks from this line number on; the next number as the writer counts."""
    entries = []
    for text in texts:
        entries.append((job, attempt, first, chunk(text)))
        first += line_count(text)
    story.store.logs.append(entries)
    return first


def lines(story: Story, job: int, *, attempt: int | None = None, after: int = 0, limit: int = 1000) -> list[LogLine]:
    return read.logs(story.store, job, attempt=attempt, after=after, limit=limit)


def texts(story: Story, job: int, **values: int) -> list[str]:
    return [line.text for line in lines(story, job, **values)]


def test_lines_come_back_as_they_were_written(story: Story, job: JobId) -> None:
    story.store.logs.append(
        [
            (job, 1, 1, LogChunk(THEN, "stdout", "one\ntwo\n")),
            (job, 1, 3, LogChunk(THEN, "log", "three\n", "WARNING")),
            (job, 1, 4, LogChunk(THEN, "stderr", "\n\nnaïve ☃\x00\x1b[0m")),
        ]
    )
    found = lines(story, job)
    assert [line.text for line in found] == ["one", "two", "three", "", "", "naïve ☃\\x00\x1b[0m"]
    assert [line.seq for line in found] == [1, 2, 3, 4, 5, 6]
    assert [(line.stream, line.level) for line in found][1:4] == [("stdout", ""), ("log", "WARNING"), ("stderr", "")]
    assert {(line.job, line.attempt, line.at) for line in found} == {(job, 1, THEN)}


def test_pages_of_any_size_give_every_line_once(story: Story, job: JobId) -> None:
    following = write(story, job, 1, "a\nb\nc\n", "d\n", "e\nf\ng\nh\n")
    write(story, job, following, "i", attempt=2)
    for size in (1, 2, 3, 7, 1000):
        found: list[LogLine] = []
        while page := lines(story, job, after=found[-1].seq if found else 0, limit=size):
            assert len(page) <= size
            found += page
        assert "".join(line.text for line in found) == "abcdefghi"


def test_lines_of_one_attempt_only(story: Story, job: JobId) -> None:
    following = write(story, job, 1, "a\nb\n")
    following = write(story, job, following, "c\n", attempt=2)
    write(story, job, following, "d\n", attempt=3)
    assert texts(story, job, attempt=1) == ["a", "b"]
    assert texts(story, job, attempt=2) == ["c"]
    assert texts(story, job, attempt=2, after=2) == ["c"]
    for none in (0, 2**70):
        with pytest.raises(InvalidInput, match="attempt is"):
            texts(story, job, attempt=none)
    assert texts(story, job) == ["a", "b", "c", "d"]


def test_jobs_do_not_see_each_others_lines(story: Story, job: JobId) -> None:
    other = story.submit()
    write(story, job, 1, "mine\n")
    write(story, other, 1, "yours\n")
    assert (texts(story, job), texts(story, other)) == (["mine"], ["yours"])


def test_what_is_kept_counts_bytes_and_lines_over_all_attempts(story: Story, job: JobId) -> None:
    assert story.store.logs.kept(job) == (LOG_LIMIT, 1)
    write(story, job, 1, "ä\n", "b\nc\n")
    assert story.store.logs.kept(job) == (LOG_LIMIT - 7, 4)
    write(story, job, 4, "d", attempt=2)
    assert story.store.logs.kept(job) == (LOG_LIMIT - 8, 5)


def test_a_full_log_leaves_no_room_and_never_less_than_none(story: Story, job: JobId) -> None:
    big = "x" * (LOG_LIMIT // 4) + "\n"
    write(story, job, 1, *[big] * 5)
    assert story.store.logs.kept(job) == (0, 6)


def test_an_attempt_that_lost_its_lease_stops_nobody_by_what_it_still_writes(story: Story, job: JobId) -> None:
    """The old worker was frozen; both it and its successor count on from line 3."""
    neighbour = story.submit()
    following = write(story, job, 1, "a\nb\n")
    write(story, job, following, "old 1\nold 2\nold 3\n", attempt=1)
    entries = [(job, 2, following, chunk("new 1\n")), (neighbour, 1, 1, chunk("fine\n"))]
    story.store.logs.append(entries)
    write(story, job, following + 1, "old 4\n", attempt=1)
    write(story, job, following + 1, "new 2\nnew 3\n", attempt=2)
    found = lines(story, job)
    assert all(one.seq < other.seq for one, other in pairwise(found)), "the cursor grows"
    assert texts(story, job, attempt=1) == ["a", "b", "old 1", "old 2", "old 3", "old 4"]
    assert texts(story, job, attempt=2) == ["new 1", "new 2", "new 3"]
    assert texts(story, neighbour) == ["fine"]
    by_one: list[str] = []
    after = 0
    while page := lines(story, job, after=after, limit=1):
        by_one.append(page[0].text)
        after = page[0].seq
    assert by_one == [line.text for line in found]


def test_a_writer_may_leave_numbers_out(story: Story, job: JobId) -> None:
    write(story, job, 10, "a\n")
    write(story, job, 20, "b\nc\n")
    assert [line.seq for line in lines(story, job)] == [10, 20, 21]
    assert texts(story, job, after=20) == ["c"]
