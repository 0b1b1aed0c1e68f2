"""Decides whether a transfer can still change, so that its page stays live."""

from datetime import datetime, timedelta

from intents_ui.display import patience, statuses, times
from intents_ui.display.facts import Facts
from intents_ui.display.situation import Situation

# A refund or a retry may follow what looks like an end; after this it is not waited for any more.
SECOND_LOOK = timedelta(minutes=30)


def may_change(situation: Situation) -> bool:
    facts, now = situation.facts, situation.now
    if facts.status in statuses.TERMINAL_FOR_NOW:
        return facts.last_change is None or not patience.has_come(ends_at(facts), now=now)
    return statuses.is_open(facts.status) and (facts.has_moved or not situation.is_expired)


def ends_at(facts: Facts) -> datetime | None:
    """From when on nothing more is expected of a transfer that failed; None for one that did not."""
    if facts.status not in statuses.TERMINAL_FOR_NOW or facts.last_change is None:
        return None
    return times.after(facts.last_change, SECOND_LOOK)
