"""Prometheus metrics of service calls, counted where they happen. docs/operations.md describes each of them."""

from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from intents_ui.service import errors
from intents_ui.service.errors import Reason

disable_created_metrics()

CALL_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 40)
OUTCOMES: Final[Mapping[type[BaseException], str]] = {
    errors.OutOfTime: "deadline_exceeded",
    errors.Unreachable: "unreachable",
    errors.Overloaded: "rejected",
    errors.TooBusy: "rate_limited",
    errors.AccessDenied: "unauthorized",
    errors.Refused: "refused",
    errors.Unreadable: "unreadable",
}

registry = CollectorRegistry()


def _counters(name: str, meaning: str, label: str, *values: str) -> Mapping[str, Counter]:
    """Return a counter for each value of a label. They start at 0, so that the first event is an increase."""
    counter = Counter(name, meaning, [label], registry=registry)
    return {value: counter.labels(value) for value in values}


seconds = Histogram(
    "intents_ui_upstream_seconds",
    "Duration of service calls, each attempt separately.",
    ["operation", "outcome"],
    buckets=CALL_BUCKETS,
    registry=registry,
)
short_circuited = Counter(
    "intents_ui_upstream_short_circuited",
    "Calls suppressed while the service is down or rate limits us.",
    registry=registry,
)
breaker_opened = Counter("intents_ui_breaker_opened", "Times that the circuit breaker opened.", registry=registry)
rejected = _counters(
    "intents_ui_rejected", "Requests rejected because all slots were in use.", "stage", "ingress", "service"
)
retries = _counters(
    "intents_ui_upstream_retries", "Calls worth a retry, sent or suppressed.", "outcome", "sent", "suppressed"
)
mismatched = _counters(
    "intents_ui_upstream_mismatched",
    "Responses rejected, in whole or in part, because they belong to another request.",
    "reason",
    *("older", "other_entries", "other_intent", "other_filter"),
)
data_requests = _counters(
    "intents_ui_data_requests",
    "Requests of pages for data, by the source of the response.",
    "source",
    *("cache", "service", "coalesced", "stale_while_revalidate", "stale_if_error"),
)
shared_ignored = _counters(
    "intents_ui_shared_ignored", "Values in Redis that were ignored.", "reason", "unreadable", "unsigned"
)


def attempt(operation: str, error: BaseException | None, duration: float) -> None:
    """Count one attempt of a call, with its exception if any."""
    outcome = next((outcome for kind, outcome in OUTCOMES.items() if isinstance(error, kind)), "canceled")
    seconds.labels(operation, outcome if error else "answered").observe(duration)
    if isinstance(error, errors.Overloaded):
        rejected["service"].inc()
    if isinstance(error, errors.Unreadable) and error.reason in (Reason.OTHER_INTENT, Reason.OTHER_FILTER):
        mismatched[error.reason.name.lower()].inc()
