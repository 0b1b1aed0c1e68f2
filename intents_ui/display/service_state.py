"""Status of the service as live traffic shows it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from intents_ui.display.transfers.statuses import StatusLabel, Tone
from intents_ui.service.wire.results import ServiceState, ServiceStatus

STATES = {
    ServiceState.UP: StatusLabel("Operational", Tone.GOOD, "check", "Pages show live data."),
    ServiceState.UNKNOWN: StatusLabel(
        "No data yet", Tone.NEUTRAL, "circle-dashed", "This process has not sent a request yet."
    ),
    ServiceState.DEGRADED: StatusLabel(
        "Degraded",
        Tone.BAD,
        "triangle-alert",
        "Requests are failing. Pages show cached data with its age. Retrying every few seconds. Transfers in progress"
        " are not affected.",
    ),
    ServiceState.RATE_LIMITED: StatusLabel(
        "Rate limited",
        Tone.ATTENTION,
        "hourglass",
        "The service limits the rate of requests. Pages show cached data with its age.",
    ),
    ServiceState.UNAUTHORIZED: StatusLabel(
        "Access denied",
        Tone.BAD,
        "lock",
        "The service rejected the access key. Contact your administrator.",
    ),
}


@dataclass(frozen=True)
class ServiceSummary:
    """State of the service. Times are None for "never". `quick` is the median response time, such as `25 ms`."""

    shown: StatusLabel
    answered_at: datetime | None
    failed_at: datetime | None
    troubled_since: datetime | None
    quick: str | None


def state(standing: ServiceStatus, *, now: datetime) -> ServiceSummary:
    return ServiceSummary(
        shown=STATES[standing.state],
        answered_at=before(standing.answered, now=now),
        failed_at=before(standing.failed, now=now),
        troubled_since=before(standing.in_trouble, now=now),
        quick=quick(standing.typical),
    )


def before(seconds: float | None, *, now: datetime) -> datetime | None:
    return None if seconds is None else now - timedelta(seconds=seconds)


def quick(seconds: float | None) -> str | None:
    """Return the median response time, as `1.2 s` or `25 ms`."""
    if seconds is None:
        return None
    return f"{seconds:.1f} s" if seconds >= 1 else f"{max(round(seconds * 1000), 1)} ms"
