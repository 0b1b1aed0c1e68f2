"""How the service is, in words for readers: what their questions have shown, and when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from intents_ui.display.statuses import Shown, Tone
from intents_ui.service.health import Standing, State

STATES = {
    State.ANSWERS: Shown("It answers", Tone.GOOD, "check", "Pages show what it says now."),
    State.UNASKED: Shown(
        "Not asked yet", Tone.NEUTRAL, "circle-dashed", "Since this part of the dashboard began nobody has asked it."
    ),
    State.TROUBLE: Shown(
        "In trouble",
        Tone.BAD,
        "triangle-alert",
        "Questions to it fail. Pages show what was known before, with its age, and it is asked again every few seconds."
        " It says nothing about any transfer.",
    ),
    State.QUIET: Shown(
        "Asked for a pause",
        Tone.ATTENTION,
        "hourglass",
        "It is asked too much and told us to wait. Pages show what was known before, with its age.",
    ),
    State.DENIED: Shown(
        "Does not let us in",
        Tone.BAD,
        "lock",
        "It does not take this dashboard's key. Whoever runs this dashboard has to look after that.",
    ),
}


@dataclass(frozen=True)
class ServiceState:
    """Moments are None for what never was; `quick` is a sentence."""

    shown: Shown
    answered_at: datetime | None
    failed_at: datetime | None
    troubled_since: datetime | None
    quick: str | None


def state(standing: Standing, *, now: datetime) -> ServiceState:
    return ServiceState(
        shown=STATES[standing.state],
        answered_at=before(standing.answered, now=now),
        failed_at=before(standing.failed, now=now),
        troubled_since=before(standing.in_trouble, now=now),
        quick=quick(standing.typical),
    )


def before(seconds: float | None, *, now: datetime) -> datetime | None:
    return None if seconds is None else now - timedelta(seconds=seconds)


def quick(seconds: float | None) -> str | None:
    """Of the answers that came last."""
    if seconds is None:
        return None
    took = f"{seconds:.1f} s" if seconds >= 1 else f"{max(round(seconds * 1000), 1)} ms"
    return f"half of them within {took}"
