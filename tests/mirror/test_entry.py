"""What the mirror stores of a history entry. `tests/transfers/test_agreement.py`: as the pages show it."""

import json
from typing import Any

import pytest

from intents_ui.mirror import entry
from intents_ui.mirror.entry import HASH, packed, unpacked
from intents_ui.service import decode
from intents_ui.service.models import IntentHistory
from intents_ui.service.outcome import Outcome
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import NOW

OWNER, OTHER = "0x" + "a1" * 20, "0x" + "b2" * 20


def listed(**fields: Any) -> IntentHistory:
    usual = {"intentId": "0x" + "12" * 32, "status": "SUCCEEDED", "createdAt": "2026-01-01T00:00:00Z"}
    return IntentHistory.model_validate(decode.read(json.dumps({**usual, **fields})))


def receipt(**fields: Any) -> dict[str, Any]:
    return {"intentId": "0x" + "12" * 32, "status": "SUCCEEDED", "ownerAddress": OWNER, **fields}


@pytest.mark.parametrize(
    ("status", "refund", "outcome"),
    [
        pytest.param("REFUNDED", {"status": "SUCCEEDED"}, Outcome.REFUNDED, id="to the owner"),
        pytest.param("REFUNDED", {"status": "SUCCEEDED", "toAddress": OTHER}, Outcome.UNCONFIRMED, id="to another"),
        pytest.param("REFUNDED", {"status": "SUCCEEDED", "chainId": 10}, Outcome.UNCONFIRMED, id="on another chain"),
        pytest.param("FAILED", {"status": "MINING"}, Outcome.FAILED, id="on its way after a failure"),
        pytest.param("EXECUTING", {"status": "FAILED"}, Outcome.FAILED, id="failed"),
        pytest.param("EXECUTING", {"status": "MINING"}, Outcome.OPEN, id="on its way"),
    ],
)
def test_a_refund_is_judged_as_on_the_page(status: str, refund: dict[str, Any], outcome: Outcome) -> None:
    given = listed(
        status=status,
        receipt=receipt(
            status=status,
            originChainId=1,
            destinationChainId=8453,
            refundTransaction={"chainId": 1, "toAddress": OWNER, **refund},
        ),
    )
    assert entry.read(given, now=NOW).outcome is Transfer.of_entry(given, now=NOW).outcome is outcome


def test_ends_of_hashes_and_intent_addresses_are_stored_with_the_size_and_the_memo() -> None:
    intent_address = "0xABCDEF" + "0" * 28 + "123456"
    given = listed(
        receipt=receipt(
            depositTransaction={"status": "SUCCEEDED", "txnHash": "0x" + "1" * 6 + "0" * 52 + "2" * 6},
            originTransaction={"status": "MINING", "txnHash": "0x" + "0" * 64},
            summary={
                "originIntentAddress": intent_address,
                "destinationIntentAddress": intent_address.lower(),
                "originTokenAddress": "0x" + "11" * 20,
                "originTokenAmount": "2500000",
                "originTokenMetadata": {"symbol": "USDC", "decimals": 6},
                "memo": "order 88123 " + "x" * 100,
            },
        )
    )
    found = entry.read(given, now=NOW)
    assert found.deposit_hash == bytes.fromhex("1" * 6 + "2" * 6)
    assert found.origin_hash is None  # wallets show no shortened form of it
    assert found.deposit_address == bytes.fromhex("abcdef123456")
    assert found.delivery_address is None  # the same one
    assert found.size == entry.size_of(25, 1) != entry.size_of(2_510_000, 6)
    assert found.memo == ("order 88123 " + "x" * 100)[: entry.LONGEST_MEMO]


def test_odd_values_are_stored_as_the_pages_read_them() -> None:
    found = entry.read(
        listed(
            intentId="not-hex-no",
            updatedAt="yesterday",
            receipt=receipt(
                intentId="not-hex-no",
                projectId=2**70,
                summary={
                    "originTokenAmount": 1e24,
                    "originTokenAddress": "So1ana",
                    "originTokenMetadata": {"symbol": "A\0B"},
                    "memo": 5,
                },
                originTransaction={"status": "FAILED", "statusReason": "x" * 1000},
            ),
        ),
        now=NOW,
    )
    assert (found.updated, found.sent) == (0, "1000000000000000000000000")
    assert unpacked(found.intent_id, HASH) == "not-hex-no"
    assert found.origin_token is not None
    assert found.origin_token.symbol == "A\ufffdB"
    assert found.reason == "x" * 200
    assert found.failed_step == 1


@pytest.mark.parametrize(
    ("deposit", "sent"),
    [
        pytest.param({"status": "SUCCEEDED", "tokenAmount": "97"}, "97", id="confirmed"),
        pytest.param({"status": "SUCCEEDED", "tokenAmount": "97", "tokenAddress": "0xAA"}, "97", id="the same token"),
        pytest.param({"status": "SUCCEEDED", "tokenAmount": "97", "tokenAddress": "0xbb"}, "100", id="another token"),
        pytest.param({"status": "SUCCEEDED", "tokenAmount": "a lot"}, "100", id="unreadable"),
        pytest.param({"status": "MINING", "tokenAmount": "97"}, "100", id="not confirmed"),
    ],
)
def test_the_amount_is_that_of_the_confirmed_deposit(deposit: dict[str, str], sent: str) -> None:
    requested = {"originTokenAmount": "100", "originTokenAddress": "0xaa"}
    found = entry.read(listed(receipt=receipt(summary=requested, depositTransaction=deposit)), now=NOW)
    assert found.sent == sent


def test_an_entry_without_a_time_of_creation_has_no_place_in_the_copy() -> None:
    with pytest.raises(ValueError, match="time of creation"):
        entry.read(listed(createdAt=None), now=NOW)


def test_a_text_never_equals_a_hash() -> None:
    assert packed("0x" + "AB" * 32, HASH) == packed("0x" + "ab" * 32, HASH) == b"\xab" * 32
    for text in ("x" * 32, "0x" + "zz" * 32, "\0" * 31):
        assert len(packed(text, HASH) or b"") > HASH
        assert unpacked(packed(text, HASH) or b"", HASH) == text
