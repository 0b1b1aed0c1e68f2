"""Expected location and amount of the funds, compared with on-chain balances."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display.formatting import text
from intents_ui.display.summary.placeholders import Placeholders
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.locations import Place, is_further, start_of_the_return
from intents_ui.display.transfers.situation import Situation
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import DEAD, StepStatus

ADDRESSES = (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS)


class Agreement(StrEnum):
    """Evidence for the location: balances unchecked, consistent with the steps, different from them, or no steps."""

    UNCHECKED = "unchecked"
    AGREES = "agrees"
    DIFFERS = "differs"
    ALONE = "alone"


@dataclass(frozen=True)
class Located:
    """`money` is the amount at the location, None if unknown; `is_estimate`: expected, not reported.

    `finding` states the balances of the intent addresses, and what they mean."""

    money: Money | None = None
    amount: str = ""
    is_estimate: bool = False
    check: Agreement = Agreement.UNCHECKED
    finding: str = ""


def located(place: Place, situation: Situation, gaps: Placeholders) -> Located:
    money, is_estimate = _money(place, situation)
    known = money if money and money.value is not None else None
    amount = gaps.amount(known) if known else ""
    has_steps = not (situation.facts.is_unread or situation.facts.lacks_its_receipt)
    difference, finding, check = "", "", Agreement.UNCHECKED
    if situation.has_balance is not None:
        difference = _difference(place, situation, gaps) if has_steps else ""
        check = Agreement.DIFFERS if difference else Agreement.AGREES if has_steps else Agreement.ALONE
        finding = f"On-chain balances: {text.listed(list(_found(situation, gaps)))}. {difference}".rstrip()
    return Located(
        money=known,
        amount=f"about {amount}" if amount and is_estimate else amount,
        is_estimate=bool(known and is_estimate),
        check=check,
        finding=finding,
    )


def _money(place: Place, situation: Situation) -> tuple[Money | None, bool]:
    """Return the amount, and whether it is only an estimate."""
    facts = situation.facts
    _, origin, destination = facts.legs
    if place in ADDRESSES and place is situation.held_at:
        held = situation.holdings[0].sums
        return (held[0], False) if len(held) == 1 else (None, False)
    match place:
        case Place.OWNER:
            return facts.requested, False
        case Place.DEPOSIT_ADDRESS:
            is_told = facts.deposit is not None and facts.deposit.token_amount is not None
            return facts.reported_deposit if is_told else facts.requested, not facts.is_arrival_reported
        case Place.PROVIDER:
            # Between a swap and a bridge it is another token, in an unreported amount.
            return (facts.sent, True) if len(facts.providers) == 1 and origin is StepStatus.DONE else (None, False)
        case Place.DELIVERY_ADDRESS:
            return facts.expected, destination is not StepStatus.DONE
        case Place.RECIPIENT:
            received = facts.received
            return (received, False) if received.value is not None else (facts.expected, True)
        case Place.RETURNING | Place.RETURNED:
            return facts.refunded, False
        case _:
            return None, False


def _found(situation: Situation, gaps: Placeholders) -> Iterator[str]:
    if not situation.has_balance:
        is_one_address = situation.facts.is_same_chain
        yield f"none at the deposit address{'' if is_one_address else ' or the destination intent address'}"
    elif not situation.holdings:
        yield f"an unknown amount at the {gaps.address(Place.UNKNOWN)}"
    for held in situation.holdings if situation.has_balance else ():
        yield f"{gaps.sums(held)} at the {gaps.holder(held)}"


def _difference(place: Place, situation: Situation, gaps: Placeholders) -> str:
    """Return how the balances differ from the steps; empty if they agree or may agree."""
    by_steps = _by_steps(place, situation)
    if situation.has_balance is False and by_steps in ADDRESSES and place is not Place.RETURNING:
        return f"Expected at the {gaps.address(by_steps)}. The funds may have moved since."
    if not situation.has_balance:
        return ""
    at = situation.held_at
    if at is by_steps or (at is Place.UNKNOWN and by_steps in ADDRESSES):
        return ""
    if by_steps is Place.OWNER or is_further(at, by_steps):
        return "This is further along than the recorded steps show."
    is_one_address = situation.facts.is_same_chain and by_steps in ADDRESSES
    return "" if is_one_address else "The recorded steps show the funds moved on from there."


def _by_steps(place: Place, situation: Situation) -> Place:
    """Return where the funds are by the steps, and by a refund reported without a step.

    Funds being refunded may still be where the refund starts."""
    facts = situation.facts
    if facts.returning is StepStatus.DONE or (
        facts.status == IntentStatus.REFUNDED and facts.returning is StepStatus.ABSENT
    ):
        return Place.RETURNED
    if place is Place.RETURNING or facts.returning in DEAD:
        start = start_of_the_return(facts)
        return situation.by_steps if start is Place.UNKNOWN else start
    return situation.by_steps
