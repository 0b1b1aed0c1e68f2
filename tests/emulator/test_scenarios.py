"""The thirty scenarios, step by step, against a copy of their table."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from intents_ui.emulator import Emulator
from intents_ui.emulator.scenarios import SCENARIOS
from tests.emulator.driving import call, receipt_at, request

TABLE = json.loads((Path(__file__).parent / "scenarios.json").read_text(encoding="utf-8"))
LEGS = ("deposit", "origin", "destination", "refund")
# Steps that the table tells of another variant than the main one.
OTHER_VARIANTS = {(6, 610): "B"}
EVERY_STEP = [pytest.param(row["id"], *step, id=f"{row['id']}-{step[0]}s") for row in TABLE for step in row["steps"]]


def leg_statuses(receipt):
    return [(receipt[f"{leg}Transaction"] or {}).get("status") for leg in LEGS]


@pytest.mark.parametrize(("number", "seconds", "status", "deposit", "origin", "destination", "refund"), EVERY_STEP)
def test_every_step_matches_the_table(emulator, clock, number, seconds, status, deposit, origin, destination, refund):
    intent = emulator.newest(number, variant=OTHER_VARIANTS.get((number, seconds), "A"))

    receipt = receipt_at(emulator, clock, intent, seconds)

    assert [receipt["status"], *leg_statuses(receipt)] == [status, deposit, origin, destination, refund]
    assert receipt["summary"]["status"] == status
    assert call(emulator, "GetIntent", {"intentId": intent["intentId"]})["intent"]["status"] == status
    waited = call(emulator, "WaitIntentReceipt", {"intentId": intent["intentId"], "lastReceiptStates": ["NEW"]})
    present = [each for each in (deposit, origin, destination) if each]
    assert [each for each in waited["receiptStates"][:3] if each != "UNKNOWN"] == present
    assert waited["receiptStates"][3:] == ([refund] if refund else [])


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["id"]))
def test_route_and_providers_match_the_table(emulator, row):
    scenario = next(scenario for scenario in SCENARIOS if scenario.number == row["id"])
    intent = emulator.newest(row["id"])

    assert (scenario.title, scenario.route) == (row["title"], row["route"])
    assert intent["quote"]["routeProviders"] == row["providers"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_nothing_changes_between_two_steps(emulator, clock, scenario):
    """A moment before each step everything is still as the step before left it."""
    for variant in scenario.variant_names:
        intent, script = emulator.newest(scenario.slug, variant=variant), scenario.script_of(variant)
        for before, after in pairwise(script):
            receipt = receipt_at(emulator, clock, intent, after.at - 0.001)
            assert (receipt["status"], tuple(leg_statuses(receipt))) == (before.status, before.legs)


@pytest.mark.slow
def test_there_is_always_a_fresh_and_a_finished_copy_of_each(emulator, clock):
    for _ in range(40):
        clock.forward(431.7)
        found = emulator.scenarios(moving=False)
        assert [scenario.number for scenario in found] == list(range(1, 31))
        for scenario in found:
            fresh = call(emulator, "GetIntent", {"intentId": scenario.fresh})["intent"]
            assert clock.now - fresh["id"] / 1_000_000 < 15 * 60
    assert len({scenario.slug for scenario in found}) == 30
    for scenario in found:
        row = next(row for row in TABLE if row["id"] == scenario.number)
        receipt = call(emulator, "GetIntentReceipt", {"intentId": scenario.finished})["intentReceipt"]
        if scenario.number not in (6, 23):  # told to their end by a variant, and beyond the table
            assert receipt["status"] == row["steps"][-1][1]


def test_the_demo_page_links_to_transfers_in_progress(emulator, clock):
    clock.forward(200)
    for shown in emulator.scenarios():
        intent = call(emulator, "GetIntent", {"intentId": shown.fresh})["intent"]
        scenario = next(scenario for scenario in SCENARIOS if scenario.number == shown.number)
        assert clock.now - intent["id"] / 1_000_000 < scenario.lasts
    assert [each.fresh for each in emulator.scenarios()] == [each.fresh for each in emulator.scenarios()]


def record(emulator, intent):
    """Everything that the service says about an intent, through every operation that reads one."""
    intent_id, seconds = intent["intentId"], intent["id"] // 1_000_000
    around = {"fromTime": seconds, "toTime": seconds + 1, "includeBalances": True}
    rows = call(emulator, "GetIntentHistory", around | {"byOwnerAddress": intent["ownerAddress"]})["intents"]
    return {
        "intent": call(emulator, "GetIntent", {"intentId": intent_id})["intent"],
        "receipt": call(emulator, "GetIntentReceipt", {"intentId": intent_id})["intentReceipt"],
        "history": [row for row in rows if row["intentId"] == intent_id],
        "search": call(emulator, "SearchIntents", {"byIntentId": intent_id})["intents"],
        "wait": call(emulator, "WaitIntentReceipt", {"intentId": intent_id, "lastReceiptStates": ["NEW"]}),
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.slug)
def test_a_held_copy_stays_at_the_worst_step_of_its_script(emulator, clock, scenario):
    """Two emulators give their first copy the same number at the same moment, so the records can be compared whole."""
    step = [step for step in scenario.script_of(scenario.worst.variant) if step.at <= scenario.worst.at][-1]
    moving = Emulator(now=clock, hold=0.3)
    expected = record(moving, moving.play(scenario.slug, variant=scenario.worst.variant, age=scenario.worst.at))
    clock_at_first = clock.now

    held = emulator.worst(scenario.slug)

    assert clock_at_first - held["id"] / 1_000_000 == pytest.approx(scenario.worst.at, abs=0.002)
    assert record(emulator, held) == expected
    assert (expected["receipt"]["status"], tuple(leg_statuses(expected["receipt"]))) == (step.status, step.legs)
    assert len(expected["history"]) == len(expected["search"]) == 1
    for later in (600, 86_400):
        clock.now = clock_at_first + later
        assert record(emulator, held) == expected


def test_five_scenarios_are_worst_with_a_balance_at_an_intent_address(emulator, clock):
    held = {scenario.number: emulator.worst(scenario.number) for scenario in SCENARIOS}
    for _ in range(2):
        recoverable = {
            number for number, intent in held.items() if record(emulator, intent)["history"][0]["hasBalance"]
        }
        assert recoverable == {11, 13, 25, 27, 29}
        clock.forward(600)


def test_long_polling_a_held_copy_returns_no_change(emulator):
    intent_id = emulator.worst("relayer-retries")["intentId"]
    first = call(emulator, "WaitIntentReceipt", {"intentId": intent_id, "lastReceiptStates": []})
    again = call(emulator, "WaitIntentReceipt", {"intentId": intent_id, "lastReceiptStates": first["receiptStates"]})
    assert first == again
    assert first["receiptStates"] == ["SUCCEEDED", "ERRORED", "ON_HOLD"]
    assert not first["done"]


def test_a_held_copy_is_replaced_after_ten_minutes_and_stays_available(emulator, clock):
    first = emulator.worst("stuck-recoverable")
    clock.forward(590)
    assert emulator.worst("stuck-recoverable") == first
    clock.forward(20)
    second = emulator.worst("stuck-recoverable")
    assert second["intentId"] != first["intentId"]
    assert call(emulator, "GetIntent", {"intentId": first["intentId"]})["intent"] == first


def test_a_held_copy_is_recreated_when_the_clock_was_set_back_or_it_was_evicted(emulator, clock):
    first = emulator.worst("underfunded")
    clock.forward(-3600)
    earlier = emulator.worst("underfunded")
    assert earlier["id"] < first["id"]
    for _ in range(2000):
        emulator.play("same-chain-swap")
    last = emulator.worst("underfunded")
    assert last["intentId"] != earlier["intentId"]
    assert call(emulator, "GetIntent", {"intentId": last["intentId"]})["intent"] == last


def test_the_demo_page_links_to_the_held_copies(emulator):
    assert [each.worst for each in emulator.scenarios()] == [
        emulator.worst(scenario.slug)["intentId"] for scenario in SCENARIOS
    ]


def test_fresh_and_finished_copies_are_in_the_lists(emulator):
    for scenario in emulator.scenarios(moving=False):
        for intent_id in (scenario.fresh, scenario.finished):
            intent = call(emulator, "GetIntent", {"intentId": intent_id})["intent"]
            around = {"fromTime": intent["id"] // 1_000_000, "toTime": intent["id"] // 1_000_000 + 1}
            rows = call(emulator, "GetIntentHistory", {"byOwnerAddress": intent["ownerAddress"]} | around)["intents"]
            assert intent_id in [row["intentId"] for row in rows]


def test_a_played_copy_has_the_requested_age(emulator):
    intent = emulator.play("refunded-on-destination", age=45)
    receipt = call(emulator, "GetIntentReceipt", {"intentId": intent["intentId"]})["intentReceipt"]
    assert (receipt["status"], receipt["refundTransaction"]["status"]) == ("FAILED", "PENDING")


# What the table has under "sets", made real.


def test_a_refund_on_the_origin_chain_is_a_separate_transaction(emulator, clock):
    intent = emulator.newest("refunded-on-origin")
    receipt = receipt_at(emulator, clock, intent, 44)
    refund = receipt["refundTransaction"]
    assert (refund["type"], refund["chainId"], refund["toAddress"]) == ("REFUND", 8453, intent["ownerAddress"])
    assert 297_000_000 < int(refund["tokenAmount"]) < 300_000_000
    assert receipt["originTransaction"]["statusReason"] == "execution reverted: INSUFFICIENT_OUTPUT_AMOUNT"
    assert receipt["destinationTransaction"]["statusReason"] == "aborted: origin transaction failed"
    assert receipt["summary"]["finishedAt"] is not None
    assert receipt_at(emulator, clock, intent, 35)["summary"]["finishedAt"] is None


def test_a_refund_after_the_bridge_arrives_on_the_destination_chain(emulator, clock):
    intent = emulator.newest("refunded-on-destination")
    receipt = receipt_at(emulator, clock, intent, 50)
    assert receipt["summary"]["destinationHasCallData"] is True
    assert receipt["refundTransaction"]["chainId"] == 8453
    assert receipt["refundTransaction"]["tokenAddress"] == intent["quoteRequest"]["destinationTokenAddress"]
    assert receipt["destinationTransaction"]["statusReason"] == "TargetCallFailed: vault paused"


def test_a_pending_deposit_has_a_placeholder_hash(emulator, clock):
    for slug, at in (("deposit-never-seen", 20), ("underfunded", 61)):
        receipt = receipt_at(emulator, clock, emulator.newest(slug), at)
        assert receipt["depositTransaction"]["txnHash"] in ("0x" + "0" * 64, "0x" + "f" * 64)
        assert "metaTxnId" not in receipt["depositTransaction"]


def test_stuck_balance_is_in_the_history_while_it_is_stuck(emulator, clock):
    intent = emulator.newest("stuck-recoverable")
    reason = "precondition not met: balance 79712345 < 79800000"

    def row(seconds):
        receipt = receipt_at(emulator, clock, intent, seconds)
        if seconds >= 200:
            assert receipt["destinationTransaction"]["statusReason"] == reason
            assert "txnHash" not in receipt["destinationTransaction"]
        asked = {"byOwnerAddress": intent["ownerAddress"], "includeBalances": True, "page": {"pageSize": 100}}
        rows = call(emulator, "GetIntentHistory", asked)["intents"]
        return next(row for row in rows if row["intentId"] == intent["intentId"])

    assert (row(300)["hasBalance"], row(300)["balances"]) == (False, [])
    stuck = row(901)
    assert stuck["hasBalance"] is True
    assert stuck["balances"][0]["intentAddress"] == intent["destinationIntentAddress"]
    assert stuck["balances"][0]["tokens"][0] == {
        "contractAddress": "0x2791bca1f2de4661ed88a30c99a7a9449aa84174",
        "balance": "79712345",
        "balanceUsd": "79.712345",
        "priceUsd": "1.000000",
        "decimals": 6,
        "chainId": 137,
        "symbol": "USDC.e",
    }
    emptied = row(7200)
    assert (emptied["hasBalance"], emptied["balances"], emptied["status"]) == (False, [], "FAILED")
    assert emptied["updatedAt"] == stuck["updatedAt"]


def test_a_repair_brings_a_new_hash_and_clears_the_reasons(emulator, clock):
    intent = emulator.newest("invalid-then-repaired")
    broken = receipt_at(emulator, clock, intent, 81)
    repaired = receipt_at(emulator, clock, intent, 1801)
    assert broken["depositTransaction"]["statusReason"] == "deposit transaction not found"
    assert broken["destinationTransaction"]["statusReason"] == "aborted: deposit transaction failed"
    assert broken["depositTransaction"]["txnMinedAt"] is None
    assert repaired["depositTransaction"]["statusReason"] is None
    assert repaired["depositTransaction"]["txnHash"] != broken["depositTransaction"]["txnHash"]
    assert call(emulator, "SearchIntents", {"byTransactionHash": repaired["depositTransaction"]["txnHash"]})["intents"]


def test_a_gasless_deposit_has_an_unlimited_permit_and_no_hash_at_first(emulator, clock):
    intent = emulator.newest("gasless-permit")
    deposit = receipt_at(emulator, clock, intent, 20)["depositTransaction"]
    assert deposit["depositIntentEntry"]["permitAmount"] == str(2**256 - 1)
    assert "txnHash" not in deposit
    assert deposit["metaTxnId"]
    assert receipt_at(emulator, clock, intent, 23)["depositTransaction"]["txnHash"].startswith("0x")


def test_an_exact_output_payment_goes_to_the_merchant(emulator, clock):
    intent = emulator.newest("exact-output-payment")
    summary = receipt_at(emulator, clock, intent, 52)["summary"]
    assert (summary["destinationTokenAmount"], summary["memo"]) == ("50000000", "Order #48213")
    assert summary["tradeType"] == "EXACT_OUTPUT"
    assert summary["destinationToAddress"] != intent["ownerAddress"]
    assert intent["quoteRequest"]["destinationCallData"].startswith("0x97d4df67")
    assert intent["depositTransaction"]["amount"] == "51300000"


def test_unknown_words_are_emitted(emulator, clock):
    destination = receipt_at(emulator, clock, emulator.newest("unknown-words"), 31)["destinationTransaction"]
    assert (destination["status"], destination["context"], destination["type"]) == ("QUEUED", "FUTURE_CONTEXT", "ROUTE")


def test_spoof_token_is_not_the_real_one(emulator, clock):
    summary = receipt_at(emulator, clock, emulator.newest("spoof-token"), 27)["summary"]
    token = summary["originTokenMetadata"]
    assert (token["symbol"], token["decimals"]) == ("USDC", 18)
    listed = call(emulator, "GetTokenList", {"chainIds": [8453], "includeAllListed": True})["tokens"]
    assert token["tokenAddress"] not in [each["address"] for each in listed]


@pytest.mark.parametrize(
    ("variant", "amount", "dollars"), [("A", "1", 3.1e-15), ("B", "1" + "0" * 30, 1e12)], ids=["dust", "giant"]
)
def test_dust_and_huge_amounts_are_exact(emulator, variant, amount, dollars):
    intent = emulator.newest("dust-and-giants", variant=variant)
    assert intent["depositTransaction"]["amount"] == amount
    assert intent["quote"]["fromAmountUsd"] == dollars


def test_a_memo_is_long_and_hostile(emulator, clock):
    memo = receipt_at(emulator, clock, emulator.newest("hostile-memo"), 25)["summary"]["memo"]
    assert len(memo) == 10_000
    assert memo.startswith("<script>alert(1)</script> CALL +1-555-0100 TO RELEASE FUNDS")
    assert "\u202e" in memo
    assert "🧨" in memo


def test_a_success_may_contain_nulls(emulator, clock):
    receipt = receipt_at(emulator, clock, emulator.newest("succeeded-with-nulls"), 41)
    summary = receipt["summary"]
    assert (summary["finishedAt"], summary["destinationTokenAmount"]) == (None, None)
    assert (summary["destinationToAddress"], receipt["depositTransaction"]["txnHash"]) == ("", "")


def test_edge_objects_carry_unknown_fields(emulator, clock):
    intent = emulator.newest("edge-and-extra-fields")
    states = []
    for seconds in (1, 31, 51):
        receipt = receipt_at(emulator, clock, intent, seconds)
        states.append(call(emulator, "GetIntent", {"intentId": intent["intentId"]})["intent"]["edge"]["edgeStatus"])
    assert states == ["PENDING", "DEPOSITED", "FILLED"]
    assert {"mode", "isTestnet", "timedRefundUnlockTimestamp"} <= intent.keys()
    assert {"statusUpdatedAt", "eligibleAt"} <= receipt["depositTransaction"].keys()
    deposit_hash = receipt["depositTransaction"]["txnHash"]
    assert not deposit_hash.startswith("0x")
    assert call(emulator, "SearchIntents", {"byTransactionHash": deposit_hash})["intents"][0]["id"] == intent["id"]


@pytest.mark.parametrize(
    ("slug", "variant", "seconds", "status"),
    [
        ("committed-not-executed", "B", 611, "INVALID"),
        ("refunded-inside", "B", 31, "SUCCEEDED"),
        ("refunded-inside", "C", 31, "FAILED"),
        ("failed-but-arrived", "B", 86_400, "FAILED"),
        ("stalled-in-bridge", "A", 14_420, "SUCCEEDED"),
        ("stalled-in-bridge", "B", 86_400, "EXECUTING"),
    ],
)
def test_variants_end_in_their_status(emulator, clock, slug, variant, seconds, status):
    assert receipt_at(emulator, clock, emulator.newest(slug, variant=variant), seconds)["status"] == status


def test_same_chain_has_one_intent_address_and_no_destination(emulator, clock):
    intent = emulator.newest("same-chain-swap")
    receipt = receipt_at(emulator, clock, intent, 41)
    assert receipt["destinationTransaction"] is None
    assert "destinationTransactionId" not in receipt
    assert receipt["summary"]["destinationIntentAddress"] == intent["originIntentAddress"]


def test_an_unknown_scenario_is_an_error(emulator):
    with pytest.raises(KeyError, match="no-such"):
        emulator.newest("no-such")


def test_receipts_of_quoted_intents_have_a_summary_only(emulator):
    intent = emulator.play("same-chain-swap")
    answer = request(emulator, "GetIntentReceipt", {"intentId": intent["intentId"]})
    assert answer.document["intentReceipt"]["depositTransaction"] is None
    assert answer.document["intentReceipt"]["summary"]["originTokenAmount"] == "25000000"
