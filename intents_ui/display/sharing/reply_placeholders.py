"""Values of the placeholders in the column `reply` of messages.toml, which addresses the owner of the transfer."""

from datetime import datetime, timedelta

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.formatting.sentences import Name, Sentence, capitalized, fill
from intents_ui.display.summary import glance, reasons, summary
from intents_ui.display.summary.funds_location import ADDRESSES
from intents_ui.display.summary.placeholders import Placeholders
from intents_ui.display.summary.rules import Cause
from intents_ui.display.transfers.locations import Place
from intents_ui.display.transfers.transfer import Transfer

MINUTE = timedelta(minutes=1)
HALF_HOUR = timedelta(minutes=30)
# The team updates the customer at the first full half hour after this time.
UPDATE_WITHIN = timedelta(hours=2)
# The placeholders that name the time of the update.
PROMISES = ("escalated", "follow_up", "update_by")


class ReplyPlaceholders(Placeholders):
    """The placeholders of pages, and those that only replies have. Clauses that may be "" begin with a blank."""

    def __init__(self, transfer: Transfer) -> None:
        self._summary = summary.of(transfer)
        super().__init__(transfer, minutes=self._summary.row.minutes)

    # The transfer

    def kind(self) -> str:
        if self._transfer.pays_somebody_else:
            return "payment"
        return "swap" if self._transfer.is_same_chain else "transfer"

    def what(self) -> str:
        """Return `transfer of 300.00 USDC from Base to Arbitrum One` or `swap of 25.00 USDC on Base`."""
        transfer = self._transfer
        origin, destination = (
            transfer.chain_name(chain_id, unknown="")
            for chain_id in (transfer.origin_chain_id, transfer.destination_chain_id)
        )
        if transfer.is_same_chain:
            return Name(f"{self.what_in_short()} on {origin}")
        ends = [f" {word} {chain}" for word, chain in (("from", origin), ("to", destination)) if chain]
        return Name("".join([self.what_in_short(), *ends]))

    def what_in_short(self) -> str:
        """Return `transfer of 300.00 USDC`, for long sentences."""
        sent = glance.of(self._transfer).sent
        # A deposit that arrived in an unknown amount isn't called by the quoted one.
        is_known = sent.amount.full and (self._transfer.arrived is None or not sent.note)
        return Name(f"{self.kind()}{f' of {sent.amount}' if is_known else ''}")

    def is_done(self) -> str:
        return {"payment": "reached the recipient", "swap": "is complete", "transfer": "was delivered"}[self.kind()]

    def cause(self) -> str:
        """Return why the transfer failed, as a sentence, or ""."""
        return Name(reasons.for_customer(self._transfer))

    def problem(self) -> str:
        return self.cause() or "One of its steps failed."

    # Wallets and addresses

    def wallet(self) -> str:
        return "the recipient's wallet" if self._transfer.pays_somebody_else else "your wallet"

    def the_wallet(self) -> str:
        return capitalized(self.wallet())

    def refund_wallet(self) -> str:
        refund, owner = self._transfer.refund, self._transfer.owner
        is_own = refund and refund.to_address and owner and refund.to_address.lower() == owner.lower()
        return "your wallet" if is_own else self.refund_to()

    def address(self, at: Place) -> str:
        if at is Place.DEPOSIT_ADDRESS:
            return super().address(at)
        chain = self.destination_chain() if at is Place.DELIVERY_ADDRESS else self.either_chain()
        return Sentence("address created for this transfer on ", chain)

    # Where the funds are

    def whereabouts(self) -> str:
        place = self._summary.place
        if place in ADDRESSES and self._transfer.has_balance is False:
            is_next = place is Place.DELIVERY_ADDRESS or self._transfer.is_same_chain
            goal = ("in ", self.wallet()) if is_next else ("on ", self.destination_chain())
            left = ("The funds left the ", self.address(place), " and haven't shown up ")
            return Sentence(*left, *goal, " yet.")
        match place:
            case Place.DEPOSIT_ADDRESS:
                return Sentence("The funds are at the ", self.address(place), ".")
            case Place.PROVIDER:
                return fill("The funds are in transit from {origin_chain} to {destination_chain} via {provider}.", self)
            case Place.DELIVERY_ADDRESS:
                return fill("The funds are on {destination_chain}, and the last step to {wallet} is running.", self)
            case Place.RECIPIENT:
                return fill("The funds are most likely in {wallet} on {destination_chain}.", self)
            case _:
                return fill(
                    "The funds are in your wallet on {origin_chain}, or in transit to the deposit address.", self
                )

    def funds(self) -> str:
        """Return `Your funds (79.71 USDC) are`."""
        holdings = self._transfer.holdings if self._transfer.has_balance else ()
        return Sentence("Your funds (", self.sums(holdings[0]), ") are") if holdings else "Your funds are"

    def failed_refund(self) -> str:
        """Return where the funds of a failed refund are."""
        at = self._summary.place
        if at not in ADDRESSES:
            return Sentence("We're checking where on ", self.either_chain(), " the funds are.")
        likely = "" if self._transfer.has_balance else " most likely"
        return Sentence(self.funds(), likely, " at the ", self.address(at), ".")

    def refund(self) -> str:
        """Return `299.96 USDC was`."""
        amount = self.refund_amount()
        return Sentence(amount, self.instead(), " was") if isinstance(amount, Name) else "The funds were"

    # What the customer can do

    def did_it_arrive(self) -> str:
        if self._transfer.pays_somebody_else:
            return "Please check with the recipient: did the funds arrive?"
        return Sentence("Please check your wallet on ", self.destination_chain(), ": did the funds arrive?")

    def recover_at(self) -> str:
        return "at the link below" if self._transfer.contacts.recovery_url else "in the app you used"

    def recovery(self) -> str:
        if obstacle := reasons.no_recovery(self._transfer):
            return Name(obstacle)
        return f"Only your wallet can move them, and you can recover them {self.recover_at()}."

    # What the team does, and by when

    def desk(self) -> str:
        """Return who the team escalates to: the provider of funds in transit, with its request ID, or engineers."""
        if Place.PROVIDER not in (self._summary.place, self._transfer.by_steps):
            return "our engineers"
        requests = self._transfer.quote.route_providers_request_ids
        request = (" (request ", Name(hashes.short_hash(text.visible(requests[-1]))), ")") if requests else ()
        return Sentence(self.provider(), *request)

    def update_by(self) -> str:
        return self._by(self._transfer.now + UPDATE_WITHIN, to=HALF_HOUR)

    def escalated(self) -> str:
        return Sentence("We've escalated this to ", self.desk(), " and will update you by ", self.update_by(), ".")

    def follow_up(self) -> str:
        """Return when the team escalates a transfer that should change, or that it has."""
        row, transfer = self._summary.row, self._transfer
        if row.cause is Cause.REFUND:
            event, at = "there is no refund", transfer.return_overdue_at
        elif row.minutes:
            event, at = "nothing has changed", transfer.escalates_at(row.minutes)
        else:
            event, at = "it isn't complete", transfer.stalled_at
        if at is None:
            return Sentence("We'll check again and update you by ", self.update_by(), ".")
        if self._transfer.has_come(at):
            return self.escalated()
        return Sentence("If ", event, " by ", self._by(at), ", we'll escalate it to ", self.desk(), " and update you.")

    # Times, to the minute

    def expired_at(self) -> str:
        return self._with(" at ", self._transfer.execute_by or self._transfer.expires_at)

    def before_expiry(self) -> str:
        return self._with(" before ", self._transfer.execute_by or self._transfer.expires_at)

    def arrival(self) -> str:
        """Return ` and should be complete by 14:04 UTC`, or "" if that time has passed."""
        due_at = self._transfer.due_at
        if due_at is None or self._transfer.has_come(due_at):
            return ""
        return Sentence(" and should be complete by ", self._by(due_at))

    def _with(self, words: str, moment: datetime | None) -> str:
        return Sentence(words, self._at(moment, "")) if moment else ""

    def _at(self, moment: datetime | None, unknown: str) -> str:
        return times.utc_minute(moment, now=self._transfer.now) if moment else unknown

    def _by(self, moment: datetime, *, to: timedelta = MINUTE) -> str:
        """Return a time that is rounded up."""
        return self._at(moment + (times.EPOCH - moment) % to, "")
