"""OTLP over HTTP: spans and numbers to a collector, through the exporters of OpenTelemetry's own SDK.

Imported only where a collector is named, as it needs ``pip install '.[otel]'``. Spans are handed to the exporter
as what they were: nothing is measured here, and no tracer runs in our processes.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from mainspring.clock import Clock, Instant
from mainspring.domain.address import shown
from mainspring.domain.span import Span
from mainspring.server.exposition import Family, Sample

_TIMEOUT = 4.0
"""Seconds for one export with its retries: two of them must not make health red."""

_SCOPE = InstrumentationScope("mainspring")
_CUMULATIVE = AggregationTemporality.CUMULATIVE

Families = Callable[[], Iterable[Family]]


class Otlp:
    """A collector at an address (``http://127.0.0.1:4318``).

    ``whole``: the numbers of the platform, as they are then; ``own``: those of this process and its machine. What else
    there is to say (headers, certificates) is said by the environment variables of OpenTelemetry.
    """

    def __init__(self, url: str, clock: Clock, whole: Families, own: Families) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # what fails is said once, by the telemetry loop
        base = url.rstrip("/")
        self._url = shown(base)
        self._spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=_TIMEOUT)
        self._numbers = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=_TIMEOUT)
        self._clock = clock
        self._whole, self._own = whole, own
        self._began = clock.now()
        host = socket.gethostname()
        self._platform = Resource.create({"service.name": "mainspring"})
        self._here = self._platform.merge(
            Resource({"host.name": host, "process.pid": os.getpid(), "service.instance.id": f"{host}:{os.getpid()}"})
        )

    def tell(self, told: Sequence[Span]) -> None:
        """Send these. Raises OSError."""
        found = self._spans.export([readable(one, self._platform) for one in told])
        if found is not SpanExportResult.SUCCESS:
            raise OSError(f"{self._url}/v1/traces does not answer, or refuses")

    def measure(self, *, whole: bool) -> None:
        """Send numbers. Raises OSError."""
        now = self._clock.now()
        told = [(self._here, self._own())] + ([(self._platform, self._whole())] if whole else [])
        data = MetricsData(
            [
                ResourceMetrics(resource, [ScopeMetrics(_SCOPE, self._metrics(families, now), "")], "")
                for resource, families in told
            ]
        )
        if self._numbers.export(data) is not MetricExportResult.SUCCESS:
            raise OSError(f"{self._url}/v1/metrics does not answer, or refuses")

    def close(self) -> None:
        """Let go of connections; an export that is under way gives up."""
        self._spans.shutdown()  # type: ignore[no-untyped-call]
        self._numbers.shutdown()

    def _metrics(self, families: Iterable[Family], now: Instant) -> list[Metric]:
        return [metric(one, self._began, now) for one in families if one.samples]


def readable(one: Span, resource: Resource) -> ReadableSpan:
    """A span as the exporter takes it."""
    trace, sampled = int(one.trace, 16), TraceFlags(TraceFlags.SAMPLED)
    parent = (
        None if one.parent is None else SpanContext(trace, int(one.parent, 16), is_remote=True, trace_flags=sampled)
    )
    return ReadableSpan(
        name=one.name,
        context=SpanContext(trace, int(one.id, 16), is_remote=False, trace_flags=sampled),
        parent=parent,
        resource=resource,
        attributes=one.attributes,
        kind=SpanKind.CONSUMER if one.name.startswith("attempt ") else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, one.error) if one.error else Status(StatusCode.OK),
        start_time=_nano(one.began),
        end_time=_nano(one.ended),
        instrumentation_scope=_SCOPE,
    )


def metric(family: Family, began: Instant, now: Instant) -> Metric:
    """A metric with its points."""
    data: Gauge | Sum | Histogram
    if family.kind == "histogram":
        data = Histogram(_lengths(family.samples, _nano(began), _nano(now)), _CUMULATIVE)
    else:
        points = [NumberDataPoint(one.labels, _nano(began), _nano(now), float(one.value)) for one in family.samples]
        data = Sum(points, _CUMULATIVE, is_monotonic=True) if family.kind == "counter" else Gauge(points)
    return Metric(family.name, family.sentence, "", data)


def _lengths(samples: Iterable[Sample], began: int, now: int) -> list[HistogramDataPoint]:
    """Points of Prometheus' samples, whose buckets count all that is below them."""
    found: dict[tuple[tuple[str, str], ...], _Buckets] = {}
    for one in samples:
        labels = {name: value for name, value in one.labels.items() if name != "le"}
        found.setdefault(tuple(labels.items()), _Buckets(labels)).take(one)
    return [one.point(began, now) for one in found.values()]


class _Buckets:
    """One histogram as its samples come."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._bounds: list[float] = []
        self._passed = [0]
        self._sum = 0.0

    def take(self, one: Sample) -> None:
        if one.suffix == "_sum":
            self._sum = float(one.value)
        elif one.suffix == "_bucket":
            self._passed.append(int(one.value))
            if one.labels["le"] != "+Inf":
                self._bounds.append(float(one.labels["le"]))

    def point(self, began: int, now: int) -> HistogramDataPoint:
        counts = [upto - before for before, upto in zip(self._passed, self._passed[1:], strict=False)]
        return HistogramDataPoint(
            attributes=self._labels,
            start_time_unix_nano=began,
            time_unix_nano=now,
            count=self._passed[-1],
            sum=self._sum,
            bucket_counts=counts,
            explicit_bounds=self._bounds,
            min=0.0,
            max=0.0,
        )


def _nano(at: Instant) -> int:
    return at * 1_000
