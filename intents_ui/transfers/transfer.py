"""One transfer at one moment: the argument of everything that speaks about a transfer.

It combines the intent and its receipt, either of which may be missing. Where they differ, the receipt counts. All that
any surface says about a transfer is derived from one `Transfer`, so all surfaces say the same.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property, wraps
from itertools import combinations
from operator import attrgetter
from typing import Any, Self

from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import UNKNOWN
from intents_ui.service import models
from intents_ui.service.models import STOPPED, UNEXECUTED, IntentStatus, IntentTransaction, TokenMetadata
from intents_ui.service.outcome import (
    DEAD,
    UNDER_WAY,
    Evidence,
    Outcome,
    StepStates,
    StepStatus,
    execute_by,
    failure,
    outcome_of,
    past,
)
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import NO_NAMES, Names
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import statuses
from intents_ui.transfers.incidents import IncidentFacts
from intents_ui.transfers.statuses import StatusLabel

# What is missing is empty, so that every field can be read directly.
NO_INTENT = models.Intent(intent_id=UNKNOWN)
NO_RECEIPT = models.IntentReceipt(intent_id=UNKNOWN)
NO_SUMMARY = models.IntentReceiptSummary()
NO_REQUEST = models.QuoteIntentRequest()
NO_QUOTE = models.IntentProviderQuote()
NOTHING_ASKED = models.DepositTransaction()
# The fields of an intent that its history entry has.
OF_AN_ENTRY = ("intent_id", "status", "created_at", "updated_at", "expires_at")
EXECUTED = frozenset(IntentStatus) - UNEXECUTED - {IntentStatus.INVALID}

# A refund or retry may follow a failure. Watch for this long after the last change.
SECOND_LOOK = timedelta(minutes=30)

ETHEREUM = 1
# The service's own client assumes these without an estimate, by the number of sides on Ethereum.
DEFAULTS = (timedelta(seconds=15), timedelta(seconds=45), timedelta(seconds=60))
USUAL = timedelta(minutes=15)
TIMES_THE_ESTIMATE = 3
LONGEST_ESTIMATE = timedelta(days=365) / TIMES_THE_ESTIMATE
# 20 seconds instead of an estimated 12 isn't late.
MIN_GRACE = timedelta(seconds=60)
# An automatic refund arrives within this time, or not at all.
RETURN = timedelta(minutes=15)


@dataclass(frozen=True)
class Contacts:
    """From the settings, never from a response. `support` is an https URL or an e-mail address."""

    recovery_url: str | None = None
    support: str | None = None


NO_CONTACTS = Contacts()


class Place(StrEnum):
    OWNER = "owner"
    DEPOSIT_ADDRESS = "deposit-address"
    PROVIDER = "provider"
    DELIVERY_ADDRESS = "delivery-address"
    RECIPIENT = "recipient"
    RETURNING = "returning"
    RETURNED = "returned"
    UNKNOWN = "unknown"


# In the order of a transfer.
WAY = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.PROVIDER, Place.DELIVERY_ADDRESS, Place.RECIPIENT)


def is_further(one: Place, other: Place) -> bool:
    """Return whether both are on the way to the recipient and the first is beyond the other."""
    return one in WAY and other in WAY and WAY.index(one) > WAY.index(other)


@dataclass(frozen=True)
class Holding:
    """Balances of one address on one chain; `at` is the intent address that it is, if any."""

    at: Place
    chain_id: int | None
    address: str | None
    sums: tuple[Money, ...]
    usd: Decimal = Decimal(0)


class Check(StrEnum):
    """Whether the service has read the balances of the intent addresses from the chains."""

    CHECKED = "checked"
    PENDING = "pending"  # the lookup runs, and a newer response will follow
    UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Balances:
    """Balances of a transfer's intent addresses from its history entry, or that they are unknown.

    `has_balance`: whether funds are left, None if unchecked. `groups` can be empty although funds are left, if the
    service didn't report the amounts. `checked_at`: when the service read the chains.
    """

    check: Check = Check.UNCHECKED
    has_balance: bool | None = None
    groups: tuple[models.BalanceGroup, ...] = ()
    checked_at: datetime | None = None

    @classmethod
    def of_entry(cls, entry: models.IntentHistory, *, checked_at: datetime | None = None) -> Self:
        """Return the balances of a history entry, or unchecked if it was requested without them."""
        has_balance = entry.has_balance
        if has_balance is None and any(token.balance for group in entry.balances for token in group.tokens):
            has_balance = True
        return cls() if has_balance is None else cls(Check.CHECKED, has_balance, entry.balances, checked_at)


UNCHECKED = Balances()
PENDING = Balances(Check.PENDING)


def first_of[T](_: type[T], field: str, *sources: str) -> "cached_property[T | None]":
    """Return a property: the field of the first of these objects that has it."""
    readers = [attrgetter(f"{source}.{field}") for source in sources]

    def value(transfer: "Transfer") -> T | None:
        return next((found for read in readers if (found := read(transfer)) is not None), None)

    return cached_property(value)


@dataclass(frozen=True, eq=False)
class Transfer:
    """The intent, its receipt or why it is missing, the balances, the names and the moment.

    Derived facts are computed once, on first use. `is_unread`: the receipt couldn't be loaded, so there may be one.
    `is_listed`: from a history entry, which has no quote and so no estimated time. `incidents`: those of its route, the
    newest first. `late_after`: after how long one of its route is late, if known. `derived`: what was computed
    from it, by its function. `fragments`: what was drawn of it, by the key of the fragment.
    """

    intent: models.Intent
    receipt: models.IntentReceipt | None
    now: datetime
    names: Names = NO_NAMES
    balances: Balances = UNCHECKED
    is_unread: bool = False
    is_listed: bool = False
    contacts: Contacts = NO_CONTACTS
    incidents: tuple[IncidentFacts, ...] = ()
    late_after: timedelta | None = None
    derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False)
    fragments: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_entry(
        cls, entry: models.IntentHistory, *, now: datetime, names: Names = NO_NAMES, balances: Balances | None = None
    ) -> Self:
        """Create a transfer from a history entry, which has no quote. `balances` None: use the entry's."""
        known = Balances.of_entry(entry, checked_at=now) if balances is None else balances
        # Validated with the entry. A copy takes a fraction of the time of `model_construct`.
        intent = NO_INTENT.model_copy(update={name: getattr(entry, name) for name in OF_AN_ENTRY})
        return cls(intent, entry.receipt, now, names, known, is_listed=True)

    def without_balances(self) -> "Transfer":
        return replace(self, balances=UNCHECKED)

    def at(self, now: datetime, balances: Balances) -> "Transfer":
        return replace(self, now=now, balances=balances)

    # The intent and its receipt

    @property
    def is_missing(self) -> bool:
        """Return whether the service has no receipt."""
        return self.receipt is None and not self.is_unread

    @property
    def _reported(self) -> models.IntentReceipt:
        return self.receipt or NO_RECEIPT

    @property
    def summary(self) -> models.IntentReceiptSummary:
        return self._reported.summary or NO_SUMMARY

    @property
    def request(self) -> models.QuoteIntentRequest:
        return self.intent.quote_request or NO_REQUEST

    @property
    def quote(self) -> models.IntentProviderQuote:
        return self.intent.quote or NO_QUOTE

    @property
    def asked(self) -> models.DepositTransaction:
        return self.intent.deposit_transaction or NOTHING_ASKED

    status = first_of(str, "status", "_reported", "intent", "summary")
    owner = first_of(str, "owner_address", "_reported", "intent", "summary", "request")
    # None also means the owner: most quotes name a recipient only if it differs.
    recipient = first_of(str, "destination_to_address", "summary", "request")
    origin_chain_id = first_of(int, "origin_chain_id", "_reported", "intent", "summary", "request")
    destination_chain_id = first_of(int, "destination_chain_id", "_reported", "intent", "summary", "request")
    delivery_address = first_of(str, "destination_intent_address", "intent", "summary")
    deposit = first_of(IntentTransaction, "deposit_transaction", "_reported")
    origin = first_of(IntentTransaction, "origin_transaction", "_reported")
    destination = first_of(IntentTransaction, "destination_transaction", "_reported")
    refund = first_of(IntentTransaction, "refund_transaction", "_reported")
    expires_at = first_of(datetime, "expires_at", "intent", "summary")

    @cached_property
    def deposit_address(self) -> str | None:
        return first(self.intent.origin_intent_address, self.summary.origin_intent_address, self.asked.to_address)

    @cached_property
    def quoted_at(self) -> datetime | None:
        return self.past(self.intent.created_at) or self.past(self.summary.created_at)

    @property
    def finished_at(self) -> datetime | None:
        return self.past(self.summary.finished_at)

    @cached_property
    def updated_at(self) -> datetime | None:
        """Return the intent's own last change. It replaces the commit time, which isn't reported."""
        return self.past(self.intent.updated_at) or self.past(self._reported.updated_at)

    @property
    def pays_another_wallet(self) -> bool:
        return bool(self.recipient and self.owner and self.recipient.lower() != self.owner.lower())

    @cached_property
    def is_same_chain(self) -> bool:
        return self.origin_chain_id is not None and self.origin_chain_id == self.destination_chain_id

    @property
    def route(self) -> tuple[str, str, str]:
        """Return the providers with `;` between them, and the IDs of both chains, each "" if unknown."""
        origin, destination = self.origin_chain_id, self.destination_chain_id
        chain_ids = ["" if each is None else str(each) for each in (origin, destination)]
        return ";".join(self.providers), chain_ids[0], chain_ids[1]

    @cached_property
    def providers(self) -> tuple[str, ...]:
        named = self.summary.route_providers or self.quote.route_providers
        return tuple(provider for provider in named if provider)

    @cached_property
    def memo(self) -> text.Text | None:
        return text.memo(self.summary.memo) if self.summary.memo else None

    @cached_property
    def steps(self) -> StepStates:
        return StepStates.of(self._reported)

    @cached_property
    def legs(self) -> tuple[StepStatus, StepStatus, StepStatus]:
        return self.steps.legs

    @property
    def returning(self) -> StepStatus:
        """Return the state of the refund."""
        return self.steps.refund

    @cached_property
    def has_arrived(self) -> bool:
        return self.steps.has_arrived

    @property
    def lacks_its_receipt(self) -> bool:
        """Return whether there is no receipt although execution, which creates one, began."""
        return self.is_missing and self.status in EXECUTED

    @cached_property
    def is_expired(self) -> bool:
        """Return whether the quote expired. One that was, or may have been, executed doesn't expire."""
        return not self.is_unread and not self.steps.is_under_way and self.has_come(self.execute_by)

    @property
    def is_open(self) -> bool:
        """Return whether the status is not final."""
        return statuses.is_open(self.status)

    @property
    def is_over(self) -> bool:
        """Return whether no further step toward the recipient is expected."""
        over = not self.is_open or self.is_expired
        return over or self.returning is not StepStatus.ABSENT

    @property
    def shown_status(self) -> StatusLabel:
        return statuses.EXPIRED if self.is_expired else statuses.intent(self.status, now=self.now)

    @cached_property
    def started_at(self) -> datetime | None:
        """Return when execution began, which is when the receipt is created."""
        created_at = self._reported.created_at if self.steps.has_any_step else None
        return first(self.past(self.summary.started_at), self.past(created_at))

    @cached_property
    def execute_by(self) -> datetime | None:
        """Return when the quote expires. None if it isn't usable."""
        return execute_by(self.status, expires_at=self.expires_at, updated_at=self.updated_at)

    @cached_property
    def transactions(self) -> tuple[IntentTransaction, ...]:
        return tuple(filter(None, (self.deposit, self.origin, self.destination, self.refund)))

    @cached_property
    def elapsed(self) -> timedelta | None:
        """Return the time from the start of execution to its end, or until now. None if the clocks disagree."""
        end = self.finished_at or max(filter(None, map(self.ended_at, self.transactions)), default=None)
        end = self.now if self.is_open else end
        return end - self.started_at if self.started_at and end and end >= self.started_at else None

    @cached_property
    def last_change(self) -> datetime | None:
        changes = [self.past(each.updated_at) or self.mined_at(each) for each in self.transactions]
        known = filter(None, (self.past(self._reported.updated_at), *changes))
        return max(known, default=first(self.started_at, self.past(self.intent.updated_at)))

    def mined_at(self, transaction: IntentTransaction) -> datetime | None:
        return self.past(transaction.txn_mined_at)

    def ended_at(self, transaction: IntentTransaction) -> datetime | None:
        """Return when a transaction that is over was mined, or else changed."""
        return self.mined_at(transaction) or self.past(transaction.updated_at)

    def past(self, at: datetime | None) -> datetime | None:
        return past(at, now=self.now)

    def has_come(self, at: datetime | None) -> bool:
        """Return whether `at` has passed. Inclusive, so a page rendered exactly at `at` is up to date."""
        return at is not None and self.now >= at

    @cached_property
    def is_delivered(self) -> bool:
        """Return whether the last step succeeded, or the status says so and no step contradicts it."""
        _, origin, destination = self.legs
        returned = self.returning is not StepStatus.ABSENT and self.status != IntentStatus.SUCCEEDED
        if returned or self.status == IntentStatus.REFUNDED:
            return False
        # A confirmed step can include a refund, so the final status decides.
        exchanged = self.is_same_chain and self.destination is None and origin is StepStatus.DONE
        if destination is StepStatus.DONE or (exchanged and self.is_open):
            return True
        return self.status == IntentStatus.SUCCEEDED and not self.steps.has_dead_step

    @property
    def failure_reason(self) -> str | None:
        return failure(self._reported)[1]

    @cached_property
    def reason(self) -> text.Text | None:
        """Return the reason of the failed refund, else of the first failed step, on one line."""
        found = self.failure_reason
        return text.reason(" ".join(found.split())) if found else None

    @cached_property
    def requested(self) -> Money:
        """Return the requested or quoted deposit, whatever arrived."""
        # In a request, 0 is the amount that the quote determines.
        asked = self.request.origin_token_amount or None
        value = first(self.summary.origin_token_amount, self.quote.from_amount, asked)
        token = first(self.summary.origin_token_address, self.request.origin_token_address, self.asked.token_address)
        chain_id, metadata = self.origin_chain_id, self.summary.origin_token_metadata
        money = Money(first(value, self.asked.amount), chain_id, token, metadata, names=self.names)
        if self.asked.decimals is None:
            return money
        asked_for = self.money(None, self.asked.chain_id, self.asked.token_address)
        is_other = token_amounts.is_another_token(asked_for, money)
        return money if is_other else replace(money, own_decimals=self.asked.decimals)

    @cached_property
    def expected_deposit(self) -> Money:
        """Return the deposit as the intent asks for it, with which a deposit is compared."""
        asked, requested = self.asked, self.requested
        if self.is_listed:
            return requested
        # A request names the amount that it fixes. The other one is 0.
        fixed = self.request.origin_token_amount or None
        value = first(asked.amount, self.quote.from_amount, self.summary.origin_token_amount, fixed)
        wanted = self.money(value, first(asked.chain_id, self.origin_chain_id), asked.token_address)
        if token_amounts.is_another_token(wanted, requested):
            return replace(wanted, own_decimals=asked.decimals)
        return changed(requested, value=value, chain_id=wanted.chain_id)

    @cached_property
    def reported_deposit(self) -> Money:
        """Return the deposit's own token and amount, which are reliable only once it is confirmed."""
        expected = self.expected_deposit
        if self.deposit is None:
            return replace(expected, value=None)
        deposit = self.deposit
        reported = self.money(deposit.token_amount, deposit.chain_id, deposit.token_address)
        if token_amounts.is_another_token(reported, expected):
            return reported
        return changed(
            expected,
            value=reported.value,
            chain_id=first(expected.chain_id, reported.chain_id),
            token_address=first(expected.token_address, reported.token_address),
        )

    @property
    def arrived(self) -> Money | None:
        """Return the confirmed deposit, without a value if its amount isn't reported. None: no deposit is confirmed."""
        return self.reported_deposit if self.legs[0] is StepStatus.DONE else None

    @property
    def is_arrival_reported(self) -> bool:
        """Return whether a confirmed deposit reports its amount."""
        return self.arrived is not None and self.arrived.value is not None

    @property
    def sent(self) -> Money:
        """Return what arrived as reported, otherwise what was requested, which surfaces label."""
        return self.reported_deposit if self.is_arrival_reported else self.requested

    @cached_property
    def received(self) -> Money:
        """Return the delivered amount as reported, which is known only at the end."""
        return self._destination_money(self.summary.destination_token_amount)

    @cached_property
    def expected(self) -> Money:
        return self._destination_money(first(self.quote.to_amount, self.request.destination_token_amount or None))

    @cached_property
    def refunded(self) -> Money:
        refund = self.refund
        if refund is None:
            return self.money(None, None, None)
        return self.money(refund.token_amount, refund.chain_id, refund.token_address)

    def money(self, value: int | None, chain_id: int | None, token_address: str | None) -> Money:
        """Return an amount with the receipt's description of the token, if it has one."""
        known = (self.summary.origin_token_metadata, self.summary.destination_token_metadata)
        wanted = (chain_id, (token_address or "").lower())
        for token in filter(None, known if token_address else ()):
            if (token.chain_id, (token.token_address or "").lower()) == wanted:
                return Money(value, chain_id, token_address, token, names=self.names)
        return Money(value, chain_id, token_address, names=self.names)

    def balance_of(self, token: models.TokenBalance, *, inside: models.BalanceGroup) -> Money:
        """Return an intent address's balance of a token. A chain of 0, or none, is that of the address."""
        chain_id = token.chain_id or inside.chain_id
        stated = TokenMetadata(
            chain_id=chain_id, token_address=token.contract_address, symbol=token.symbol, decimals=token.decimals
        )
        return Money(token.balance, chain_id, token.contract_address, stated, names=self.names)

    def _destination_money(self, value: int | None) -> Money:
        token = first(self.summary.destination_token_address, self.request.destination_token_address)
        metadata = self.summary.destination_token_metadata
        return Money(value, self.destination_chain_id, token, metadata, names=self.names)

    # Estimates and limits (docs/contract.md#durations)

    @property
    def given_estimate(self) -> timedelta | None:
        figure = self.quote.estimated_duration
        return times.seconds(int(figure)) if figure is not None and figure > 0 else None

    @property
    def estimate(self) -> timedelta:
        sides = (self.origin_chain_id, self.destination_chain_id)
        return self.given_estimate or DEFAULTS[sides.count(ETHEREUM)]

    @property
    def due_at(self) -> datetime | None:
        """Return when the transfer is expected to be complete. None before it started, or beyond the calendar."""
        return times.after(self.started_at, self.estimate)

    @property
    def awaited_at(self) -> datetime | None:
        """Return when the delivery is expected, then when it is late."""
        return self.late_at if self.has_come(self.due_at) else self.due_at

    @property
    def grace(self) -> timedelta:
        """Return by how much the estimate may be missed before the transfer counts as late."""
        return max(MIN_GRACE, self.estimate / 2)

    @property
    def taken(self) -> timedelta | None:
        """Return the time from the start to the reported end or, without one, to the last transaction."""
        last = self.destination or (self.origin if self.is_same_chain else None)
        ended_at = self.finished_at or (self.mined_at(last) if last else None)
        if ended_at is None or self.started_at is None or ended_at < self.started_at:
            return None
        return ended_at - self.started_at

    @property
    def return_overdue_at(self) -> datetime | None:
        """Return when a refund counts as overdue, so that waiting for it is no longer advised."""
        return times.after(self.last_change, RETURN)

    def escalates_at(self, minutes: int) -> datetime | None:
        """Return when to contact support if nothing has changed for that many minutes."""
        return times.after(self.last_change, timedelta(minutes=minutes)) if minutes else None

    @property
    def allowance(self) -> timedelta:
        """Return how long nothing may change before the transfer counts as stalled."""
        usual = max(USUAL, TIMES_THE_ESTIMATE * min(self.estimate, LONGEST_ESTIMATE))
        slow = names.slow_range(self.providers)
        waiting = self.legs[2] in (StepStatus.WAITING, StepStatus.ABSENT)
        return max(usual, slow) if slow and waiting else usual

    @property
    def stalled_at(self) -> datetime | None:
        return times.after(self.last_change, self.allowance)

    @property
    def settled_at(self) -> datetime | None:
        """Return when a failed transfer counts as settled, because no refund or retry followed; None for others."""
        if self.status not in STOPPED or self.last_change is None:
            return None
        return times.after(self.last_change, SECOND_LOOK)

    # Places

    def chain_of(self, place: Place) -> int | None:
        """Return a location's chain, None if between chains or unknown."""
        if place in (Place.RETURNING, Place.RETURNED):
            return self.refund.chain_id if self.refund else None
        if place in (Place.OWNER, Place.DEPOSIT_ADDRESS):
            return self.origin_chain_id
        return self.destination_chain_id if place in (Place.DELIVERY_ADDRESS, Place.RECIPIENT) else None

    def chain_name(self, chain_id: int | None, *, unknown: str = "an unknown chain") -> str:
        return names.of_chain(chain_id, using=self.names, unknown=unknown)

    def address_of(self, place: Place) -> str | None:
        refunded_to = self.refund.to_address if self.refund else None
        addresses = {
            Place.OWNER: self.owner,
            Place.DEPOSIT_ADDRESS: self.deposit_address,
            Place.DELIVERY_ADDRESS: self.delivery_address or (self.deposit_address if self.is_same_chain else None),
            Place.RECIPIENT: self.recipient or self.owner,
            Place.RETURNING: refunded_to,
            Place.RETURNED: refunded_to,
        }
        return addresses.get(place)

    def side_of(self, chain_id: int | None) -> Place:
        """Return which of the two intent addresses is on that chain."""
        if chain_id is None or chain_id not in (self.origin_chain_id, self.destination_chain_id):
            return Place.UNKNOWN
        return Place.DEPOSIT_ADDRESS if chain_id == self.origin_chain_id else Place.DELIVERY_ADDRESS

    @property
    def start_of_the_return(self) -> Place:
        """Return where funds are after a failed refund: on the refund's chain, unless the steps say otherwise."""
        _, origin, destination = self.legs
        side = self.side_of(self.refund.chain_id if self.refund else None)
        crossed = destination in UNDER_WAY | {StepStatus.REJECTED} or (
            origin is StepStatus.DONE and not self.is_same_chain
        )
        is_elsewhere = destination is StepStatus.DONE or (crossed and side is Place.DEPOSIT_ADDRESS)
        return Place.UNKNOWN if is_elsewhere else side

    @property
    def place_after_a_failed_refund(self) -> Place:
        """Return where most of the balance is or, without one, where the refund started."""
        return self.start_of_the_return if self.held_at is Place.UNKNOWN else self.held_at

    @cached_property
    def lookalikes(self) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
        """Return each pair of different addresses with the same first and last characters, with their roles.

        An address can have several roles, of which the first counts. Addresses that aren't hex are ignored.
        """
        named = (
            ("owner", self.owner),
            ("recipient", self.recipient),
            ("deposit address", self.deposit_address),
            ("destination intent address", self.delivery_address),
            ("address that sent the deposit", self.deposit.from_address if self.deposit else None),
            ("refund address", self.refund.to_address if self.refund else None),
        )
        roles: dict[str, str] = {}
        for role, address in named:
            if address and (known := hashes.canonical_address(address)):
                roles.setdefault(known, role)
        return tuple(
            ((roles[one], one), (roles[other], other))
            for one, other in combinations(roles, 2)
            if (one[:6], one[-4:]) == (other[:6], other[-4:])
        )

    # Balances

    @property
    def has_balance(self) -> bool | None:
        """Return whether funds are left at the intent addresses, None if unknown."""
        return self.balances.has_balance

    @cached_property
    def holdings(self) -> tuple[Holding, ...]:
        """Return the balances of the intent addresses that aren't empty, most valuable first."""
        found = []
        for group in self.balances.groups:
            if there := [token for token in group.tokens if token.balance and token.balance > 0]:
                chain_id = group.chain_id or next((token.chain_id for token in there if token.chain_id), None)
                sums = tuple(self.balance_of(token, inside=group) for token in there)
                at = _at(group.intent_address, chain_id, self)
                usd = sum((token.balance_usd for token in there if token.balance_usd), Decimal(0))
                found.append(Holding(at, chain_id, group.intent_address, sums, usd))
        return tuple(sorted(found, key=lambda held: held.usd, reverse=True))

    @property
    def held_at(self) -> Place:
        """Return where the balance is, or most of it."""
        return self.holdings[0].at if self.has_balance and self.holdings else Place.UNKNOWN

    @property
    def holds_the_delivery(self) -> bool:
        """Return whether an address on the destination side holds about the amount to deliver.

        At least half of it isn't a remainder. If the amount is unknown, any part counts.
        """
        awaited = self.received if self.received.value is not None else self.expected
        sums = (money for held in self.holdings for money in held.sums if token_amounts.is_same_token(awaited, money))
        return any(money.value is not None and 2 * money.value >= (awaited.value or 0) for money in sums)

    # Progress

    @property
    def is_offered(self) -> bool:
        """Return whether the quote is valid and unused; False also if the receipt, which would tell, is unread."""
        return self.status == IntentStatus.QUOTED and not (self.is_unread or self.steps.is_under_way or self.is_expired)

    @cached_property
    def place_by_steps(self) -> Place:
        """Return the place after the last step that succeeded, or must have because a later one began."""
        deposit, origin, destination = self.legs
        if self.is_delivered or destination is StepStatus.DONE:
            return Place.RECIPIENT
        came_over = origin is StepStatus.DONE and (self.is_same_chain or destination is StepStatus.QUEUED)
        if came_over or destination in (StepStatus.MOVING, StepStatus.REJECTED):
            return Place.DELIVERY_ADDRESS
        if origin is StepStatus.DONE or destination is StepStatus.RETRYING:
            return Place.DELIVERY_ADDRESS if self.is_same_chain else Place.PROVIDER
        is_paid = deposit is StepStatus.DONE or origin in UNDER_WAY | {StepStatus.REJECTED}
        return Place.DEPOSIT_ADDRESS if is_paid else Place.OWNER

    @property
    def reached(self) -> Place:
        """Return how far the funds are. Balances can be ahead of the steps."""
        return self.held_at if is_further(self.held_at, self.place_by_steps) else self.place_by_steps

    @property
    def paid(self) -> bool:
        """Return whether there is evidence of a deposit."""
        steps = self.steps
        return steps.deposit is StepStatus.DONE or (steps.is_deposit_made and steps.deposit not in DEAD)

    @property
    def deposit_not_accepted(self) -> bool:
        """Return whether a watched deposit "FAILED": it was late, too small or never sent, but not reverted."""
        return self.steps.deposit is StepStatus.REJECTED and not self.steps.is_deposit_made

    @property
    def refund_reached_the_owner(self) -> bool:
        """Return whether the refund is plausible: to the owner, on one of the transfer's chains."""
        if self.refund is None or self.returning is not StepStatus.DONE:
            return False
        on_a_known_chain = self.refund.chain_id in {self.origin_chain_id, self.destination_chain_id} - {None}
        return on_a_known_chain and token_amounts.is_same_address(self.refund.to_address, self.owner)

    # Time

    @property
    def outcome(self) -> Outcome:
        """Return what became of the transfer, by its status and steps."""
        return outcome_of(
            Evidence(
                status=self.status,
                steps=self.steps,
                has_receipt=not self.is_missing,
                is_same_chain=self.is_same_chain,
                is_refund_plausible=self.refund_reached_the_owner,
                is_expired=self.is_expired,
            )
        )

    @cached_property
    def incident(self) -> IncidentFacts | None:
        """Return the incident that it is a part of: still open with its deposit, or ended undelivered during it."""
        outcome = self.outcome if self.incidents else Outcome.DELIVERED
        if outcome in (Outcome.DELIVERED, Outcome.NO_DEPOSIT) or (outcome is Outcome.OPEN and not self.has_arrived):
            return None
        at = self.now if outcome is Outcome.OPEN else self.last_change
        return next((each for each in self.incidents if each.covers(at)), None)

    @property
    def is_return_overdue(self) -> bool:
        return self.has_come(self.return_overdue_at)

    @property
    def is_stalled(self) -> bool:
        return self.has_come(self.stalled_at)

    @property
    def late_at(self) -> datetime | None:
        """Return when it takes longer than usual on its route. If that isn't known, it is when it takes longer than
        estimated or, in a list, which has no estimates, when it makes no progress. None before it started.
        """
        if self.late_after is not None:
            return times.after(self.started_at or self.quoted_at, self.late_after)
        return self.stalled_at if self.is_listed else times.after(self.due_at, self.grace)

    @property
    def is_late(self) -> bool:
        is_ended = self.is_delivered or self.returning is StepStatus.DONE
        is_under_way = self.is_open and self.has_arrived and not is_ended
        return is_under_way and self.has_come(self.late_at)

    @property
    def may_change(self) -> bool:
        """Return whether the transfer can still change, so that its page stays live."""
        if self.status in STOPPED:
            return self.last_change is None or not self.has_come(self.settled_at)
        return self.is_open and (self.steps.has_any_step or not self.is_expired)


def derived[T](make: Callable[[Transfer], T]) -> Callable[[Transfer], T]:
    """Compute something once per transfer, however many surfaces need it."""

    @wraps(make)
    def of(transfer: Transfer) -> T:
        known = transfer.derived
        try:
            made: T = known[make]
        except KeyError:
            made = known[make] = make(transfer)
        return made

    return of


class derived_property[T]:
    """A property of a view of a transfer, such as its summary, computed once per transfer.

    The transfer keeps the value, not the view: objects that refer to each other wait for a garbage collection.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make

    def __get__(self, view: Any, _: type) -> T:
        known = view.transfer.derived
        try:
            made: T = known[self]
        except KeyError:
            made = known[self] = self._make(view)
        return made


def execute_until(intent: models.Intent, *, now: datetime) -> datetime | None:
    """Return the deadline of a committed intent, or of one that is committed now."""
    committed_at = intent.updated_at if intent.status == IntentStatus.COMMITTED else None
    return execute_by(IntentStatus.COMMITTED, expires_at=intent.expires_at, updated_at=committed_at or now)


def _at(address: str | None, chain_id: int | None, transfer: Transfer) -> Place:
    """Return the place. On a single chain the address decides, if the transfer has a delivery step."""
    side = transfer.side_of(chain_id)
    has_two, is_at = transfer.is_same_chain and transfer.destination is not None, token_amounts.is_same_address
    is_second = has_two and is_at(address, transfer.delivery_address) and not is_at(address, transfer.deposit_address)
    return Place.DELIVERY_ADDRESS if is_second else side


def changed[T: (Money, Transfer)](known: T, **fields: Any) -> T:
    """Return the object with these fields. The same object if it has them, so that what is made of it is made once."""
    is_same = all(getattr(known, name) == value for name, value in fields.items())
    return known if is_same else replace(known, **fields)


def first[T](*values: T | None) -> T | None:
    for value in values:
        if value is not None:
            return value
    return None
