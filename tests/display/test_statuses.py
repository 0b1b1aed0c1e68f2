from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.display import providers, statuses
from intents_ui.display.statuses import Tone
from intents_ui.service.wire import IntentStatus, TransactionStatus

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)

INTENTS = [
    ("quoted", "QUOTED", FUTURE, None, "Quoted", Tone.NEUTRAL),
    ("quoted, no expiry", "QUOTED", None, None, "Quoted", Tone.NEUTRAL),
    ("quoted, expired", "QUOTED", PAST, None, "Offer expired", Tone.NEUTRAL),
    ("quoted, expires this moment", "QUOTED", NOW, None, "Offer expired", Tone.NEUTRAL),
    ("committed", "COMMITTED", FUTURE, NOW, "Committed", Tone.PROGRESS),
    ("committed, expired", "COMMITTED", PAST, NOW, "Offer expired", Tone.NEUTRAL),
    ("committed, overdue", "COMMITTED", None, NOW - timedelta(minutes=10), "Offer expired", Tone.NEUTRAL),
    ("executing, expiry past", "EXECUTING", PAST, PAST, "In progress", Tone.PROGRESS),
    ("succeeded", "SUCCEEDED", PAST, None, "Succeeded", Tone.GOOD),
    ("failed", "FAILED", PAST, None, "Failed", Tone.BAD),
    ("refunded", "REFUNDED", PAST, None, "Refunded", Tone.ATTENTION),
    ("aborted", "ABORTED", PAST, None, "Aborted", Tone.NEUTRAL),
    ("invalid", "INVALID", PAST, None, "Invalid", Tone.NEUTRAL),
    ("not in the list", "HALTED", PAST, None, "HALTED", Tone.NEUTRAL),
    ("hostile", "\u202eX", PAST, None, "⟨U+202E⟩X", Tone.NEUTRAL),
    ("missing", None, PAST, None, "No status", Tone.NEUTRAL),
]


@pytest.mark.parametrize(
    ("status", "expires_at", "updated_at", "word", "tone"),
    [row[1:] for row in INTENTS],
    ids=[row[0] for row in INTENTS],
)
def test_an_intent_is_shown_by_word_and_tone(status, expires_at, updated_at, word, tone):
    shown = statuses.intent(status, now=NOW, expires_at=expires_at, updated_at=updated_at)
    assert (shown.word, shown.tone) == (word, tone)


def test_every_status_has_word_icon_and_meaning():
    assert set(statuses.INTENTS) == set(IntentStatus)
    assert set(statuses.TRANSACTIONS) == set(TransactionStatus)
    for shown in [*statuses.INTENTS.values(), *statuses.TRANSACTIONS.values()]:
        assert shown.word
        assert shown.icon
        assert shown.meaning.endswith(".")


def test_no_two_statuses_of_an_intent_look_the_same():
    looks = [(shown.word, shown.icon) for shown in [*statuses.INTENTS.values(), statuses.EXPIRED]]
    assert len({word for word, _ in looks}) == len({icon for _, icon in looks}) == len(looks)


@pytest.mark.parametrize(
    ("status", "is_open", "word"),
    [
        ("ERRORED", True, "Retrying"),
        ("ERRORED", False, "Not sent"),
        ("MINING", True, "Mining"),
        ("RELAYED", True, "Relayed"),
        ("QUEUED", True, "QUEUED"),
        (None, True, "No status"),
    ],
)
def test_a_transaction_is_shown_by_a_word(status, is_open, word):
    assert statuses.transaction(status, is_open=is_open).word == word


@pytest.mark.parametrize(
    ("status", "is_open"),
    [(status, status in ("QUOTED", "COMMITTED", "EXECUTING")) for status in IntentStatus] + [("HALTED", True)],
)
def test_what_is_open(status, is_open):
    assert statuses.is_open(status) is is_open


@pytest.mark.parametrize(
    ("provider", "label"),
    [
        ("RELAY", "Relay"),
        ("LIFI", "LI.FI"),
        ("ZEROX", "0x"),
        ("FUTURE_BRIDGE", "FUTURE_BRIDGE"),
        ("\u202e", "⟨U+202E⟩"),
    ],
)
def test_providers_by_their_own_names(provider, label):
    assert providers.label(provider) == label


def test_the_slowest_bridge_counts():
    assert providers.slow_range(["ZEROX", "CCTP"]) == timedelta(minutes=30)
    assert providers.slow_range(["CCTP", "LZ_OFT"]) == timedelta(minutes=90)
    assert providers.slow_range(["RELAY"]) is None
