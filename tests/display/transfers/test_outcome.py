"""The outcome of a transfer never disagrees with its page, its comparison with the quote, or its export row."""

import itertools
from datetime import timedelta

import pytest

from intents_ui.display.formatting.text import bare
from intents_ui.display.lists import export_row
from intents_ui.display.quotes.outcome import Course, course
from intents_ui.display.summary import summary
from intents_ui.display.summary.rules import EXPLANATIONS, Certainty
from intents_ui.display.tokens.names import NO_NAMES
from intents_ui.display.transfers.situation import Situation
from intents_ui.service.wire.models import IntentStatus, Page
from intents_ui.service.wire.outcome import Outcome
from tests.display.builders import ARBITRUM, BASE, NOW, at, intent, receipt, transaction
from tests.display.scenes import MOMENTS, SERVICE, scene
from tests.display.test_agreement import DEPOSITS, LEGS, REFUNDS

OPEN, DELIVERED, REFUNDED, FAILED = Outcome.OPEN, Outcome.DELIVERED, Outcome.REFUNDED, Outcome.FAILED
ABORTED, REJECTED, UNCONFIRMED, NO_DEPOSIT = (
    Outcome.ABORTED,
    Outcome.REJECTED,
    Outcome.UNCONFIRMED,
    Outcome.NO_DEPOSIT,
)
STOPPED = {FAILED, ABORTED, REJECTED}
# The outcomes that a transfer can have whose page, without balances, shows this message.
OUTCOMES = {
    "quoted.open": {OPEN},
    "quoted.expired": {NO_DEPOSIT},
    "quoted.funded": {OPEN},
    "committed.open": {OPEN},
    "committed.overdue": {NO_DEPOSIT},
    "committed.funded": {OPEN},
    "offer.funded_late": {OPEN},
    "executing.wait_deposit": {OPEN},
    "executing.wait_deposit_late": {OPEN},
    "executing.deposit_confirming": {OPEN},
    "executing.origin_running": {OPEN},
    "executing.retrying": {OPEN},
    "executing.crossing": {OPEN},
    "executing.crossing_slow": {OPEN},
    "executing.crossing_late": {OPEN},
    "executing.arrived": {OPEN},
    "executing.destination_running": {OPEN},
    "executing.finalising": {DELIVERED},
    "executing.delivered_fault": {OPEN},
    "executing.stalled": {OPEN},
    "executing.no_details": {OPEN},
    "executing.step_failed": {OPEN},
    "executing.refunding": {OPEN, FAILED},
    "executing.refunding_overdue": {OPEN, FAILED},
    "reported.returned": {REFUNDED},
    "reported.both": {UNCONFIRMED},
    "reported.return_failed": {UNCONFIRMED},
    "succeeded.same_chain": {DELIVERED},
    "succeeded.cross_chain": {DELIVERED},
    "succeeded.payment": {DELIVERED},
    "succeeded.amount_unknown": {DELIVERED},
    "succeeded.unconfirmed": {UNCONFIRMED},
    "succeeded.contradiction": {UNCONFIRMED},
    "succeeded.returned": {UNCONFIRMED},
    "failed.deposit": {FAILED, NO_DEPOSIT},
    "failed.deposit_not_counted": {FAILED},
    "failed.origin_pending_refund": {FAILED},
    "failed.origin_overdue": {FAILED},
    "failed.destination_pending_refund": {FAILED},
    "failed.refund_failed": {FAILED},
    "failed.delivered": {UNCONFIRMED},
    "failed.after_payment": {FAILED},
    "failed.no_trace": {FAILED, NO_DEPOSIT},
    "stopped.no_trace": STOPPED,
    "stopped.midway": STOPPED,
    "stopped.delivered": {UNCONFIRMED},
    "stopped.last_step": STOPPED,
    "stopped.last_step_overdue": STOPPED,
    "stopped.origin": STOPPED,
    "refunded.origin": {REFUNDED},
    "refunded.destination": {REFUNDED},
    "refunded.no_tx": {REFUNDED},
    "refunded.unconfirmed": {UNCONFIRMED},
    "refunded.failed": {UNCONFIRMED},
    "refunded.elsewhere": {UNCONFIRMED},
    "aborted.nothing_moved": {NO_DEPOSIT},
    "aborted.after_payment": {ABORTED},
    "aborted.payment_reported": {ABORTED},
    "invalid.nothing_moved": {NO_DEPOSIT},
    "invalid.with_payment": {REJECTED},
    "receipt.missing": {UNCONFIRMED},
    "unknown.status": {OPEN},
}


def quarrel(situation: Situation) -> str:
    """Return how the outcome disagrees with the page, or ""."""
    told, found, compared = summary.of(situation), situation.outcome, course(situation)
    problems = {
        "not with this message": found not in OUTCOMES[told.key],
        "delivered, or not": (found is DELIVERED) != (compared is Course.DELIVERED),
        "a conflict, and sure of it": told.certainty is Certainty.CONFLICTING
        and found not in (UNCONFIRMED, OPEN, FAILED),
        "lapsed with a deposit": compared is Course.LAPSED and found is not NO_DEPOSIT,
    }
    return ", ".join(f"{told.key} {found}: {problem}" for problem, is_one in problems.items() if is_one)


@pytest.mark.parametrize("same_chain", [False, True], ids=["two chains", "one chain"])
@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_the_outcome_agrees_with_the_page_whatever_the_states(status: str, same_chain: bool) -> None:
    made = {leg: transaction(leg) if leg else None for leg in LEGS}
    of_intent = intent(status)
    usual = receipt(status, destination_chain_id=ARBITRUM if same_chain else BASE)
    for deposit, origin, destination, back in itertools.product(DEPOSITS, LEGS, LEGS, REFUNDS):
        legs = {
            "deposit_transaction": DEPOSITS[deposit],
            "origin_transaction": made[origin],
            "destination_transaction": made[destination],
            "refund_transaction": REFUNDS[back],
        }
        shown = usual.model_copy(update=legs)
        for later in (timedelta(), timedelta(hours=1)):
            problem = quarrel(at(of_intent, shown, now=NOW + later))
            assert not problem, f"{status} {deposit} {origin} {destination} {back}: {problem}"


@pytest.mark.parametrize("status", [*IntentStatus])
def test_a_transfer_without_a_receipt_agrees_with_its_page(status: str) -> None:
    assert not quarrel(at(intent(status), None))


@pytest.mark.parametrize(("which", "age", "variant"), MOMENTS)
def test_page_list_and_export_of_a_scenario_have_the_same_outcome(which: int, age: float, variant: str) -> None:
    shown = scene(which, age, variant)
    page = shown.at()
    assert not quarrel(page)
    if page.facts.is_missing or page.facts.owner is None:
        return
    listed = SERVICE.get_intent_history(by_owner_address=page.facts.owner, page=Page.first(size=100)).intents
    entry = next(each for each in listed if each.intent_id == page.intent.intent_id)
    row = Situation.of_entry(entry, now=NOW, names=NO_NAMES)
    assert row.outcome is page.outcome
    assert not quarrel(row)
    exported = export_row.of(row, url="")
    assert (exported.headline, exported.outcome) == (bare(summary.of(row).headline), page.outcome.value)


def test_every_message_has_its_outcomes() -> None:
    """Messages that need balances or a receipt that wasn't read have none of their own."""
    by_balances = {
        "offer.emptied", "executing.underpaid", "executing.uncounted", "reported.undelivered", "succeeded.leftover",
        "failed.origin_recoverable", "failed.destination_recoverable", "failed.refund_gone", "stopped.uncounted",
        "stopped.balance_elsewhere", "stopped.emptied", "refunded.leftover", "refunded.held", "aborted.recoverable",
        "aborted.deposit_seen", "invalid.recoverable", "receipt.unread", "notfound", "stale",
    }  # fmt: skip
    assert {*OUTCOMES} | by_balances == {*EXPLANATIONS}
