"""What lists and pages show is what is there, now, and as text: whatever somebody has put into it."""

from __future__ import annotations

from collections import Counter

import psutil

from mainspring.chance import SeededChance
from mainspring.domain.attempt import Failure
from mainspring.domain.states import Outcome
from mainspring.server.security import is_loopback
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving

NASTY = ("<script>alert(1)</script>", "{{7*7}}", "javascript:alert(1)", "<img src=x onerror=alert(1)>", "]]>&lt;\u2028")


def test_what_somebody_wrote_is_data_and_never_a_page(server: Serving, worker: HandWorker) -> None:
    """In parameters, tags, notes, errors and output; only the pages are HTML, and none of it stands in them."""
    params = {"text": NASTY[0]}
    made = server.submit(queue="nasty", params=params, meta=list(NASTY), tags={"a": NASTY[1]})
    assert worker.claim("nasty") == made["id"]
    worker.end(made["id"], Outcome.FAILED, failure=Failure(NASTY[3], NASTY[2], traceback=NASTY[4]))
    server.http.patch(f"{API}/queues/nasty", json={"note": NASTY[0]})
    job = f"{API}/jobs/{made['id']}"
    looks = [job, *(f"{job}/{part}" for part in ("attempts", "events", "logs", "explain")), f"{API}/queues/nasty"]
    said = ""
    for path in (*looks, f"{API}/jobs?queue=nasty", f"{API}/queues", f"{API}/jobs/{NASTY[0].replace('/', '')}"):
        answer = server.http.get(path)
        assert answer.headers["content-type"].startswith(("application/json", "application/problem+json")), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        said += answer.text
    for text in NASTY[:4]:
        assert text in said  # as it was, so that a page must show it as text
    for path in ("/", "/api/docs"):
        page = server.http.get(path)
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert not [text for text in NASTY if text in page.text]
        assert "<script" not in page.text


def test_lists_and_counts_say_after_each_move_what_the_job_says(server: Serving, worker: HandWorker) -> None:
    chance = SeededChance(7)
    states: dict[int, str] = {}
    waiting: list[int] = []
    running: list[int] = []
    for turn in range(30):
        what = chance.whole(0, 3) if turn > 3 else 0
        if what == 1 and waiting:
            waiting.remove(job := worker.claim("truth"))
            running.append(job)
            states[job] = "running"
        elif what == 2 and running:
            worker.end(job := running.pop(), Outcome.SUCCEEDED, result=b"1")
            states[job] = "succeeded"
        elif what == 3 and waiting:
            job = waiting.pop()
            assert server.http.post(f"{API}/jobs/{job}/cancel").status_code == 200
            states[job] = "cancelled"
        else:
            job = server.submit(queue="truth")["id"]
            waiting.append(job)
            states[job] = "queued"
        assert server.job(job)["state"] == states[job]
        counts = Counter(states.values())
        for state in ("queued", "running", "succeeded", "cancelled"):
            listed = server.http.get(f"{API}/jobs?queue=truth&state={state}&limit=100").json()["items"]
            assert {one["id"] for one in listed} == {one for one, held in states.items() if held == state}
            count = server.http.get(f"{API}/jobs/count?queue=truth&state={state}").json()
            assert count == {"count": counts[state], "next": None}
        queue = server.http.get(f"{API}/queues/truth").json()
        assert (queue["queued"], queue["running"]) == (counts["queued"], counts["running"])


def test_a_server_listens_for_this_machine_only_unless_it_is_told(server: Serving, store: Store) -> None:
    process = psutil.Process(server.process.pid)
    listening = [
        one.laddr.ip
        for each in (process, *process.children(recursive=True))
        for one in each.net_connections(kind="inet")
        if one.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert all(is_loopback(f"[{host}]" if ":" in host else host) for host in listening)
