"""Summary, timeline and route are three views of one transfer, and none contradicts another."""

import itertools

import pytest

from intents_ui.display.summary import route_diagram, summary, timeline
from intents_ui.display.summary.route_diagram import BACK, Reached
from intents_ui.display.summary.rules import Certainty
from intents_ui.display.summary.timeline import Name, StepState
from intents_ui.display.transfers.locations import Place
from intents_ui.display.transfers.statuses import Tone
from intents_ui.service.wire.models import IntentReceipt, IntentStatus
from tests.display.builders import ARBITRUM, BASE, NOW, at, receipt, refund, transaction

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


@pytest.mark.parametrize("same_chain", [False, True], ids=["two chains", "one chain"])
@pytest.mark.parametrize("status", [*IntentStatus, "HALTED"])
def test_no_view_contradicts_another(status, same_chain):
    made = {leg: transaction(leg) if leg else None for leg in LEGS}
    usual = receipt(status, destination_chain_id=ARBITRUM if same_chain else BASE)
    last = [None, "SUCCEEDED", "FAILED"] if same_chain else LEGS
    for deposit, origin, destination, back in itertools.product(DEPOSITS, LEGS, last, REFUNDS):
        legs = {
            "deposit_transaction": DEPOSITS[deposit],
            "origin_transaction": made[origin],
            "destination_transaction": made[destination],
            "refund_transaction": REFUNDS[back],
        }
        views = Views(usual.model_copy(update=legs))
        problem = views.quarrel(deposit, origin, destination, back)
        assert not problem, f"{status} {deposit} {origin} {destination} {back}: {views.told.key}: {problem}"


class Views:
    def __init__(self, of_receipt: IntentReceipt, *, now=NOW) -> None:
        situation = at(None, of_receipt, now=now)
        self.told = summary.of(situation)
        self.steps = {step.name: step for step in timeline.of(situation).steps}
        self.stops = {stop.place: stop for stop in route_diagram.of(situation)}

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
            "passed a place that comes after the money": place not in (Place.UNKNOWN, *BACK)
            and Reached.PASSED in reached[next(i for i, each in enumerate(reached) if each in at_place) :],
            "here, and not confirmed": (Reached.HERE in reached) != (bool(here) and is_sure),
            "green, and not confirmed": Tone.GOOD in (self.told.tone, self.told.status.tone) and not is_sure,
            "more is to come of what has ended": Reached.AHEAD in reached and self.told.is_over,
            "nothing is to come of what goes on": Reached.NEVER in reached and not self.told.is_over,
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
            "is back, and not on the way": place in BACK and self.stops[Place.OWNER].reached is not Reached.PASSED,
            "a sum as delivered that was not reported": delivered is not None
            and "base units delivered" in delivered.sentence,
            "expected in the past": any(step.expected_at and step.expected_at <= NOW for step in self.steps.values()),
        }
        return ", ".join(rule for rule, broken in rules.items() if broken)
