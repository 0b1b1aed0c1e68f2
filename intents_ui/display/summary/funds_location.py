"""Expected location and amount of the funds, compared with on-chain balances."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from intents_ui.display.formatting.text import Sentence, listed
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers.locations import Place, is_further
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.service.models import IntentStatus
from intents_ui.service.outcome import DEAD, StepStatus

if TYPE_CHECKING:
    from intents_ui.display.summary.placeholders import Placeholders

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

    `finding` states the balances of the intent addresses, and what they mean. `is_confirmed`: the balances are this
    amount at this location, so that the finding says nothing new.
    """

    money: Money | None = None
    amount: str = ""
    is_estimate: bool = False
    check: Agreement = Agreement.UNCHECKED
    finding: str = ""
    is_confirmed: bool = False


def located(place: Place, transfer: Transfer, gaps: "Placeholders") -> Located:
    money, is_estimate = _money(place, transfer)
    known = money if money and money.value is not None else None
    amount = gaps.amount(known) if known else ""
    check, finding = Agreement.UNCHECKED, ""
    if transfer.has_balance is not None:
        check, finding = _compared(place, transfer, gaps)
    return Located(
        money=known,
        amount=Sentence("about ", amount) if amount and is_estimate else amount,
        is_estimate=bool(known and is_estimate),
        check=check,
        finding=finding,
        is_confirmed=known is not None and place in ADDRESSES and [place] == [each.at for each in transfer.holdings],
    )


def _money(place: Place, transfer: Transfer) -> tuple[Money | None, bool]:
    """Return the amount, and whether it is only an estimate."""
    _, origin, destination = transfer.legs
    if place in ADDRESSES and place is transfer.held_at:
        held = transfer.holdings[0].sums
        return (held[0], False) if len(held) == 1 else (None, False)
    match place:
        case Place.OWNER:
            return transfer.requested, False
        case Place.DEPOSIT_ADDRESS:
            is_told = transfer.deposit is not None and transfer.deposit.token_amount is not None
            return transfer.reported_deposit if is_told else transfer.requested, not transfer.is_arrival_reported
        case Place.PROVIDER:
            # Between a swap and a bridge it is another token, in an unreported amount.
            return (
                (transfer.sent, True) if len(transfer.providers) == 1 and origin is StepStatus.DONE else (None, False)
            )
        case Place.DELIVERY_ADDRESS:
            return transfer.expected, destination is not StepStatus.DONE
        case Place.RECIPIENT:
            received = transfer.received
            return (received, False) if received.value is not None else (transfer.expected, True)
        case Place.RETURNING | Place.RETURNED:
            return transfer.refunded, False
        case _:
            return None, False


def _compared(place: Place, transfer: Transfer, gaps: "Placeholders") -> tuple[Agreement, str]:
    """Return whether the balances agree, or may agree, with the steps, and what they are."""
    by_steps = _by_steps(place, transfer)
    agrees = Agreement.ALONE if transfer.is_unread or transfer.lacks_its_receipt else Agreement.AGREES
    if not transfer.has_balance:
        if agrees is Agreement.AGREES and by_steps in ADDRESSES and place is not Place.RETURNING:
            return Agreement.DIFFERS, Sentence("The ", gaps.address(by_steps), " is empty, so the funds have moved on.")
        return (
            agrees,
            "The deposit address is empty." if transfer.is_same_chain else "Both intent addresses are empty.",
        )
    held = [Sentence(gaps.sums(each), " at the ", gaps.holder(each)) for each in transfer.holdings]
    unknown = Sentence("an unknown amount at the ", gaps.address(Place.UNKNOWN))
    found = Sentence("On-chain balances: ", listed(held or [unknown]), ".")
    at = transfer.held_at
    is_one_address = transfer.is_same_chain and by_steps in ADDRESSES
    if agrees is Agreement.ALONE or at is by_steps or (at is Place.UNKNOWN and by_steps in ADDRESSES):
        return agrees, found
    if by_steps is Place.OWNER or is_further(at, by_steps):
        return Agreement.DIFFERS, found
    if is_one_address:
        return agrees, found
    return Agreement.DIFFERS, Sentence(found, " The recorded steps show the funds moved on from there.")


def _by_steps(place: Place, transfer: Transfer) -> Place:
    """Return where the funds are by the steps, and by a refund reported without a step.

    Funds being refunded may still be where the refund starts."""
    if transfer.returning is StepStatus.DONE or (
        transfer.status == IntentStatus.REFUNDED and transfer.returning is StepStatus.ABSENT
    ):
        return Place.RETURNED
    if place is Place.RETURNING or transfer.returning in DEAD:
        start = transfer.start_of_the_return
        return transfer.by_steps if start is Place.UNKNOWN else start
    return transfer.by_steps
