from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.display.tokens import providers
from intents_ui.display.transfers import statuses
from intents_ui.display.transfers.statuses import Tone
from intents_ui.service.wire.models import IntentStatus, TransactionStatus

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)

INTENTS = [
    ("quoted", "QUOTED", FUTURE, None, "Quoted", Tone.NEUTRAL),
    ("quoted, no expiry", "QUOTED", None, None, "Quoted", Tone.NEUTRAL),
    ("quoted, expired", "QUOTED", PAST, None, "Expired", Tone.NEUTRAL),
    ("quoted, expires this moment", "QUOTED", NOW, None, "Expired", Tone.NEUTRAL),
    ("quoted long ago, not expired", "QUOTED", FUTURE, NOW - timedelta(hours=1), "Quoted", Tone.NEUTRAL),
    ("committed", "COMMITTED", FUTURE, NOW, "Committed", Tone.PROGRESS),
    ("committed, expired", "COMMITTED", PAST, NOW, "Expired", Tone.NEUTRAL),
    ("committed, overdue", "COMMITTED", None, NOW - timedelta(minutes=10), "Expired", Tone.NEUTRAL),
    (
        "committed, one second left",
        "COMMITTED",
        None,
        NOW - timedelta(minutes=9, seconds=59),
        "Committed",
        Tone.PROGRESS,
    ),
    ("executing, expiry past", "EXECUTING", PAST, PAST, "In progress", Tone.PROGRESS),
    ("succeeded", "SUCCEEDED", PAST, None, "Succeeded", Tone.GOOD),
    ("failed", "FAILED", PAST, None, "Failed", Tone.BAD),
    ("refunded", "REFUNDED", PAST, None, "Refunded", Tone.NEUTRAL),
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
def test_an_intent_status_has_a_label_and_a_tone(status, expires_at, updated_at, word, tone):
    shown = statuses.intent(status, now=NOW, expires_at=expires_at, updated_at=updated_at)
    assert (shown.word, shown.tone) == (word, tone)


def test_every_status_has_a_label_an_icon_and_a_meaning():
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
        ("MINING", True, "Confirming"),
        ("MINING", False, "Confirming"),
        ("RELAYED", True, "Relayed"),
        ("QUEUED", True, "QUEUED"),
        (None, True, "No status"),
    ],
)
def test_a_transaction_status_is_shown_by_a_label(status, is_open, word):
    assert statuses.transaction(status, is_open=is_open).word == word


@pytest.mark.parametrize("kind", [statuses.intent, statuses.transaction], ids=["intent", "transaction"])
@pytest.mark.parametrize(
    ("status", "known"),
    [("SUCCEEDED", True), ("HALTED", False), (None, False)],
    ids=["listed", "not in the list", "missing"],
)
def test_only_a_listed_status_is_known(kind, status, known):
    clock = {"now": NOW} if kind is statuses.intent else {}
    assert kind(status, **clock).known is known


@pytest.mark.parametrize(
    ("status", "expires_at", "updated_at", "end"),
    [
        ("QUOTED", FUTURE, PAST, FUTURE),
        ("QUOTED", None, PAST, None),
        ("COMMITTED", None, NOW, NOW + timedelta(minutes=10)),
        ("COMMITTED", FUTURE, NOW, FUTURE),
        ("COMMITTED", NOW + timedelta(hours=1), NOW, NOW + timedelta(minutes=10)),
        ("COMMITTED", FUTURE, None, FUTURE),
        ("EXECUTING", FUTURE, NOW, None),
    ],
    ids=[
        "a quote ends when it expires",
        "a quote without an expiry has no end",
        "ten minutes after it was committed",
        "the expiry comes first",
        "the ten minutes come first",
        "without the time of its update only the expiry counts",
        "an executing transfer has no such end",
    ],
)
def test_a_quotes_expiry_is_known(status, expires_at, updated_at, end):
    assert statuses.execute_by(status, expires_at=expires_at, updated_at=updated_at) == end


@pytest.mark.parametrize(
    ("status", "is_open"),
    [(status, status in ("QUOTED", "COMMITTED", "EXECUTING")) for status in IntentStatus] + [("HALTED", True)],
)
def test_open_statuses_are_not_final(status, is_open):
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
def test_providers_have_their_own_names(provider, label):
    assert providers.label(provider) == label


def test_the_slowest_bridge_counts():
    assert providers.slow_range(["ZEROX", "CCTP"]) == timedelta(minutes=30)
    assert providers.slow_range(["CCTP", "LZ_OFT"]) == timedelta(minutes=90)
    assert providers.slow_range(["RELAY"]) is None
