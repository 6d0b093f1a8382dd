"""Claims: which waiting jobs a worker gets, in which order, and what a claim writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mainspring.clock import MINUTE, SECOND
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobRequest
from mainspring.domain.overriding import Override
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimer, Claims
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Transaction, jobs, lanes
from tests.contract.stories import LEASE, Story


def claim(
    story: Story,
    *,
    slots: int = 100,
    processes: int = 100,
    known: Sequence[str] | None = None,
    queues: Collection[str] = (),
    kinds: Collection[Lodging] = (Lodging.SHARED, Lodging.PROCESS),
    avoid: Collection[JobId] = (),
    overrides: Mapping[str, Override] = {},
) -> Claims:
    """What a worker with this much room gets. ``kinds``: of its runners, which are all idle."""
    runners = [RunnerView(number, kind, frozenset()) for number, kind in enumerate(kinds)]
    room = Room(Limits(slots, processes), {}, runners)
    claimer = Claimer(story.worker, LEASE, f"worker:{story.worker}", story.clock)
    claimer.adopt(LEASE, overrides)

    def work(tx: Transaction) -> Claims:
        every = lanes.read_map(tx)
        ours = every._replace(lanes=[lane for lane in every.lanes if not queues or lane.queue in queues])
        return claimer.claim(tx, ours, room, known, avoid=avoid)

    return story.store.write(work)


def order(found: Claims) -> list[int]:
    return [claimed.grant.left.job for claimed in found.jobs]


def test_jobs_come_by_priority_then_due_then_id_over_all_lanes(story: Story) -> None:
    late = story.submit(priority=5)
    story.clock.forward(SECOND)
    urgent = story.submit("mail", priority=1)
    first = story.submit("crunch", run_at="2020-01-01T00:00:00Z")
    second = story.submit("mail", run_at="2020-01-01T00:00:01Z")
    third = story.submit("send", run_at="2020-01-01T00:00:01Z")
    last = story.submit("send", priority=9, run_at="2020-01-01T00:00:00Z")
    assert order(claim(story)) == [urgent, first, second, third, late, last]


def test_a_claim_takes_the_best_of_all_lanes_when_there_is_not_room_for_all(story: Story) -> None:
    asked = [JobRequest(task, priority=priority) for priority in (5, 4, 3) for task in ("send", "mail", "crunch")]
    ids = story.submit_many(asked)
    got = claim(story, slots=4)
    assert order(got) == [*ids[6:], ids[3]]
    assert got.more
    rest = claim(story)
    assert order(rest) == [*ids[4:6], *ids[:3]]
    assert not rest.more
    assert order(claim(story)) == []


def test_many_lanes_are_looked_into_where_their_first_jobs_are_best(story: Story) -> None:
    """More lanes than one look goes into: it starts with the best of all, and claim by claim all of them come."""
    wanted = [JobRequest("send", queue=f"q{n % 40}", priority=n % 7, run_at="2020-01-01T00:00:00Z") for n in range(120)]
    ids = story.submit_many(wanted)
    ahead = sorted(zip([one.priority or 0 for one in wanted], ids, strict=True))
    while ahead:
        got = order(claim(story, slots=25))
        assert got[:10] == [job for _, job in ahead[:10]]
        assert got == sorted(
            got, key=lambda job: ahead.index((wanted[ids.index(JobId(job))].priority or 0, JobId(job)))
        )
        assert len(got) >= min(16, len(ahead)), "at least the first of sixteen lanes"
        ahead = [(priority, job) for priority, job in ahead if job not in got]


def test_within_a_lane_too_the_first_come_first(story: Story) -> None:
    """By priority before due, and by due before id; with room for some, so that the order of the look decides."""
    ids = story.submit_many(
        [
            JobRequest("send", priority=priority, run_at=f"2020-01-01T00:00:0{second}Z")
            for priority, second in ((5, 1), (5, 0), (4, 9), (4, 8), (6, 0), (4, 8))
        ]
    )
    expected = [ids[3], ids[5], ids[2], ids[1], ids[0], ids[4]]
    assert [job for _ in expected for job in order(claim(story, slots=1))] == expected


def test_room_is_counted_by_the_kind_of_lodging(story: Story) -> None:
    crunch = story.submit_many([JobRequest("crunch", priority=1)] * 5)
    send = story.submit_many([JobRequest("send", priority=2)] * 5)
    assert order(claim(story, slots=4, processes=2)) == [*crunch[:2], *send[:2]]
    assert order(claim(story, slots=4, processes=0)) == send[2:]
    assert order(claim(story, slots=0)) == []


def test_only_known_tasks_are_claimed_and_the_others_wait_for_a_worker_that_knows_them(story: Story) -> None:
    ids = story.submit_many([JobRequest("once"), JobRequest("send"), JobRequest("once"), JobRequest("send")])
    assert order(claim(story, known=["shop.send"])) == [ids[1], ids[3]]
    assert [story.state(ids[n]) for n in (0, 2)] == [State.QUEUED] * 2
    assert order(claim(story, known=["shop.once", "shop.send"])) == [ids[0], ids[2]]


def test_only_lanes_that_were_asked_for_are_touched(story: Story) -> None:
    mail, send = story.submit("mail"), story.submit("send")
    assert order(claim(story, queues={"mail"})) == [mail]
    assert story.state(send) is State.QUEUED


def test_a_job_of_which_an_old_attempt_lives_here_still_is_avoided(story: Story) -> None:
    one, two = story.running(), story.submit()
    story.clock.forward(2 * LEASE)
    story.lose_expired()
    assert order(claim(story, avoid={one})) == [two]
    assert order(claim(story)) == [one]


def test_an_expired_job_is_not_started_but_ended(story: Story) -> None:
    late = story.submit(expires="1m", run_at="2020-01-01T00:00:00Z")
    fine = story.submit(expires="1h")
    story.clock.forward(MINUTE)
    assert order(claim(story)) == [fine]
    job = story.job(late)
    assert (job.state, job.attempt) == (State.DEAD, 0)
    assert job.error is not None
    assert job.error.type == "Expired"
    assert story.moves(late)[-1] == ("expire", "queued", "dead")


def test_jobs_that_must_be_alone_get_a_runner_each_and_are_counted_until_there_are_enough(story: Story) -> None:
    suspects = [story.running() for _ in range(7)]
    story.end_all([story.ending(job, Outcome.CRASHED, shared=1) for job in suspects])
    other = story.submit()
    got = claim(story)
    assert order(got) == [other]
    assert got.waits == {Lodging.ALONE: 4}, "so many at once"
    alone = claim(story, kinds=[Lodging.ALONE] * 2)
    assert order(alone) == suspects[:2]
    assert alone.jobs[0].lane.lodging is Lodging.ALONE
    assert (alone.waits, alone.more) == ({Lodging.ALONE: 2}, True)


def test_a_job_with_a_process_of_its_own_is_not_claimed_before_there_is_a_runner_for_it(story: Story) -> None:
    own, shared = story.submit("crunch"), story.submit("send")
    got = claim(story, kinds=[Lodging.SHARED])
    assert (order(got), got.waits) == ([shared], {Lodging.PROCESS: 1})
    assert order(claim(story)) == [own]


def test_a_job_that_another_waits_for_is_found_where_it_is_ready_and_known(story: Story) -> None:
    job, later = story.submit("send"), story.submit("send", delay="1h")
    lane = next(lane.id for lane in story.store.read(lanes.read_map).lanes if lane.lodging is Lodging.SHARED)
    assert story.store.read(lambda tx: jobs.ready_lane(tx, job, None)) == lane
    assert story.store.read(lambda tx: jobs.ready_lane(tx, job, ["shop.send"])) == lane
    assert story.store.read(lambda tx: jobs.ready_lane(tx, job, ["shop.mail"])) is None
    assert story.store.read(lambda tx: jobs.ready_lane(tx, later, None)) is None


def test_a_claim_numbers_the_attempt_and_holds_a_lease(story: Story) -> None:
    job = story.submit()
    (claimed,) = claim(story).jobs
    shown = story.job(job)
    assert (shown.state, shown.attempt, shown.worker) == (State.RUNNING, 1, "alpha")
    assert shown.started_at == story.clock.now()
    (running,) = story.store.read(lambda tx: jobs.attempts(tx, job))
    assert (running.number, running.outcome, running.worker, running.ended_at) == (1, None, "alpha", None)
    (lease,) = story.seen()
    assert (lease.job, lease.claim, lease.until) == (job, claimed.grant.claim, story.clock.now() + LEASE)
    assert (claimed.load.task, claimed.load.params) == ("shop.send", "{}")
    assert claimed.policy.retry.max_attempts == 2


def test_a_claim_hands_on_what_the_last_attempt_had_said_of_its_progress(story: Story) -> None:
    job = story.running()
    noted = [('{"at": 40}', job, story.claims[job])]
    story.store.write(lambda tx: jobs.note_details(tx, noted))
    assert story.job(job).progress == {"at": 40}
    story.end(job, Outcome.RELEASED)
    (claimed,) = claim(story).jobs
    assert claimed.details == '{"at": 40}'


def test_no_two_claims_are_alike_and_no_job_is_claimed_twice(story: Story) -> None:
    story.submit_many([JobRequest("send")] * 50)
    found = [claimed for _ in range(6) for claimed in claim(story, slots=10).jobs]
    assert len(found) == 50
    assert len({claimed.grant.claim for claimed in found}) == 50
    assert len({claimed.grant.left.job for claimed in found}) == 50


def test_only_queued_jobs_are_claimed(story: Story) -> None:
    for state in State:
        if state is not State.QUEUED:
            story.bring(state)
    assert order(claim(story)) == []
