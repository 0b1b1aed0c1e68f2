"""Statistics of recent transfers on the same route: counts and durations, with their sample size."""

from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.service.models import Intent, IntentHistory, IntentReceipt, IntentReceiptSummary, IntentTransaction
from intents_ui.transfers.route_stats import FEW, of_route
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import named

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
RECEIPT = IntentReceipt(intent_id="mine", summary=IntentReceiptSummary(route_providers=("RELAY",)))
MINE = Transfer(Intent(intent_id="mine"), RECEIPT, now=START)


def entry(
    number: int, status: str = "SUCCEEDED", *, seconds: int | None = 30, reason: str = "", provider: str = "relay"
) -> IntentHistory:
    failed = status in ("FAILED", "REFUNDED")
    last_step = "ABORTED" if failed else "SENT" if status == "EXECUTING" else "SUCCEEDED"
    receipt = IntentReceipt(
        intent_id=f"other-{number}",
        status=status,
        deposit_transaction=IntentTransaction(status="SUCCEEDED"),
        origin_transaction=IntentTransaction(
            status="REVERTED" if failed else "SUCCEEDED", status_reason=reason or None
        ),
        destination_transaction=IntentTransaction(
            status=last_step, status_reason="aborted: origin failed" if failed else None
        ),
        summary=IntentReceiptSummary(
            route_providers=(provider,),
            started_at=START,
            finished_at=None if seconds is None else START + timedelta(seconds=seconds),
        ),
    )
    return IntentHistory(intent_id=f"other-{number}", status=status, receipt=receipt)


@pytest.mark.parametrize(
    ("succeeded", "failed", "tone", "words"),
    [
        (FEW - 1, 0, Tone.NEUTRAL, "Not enough recent transfers"),
        (10, 0, Tone.GOOD, "All recent transfers on this route were delivered"),
        (9, 1, Tone.GOOD, "Most recent transfers on this route were delivered"),
        (8, 2, Tone.ATTENTION, "Some recent transfers on this route were not delivered"),
        (2, 8, Tone.BAD, "Most recent transfers on this route were not delivered"),
    ],
)
def test_the_verdict_depends_on_the_delivery_rate(succeeded, failed, tone, words):
    entries = [entry(n) for n in range(succeeded)] + [entry(100 + n, "FAILED") for n in range(failed)]
    result = of_route(entries, like=MINE, now=START)
    assert result.tone is tone
    assert words in result.verdict


def test_other_providers_unpaid_offers_and_the_intent_itself_do_not_count():
    mine = entry(1).model_copy(update={"intent_id": "MINE"})
    unpaid = IntentHistory(
        intent_id="unpaid",
        status="QUOTED",
        receipt=IntentReceipt(intent_id="unpaid", summary=IntentReceiptSummary(route_providers=("RELAY",))),
    )
    result = of_route([mine, unpaid, entry(2, provider="CCTP"), entry(3)], like=MINE, now=START)
    assert (result.looked_at, result.alike, result.ended, result.running) == (3, 2, 1, 0)


def test_several_failures_with_the_same_reason_are_reported():
    entries = [entry(n, "FAILED", reason=f"insufficient liquidity: {n * 1000} of 0xab{n}") for n in range(1, 5)]
    result = of_route([*entries, entry(9, "FAILED", reason="something else")], like=MINE, now=START)
    assert (len(result.repeated), result.not_delivered) == (4, 5)
    assert result.repeated[0] == "insufficient liquidity: 1000 of 0xab1"


def test_two_failures_with_one_reason_are_no_hint_and_echoes_never_are():
    assert of_route([entry(n, "FAILED", reason="the same") for n in range(2)], like=MINE, now=START).repeated == ()
    assert of_route([entry(n, "FAILED") for n in range(9)], like=MINE, now=START).repeated == ()


@pytest.mark.parametrize(
    "mine",
    named(
        ("delivered", Transfer(Intent(intent_id="mine"), entry(0).receipt, now=START)),
        (
            "expired",
            Transfer(
                Intent(intent_id="mine", status="QUOTED", expires_at=START - timedelta(seconds=1)),
                MINE.receipt,
                now=START,
            ),
        ),
    ),
)
@pytest.mark.parametrize("delivered", [0, 5, 8, 10])
def test_a_transfer_without_problems_gets_no_alarm_from_others(mine, delivered):
    entries = [entry(1 + n, "SUCCEEDED" if n < delivered else "FAILED") for n in range(10)]
    result = of_route(entries, like=mine, now=START)
    assert result.ended == 10
    assert result.tone is Tone.NEUTRAL
    assert "too" not in result.verdict.split()


@pytest.mark.parametrize(
    ("delivered", "failed", "shares", "times"),
    named(
        ("none", 0, 0, "No closed transfers", ""),
        ("too few for p95", 17, 10, "17 of 27 delivered (63%)", "Median 9 s (17 transfers)"),
        ("enough", 20, 0, "20 of 20 delivered (100%)", "Median 10 s · p95 19 s (20 transfers)"),
    ),
)
def test_outcomes_and_durations_name_their_sample(delivered, failed, shares, times):
    entries = [entry(n, seconds=n + 1) for n in range(delivered)] + [entry(100 + n, "FAILED") for n in range(failed)]
    result = of_route(entries, like=MINE, now=START)
    assert (result.delivered, result.times) == (shares, times)
