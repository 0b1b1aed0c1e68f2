"""Prometheus metrics for `/metrics`. docs/operations.md describes each of them.

Counters are incremented where events happen. Gauges (streams, open breakers) are set at each scrape or, with several
worker processes, every few seconds: in `prometheus_client`'s multiprocess mode, which gunicorn.conf.py sets up,
processes store their metrics in shared files, and any of them can serve the sums. No label contains text from users or
the service.
"""

import contextlib
import os
import resource
import time
from collections import Counter as Counts
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from intents_ui.service import errors, long_tasks
from intents_ui.service.health import Standing, State
from intents_ui.service.tally import Event, Tally

disable_created_metrics()  # type: ignore[no-untyped-call]

IS_SHARED: Final = "PROMETHEUS_MULTIPROC_DIR" in os.environ
CONTENT_TYPE: Final = CONTENT_TYPE_LATEST.encode()
EVERY_SECONDS: Final = 5.0
PAGE_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
CALL_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 40)
TASKS: Final = ("live bus", "live streams", "watch", "metrics")
PAGE_SIZE: Final = resource.getpagesize()

own = CollectorRegistry()

requests = Counter("intents_ui_requests", "Requests by page name and status code.", ["view", "status"], registry=own)
request_seconds = Histogram(
    "intents_ui_request_seconds",
    "Time to the first byte, by page name and class of the status code.",
    ["view", "status"],
    buckets=PAGE_BUCKETS,
    registry=own,
)
upstream_seconds = Histogram(
    "intents_ui_upstream_seconds",
    "Duration of calls to the service, per attempt.",
    ["operation", "outcome"],
    buckets=CALL_BUCKETS,
    registry=own,
)
retries = Counter(
    "intents_ui_upstream_retries",
    "Retried calls to the service, and retries that were suppressed.",
    ["done"],
    registry=own,
)
held_back = Counter(
    "intents_ui_upstream_held_back", "Calls rejected by an open circuit breaker or during a rate limit.", registry=own
)
breaker_opened = Counter("intents_ui_breaker_opened", "Circuit breakers opened.", registry=own)
disowned = Counter(
    "intents_ui_upstream_disowned",
    "Responses rejected in whole or in part because they don't match their request, by reason.",
    ["by"],
    registry=own,
)
answers = Counter("intents_ui_answers", "Requests of pages, by source of the response.", ["source"], registry=own)
shed = Counter("intents_ui_shed", "Requests rejected because all slots were taken.", ["by"], registry=own)
left_aside = Counter(
    "intents_ui_shared_left_aside", "Entries of Redis or STATE_DIR that were ignored.", ["reason"], registry=own
)
task_restarts = Counter("intents_ui_task_restarts", "Restarts of long-lived tasks.", ["task"], registry=own)
processor_seconds = Counter("intents_ui_processor_seconds", "CPU time used.", registry=own)


def _state(name: str, meaning: str, *labels: str, smallest: bool = False) -> Gauge:
    """Return a gauge that sums over live processes, or takes their minimum."""
    mode = "livemin" if smallest else "livesum"
    return Gauge(f"intents_ui_{name}", meaning, labels, registry=own, multiprocess_mode=mode)  # type: ignore[arg-type]


breaker_open = _state("breaker_open", "Processes with an open circuit breaker, by group of operations.", "line")
service_state = _state("service_state", "Processes by the state of the service that they observe.", "state")
watched = _state("watched_intents", "Intents watched for live pages.")
streams = _state("streams", "Open live pages.")
exports = _state("exports", "Exports in progress.")
in_hand = _state("requests_in_hand", "Requests in progress, without streams.")
memory = _state("memory_bytes", "Memory in use.")
task_beat = Gauge(
    "intents_ui_task_beat_seconds",
    "Seconds since the last heartbeat of a long-lived task, maximum per name.",
    ["task"],
    registry=own,
    multiprocess_mode="livemax",
)
processes = _state("processes", "Processes included in these metrics.")


@cache
def redis_up() -> Gauge:
    """Return the gauge, created on first use: without Redis it must not be reported as down."""
    return _state("redis_up", "1 if Redis responds, 0 if not.", smallest=True)


# Counter for each event.
OF_EVENTS: Final[Mapping[Event, Counter]] = {
    Event.RETRY: retries.labels("yes"),
    Event.RETRY_SPARED: retries.labels("spared"),
    Event.HELD_BACK: held_back,
    Event.OPENED: breaker_opened,
    Event.HIT: answers.labels("copy"),
    Event.STALE: answers.labels("copy_being_renewed"),
    Event.OLD: answers.labels("old_copy"),
    Event.MISS: answers.labels("service"),
    Event.SHARED: answers.labels("shared_call"),
    Event.SHED: shed.labels("service"),
    Event.OLDER: disowned.labels("older"),
    Event.UNFIT: disowned.labels("other_entries"),
    Event.UNREADABLE: left_aside.labels("unreadable"),
    Event.UNSIGNED: left_aside.labels("unsigned"),
}
turned_away = shed.labels("door")

OUTCOMES: Final[Mapping[type[BaseException], str]] = {
    errors.OutOfTime: "out_of_time",
    errors.Unreachable: "unreachable",
    errors.Overloaded: "shed",
    errors.TooBusy: "quiet",
    errors.AccessDenied: "denied",
    errors.Refused: "refused",
    errors.Unreadable: "unreadable",
}

DISOWNED: Final[Mapping[errors.Flaw, Counter]] = {
    errors.Flaw.OTHER_INTENT: disowned.labels("other_intent"),
    errors.Flaw.OTHER_FILTER: disowned.labels("other_filter"),
    errors.Flaw.OTHER_REQUEST: disowned.labels("other_request"),
    errors.Flaw.MORE_BYTES: disowned.labels("more_bytes"),
}


def request(view: str, status: int, seconds: float) -> None:
    requests.labels(view, str(status)).inc()
    request_seconds.labels(view, f"{status // 100}xx").observe(seconds)


def call(operation: str, error: BaseException | None, seconds: float) -> None:
    """Count one attempt of a call, with its exception if any."""
    upstream_seconds.labels(operation, _outcome(error)).observe(seconds)
    if isinstance(error, errors.Unreadable) and error.flaw in DISOWNED:
        DISOWNED[error.flaw].inc()


def _outcome(error: BaseException | None) -> str:
    if error is None:
        return "answered"
    return next((outcome for kind, outcome in OUTCOMES.items() if isinstance(error, kind)), "given_up")


class Observer:
    """Updates the metrics that are sampled. One per process."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._seen: Counts[Event] = Counts()
        self._restarts: Counts[str] = Counts()
        self._processor = 0.0

    def look(
        self,
        *,
        standing: Standing,
        intents: int,
        open_streams: int,
        running_exports: int,
        requests: int,
        redis: bool | None,
    ) -> None:
        for event, counter in OF_EVENTS.items():
            now = self._tally[event]
            counter.inc(now - self._seen[event])
            self._seen[event] = now
        taken = time.process_time()
        processor_seconds.inc(taken - self._processor)
        self._processor = taken
        for line, is_open in standing.breakers.items():
            breaker_open.labels(line).set(is_open)
        for state in State:
            service_state.labels(state).set(state is standing.state)
        watched.set(intents)
        streams.set(open_streams)
        exports.set(running_exports)
        in_hand.set(requests)
        self._sample_tasks()
        processes.set(1)
        if redis is not None:
            redis_up().set(redis)
        with contextlib.suppress(OSError):
            memory.set(int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_SIZE)

    def _sample_tasks(self) -> None:
        ages = long_tasks.ages()
        for task in TASKS:
            task_beat.labels(task).set(ages.get(task, 0))
            now = long_tasks.restarts[task]
            task_restarts.labels(task).inc(now - self._restarts[task])
            self._restarts[task] = now


def text() -> bytes:
    """Return all metrics in Prometheus format, summed over processes in multiprocess mode."""
    if not IS_SHARED:
        return generate_latest(own)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)
