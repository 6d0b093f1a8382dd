"""What the server tells Prometheus: the store's numbers, which are the same at every server, and its own.

Counters come from what the roll-up has counted, so that they never fall, whichever server is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mainspring.clock import Duration, seconds
from mainspring.domain.metric import BUCKETS, METRICS, Amount, Figures, Key
from mainspring.domain.states import Outcome
from mainspring.domain.worker import Worker, WorkerState
from mainspring.server.exposition import Family, Sample, histogram

_BOUNDS = tuple(seconds(one) for one in BUCKETS)
_LIVE = frozenset({WorkerState.ACTIVE, WorkerState.DRAINING, WorkerState.IMPAIRED})
_HISTOGRAMS = {
    "duration": "mainspring_attempt_duration_seconds",
    "wait": "mainspring_job_wait_seconds",
    "late": "mainspring_schedule_lateness_seconds",
}


def of_store(figures: Figures) -> list[Family]:
    """What was counted of jobs, and where they are now."""
    of = dict(figures.totals)
    return [
        _counter("mainspring_jobs_submitted_total", "Jobs that were submitted.", of, "submitted", ""),
        _counter("mainspring_jobs_moved_total", "Moves of jobs into each state.", of, "moved", "state"),
        _lost(of),
        *(_histogram(name, of, metric) for metric, name in _HISTOGRAMS.items()),
        _gauge(
            "mainspring_jobs",
            "Jobs in each state that is not an end.",
            [Sample(one.jobs, {"queue": one.queue, "state": one.state}) for one in figures.depths],
        ),
        _gauge(
            "mainspring_queue_oldest_seconds",
            "For how long the queued job that has waited longest could have gone.",
            [
                Sample(max(0.0, seconds(Duration(figures.at - one.oldest))), {"queue": one.queue})
                for one in figures.depths
                if one.oldest is not None
            ],
        ),
        _gauge("mainspring_events_unread", "Events that are not in these numbers yet.", [Sample(figures.unread)]),
    ]


def of_workers(workers: Sequence[Worker]) -> list[Family]:
    """Who works."""
    states = Counter(one.state for one in workers)
    live = [one for one in workers if one.state in _LIVE]
    return [
        _gauge(
            "mainspring_workers",
            "Workers that are known, by state.",
            [Sample(states[state], {"state": state.value}) for state in WorkerState],
        ),
        _gauge("mainspring_slots", "Slots of live workers.", [Sample(sum(one.slots for one in live))]),
        _gauge("mainspring_slots_used", "Jobs that live workers hold.", [Sample(sum(one.running for one in live))]),
    ]


def of_server(
    loops: Mapping[str, tuple[Duration, bool]], *, fit: bool, read: Duration, write: Duration | None
) -> list[Family]:
    """How this server does. ``read``: how long the store took to answer for these numbers.

    ``write``: how long a small durable write took; None where it failed.
    """
    return [
        _gauge("mainspring_healthy", "1 where /healthz says ok.", [Sample(int(fit))]),
        _gauge(
            "mainspring_loop_late_seconds",
            "For how long a loop of this server should have turned, and has not.",
            [Sample(seconds(late), {"loop": name}) for name, (late, _) in loops.items()],
        ),
        _gauge(
            "mainspring_loop_failing",
            "1 where the last turn of a loop failed.",
            [Sample(int(failing), {"loop": name}) for name, (_, failing) in loops.items()],
        ),
        _gauge("mainspring_store_read_seconds", "How long the store took for these numbers.", [Sample(seconds(read))]),
        _gauge(
            "mainspring_store_write_seconds",
            "How long the last durable write took by which this server tried the store; none where it failed.",
            [] if write is None else [Sample(seconds(write))],
        ),
    ]


def of_machine(disk: str) -> list[Family]:
    """This process, and the machine that it is on. ``disk``: a directory on the file system to be watched."""
    import psutil  # a server of which nobody asks for numbers starts without

    process = psutil.Process()
    with process.oneshot():
        times, memory = process.cpu_times(), process.memory_info()
        own = [
            Family("process_cpu_seconds_total", "counter", "CPU time used.", [Sample(times.user + times.system)]),
            _gauge("process_resident_memory_bytes", "Memory in use.", [Sample(memory.rss)]),
            _gauge("process_open_fds", "Open file descriptors.", [Sample(process.num_fds())]),
            _gauge("process_threads", "Threads.", [Sample(process.num_threads())]),
            _gauge("process_start_time_seconds", "When it started.", [Sample(process.create_time())]),
        ]
    cpu, host, room = psutil.cpu_times(), psutil.virtual_memory(), psutil.disk_usage(disk)
    modes = {"user": cpu.user, "system": cpu.system, "idle": cpu.idle}
    return [
        *own,
        Family(
            "mainspring_host_cpu_seconds_total",
            "counter",
            "CPU time of the machine.",
            [Sample(spent, {"mode": mode}) for mode, spent in modes.items()],
        ),
        _gauge("mainspring_host_memory_bytes", "Memory of the machine.", [Sample(host.total)]),
        _gauge("mainspring_host_memory_available_bytes", "Memory that could be had.", [Sample(host.available)]),
        _gauge("mainspring_host_disk_bytes", "Size of the file system of the database.", [Sample(room.total)]),
        _gauge("mainspring_host_disk_free_bytes", "What is free of it.", [Sample(room.free)]),
    ]


def _gauge(name: str, sentence: str, samples: Sequence[Sample]) -> Family:
    return Family(name, "gauge", sentence, samples)


def _counter(name: str, sentence: str, of: Mapping[Key, Amount], metric: str, label: str) -> Family:
    samples = [
        Sample(amount.number, {"queue": key.queue, "task": key.task} | ({label: key.label} if label else {}))
        for key, amount in sorted(of.items())
        if key.metric == metric
    ]
    return Family(name, "counter", sentence, samples)


def _lost(of: Mapping[Key, Amount]) -> Family:
    lost: Counter[tuple[str, str]] = Counter()
    for key, amount in of.items():
        if key.metric == "duration" and key.label == Outcome.LOST:
            lost[key.queue, key.task] += amount.number
    samples = [Sample(number, {"queue": queue, "task": task}) for (queue, task), number in sorted(lost.items())]
    return Family("mainspring_leases_lost_total", "counter", "Attempts whose lease was lost.", samples)


def _histogram(name: str, of: Mapping[Key, Amount], metric: str) -> Family:
    label = METRICS[metric].label
    found: dict[tuple[str, str, str], dict[int, Amount]] = {}
    for key, amount in of.items():
        if key.metric == metric:
            found.setdefault((key.queue, key.task, key.label), {})[key.bucket] = amount
    samples: list[Sample] = []
    for (queue, task, value), amounts in sorted(found.items()):
        labels = {"queue": queue, "task": task} | ({label: value} if label else {})
        counts = {bucket: amount.number for bucket, amount in amounts.items()}
        samples += histogram(counts, _BOUNDS, seconds(_sum(amounts.values())), labels)
    return Family(name, "histogram", f"{METRICS[metric].sentence.capitalize()}.", samples)


def _sum(amounts: Iterable[Amount]) -> Duration:
    return Duration(sum(one.total for one in amounts))
