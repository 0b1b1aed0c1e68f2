"""Summary, timeline, route, outcome, comparison and export are views of one transfer. None contradicts another."""

from datetime import timedelta

import pytest

from intents_ui.exports import formats
from intents_ui.formatting.text import bare
from intents_ui.service import operations
from intents_ui.service.models import IntentReceipt, IntentStatus, Page
from intents_ui.service.outcome import Outcome
from intents_ui.tokens.names import NO_NAMES
from intents_ui.transfers import summary, timeline
from intents_ui.transfers.rules import Certainty, Delivery
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.timeline import REFUND_PLACES, Name, Reached, StepState
from intents_ui.transfers.transfer import Place, Transfer
from tests.display.builders import ARBITRUM, BASE, NOW, at, intent, receipt, refund, transaction
from tests.display.scenes import MOMENTS, SERVICE, scene
from tests.display.states import combined, pairs

PLACEHOLDER = "0x" + "0" * 64
LEGS = [None, "PENDING", "MINING", "ERRORED", "QUEUED", "SUCCEEDED", "FAILED", "ABORTED"]
DEPOSITS = {
    "none": None,
    "watched": transaction("PENDING", txn_hash=PLACEHOLDER),
    "reported": transaction("PENDING"),
    "strange": transaction("QUEUED", txn_hash=PLACEHOLDER),
    "SUCCEEDED": transaction("SUCCEEDED"),
    "not counted": transaction("FAILED", txn_hash=PLACEHOLDER),
    "REVERTED": transaction("REVERTED"),
    "ABORTED": transaction("ABORTED", txn_hash=PLACEHOLDER),
}
REFUNDS = {
    "none": None,
    "MINING": refund("MINING"),
    "at home": refund("SUCCEEDED"),
    "abroad": refund("SUCCEEDED", chain_id=BASE),
    "FAILED": refund("FAILED"),
}
TRACES = {"MINING", "ERRORED", "SUCCEEDED", "FAILED"}


@combined(pairs)
@pytest.mark.parametrize("same_chain", [False, True], ids=["two chains", "one chain"])
@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_no_view_contradicts_another(status, same_chain, combine):
    made = {leg: transaction(leg) if leg else None for leg in LEGS}
    of_intent, usual = intent(status), receipt(status, destination_chain_id=ARBITRUM if same_chain else BASE)
    for deposit, origin, destination, back in combine([*DEPOSITS], LEGS, LEGS, [*REFUNDS]):
        legs = {
            "deposit_transaction": DEPOSITS[deposit],
            "origin_transaction": made[origin],
            "destination_transaction": made[destination],
            "refund_transaction": REFUNDS[back],
        }
        shown = usual.model_copy(update=legs)
        problems = [quarrel(at(of_intent, shown, now=NOW + timedelta(hours=later))) for later in (0, 1)]
        if not same_chain or destination in (None, "SUCCEEDED", "FAILED"):
            problems.append(Views(shown).quarrel(deposit, origin, destination, back))
        assert not any(problems), f"{status} {deposit} {origin} {destination} {back}: {problems}"


class Views:
    def __init__(self, of_receipt: IntentReceipt, *, now=NOW) -> None:
        transfer = at(None, of_receipt, now=now)
        self.told = summary.of(transfer)
        self.steps = {step.name: step for step in timeline.of(transfer).steps}
        self.stops = {stop.place: stop for stop in timeline.stops(transfer)}

    def quarrel(self, deposit, origin, destination, back) -> str:
        place, reached = self.told.place, [stop.reached for stop in self.stops.values()]
        paid, delivered = self.steps[Name.DEPOSIT], self.steps.get(Name.DESTINATION)
        at_place = (Reached.HERE, Reached.EXPECTED)
        here = [each for each, stop in self.stops.items() if stop.reached in at_place]
        is_sure = self.told.certainty is Certainty.CONFIRMED
        not_yet = (Reached.AHEAD, Reached.NEVER)
        later = bool({origin, destination} & TRACES) or back != "none"
        seen = later or deposit in ("reported", "SUCCEEDED")
        rules = {
            "the money is in another place": here != ([] if place is Place.UNKNOWN else [place]),
            "passed a place that comes after the money": place not in (Place.UNKNOWN, *REFUND_PLACES)
            and Reached.PASSED in reached[next(i for i, each in enumerate(reached) if each in at_place) :],
            "here, and not confirmed": (Reached.HERE in reached) != (bool(here) and is_sure),
            "green, and not confirmed": Tone.GOOD in (self.told.tone, self.told.status.tone) and not is_sure,
            "more is to come of what has ended": Reached.AHEAD in reached and self.told.transfer.is_over,
            "nothing is to come of what goes on": Reached.NEVER in reached and not self.told.transfer.is_over,
            "at the deposit address, unpaid": place is Place.DEPOSIT_ADDRESS
            and paid.state not in (StepState.DONE, StepState.UNKNOWN)
            and not (paid.state is StepState.FAILED and later),
            "paid, and not at the deposit address": paid.state is StepState.DONE
            and self.stops[Place.DEPOSIT_ADDRESS].reached in not_yet,
            "with the recipient, undelivered": place is Place.RECIPIENT
            and delivered is not None
            and delivered.state not in (StepState.DONE, StepState.UNKNOWN),
            "left, and not in the bridge": origin == "SUCCEEDED"
            and Place.PROVIDER in self.stops
            and self.stops[Place.PROVIDER].reached in not_yet,
            "the last step failed before the money came": destination == "FAILED"
            and Place.DELIVERY_ADDRESS in self.stops
            and self.stops[Place.DELIVERY_ADDRESS].reached in not_yet,
            "not seen, although it was": "No deposit" in paid.sentence and seen,
            "waits for a payment that was made": "Waiting for" in paid.sentence and seen,
            "asks for a payment that was made": self.told.key == "executing.wait_deposit" and seen,
            "asks for a payment that is not waited for": self.told.key == "executing.wait_deposit"
            and "Waiting for" not in paid.sentence,
            "is back, and not on the way": place in REFUND_PLACES
            and self.stops[Place.OWNER].reached is not Reached.PASSED,
            "a sum as delivered that was not reported": delivered is not None
            and "base units delivered" in delivered.sentence,
            "expected in the past": any(step.expected_at and step.expected_at <= NOW for step in self.steps.values()),
        }
        return ", ".join(rule for rule, broken in rules.items() if broken)


STOPPED = {Outcome.FAILED, Outcome.ABORTED, Outcome.REJECTED}
# The outcomes that a transfer can have whose page, without balances, shows a message with this beginning.
OUTCOMES = {
    "quoted.": {Outcome.OPEN},
    "quoted.expired": {Outcome.NO_DEPOSIT},
    "committed.": {Outcome.OPEN},
    "committed.overdue": {Outcome.NO_DEPOSIT},
    "offer.funded_late": {Outcome.OPEN},
    "executing.": {Outcome.OPEN},
    "executing.finalising": {Outcome.DELIVERED},
    "executing.refunding": {Outcome.OPEN, Outcome.FAILED},
    "reported.": {Outcome.UNCONFIRMED},
    "reported.returned": {Outcome.REFUNDED},
    "succeeded.": {Outcome.DELIVERED},
    "succeeded.unconfirmed": {Outcome.UNCONFIRMED},
    "succeeded.contradiction": {Outcome.UNCONFIRMED},
    "succeeded.returned": {Outcome.UNCONFIRMED},
    "failed.": {Outcome.FAILED},
    "failed.deposit": {Outcome.FAILED, Outcome.NO_DEPOSIT},
    "failed.deposit_not_counted": {Outcome.FAILED},
    "failed.no_trace": {Outcome.FAILED, Outcome.NO_DEPOSIT},
    "failed.delivered": {Outcome.UNCONFIRMED},
    "stopped.": STOPPED,
    "stopped.delivered": {Outcome.UNCONFIRMED},
    "refunded.": {Outcome.REFUNDED},
    "refunded.unconfirmed": {Outcome.UNCONFIRMED},
    "refunded.failed": {Outcome.UNCONFIRMED},
    "refunded.elsewhere": {Outcome.UNCONFIRMED},
    "aborted.": {Outcome.ABORTED},
    "aborted.nothing_moved": {Outcome.NO_DEPOSIT},
    "invalid.nothing_moved": {Outcome.NO_DEPOSIT},
    "invalid.with_payment": {Outcome.REJECTED},
    "receipt.missing": {Outcome.UNCONFIRMED},
    "unknown.status": {Outcome.OPEN},
}


def outcomes(message: str) -> set[Outcome]:
    return OUTCOMES[max((each for each in OUTCOMES if message.startswith(each)), key=len)]


def quarrel(transfer: Transfer) -> str:
    """Return how the outcome disagrees with the page, or ""."""
    told, found = summary.of(transfer), transfer.outcome
    compared = told.row.comparison
    problems = {
        "not with this message": found not in outcomes(told.key),
        "delivered, or not": (found is Outcome.DELIVERED) != (compared is Delivery.DELIVERED),
        "a conflict, and sure of it": told.certainty is Certainty.CONFLICTING
        and found not in (Outcome.UNCONFIRMED, Outcome.OPEN, Outcome.FAILED),
        "lapsed with a deposit": compared is Delivery.NO_DEPOSIT and found is not Outcome.NO_DEPOSIT,
    }
    return ", ".join(f"{told.key} {found}: {problem}" for problem, is_one in problems.items() if is_one)


@pytest.mark.parametrize("status", [*IntentStatus])
def test_a_transfer_without_a_receipt_agrees_with_its_page(status: str) -> None:
    assert not quarrel(at(intent(status), None))


@pytest.mark.parametrize("which", sorted({which for which, _, _ in MOMENTS}))
def test_page_list_and_export_of_a_scenario_have_the_same_outcome(which: int) -> None:
    for moment in (each for each in MOMENTS if each[0] == which):
        agree(scene(*moment).at())


def agree(page: Transfer) -> None:
    assert not quarrel(page)
    if page.is_missing or page.owner is None:
        return
    call = operations.get_intent_history(by_owner_address=page.owner, page=Page.first(size=100))
    listed = SERVICE.ask(call).intents
    entry = next(each for each in listed if each.intent_id == page.intent.intent_id)
    row = Transfer.of_entry(entry, now=NOW, names=NO_NAMES)
    assert row.outcome is page.outcome
    assert not quarrel(row)
    exported = formats.row(row, url="")
    assert (exported["headline"], exported["outcome"]) == (bare(summary.of(row).headline), page.outcome.value)
