"""What an incident is, in words."""

from dataclasses import dataclass
from datetime import datetime

from intents_ui.formatting import amounts, times
from intents_ui.formatting.text import Sentence
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import StatusLabel

# Of each kind while it is open, and of those states that say more than the kind.
LABELS = statuses.labels("incident")
PAST = {
    "undelivered": "More transfers than usual were not delivered in time",
    "silent": "No transfers started",
}
PRESENT = {"undelivered": "More transfers than usual are not delivered in time", "silent": "No transfers start"}
LOOK_UP = (
    "Look up your transfer to see where your funds are and what to do next. Use its transaction hash or your address:"
)


@dataclass(frozen=True, kw_only=True)
class IncidentFacts:
    """An incident: of what, its kind and state, and how many owners it hit. `usual` is a share from 0 to 1.

    If nothing starts, `usual` is the number of owners that were expected.
    """

    number: int
    title: str
    kind: str
    state: str
    since: datetime
    recovered: datetime | None
    closed: datetime | None
    bad: int
    owners: int
    usual: float
    is_alert: bool = False

    def covers(self, at: datetime | None) -> bool:
        """Return whether it had begun at this time, and had not recovered unless it is still open."""
        end = self.closed and (self.recovered or self.closed)
        return at is not None and self.since <= at and (end is None or at <= end)

    @property
    def status(self) -> StatusLabel:
        return LABELS.get(self.state) or LABELS[self.kind]

    @property
    def extent(self) -> str:
        """Return `12 of 30 owners did not get their transfers in time, usually 2 of 100`."""
        if self.kind == "silent":
            return f"No transfer started where {self.usual:.0f} owners were expected"
        usually = amounts.of_hundred(self.usual)
        return f"{self.bad} of {self.owners} owners did not get their transfers in time, usually {usually}"

    @property
    def time(self) -> str:
        """Return `since 2026-11-26 10:05:00 UTC`, or from when to when it lasted. Texts are read on other days."""
        began = times.dated(self.since)
        if self.closed:
            return Sentence("from ", began, " to ", times.dated(self.closed))
        return Sentence("since ", began, ", and recovering" if self.state == "recovering" else "")

    @property
    def _what(self) -> str:
        return LABELS[self.kind].word.lower()

    @property
    def membership(self) -> str:
        """Return what a transfer's page says if the transfer is a part of it."""
        return Sentence(f"Part of an incident: {self.title}, {self._what} ", self.time, ".")

    @property
    def sentence(self) -> str:
        """Return two sentences for a feed or a chat: what, since when, and how many."""
        return f"{self.title}: {self._what} {self.time}. {self.extent}."

    def for_customers(self, link: str) -> str:
        """Return a text for those whose transfers may be affected. `link`: where they look up their transfer."""
        if self.closed:
            told = f"{PAST[self.kind]} {self.time} ({self.title}). This has been resolved."
        else:
            told = f"{PRESENT[self.kind]} {self.time} ({self.title})."
            told += " Other routes are not known to be affected."
        return f"{told}\n\n{LOOK_UP} {link}"
