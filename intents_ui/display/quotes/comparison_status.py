"""Result labels and rows of the comparison between quote and result."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from intents_ui.display.formatting.text import UNKNOWN
from intents_ui.display.transfers.statuses import Shown, Tone


class Result(StrEnum):
    AS_QUOTED = "as-quoted"
    WITHIN_LIMIT = "within-limit"
    BELOW_MINIMUM = "below-minimum"
    OVER_LIMIT = "over-limit"
    MISMATCH = "mismatch"
    WITHIN_ESTIMATE = "within-estimate"
    OVER_ESTIMATE = "over-estimate"
    LATE = "late"
    ON_TRACK = "on-track"
    DELAYED = "delayed"
    PENDING = "pending"
    UNKNOWN = "unknown"
    NO_DEPOSIT = "no-deposit"
    NOT_DELIVERED = "not-delivered"
    REFUNDED = "refunded"
    REFUNDING = "refunding"
    REFUND_UNCONFIRMED = "refund-unconfirmed"
    REFUND_FAILED = "refund-failed"


SHOWN = {
    Result.AS_QUOTED: Shown("As quoted", Tone.GOOD, "check", "At least the quoted amount."),
    Result.WITHIN_LIMIT: Shown("Within limit", Tone.GOOD, "check", "Less than quoted, within the agreed limit."),
    Result.BELOW_MINIMUM: Shown("Below minimum", Tone.BAD, "x", "Less than the minimum received."),
    Result.OVER_LIMIT: Shown("Over limit", Tone.BAD, "x", "More than the quote allows."),
    Result.MISMATCH: Shown("Different token", Tone.ATTENTION, "triangle-alert", "Not the quoted token."),
    Result.WITHIN_ESTIMATE: Shown("Within estimate", Tone.GOOD, "check", "No longer than estimated."),
    Result.OVER_ESTIMATE: Shown("Over estimate", Tone.NEUTRAL, "clock", "A little longer than estimated."),
    Result.LATE: Shown("Delivered late", Tone.ATTENTION, "clock", "Delivered much later than estimated."),
    Result.ON_TRACK: Shown("On track", Tone.PROGRESS, "hourglass", "No deviation from the quote so far."),
    Result.DELAYED: Shown("Delayed", Tone.ATTENTION, "clock", "Taking much longer than estimated."),
    Result.PENDING: Shown("Pending", Tone.NEUTRAL, "hourglass", "Too early to compare."),
    Result.UNKNOWN: Shown("Unknown", Tone.NEUTRAL, "circle-dashed", "Not enough data."),
    Result.NO_DEPOSIT: Shown("No deposit", Tone.NEUTRAL, "clock", "No deposit has been seen."),
    Result.NOT_DELIVERED: Shown("Not delivered", Tone.NEUTRAL, "circle-slash", "The recipient received nothing."),
    Result.REFUNDED: Shown("Refunded", Tone.NEUTRAL, "undo-2", "The refund to the owner is confirmed."),
    Result.REFUNDING: Shown("Refund in progress", Tone.PROGRESS, "hourglass", "The refund is not confirmed yet."),
    Result.REFUND_UNCONFIRMED: Shown(
        "Not confirmed", Tone.ATTENTION, "triangle-alert", "Not confirmed to have reached the owner."
    ),
    Result.REFUND_FAILED: Shown("Refund failed", Tone.BAD, "x", "The refund transaction failed."),
}


@dataclass(frozen=True)
class Row:
    """A quoted figure and its actual value, with every digit.

    `since`: the actual value is the time elapsed since then, still counting.
    """

    label: str
    result: Result
    quoted: str = UNKNOWN
    limit: str = ""
    actual: str = UNKNOWN
    difference: str = ""
    since: datetime | None = None

    @property
    def shown(self) -> Shown:
        return SHOWN[self.result]
