"""Whether what was promised was kept, in one word, and a row of the table that says so."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from intents_ui.display.statuses import Shown, Tone
from intents_ui.display.text import UNKNOWN


class Verdict(StrEnum):
    KEPT = "kept"
    NOT_KEPT = "not kept"
    SO_FAR = "kept so far"
    NOT_YET = "not known yet"
    UNKNOWN = "not known"
    LAPSED = "not taken up"


SHOWN = {
    Verdict.KEPT: Shown("Kept", Tone.GOOD, "check", "It came as promised, or better."),
    Verdict.NOT_KEPT: Shown("Not kept", Tone.BAD, "x", "It did not come as promised."),
    Verdict.SO_FAR: Shown("Kept so far", Tone.GOOD, "check", "It can still be kept: nothing speaks against it."),
    Verdict.NOT_YET: Shown("Not known yet", Tone.NEUTRAL, "hourglass", "It is too early to say."),
    Verdict.UNKNOWN: Shown("Not known", Tone.NEUTRAL, "circle-dashed", "The service does not say enough."),
    Verdict.LAPSED: Shown("Not taken up", Tone.NEUTRAL, "clock", "No payment was seen, so nothing was due."),
}
# Of time alone, because an estimate is soon missed: within the usual margin it is said, beyond it it stands out.
SLOWER = Shown("Not kept", Tone.NEUTRAL, "clock", "It took longer than promised, within the usual margin.")
LATE = Shown("Not kept", Tone.ATTENTION, "clock", "It took longer than promised, beyond the usual margin.")
KEPT_BUT_LATE = Shown("Kept, but late", Tone.ATTENTION, "clock", "The amount came as promised, later than promised.")
SLOWER_SO_FAR = Shown("Slower than promised", Tone.NEUTRAL, "clock", "It is past its time, within the usual margin.")
LATE_SO_FAR = Shown("Late so far", Tone.ATTENTION, "clock", "It is past its time, beyond the usual margin.")
RETURNED = Shown("Returned", Tone.ATTENTION, "undo-2", "The return is confirmed.")
RETURNING = Shown("On its way", Tone.PROGRESS, "hourglass", "The return is not confirmed yet.")
UNCONFIRMED = Shown("Not confirmed", Tone.ATTENTION, "triangle-alert", "It is not seen to have reached the owner.")
NOT_RETURNED = Shown("Not returned", Tone.BAD, "x", "The return did not work.")


@dataclass(frozen=True)
class Row:
    """One thing that was promised; figures have every digit.

    `since`: the actual figure is the time that has passed since then, and runs on. A return was not promised, so that
    its row has no verdict."""

    label: str
    shown: Shown
    verdict: Verdict | None = None
    promised: str = UNKNOWN
    least: str = ""
    actual: str = UNKNOWN
    difference: str = ""
    since: datetime | None = None
