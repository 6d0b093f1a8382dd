"""The page at the root: whoever opens the address that is told finds where to go on."""

from __future__ import annotations

import re

from tests.api.serving import Serving

PAGE = "text/html; charset=utf-8"
KINDS = {"application/json", "text/event-stream", "text/html", "text/plain", "application/problem+json"}


def test_the_address_that_is_told_leads_to_a_page_whose_links_lead_somewhere(server: Serving) -> None:
    page = server.http.get("/")
    assert (page.status_code, page.headers["content-type"]) == (200, PAGE)
    links = re.findall(r'href="([^"]+)"', page.text)
    assert {"/healthz", "/readyz", "/api/v1/jobs", "/api/v1/workers", "/api/v1/tasks", "/api/v1/queues"} <= set(links)
    for link in links:
        with server.http.stream("GET", link) as answer:  # some go on
            assert answer.status_code in {200, 422, 503}, link
            assert answer.headers["content-type"].partition(";")[0] in KINDS


def test_the_page_runs_no_script_and_may_not_be_framed(server: Serving) -> None:
    policy = server.http.get("/").headers["content-security-policy"]
    assert policy == "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
