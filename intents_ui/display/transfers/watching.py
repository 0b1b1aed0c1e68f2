"""Decide whether a transfer can still change, so that its page stays live."""

from datetime import datetime, timedelta

from intents_ui.display.formatting import times
from intents_ui.display.transfers import statuses, timing
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.transfers.transfer_data import Facts

# A refund or retry may follow a failure. Watch for this long after the last change.
SECOND_LOOK = timedelta(minutes=30)


def may_change(situation: Situation) -> bool:
    facts, now = situation.facts, situation.now
    if facts.status in statuses.TERMINAL_FOR_NOW:
        return facts.last_change is None or not timing.has_come(ends_at(facts), now=now)
    return statuses.is_open(facts.status) and (facts.has_moved or not situation.is_expired)


def ends_at(facts: Facts) -> datetime | None:
    """Return when to stop watching a failed transfer; None for others."""
    if facts.status not in statuses.TERMINAL_FOR_NOW or facts.last_change is None:
        return None
    return times.after(facts.last_change, SECOND_LOOK)
