"""How others fared on the same way: counted, timed, and never more certain than the sample."""

from datetime import UTC, datetime, timedelta

import pytest

from intents_ui.display.everyone import FEW, everyone
from intents_ui.display.facts import Facts
from intents_ui.display.statuses import Tone
from intents_ui.service.wire import IntentHistory, IntentReceipt, IntentReceiptSummary, IntentTransaction

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINE = Facts.of(None, IntentReceipt(intent_id="mine", summary=IntentReceiptSummary(route_providers=("RELAY",))))


def entry(
    number: int, status: str = "SUCCEEDED", *, seconds: int | None = 30, reason: str = "", provider: str = "relay"
) -> IntentHistory:
    failed = status in ("FAILED", "REFUNDED")
    receipt = IntentReceipt(
        intent_id=f"other-{number}",
        status=status,
        deposit_transaction=IntentTransaction(status="SUCCEEDED"),
        origin_transaction=IntentTransaction(
            status="REVERTED" if failed else "SUCCEEDED", status_reason=reason or None
        ),
        destination_transaction=IntentTransaction(
            status="ABORTED" if failed else "SUCCEEDED", status_reason="aborted: origin failed" if failed else None
        ),
        summary=IntentReceiptSummary(
            route_providers=(provider,),
            started_at=START,
            finished_at=None if seconds is None else START + timedelta(seconds=seconds),
        ),
    )
    return IntentHistory(intent_id=f"other-{number}", status=status, receipt=receipt)


def test_shares_and_times_are_those_of_the_sample() -> None:
    told = everyone([entry(n, seconds=n + 1) for n in range(20)], like=MINE)
    assert (told.succeeded, told.ended, told.timed, told.looked_at) == (20, 20, 20, 20)
    assert (told.median, told.p95) == (timedelta(seconds=10), timedelta(seconds=19))
    assert told.tone is Tone.GOOD


@pytest.mark.parametrize(
    ("succeeded", "failed", "tone", "words"),
    [
        (FEW - 1, 0, Tone.NEUTRAL, "Too few"),
        (10, 0, Tone.GOOD, "The others on this way arrived"),
        (9, 1, Tone.GOOD, "Most others on this way arrive"),
        (8, 2, Tone.ATTENTION, "Others on this way have trouble too"),
        (2, 8, Tone.BAD, "Most others on this way have trouble too"),
    ],
)
def test_the_verdict_rests_on_how_many_arrived(succeeded: int, failed: int, tone: Tone, words: str) -> None:
    entries = [entry(n) for n in range(succeeded)] + [entry(100 + n, "FAILED") for n in range(failed)]
    told = everyone(entries, like=MINE)
    assert told.tone is tone
    assert words in told.verdict


def test_other_providers_unpaid_offers_and_the_intent_itself_do_not_count() -> None:
    mine = IntentHistory(intent_id="MINE", status="SUCCEEDED", receipt=entry(1).receipt)
    unpaid = IntentHistory(
        intent_id="unpaid",
        status="QUOTED",
        receipt=IntentReceipt(intent_id="unpaid", summary=IntentReceiptSummary(route_providers=("RELAY",))),
    )
    told = everyone([mine, unpaid, entry(2, provider="CCTP"), entry(3)], like=MINE)
    assert (told.looked_at, told.alike, told.ended, told.running) == (3, 2, 1, 0)


def test_what_still_runs_is_counted_apart() -> None:
    told = everyone([entry(1), entry(2, "EXECUTING")], like=MINE)
    assert (told.ended, told.running) == (1, 1)


def test_several_failures_with_one_reason_are_a_hint() -> None:
    entries = [entry(n, "FAILED", reason=f"insufficient liquidity: {n * 1000} of 0xab{n}") for n in range(1, 5)]
    told = everyone([*entries, entry(9, "FAILED", reason="something else")], like=MINE)
    assert told.repeated is not None
    assert (told.repeated.times, told.failed) == (4, 5)
    assert told.repeated.reason == "insufficient liquidity: 1000 of 0xab1"


def test_two_failures_with_one_reason_are_no_hint_and_echoes_never_are() -> None:
    assert everyone([entry(n, "FAILED", reason="the same") for n in range(2)], like=MINE).repeated is None
    assert everyone([entry(n, "FAILED") for n in range(9)], like=MINE).repeated is None


def test_nobody_else_is_an_answer_too() -> None:
    told = everyone([], like=MINE)
    assert (told.ended, told.median, told.tone) == (0, None, Tone.NEUTRAL)
