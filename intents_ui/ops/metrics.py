"""Prometheus metrics for `/metrics`. docs/operations.md describes each of them.

Counters are incremented where events happen. Gauges (exports, open breakers) are set at each scrape or, with several
worker processes, every few seconds: in `prometheus_client`'s multiprocess mode, which gunicorn.conf.py sets up,
processes store their metrics in shared files, and any of them can serve the sums. Those of the mirror are read from its
database at each scrape. No label contains text from users or the service.
"""

import contextlib
import os
import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from intents_ui.installation import version
from intents_ui.service.health import registry
from intents_ui.service.results import ServiceState, ServiceStatus
from intents_ui.settings import ENV

if TYPE_CHECKING:
    from intents_ui.mirror.coverage import Coverage

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # environment variable: where processes share their metrics
IS_SHARED: Final = FOLDER in os.environ
EVERY_SECONDS: Final = 5.0
PAGE_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
PAGE_SIZE: Final = resource.getpagesize()

requests = Counter(
    "intents_ui_requests", "Responses, by the page's name and status.", ["view", "status"], registry=registry
)
request_seconds = Histogram(
    "intents_ui_request_seconds",
    "Time to first byte, by the page's name and status class.",
    ["view", "status"],
    buckets=PAGE_BUCKETS,
    registry=registry,
)
cpu_seconds = Counter("process_cpu_seconds", "CPU time in seconds.", registry=registry)


def _state(name: str, meaning: str, *labels: str, smallest: bool = False) -> Gauge:
    """Return a gauge that sums over live processes, or takes their minimum."""
    mode: Literal["livemin", "livesum"] = "livemin" if smallest else "livesum"
    return Gauge(name, meaning, labels, registry=registry, multiprocess_mode=mode)


breaker_open = _state("intents_ui_breaker_open", "Processes with an open circuit breaker.")
service_state = _state("intents_ui_service_state", "Processes by state of the service.", "state")
exports = _state("intents_ui_exports", "Exports in progress.")
in_progress = _state("intents_ui_requests_in_progress", "Requests in progress, excluding streams.")
memory = _state("process_resident_memory_bytes", "Resident memory in bytes.")
processes = _state("intents_ui_processes", "Processes included.")
build_info = _state("intents_ui_build_info", "1, with the version of the dashboard.", "version", smallest=True)


# Without Redis it must not be reported as down.
redis_up = _state("intents_ui_redis_up", "1: Redis is up, 0: it is down.", smallest=True) if ENV.redis_url else None


def sample(service: ServiceStatus, *, redis: bool | None) -> None:
    """Update the metrics of this process that no event changes."""
    cpu_seconds.inc(time.process_time() - (registry.get_sample_value("process_cpu_seconds_total") or 0.0))
    breaker_open.set(service.is_open)
    for state in ServiceState:
        service_state.labels(state).set(state is service.state)
    processes.set(1)
    build_info.labels(version()).set(1)
    if redis_up:
        redis_up.set(bool(redis))
    with contextlib.suppress(OSError):
        memory.set(int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_SIZE)


class MirrorCollector(Collector):
    """Collects the mirror's figures of one scrape, which are the same for all processes.

    `incidents` are those that aren't over, by state and kind.
    """

    def __init__(self, known: "Coverage", incidents: Mapping[tuple[str, str], int]) -> None:
        self._known = known
        self._incidents = incidents

    def collect(self) -> Iterator[GaugeMetricFamily]:
        known, lag = self._known, self._known.lag.total_seconds()
        conditions = {(condition,): length.total_seconds() for condition, length in known.lengths.items()}
        for name, meaning, labels, values in (
            ("lag_seconds", "Seconds that the oldest due window has been waiting.", (), {(): lag}),
            ("transfers", "Transfers in the copy.", (), {(): known.transfers}),
            ("calls", "Service calls of the mirror in the last hour.", (), {(): known.calls}),
            ("running", "1: a process reads the history, 0: none does.", (), {(): known.is_running}),
            ("seconds", "Seconds of the history, by what is known of them.", ("condition",), conditions),
            ("incidents", "Incidents that aren't over.", ("state", "kind"), self._incidents),
        ):
            family = GaugeMetricFamily(f"intents_ui_mirror_{name}", meaning, labels=labels)
            for place, value in values.items():
                family.add_metric(place, float(value))
            yield family


class SharedFilesCollector(Collector):
    """Collects the metrics of all processes, also while a process starts, whose files are empty for a moment."""

    def collect(self) -> Iterable[Metric]:
        files = [str(path) for path in Path(os.environ[FOLDER]).glob("*.db") if _has_content(path)]
        metrics: Iterable[Metric] = MultiProcessCollector.merge(files)
        return metrics


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:  # its process has ended
        return False


def text(mirror: MirrorCollector | None = None) -> bytes:
    """Return all metrics in Prometheus format, summed over processes in multiprocess mode."""
    added = CollectorRegistry()
    if IS_SHARED:
        added.register(SharedFilesCollector())
    if mirror:
        added.register(mirror)
    return (b"" if IS_SHARED else generate_latest(registry)) + generate_latest(added)
