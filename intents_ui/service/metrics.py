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
rejected = Counter(
    "intents_ui_rejected", "Requests rejected because all slots were in use.", ["stage"], registry=registry
)
_retries = Counter(
    "intents_ui_upstream_retries", "Calls worth a retry, sent or suppressed.", ["outcome"], registry=registry
)
_mismatched = Counter(
    "intents_ui_upstream_mismatched",
    "Responses rejected, in whole or in part, because they belong to another request.",
    ["reason"],
    registry=registry,
)
_requests = Counter(
    "intents_ui_data_requests",
    "Requests of pages for data, by the source of the response.",
    ["source"],
    registry=registry,
)
_ignored = Counter("intents_ui_shared_ignored", "Values in Redis that were ignored.", ["reason"], registry=registry)

retry_sent, retry_suppressed = _retries.labels("sent"), _retries.labels("suppressed")
cache_hit, cache_miss, coalesced = _requests.labels("cache"), _requests.labels("service"), _requests.labels("coalesced")
stale_while_revalidate = _requests.labels("stale_while_revalidate")
stale_if_error = _requests.labels("stale_if_error")
call_rejected = rejected.labels("service")  # all slots or connections were in use
older_response, unfit_entries = _mismatched.labels("older"), _mismatched.labels("other_entries")
shared_unreadable, shared_unsigned = _ignored.labels("unreadable"), _ignored.labels("unsigned")
_by_reason: Final[Mapping[Reason, Counter]] = {
    Reason.OTHER_INTENT: _mismatched.labels("other_intent"),
    Reason.OTHER_FILTER: _mismatched.labels("other_filter"),
}


def attempt(operation: str, error: BaseException | None, duration: float) -> None:
    """Count one attempt of a call, with its exception if any."""
    outcome = next((outcome for kind, outcome in OUTCOMES.items() if isinstance(error, kind)), "canceled")
    seconds.labels(operation, outcome if error else "answered").observe(duration)
    if isinstance(error, errors.Unreadable) and error.reason in _by_reason:
        _by_reason[error.reason].inc()
