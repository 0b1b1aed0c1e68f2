"""Facts of an intent and its receipt. Either may be missing, and the receipt wins where they differ."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Self

from intents_ui.display.formatting.text import UNKNOWN
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import statuses
from intents_ui.service.models import (
    UNEXECUTED,
    DepositTransaction,
    Intent,
    IntentProviderQuote,
    IntentReceipt,
    IntentReceiptSummary,
    IntentStatus,
    IntentTransaction,
    QuoteIntentRequest,
    TokenMetadata,
)
from intents_ui.service.outcome import DEAD, StepStates, StepStatus, execute_by, leg, past

NO_SUMMARY = IntentReceiptSummary()
NO_REQUEST = QuoteIntentRequest()
NO_QUOTE = IntentProviderQuote()
NOTHING_ASKED = DepositTransaction()
EXECUTED = frozenset(IntentStatus) - UNEXECUTED - {IntentStatus.INVALID}


def _given[T](of: type[T], field: str, *sources: str) -> "cached_property[T | None]":
    """Return a property: the field of the first of these objects that has it. The others needn't parse theirs."""

    readers = [attrgetter(f"{source}.{field}") for source in sources]

    def value(facts: "Facts") -> T | None:
        for read in readers:
            found: T | None = read(facts)
            if found is not None:
                return found
        return None

    return cached_property(value)


@dataclass(frozen=True)
class Facts:
    """Intent and receipt combined. Missing objects are empty ones, so that every field can be read directly.

    `is_missing`: the service has no receipt. `is_unread`: it couldn't be loaded, so there may be one. What happened
    has no time after `read_at`, None if that is unknown.
    """

    intent: Intent
    receipt: IntentReceipt
    summary: IntentReceiptSummary
    request: QuoteIntentRequest
    quote: IntentProviderQuote
    asked: DepositTransaction
    is_missing: bool
    is_unread: bool
    read_at: datetime | None = None

    @classmethod
    def of(
        cls,
        intent: Intent | None,
        receipt: IntentReceipt | None,
        *,
        unread: bool = False,
        now: datetime | None = None,
    ) -> Self:
        intent = intent or Intent(intent_id=receipt.intent_id if receipt else UNKNOWN)
        is_unread = unread and receipt is None
        is_missing = receipt is None and not unread
        receipt = receipt or IntentReceipt(intent_id=intent.intent_id)
        return cls(
            intent,
            receipt,
            receipt.summary or NO_SUMMARY,
            intent.quote_request or NO_REQUEST,
            intent.quote or NO_QUOTE,
            intent.deposit_transaction or NOTHING_ASKED,
            is_missing,
            is_unread,
            now,
        )

    status = _given(str, "status", "receipt", "intent", "summary")

    owner = _given(str, "owner_address", "receipt", "intent", "summary", "request")

    # The recipient. None also means the owner: most quotes name a recipient only if it differs.
    recipient = _given(str, "destination_to_address", "summary", "request")

    @property
    def pays_somebody_else(self) -> bool:
        return bool(self.recipient and self.owner and self.recipient.lower() != self.owner.lower())

    origin_chain_id = _given(int, "origin_chain_id", "receipt", "intent", "summary", "request")

    destination_chain_id = _given(int, "destination_chain_id", "receipt", "intent", "summary", "request")

    @cached_property
    def is_same_chain(self) -> bool:
        return self.origin_chain_id is not None and self.origin_chain_id == self.destination_chain_id

    @property
    def deposit_address(self) -> str | None:
        return first(self.intent.origin_intent_address, self.summary.origin_intent_address, self.asked.to_address)

    @property
    def delivery_address(self) -> str | None:
        return first(self.intent.destination_intent_address, self.summary.destination_intent_address)

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

    @property
    def deposit(self) -> IntentTransaction | None:
        return self.receipt.deposit_transaction

    @property
    def origin(self) -> IntentTransaction | None:
        return self.receipt.origin_transaction

    @property
    def destination(self) -> IntentTransaction | None:
        return self.receipt.destination_transaction

    @property
    def refund(self) -> IntentTransaction | None:
        return self.receipt.refund_transaction

    @cached_property
    def steps(self) -> StepStates:
        return StepStates.of(self.receipt)

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

    @cached_property
    def is_under_way(self) -> bool:
        return self.steps.is_under_way

    @property
    def lacks_its_receipt(self) -> bool:
        """Return whether there is no receipt although execution, which creates one, began."""
        return self.is_missing and self.status in EXECUTED

    def is_expired(self, *, now: datetime) -> bool:
        """Return whether the quote expired. One that was, or may have been, executed doesn't expire."""
        if self.is_unread or self.is_under_way:
            return False
        end = self.execute_by
        return end is not None and now >= end

    def is_over(self, *, now: datetime) -> bool:
        """Return whether no further step toward the recipient is expected."""
        over = not statuses.is_open(self.status) or self.is_expired(now=now)
        return over or self.returning is not StepStatus.ABSENT

    def shown_status(self, *, now: datetime) -> statuses.StatusLabel:
        return statuses.EXPIRED if self.is_expired(now=now) else statuses.intent(self.status, now=now)

    @cached_property
    def quoted_at(self) -> datetime | None:
        return first(self._past(self.intent.created_at), self._past(self.summary.created_at))

    @cached_property
    def started_at(self) -> datetime | None:
        """Return when execution began, which is when the receipt is created."""
        created_at = self.receipt.created_at if self.has_moved else None
        return first(self._past(self.summary.started_at), self._past(created_at))

    @property
    def finished_at(self) -> datetime | None:
        return self._past(self.summary.finished_at)

    expires_at = _given(datetime, "expires_at", "intent", "summary")

    @cached_property
    def execute_by(self) -> datetime | None:
        """Return when the quote expires. None if it isn't usable."""
        return execute_by(self.status, expires_at=self.expires_at, updated_at=self.updated_at)

    @cached_property
    def updated_at(self) -> datetime | None:
        """Return the intent's own last change. It replaces the commit time, which isn't reported."""
        return first(self._past(self.intent.updated_at), self._past(self.receipt.updated_at))

    @cached_property
    def last_change(self) -> datetime | None:
        sent = filter(None, (self.deposit, self.origin, self.destination, self.refund))
        changes = [first(self._past(each.updated_at), self.mined_at(each)) for each in sent]
        known = filter(None, (self._past(self.receipt.updated_at), *changes))
        return max(known, default=first(self.started_at, self._past(self.intent.updated_at)))

    def mined_at(self, transaction: IntentTransaction) -> datetime | None:
        return self._past(transaction.txn_mined_at)

    def ended_at(self, transaction: IntentTransaction) -> datetime | None:
        """Return when a transaction that is over was mined, or else changed."""
        return self.mined_at(transaction) or self._past(transaction.updated_at)

    def _past(self, at: datetime | None) -> datetime | None:
        return past(at, now=self.read_at) if self.read_at else at

    @property
    def has_moved(self) -> bool:
        return self.steps.has_moved

    @cached_property
    def is_delivered(self) -> bool:
        """Return whether the last step succeeded, or the status says so and no step contradicts it."""
        _, origin, destination = self.legs
        returned = self.returning is not StepStatus.ABSENT and self.status != IntentStatus.SUCCEEDED
        if returned or self.status == IntentStatus.REFUNDED:
            return False
        # A confirmed step can include a refund, so the final status decides.
        exchanged = self.is_same_chain and self.destination is None and origin is StepStatus.DONE
        if destination is StepStatus.DONE or (exchanged and statuses.is_open(self.status)):
            return True
        return self.status == IntentStatus.SUCCEEDED and not self.steps.has_dead_step

    @property
    def step_reasons(self) -> Iterator[str]:
        """Yield why steps failed, the first one first. Later steps mostly repeat it."""
        for step in (self.deposit, self.origin, self.destination):
            if step and step.status_reason and leg(step) in DEAD:
                yield step.status_reason

    @property
    def failure_reason(self) -> str | None:
        """Return the reason of the failed refund, else of the first failed step."""
        if self.refund and self.refund.status_reason and self.returning in DEAD:
            return self.refund.status_reason
        return next(self.step_reasons, None)

    @cached_property
    def requested(self) -> Money:
        """Return the requested or quoted deposit, whatever arrived."""
        # In a request, 0 is the amount that the quote determines.
        asked = self.request.origin_token_amount or None
        value = first(self.summary.origin_token_amount, self.quote.from_amount, asked)
        token = first(self.summary.origin_token_address, self.request.origin_token_address, self.asked.token_address)
        money = Money(first(value, self.asked.amount), self.origin_chain_id, token, self.summary.origin_token_metadata)
        is_other = token_amounts.is_another_token(Money(None, self.asked.chain_id, self.asked.token_address), money)
        return money if is_other else replace(money, decimals=self.asked.decimals)

    @cached_property
    def expected_deposit(self) -> Money:
        """Return the deposit as the intent asks for it, with which a deposit is compared."""
        asked, requested = self.asked, self.requested
        # A request names the amount that it fixes. The other one is 0.
        fixed = self.request.origin_token_amount or None
        value = first(asked.amount, self.quote.from_amount, self.summary.origin_token_amount, fixed)
        wanted = Money(value, first(asked.chain_id, self.origin_chain_id), asked.token_address)
        if token_amounts.is_another_token(wanted, requested):
            return replace(self.described(wanted), decimals=asked.decimals)
        return replace(requested, value=value, chain_id=wanted.chain_id)

    @cached_property
    def reported_deposit(self) -> Money:
        """Return the deposit's own token and amount, which are reliable only once it is confirmed."""
        expected = self.expected_deposit
        if self.deposit is None:
            return replace(expected, value=None)
        deposit = self.deposit
        reported = self.described(Money(deposit.token_amount, deposit.chain_id, deposit.token_address))
        if token_amounts.is_another_token(reported, expected):
            return reported
        return replace(
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

    @property
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
            return Money(None, None, None)
        return self.described(Money(refund.token_amount, refund.chain_id, refund.token_address))

    def described(self, money: Money) -> Money:
        """Add the receipt's description of the token, if it has one."""
        known = (self.summary.origin_token_metadata, self.summary.destination_token_metadata)
        found = next((token for token in known if token and _is_of(token, money)), None)
        return replace(money, metadata=found) if found else money

    def _destination_money(self, value: int | None) -> Money:
        token = first(self.summary.destination_token_address, self.request.destination_token_address)
        return Money(value, self.destination_chain_id, token, self.summary.destination_token_metadata)


def _is_of(token: TokenMetadata, money: Money) -> bool:
    if not token.token_address or not money.token_address or token.chain_id != money.chain_id:
        return False
    return token.token_address.lower() == money.token_address.lower()


def first[T](*values: T | None) -> T | None:
    for value in values:
        if value is not None:
            return value
    return None
