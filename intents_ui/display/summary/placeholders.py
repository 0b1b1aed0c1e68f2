"""Values of the placeholders in rows of messages.toml. Untrusted text is already sanitized."""

from dataclasses import replace
from datetime import datetime, timedelta

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.formatting.sentences import Name, Sentence, fill
from intents_ui.display.summary import rules
from intents_ui.display.summary.rules import EXPLANATIONS
from intents_ui.display.tokens import providers, token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import deposits
from intents_ui.display.transfers.deposits import Mismatch
from intents_ui.display.transfers.locations import Holding, Place
from intents_ui.display.transfers.transfer import ETHEREUM, Transfer
from intents_ui.service.outcome import UNDER_WAY

MINUTE = timedelta(minutes=1)
NOT_REPORTED = "amount not reported"


class Placeholders:
    """Values for one transfer. A placeholder is named as the method that returns its value."""

    def __init__(self, transfer: Transfer, *, minutes: int = 0) -> None:
        self._transfer = transfer
        self._minutes = minutes

    def __getitem__(self, name: str) -> str:
        found: str = getattr(self, name)()
        return found

    # Chains and addresses

    def origin_chain(self) -> str:
        return self._chain(self._transfer.origin_chain_id, "the origin chain")

    def destination_chain(self) -> str:
        return self._chain(self._transfer.destination_chain_id, "the destination chain")

    def either_chain(self) -> str:
        origin = self.origin_chain()
        return origin if self._transfer.is_same_chain else Sentence(origin, " or ", self.destination_chain())

    def refund_chain(self) -> str:
        refund = self._transfer.refund
        return self._chain(refund.chain_id if refund else None, "the refund chain")

    def address(self, at: Place) -> str:
        match at:
            case Place.DEPOSIT_ADDRESS:
                return Sentence("deposit address on ", self.origin_chain())
            case Place.DELIVERY_ADDRESS:
                return Sentence("destination intent address on ", self.destination_chain())
            case _:
                return Sentence("intent address on ", self.either_chain())

    def balance_address(self) -> str:
        """Return the address with the balance or, without one, the deposit address."""
        transfer = self._transfer
        if transfer.has_balance and transfer.holdings:
            return self.holder(transfer.holdings[0])
        is_only_paid = not transfer.has_balance and transfer.paid
        return self.address(Place.DEPOSIT_ADDRESS if is_only_paid else Place.UNKNOWN)

    def last_address(self) -> str:
        return self.address(self._last_side())

    def last_chain(self) -> str:
        return self.destination_chain() if self._last_side() is Place.DELIVERY_ADDRESS else self.origin_chain()

    def holder(self, held: Holding) -> str:
        if held.at is not Place.UNKNOWN:
            return self.address(held.at)
        chain = self._chain(held.chain_id, "an unnamed chain")
        return Sentence("address ", hashes.short_address(held.address), " on ", chain)

    def provider(self) -> str:
        """Of two providers, the last is the bridge."""
        known = providers.labels(self._transfer.providers)
        return Name(known[-1]) if known else "the route provider"

    def refund_to(self) -> str:
        refund, owner = self._transfer.refund, self._transfer.owner
        if refund is None or refund.to_address is None:
            return "an unknown wallet"
        is_owner = owner is not None and refund.to_address.lower() == owner.lower()
        return "the owner's wallet" if is_owner else hashes.short_address(refund.to_address)

    def to(self) -> str:
        return hashes.short_address(self._transfer.recipient)

    def running(self) -> str:
        """Return what runs by the steps: `Swapping on Base`, `Bridging to Base`."""
        match self._transfer.by_steps:
            case Place.OWNER:
                return "Confirming deposit"
            case Place.DEPOSIT_ADDRESS if self._transfer.is_same_chain:
                return Sentence("Swapping on ", self.origin_chain())
            case Place.DELIVERY_ADDRESS:
                return Sentence("Delivering on ", self.destination_chain())
            case _:
                return Sentence("Bridging to ", self.destination_chain())

    def first_step(self) -> str:
        """Return whether the first step runs. An empty deposit address shows it before the steps do."""
        is_running = self._transfer.legs[1] in UNDER_WAY or self._transfer.has_balance is False
        return fill(f"The first step on {{origin_chain}} {'is running' if is_running else 'is next'}.", self)

    # Locations, as sentences

    def last_confirmed_place(self) -> str:
        match self._transfer.reached:
            case Place.OWNER:
                return Sentence(
                    "In the owner's wallet on ", self.origin_chain(), ", or in transit to the deposit address."
                )
            case Place.PROVIDER:
                return fill("In transit from {origin_chain} to {destination_chain} via {provider}.", self)
            case Place.RECIPIENT:
                return fill("In the recipient's wallet on {destination_chain}.", self)
            case at:
                return Sentence("At the ", self.address(at), ".")

    def held_place(self) -> str:
        holdings = self._transfer.holdings if self._transfer.has_balance else ()
        amount = (": ", self.sums(holdings[0])) if holdings else ()
        return Sentence("At the ", self.balance_address(), *amount, ".")

    def refund_place(self) -> str:
        """Return where the funds of a failed refund are. A balance is better evidence than the refund's chain."""
        at = self._transfer.held_at
        at = self._transfer.start_of_the_return if at is Place.UNKNOWN else at
        if at is Place.UNKNOWN:
            return Sentence("Unknown: possibly on ", self.either_chain(), ".")
        return Sentence("At the ", self.address(at), ".")

    def left(self, place: Place) -> str:
        """Return where funds are that are no longer at the last step's address."""
        if place is Place.DEPOSIT_ADDRESS and not self._transfer.is_same_chain:
            return Sentence("Left the ", self.address(place), ", not yet seen on ", self.destination_chain(), ".")
        return Sentence("Left the ", self.address(place), ", not yet seen in the recipient's wallet.")

    def settled(self) -> str:
        """Return the headline without regard to balances."""
        key = rules.key(self._transfer.without_balances())
        return fill(EXPLANATIONS[key].headline, self)

    def deposit_problem(self) -> str:
        """Return what is wrong with the deposit: `is 0.50 USDC below the minimum of 100.00 USDC`."""
        payment = deposits.of(self._transfer)
        expected, late_by = payment.expected, payment.late_by
        match payment.mismatch:
            case Mismatch.CHAIN:
                return Sentence("was expected on ", self._chain(expected.chain_id, "another chain"))
            case Mismatch.TOKEN:
                token = text.symbol(expected.symbol).shown if expected.symbol else "another token"
                is_native = expected.token_address is None or hashes.is_native(expected.token_address)
                address = "" if is_native else f" ({hashes.short_address(expected.token_address)})"
                return Sentence("was expected in ", Name(token), address)
            case Mismatch.TOO_LITTLE:
                lacking, least = self._of_deposit(payment.lacking), self._of_deposit(payment.least)
                return Sentence("is ", lacking, " below the minimum of ", least)
        if late_by and late_by > timedelta():
            return f"was confirmed {times.duration(late_by)} after the deadline"
        return "wasn't accepted" if self._transfer.is_over else "hasn't been accepted"

    # Times

    def expires_at(self) -> str:
        return self._at(self._transfer.expires_at, "a time that wasn't reported")

    def execute_by(self) -> str:
        return self._at(self._transfer.execute_by, "a time that wasn't reported")

    def eta(self) -> str:
        return self._at(self._transfer.due_at, "the estimated time")

    def expected_by(self) -> str:
        if self._transfer.is_listed:
            return ""
        if not self._transfer.has_come(self._transfer.due_at):
            return Sentence(" Expected by ", self.eta(), ".")
        late_at = self._transfer.late_at
        is_ahead = late_at is not None and not self._transfer.has_come(late_at)
        until = (", but it can take until ", self._at(late_at, "")) if is_ahead else ()
        return Sentence(" It was expected by ", self.eta(), *until, ".")

    def usual_time(self) -> str:
        """Return when the transfer is expected or, if that isn't known, how long a step usually takes."""
        return self.expected_by() if self._transfer.due_at else " This usually takes less than a minute."

    def confirmation_time(self) -> str:
        return "a few minutes" if self._transfer.origin_chain_id == ETHEREUM else "a few seconds"

    def slow_until(self) -> str:
        return self._at(self._transfer.stalled_at, "the usual time has passed")

    def slow_max(self) -> str:
        return times.duration(self._transfer.allowance)

    def return_by(self) -> str:
        return self._at(self._transfer.return_overdue_at, "15 minutes from now")

    def escalation(self) -> str:
        return escalation(self._transfer, self._minutes, now=self._transfer.now)

    def age(self) -> str:
        last = self._transfer.last_change
        return _rounded(self._transfer.now - last) if last else "a long time"

    # Amounts

    def received(self) -> str:
        return self.amount(self._transfer.received)

    def expected(self) -> str:
        money = self._transfer.expected
        return "" if money.value is None else Sentence(", but about ", self.amount(money), " was expected")

    def refund_amount(self) -> str:
        return self.amount(self._transfer.refunded)

    def refund_token(self) -> str:
        """Return ` The refund is in WETH instead of USDC.`, or "" for one in the token that was sent."""
        instead = self.instead()
        return Sentence(" The refund is in ", self._token(self._transfer.refunded), instead, ".") if instead else ""

    def instead(self) -> str:
        """Return ` instead of USDC` if the refund is in another token than the deposit."""
        sent, refunded = self._transfer.sent, self._transfer.refunded
        if sent.token_address is None or refunded.token_address is None:
            return ""
        # On another chain, the same token has another address.
        is_another = sent.chain_id != refunded.chain_id or token_amounts.is_another_token(sent, refunded)
        names = {self._token(sent), self._token(refunded)}
        return Sentence(" instead of ", self._token(sent)) if is_another and len(names) > 1 else ""

    def balance(self) -> str:
        holdings = self._transfer.holdings
        return self.sums(holdings[0]) if holdings else "an unknown amount"

    def symbol(self) -> str:
        called = self._transfer.received.called
        return Name(called) if called else "the received token"

    def sums(self, held: Holding) -> str:
        sums = [self.amount(money) for money in held.sums]
        return sums[0] if len(sums) == 1 else Name(text.listed(sums))

    def _token(self, money: Money) -> str:
        return Name(money.called or hashes.short_address(money.token_address))

    def _of_deposit(self, value: int | None) -> str:
        """Return an amount of the expected deposit's token, whose warnings are beside the deposit."""
        amount = replace(deposits.of(self._transfer).expected, value=value).amount
        return replace(amount, warning="").in_words

    def amount(self, money: Money) -> str:
        return NOT_REPORTED if money.value is None else money.amount.in_words

    # The status

    def raw(self) -> str:
        return Name(text.name(self._transfer.status or "none given").shown)

    def status_word(self) -> str:
        return self._transfer.shown_status.word

    def _last_side(self) -> Place:
        is_over_there = self._transfer.by_steps is Place.DELIVERY_ADDRESS and not self._transfer.is_same_chain
        return Place.DELIVERY_ADDRESS if is_over_there else Place.DEPOSIT_ADDRESS

    def _chain(self, chain_id: int | None, unknown: str) -> str:
        return unknown if chain_id is None else Name(self._transfer.chain_name(chain_id))

    def _at(self, moment: datetime | None, unknown: str) -> str:
        """Return a time to the second: a deadline of 14:04:59 has not passed at 14:04."""
        return times.utc(moment, now=self._transfer.now) if moment else unknown


def _rounded(age: timedelta) -> str:
    """Return a duration in whole minutes if it is some."""
    return times.duration(age // MINUTE * MINUTE if age >= MINUTE else age)


def escalation(transfer: Transfer, minutes: int, *, now: datetime) -> str:
    """Return the next step for a transfer that should change within that many minutes."""
    at = transfer.escalates_at(minutes)
    if at is None or transfer.last_change is None:
        return "Wait. If nothing changes, contact support."
    if transfer.has_come(at):
        return f"Contact support now. Nothing has changed for {_rounded(now - transfer.last_change)}."
    return Sentence("Wait. If nothing has changed by ", times.utc(at, now=now), ", contact support.")
