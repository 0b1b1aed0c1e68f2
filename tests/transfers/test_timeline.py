from datetime import timedelta
from decimal import Decimal

import pytest

from intents_ui.service.models import IntentProviderQuote, IntentStatus
from intents_ui.transfers import summary as summaries
from intents_ui.transfers import timeline as display
from intents_ui.transfers.timeline import Name, Reached, StepState
from tests.transfers import builders
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    ETHEREUM,
    NOW,
    USDC_ON_BASE,
    at,
    before,
    intent,
    named,
    receipt,
    refund,
    summary,
    transaction,
)


def timeline(of_intent=None, of_receipt=None):
    return display.of(at(of_intent, of_receipt))


def crossing():
    mined = {"deposit": before(seconds=50), "origin": before(seconds=20)}
    legs = {name: builders.deposit("SUCCEEDED", txn_mined_at=at) for name, at in mined.items()}
    on_hold = transaction("ON_HOLD", chain_id=BASE, context="CCTPV2_MESSAGE")
    started = summary(started_at=before(minutes=1), route_providers=("CCTP",))
    return receipt(destination=on_hold, summary=started, **legs)


def test_times_and_durations_are_shown():
    result = {step.name: step for step in timeline(intent(), crossing()).steps}
    assert result[Name.DEPOSIT].at == before(seconds=50)
    assert result[Name.DEPOSIT].took == timedelta(seconds=10)
    assert result[Name.ORIGIN].took == timedelta(seconds=30)
    assert result[Name.DESTINATION].at is None
    assert result[Name.DESTINATION].took == timedelta(seconds=20)


def test_the_time_is_compared_with_the_estimate():
    quoted = intent(quote=IntentProviderQuote(estimated_duration=Decimal(120)))
    result = timeline(quoted, crossing())
    assert result.elapsed == timedelta(minutes=1)
    assert result.estimate == timedelta(minutes=2)
    assert result.share == 50
    assert result.times_the_estimate == 0
    assert at(quoted, crossing()).due_at == NOW + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("origin", "destination", "seconds"), [(ARBITRUM, BASE, 15), (ETHEREUM, BASE, 45), (ETHEREUM, ETHEREUM, 60)]
)
def test_without_an_estimate_the_usual_time_counts(origin, destination, seconds):
    result = timeline(intent(origin_chain_id=origin, destination_chain_id=destination))
    assert result.estimate == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("provider", "estimated", "minutes"), [("RELAY", 30, 15), ("RELAY", 600, 30), ("CCTP", 30, 30), ("LZ_OFT", 30, 90)]
)
def test_a_transfer_is_stalled_after_the_time_that_is_usual_for_it(provider, estimated, minutes):
    quoted = intent(quote=IntentProviderQuote(estimated_duration=Decimal(estimated)))
    for stalled in (False, True):
        changed = {"updated_at": before(seconds=60 * minutes - (not stalled))}
        legs = {name: transaction("SUCCEEDED", **changed) for name in ("deposit", "origin")}
        waiting = transaction("ON_HOLD", **changed)
        of_receipt = receipt(destination=waiting, summary=summary(route_providers=(provider,)), **legs, **changed)
        assert at(quoted, of_receipt).is_stalled is stalled


def test_the_duration_stops_at_the_end():
    done = receipt("SUCCEEDED", summary=summary(started_at=before(minutes=5), finished_at=before(minutes=3)))
    result = timeline(intent(), done)
    assert result.elapsed == timedelta(minutes=2)
    assert result.times_the_estimate == 8


def test_a_reason_belongs_to_the_failed_step_only():
    failed = transaction("REVERTED", status_reason="execution reverted \u202e")
    result = timeline(None, receipt("FAILED", deposit=transaction("SUCCEEDED", status_reason="old"), origin=failed))
    reasons = {step.name: step.reason for step in result.steps}
    assert reasons[Name.DEPOSIT] is None
    assert reasons[Name.ORIGIN].shown == "execution reverted ⟨U+202E⟩"


def test_a_refund_names_amount_address_and_chain():
    stranger = refund("SUCCEEDED", to_address="0x51aa07bb3c7b0a10ba1d5eb20a7d0d1f0000c2d4", chain_id=BASE)
    result = timeline(None, receipt("REFUNDED", refund=stranger))
    assert result.steps[-1].sentence == "Refunded 99,500,000 base units to 0x51aa07…00C2d4 on Base."


def test_without_a_deposit_no_time_is_compared_with_the_estimate():
    never_paid = receipt("ABORTED", deposit="ABORTED", summary=summary(started_at=before(minutes=15), finished_at=NOW))
    result = timeline(intent("ABORTED", quote=IntentProviderQuote(estimated_duration=Decimal(12))), never_paid)
    assert (result.elapsed, result.times_the_estimate) == (None, 0)


def test_an_expected_time_is_dropped_once_it_has_passed():
    quoted = intent(quote=IntentProviderQuote(estimated_duration=Decimal(60)))
    ahead = receipt(origin="SUCCEEDED", summary=summary(started_at=before(seconds=59)))
    past = receipt(origin="SUCCEEDED", summary=summary(started_at=before(seconds=60)))
    assert timeline(quoted, ahead).steps[-1].expected_at == NOW + timedelta(seconds=1)
    assert timeline(quoted, past).steps[-1].expected_at is None


def test_the_reason_of_an_earlier_attempt_is_marked():
    flags = {
        status: timeline(None, receipt(deposit="SUCCEEDED", origin=transaction(status, status_reason="nonce too low")))
        .steps[3]
        .reason_is_old
        for status in ("RELAYING", "ERRORED")
    }
    assert flags == {"RELAYING": True, "ERRORED": False}


def sentence(name, of_receipt, *, of_intent=None, **more) -> str:
    result = display.of(at(of_intent, of_receipt, **more))
    return next(step.sentence for step in result.steps if step.name is name)


QUOTED = intent(quote=IntentProviderQuote(to_amount=99_910_000))
PLACEHOLDER = "0x" + "0" * 64
SENTENCES = named(
    (
        "paid less than requested",
        Name.DEPOSIT,
        receipt(deposit=builders.deposit("SUCCEEDED", token_amount=97_000_000)),
        "Received 97.00 USDC at the deposit address on Arbitrum, 3.00 USDC less than requested.",
    ),
    (
        "paid more than requested",
        Name.DEPOSIT,
        receipt("SUCCEEDED", deposit=builders.deposit("SUCCEEDED", token_amount=150_000_000)),
        "Received 150.00 USDC at the deposit address on Arbitrum, 50.00 USDC more than requested.",
    ),
    (
        "paid in another token",
        Name.DEPOSIT,
        receipt(deposit=builders.deposit("SUCCEEDED", token_address=USDC_ON_BASE)),
        "Received 100,000,000 base units at the deposit address on Arbitrum.",
    ),
    (
        "paid on another chain",
        Name.DEPOSIT,
        receipt(deposit=builders.deposit("SUCCEEDED", chain_id=ETHEREUM, token_amount=97_000_000)),
        "Received 97,000,000 base units at the deposit address on Ethereum.",
    ),
    (
        "paid, amount not reported",
        Name.DEPOSIT,
        receipt("SUCCEEDED", deposit=transaction("SUCCEEDED")),
        "Received at the deposit address on Arbitrum. Amount not reported.",
    ),
    (
        "waiting for another amount than a deposit names",
        Name.DEPOSIT,
        receipt(deposit=builders.deposit("PENDING", token_amount=97_000_000, txn_hash=PLACEHOLDER)),
        "Waiting for 100.00 USDC at the deposit address on Arbitrum.",
    ),
    (
        "done, and a step failed",
        Name.DESTINATION,
        receipt("SUCCEEDED", origin="FAILED", destination="RELAYED"),
        "Unknown whether the funds were delivered on Base.",
    ),
)


@pytest.mark.parametrize(("name", "of_receipt", "expected"), SENTENCES)
def test_each_step_has_its_sentence(name, of_receipt, expected):
    assert sentence(name, of_receipt, of_intent=QUOTED) == expected


@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_steps_that_could_not_be_loaded_are_unknown(status):
    of_intent = intent(status, expires_at=before(minutes=1))
    transfer = at(of_intent, None, unread=True)
    result = display.of(transfer)
    assert {step.state for step in result.steps[2:]} == {StepState.UNKNOWN}
    assert all("nknown" in step.sentence for step in result.steps[2:])
    stops = display.stops(transfer)
    assert {stop.reached for stop in stops} == {Reached.UNKNOWN}


@pytest.mark.parametrize("status", ["EXECUTING", "SUCCEEDED", "FAILED", "ABORTED", "REFUNDED"])
def test_an_executed_transfer_without_a_receipt_does_not_mean_that_nothing_moved(status):
    result = timeline(intent(status)).steps
    assert {step.state for step in result[2:]} == {StepState.UNKNOWN}
    assert not any("No deposit" in step.sentence for step in result)
    summary = summaries.of(at(intent(status)))
    assert not any(
        word in f"{summary.headline} {summary.location}" for word in ("No deposit", "In the owner's wallet on")
    )
    assert {stop.reached for stop in display.stops(at(intent(status)))} == {Reached.UNKNOWN}


def timed(*, estimate: int, ends: tuple[int, int, int]):
    """Return a transfer that began five minutes ago, with the completion of each step in seconds after that."""
    started = before(minutes=5)
    mined = [started + timedelta(seconds=seconds) for seconds in ends]
    legs = [transaction("SUCCEEDED", txn_mined_at=at, updated_at=at) for at in mined]
    return timeline(
        intent("SUCCEEDED", quote=IntentProviderQuote(estimated_duration=Decimal(estimate))),
        receipt(
            "SUCCEEDED",
            deposit_transaction=legs[0],
            origin_transaction=legs[1],
            destination_transaction=legs[2],
            summary=summary(started_at=started, finished_at=mined[2]),
        ),
    )


def test_the_slowest_step_is_marked() -> None:
    result = timed(estimate=50, ends=(20, 40, 200))
    assert [step.name for step in result.steps if step.took_most] == [Name.DESTINATION]
