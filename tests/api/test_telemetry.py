"""A real server tells a real receiver in the form that OpenTelemetry's collectors take: spans and numbers."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from mainspring.clock import MINUTE
from mainspring.domain.states import Outcome
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.patience import ended

TRACE, OUTSIDE = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector:
    """What was posted to a collector, decoded."""

    def __init__(self) -> None:
        self.spans: dict[str, Any] = {}
        self.metrics: dict[str, Any] = {}
        self.refuse = False
        heard = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                if not heard.refuse:
                    heard.take(self.path, body)
                self.send_response(400 if heard.refuse else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,))
        self._thread.start()

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                assert {one.key: one.value.string_value for one in resource.resource.attributes}["service.name"] == (
                    "mainspring"
                )
                for scope in resource.scope_spans:
                    self.spans |= {span.name: span for span in scope.spans}
        else:
            assert path == "/v1/metrics"
            for numbers in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope_of in numbers.scope_metrics:
                    self.metrics |= {metric.name: metric for metric in scope_of.metrics}

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Serving]:
    serving = Serving(tmp_path_factory.mktemp("otlp"), options=("--otlp-endpoint", collector.url))
    try:
        yield serving.wait_until_up()
        serving.http.close()
        assert serving.end() == 0, serving.said
    finally:
        serving.close()


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def test_a_collector_is_told_of_a_job_that_came_in_a_trace_and_of_all_numbers(
    telling: Serving, collector: Collector
) -> None:
    store = Store.open(telling.database)
    worker = HandWorker(store)
    worker.arrive()
    eventually(lambda: collector.metrics, within=MINUTE)  # so its reader has begun
    within = f"00-{TRACE}-{OUTSIDE}-01"
    made = telling.http.post(f"{API}/jobs", json={"task": "shop.echo"}, headers={"traceparent": within})
    assert made.json()["tags"] == {"traceparent": within}
    job = worker.claim("shop")
    worker.end(job, Outcome.SUCCEEDED)
    eventually(lambda: {"job shop.echo", "attempt shop.echo"} <= collector.spans.keys(), within=MINUTE)
    whole, attempt = collector.spans["job shop.echo"], collector.spans["attempt shop.echo"]
    assert whole.trace_id.hex() == attempt.trace_id.hex() == TRACE
    assert (whole.parent_span_id.hex(), attempt.parent_span_id) == (OUTSIDE, whole.span_id)
    assert attributes(attempt)["mainspring.job"] == job
    assert attributes(attempt)["mainspring.outcome"] == "succeeded"
    assert whole.start_time_unix_nano <= attempt.start_time_unix_nano <= attempt.end_time_unix_nano
    for name in ("process_resident_memory_bytes", "mainspring_workers", "mainspring_events_unread"):
        assert name in collector.metrics
    assert "telemetry" in telling.http.get("/healthz").json()["checks"]
    worker.leave()
    store.close()


def test_an_endpoint_that_is_none_is_refused_at_the_start(tmp_path_factory: pytest.TempPathFactory) -> None:
    serving = Serving(tmp_path_factory.mktemp("otlp"), options=("--otlp-endpoint", "localhost:4317"))
    assert ended(serving.process, 40) == 4
    assert "otlp_endpoint is 'localhost:4317'; it must begin with http:// or https://." in serving.said
    serving.close()
