from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.service import outcome
from intents_ui.service.models import (
    DepositIntentEntry,
    Intent,
    IntentReceipt,
    IntentStatus,
    IntentTransaction,
    TransactionStatus,
)
from intents_ui.service.outcome import StepStates, StepStatus
from intents_ui.tokens import names
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import execute_until
from tests.transfers.builders import named, transaction

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
PAST, FUTURE = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)

LABELS = named(
    ("quoted", "QUOTED", FUTURE, None, "Quoted", Tone.NEUTRAL),
    ("quoted, expired", "QUOTED", PAST, None, "Expired", Tone.NEUTRAL),
    ("quoted, expires this moment", "QUOTED", NOW, None, "Expired", Tone.NEUTRAL),
    ("committed", "COMMITTED", FUTURE, NOW, "Accepted", Tone.PROGRESS),
    ("committed, overdue", "COMMITTED", None, NOW - timedelta(minutes=10), "Expired", Tone.NEUTRAL),
    ("executing, expiry past", "EXECUTING", PAST, PAST, "In progress", Tone.PROGRESS),
    ("succeeded", "SUCCEEDED", PAST, None, "Succeeded", Tone.GOOD),
    ("failed", "FAILED", PAST, None, "Failed", Tone.BAD),
    ("refunded", "REFUNDED", PAST, None, "Refunded", Tone.NEUTRAL),
    ("aborted", "ABORTED", PAST, None, "Aborted", Tone.NEUTRAL),
    ("invalid", "INVALID", PAST, None, "Invalid", Tone.NEUTRAL),
    ("not in the list", "HALTED", PAST, None, "HALTED", Tone.NEUTRAL),
    ("hostile", "\u202eX", PAST, None, "⟨U+202E⟩X", Tone.NEUTRAL),
    ("missing", None, PAST, None, "No status", Tone.NEUTRAL),
)


@pytest.mark.parametrize(("status", "expires_at", "updated_at", "word", "tone"), LABELS)
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
        ("MINING", False, "Confirming"),
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
    named(
        ("a quote ends when it expires", "QUOTED", FUTURE, PAST, FUTURE),
        ("a quote without an expiry has no end", "QUOTED", None, PAST, None),
        ("ten minutes after it was committed", "COMMITTED", None, NOW, NOW + timedelta(minutes=10)),
        ("the expiry comes first", "COMMITTED", FUTURE, NOW, FUTURE),
        ("the ten minutes come first", "COMMITTED", NOW + timedelta(hours=1), NOW, NOW + timedelta(minutes=10)),
        ("without the time of its update only the expiry counts", "COMMITTED", FUTURE, None, FUTURE),
        ("an executing transfer has no such end", "EXECUTING", FUTURE, NOW, None),
    ),
)
def test_a_quotes_expiry_is_known(status, expires_at, updated_at, end):
    assert outcome.execute_by(status, expires_at=expires_at, updated_at=updated_at) == end


@pytest.mark.parametrize(
    ("status", "is_open"),
    [(status, status in ("QUOTED", "COMMITTED", "EXECUTING")) for status in IntentStatus] + [("HALTED", True)],
)
def test_open_statuses_are_not_final(status, is_open):
    assert statuses.is_open(status) is is_open


def test_providers_have_their_own_names():
    assert [names.provider_label(each) for each in ("LIFI", "FUTURE_BRIDGE", "\u202e")] == [
        *("LI.FI", "FUTURE_BRIDGE", "⟨U+202E⟩")
    ]


def test_the_slowest_bridge_counts():
    assert names.slow_range(["ZEROX", "CCTP"]) == timedelta(minutes=30)
    assert names.slow_range(["CCTP", "LZ_OFT"]) == timedelta(minutes=90)
    assert names.slow_range(["RELAY"]) is None


def test_an_intent_that_is_accepted_now_has_ten_minutes():
    quoted = Intent(intent_id="0x1", status="QUOTED", expires_at=NOW + timedelta(minutes=15), updated_at=PAST)
    assert execute_until(quoted, now=NOW) == NOW + timedelta(minutes=10)
    committed = quoted.model_copy(update={"status": "COMMITTED"})
    assert execute_until(committed, now=NOW) == PAST + timedelta(minutes=10)


PLACEHOLDER = "0x" + "0" * 64


def signed(signature: str | None) -> IntentTransaction:
    entry = DepositIntentEntry(intent_signature=signature)
    return transaction("PENDING", txn_hash=PLACEHOLDER, deposit_intent_entry=entry)


DEPOSITS = named(
    ("none", None, StepStatus.ABSENT),
    ("without a status", transaction(None, txn_hash=PLACEHOLDER), StepStatus.ABSENT),
    ("awaited by the service", transaction("PENDING", txn_hash=PLACEHOLDER), StepStatus.QUEUED),
    ("without a hash", transaction("PENDING", txn_hash=None), StepStatus.QUEUED),
    ("sent by the owner", transaction("PENDING"), StepStatus.MOVING),
    ("signed for the relayer", transaction("PENDING", txn_hash=None, meta_txn_id="8f0c"), StepStatus.MOVING),
    ("signed by the intent", signed("0x1b"), StepStatus.MOVING),
    ("not signed yet", signed(None), StepStatus.QUEUED),
    ("with an unrecognized status", transaction("HALTED", txn_hash=PLACEHOLDER), StepStatus.STRANGE),
    ("confirmed", transaction("SUCCEEDED"), StepStatus.DONE),
    ("reverted", transaction("REVERTED"), StepStatus.REJECTED),
)


@pytest.mark.parametrize(("deposit", "step"), DEPOSITS)
def test_a_deposit_that_was_made_is_in_progress_until_it_is_final(deposit, step):
    assert StepStates.of(IntentReceipt(intent_id="0x1", deposit_transaction=deposit)).deposit is step


@pytest.mark.parametrize(
    ("made", "has_hash"),
    [(None, False), (transaction("SENT", txn_hash=PLACEHOLDER), False), (transaction("SENT"), True)],
)
def test_a_placeholder_is_no_hash(made, has_hash):
    assert outcome.has_hash(made) is has_hash
