"""What is said of an incident fits its state."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.transfers.incidents import PAST, IncidentFacts

BEGAN = datetime(2026, 11, 26, 10, 5, tzinfo=UTC)
OPEN = IncidentFacts(
    number=1, title="Relay, Base → Arbitrum One", kind="undelivered", state="open", since=BEGAN, recovered=None,
    closed=None, bad=12, owners=30, usual=0.02,
)  # fmt: skip
OVER = replace(OPEN, state="over", recovered=BEGAN + timedelta(hours=1), closed=BEGAN + timedelta(minutes=90))


def test_an_open_incident_is_told_since_when() -> None:
    assert OPEN.membership == (
        "Part of an incident: Relay, Base → Arbitrum One, not delivered in time since 2026-11-26 10:05:00 UTC."
    )
    assert OPEN.sentence == (
        "Relay, Base → Arbitrum One: not delivered in time since 2026-11-26 10:05:00 UTC."
        " 12 of 30 owners did not get their transfers in time, usually 2 of 100."
    )
    assert replace(OPEN, state="recovering").time == "since 2026-11-26 10:05:00 UTC, and recovering"


def test_a_past_incident_is_told_from_when_to_when() -> None:
    assert OVER.time == "from 2026-11-26 10:05:00 UTC to 2026-11-26 11:35:00 UTC"
    assert OVER.for_customers("https://x.example/").startswith(
        "More transfers than usual were not delivered in time from 2026-11-26 10:05:00 UTC to 2026-11-26 11:35:00 UTC"
        " (Relay, Base → Arbitrum One). This has been resolved.\n\nLook up your transfer"
    )


@pytest.mark.parametrize("kind", PAST)
@pytest.mark.parametrize("state", ["open", "recovering", "over"])
def test_every_kind_has_words_in_every_state(kind: str, state: str) -> None:
    facts = replace(OVER if state == "over" else OPEN, kind=kind, state=state)
    assert facts.status.word
    for said in (facts.sentence, facts.membership, facts.extent, facts.for_customers("https://x.example/")):
        assert said


def test_it_covers_the_time_until_it_recovered() -> None:
    minutes = {-1: False, 0: True, 59: True, 61: False}
    assert {each: OVER.covers(BEGAN + timedelta(minutes=each)) for each in minutes} == minutes
    assert OPEN.covers(BEGAN + timedelta(days=9))
    assert not OPEN.covers(None)
