"""The service's objects and responses (docs/contract.md#objects). Nested objects come before those that contain them.

Amounts are `int` in base units, USD amounts and shares `Decimal`, times aware `datetime`s in UTC. Only the ID that
names an object is required. Invalid values are None, with their text in `unreadable`.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import ValidationInfo, field_validator, model_validator

from intents_ui.service.errors import Reason, Unreadable
from intents_ui.service.fields import (
    ChainId,
    Cursor,
    Decimals,
    Figure,
    FigureInList,
    Flag,
    Identifier,
    IntentId,
    ListOf,
    Model,
    RequiredIdentifier,
    RequiredUInt256,
    Text,
    TextInList,
    Timestamp,
    UInt256,
    status_type,
)

EARLIEST = datetime.min.replace(tzinfo=UTC)  # of what has no time, in sorting

log = logging.getLogger("intents_ui.service")


class IntentStatus(StrEnum):
    """Known statuses of an intent. Fields hold plain text, because the service may send others."""

    QUOTED = "QUOTED"
    COMMITTED = "COMMITTED"
    EXECUTING = "EXECUTING"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"
    ABORTED = "ABORTED"
    REFUNDED = "REFUNDED"
    INVALID = "INVALID"


UNEXECUTED = frozenset({IntentStatus.QUOTED, IntentStatus.COMMITTED})
ENDED = frozenset({IntentStatus.SUCCEEDED, IntentStatus.REFUNDED})
# Final, but a refund or a retry may follow.
STOPPED = frozenset({IntentStatus.FAILED, IntentStatus.ABORTED, IntentStatus.INVALID})
FINAL = ENDED | STOPPED


class TransactionStatus(StrEnum):
    """Known statuses of a transaction. Fields hold plain text, because the service may send others."""

    UNKNOWN = "UNKNOWN"
    ON_HOLD = "ON_HOLD"
    PENDING = "PENDING"
    RELAYING = "RELAYING"
    RELAYED = "RELAYED"
    SENT = "SENT"
    ERRORED = "ERRORED"
    MINING = "MINING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    ABORTED = "ABORTED"
    REVERTED = "REVERTED"


IntentWord = Annotated[str | None, status_type("an intent", IntentStatus)]
TransactionWord = Annotated[str | None, status_type("a transaction", TransactionStatus)]


class Call(Model):
    """One call of an intent's execution plan."""

    to: Identifier = None
    value: UInt256 = None
    data: Text = None
    gas_limit: UInt256 = None
    delegate_call: Flag = None
    only_fallback: Flag = None
    behavior_on_error: UInt256 = None


class IntentCalls(Model):
    chain_id: UInt256 = None
    calls: ListOf[Call] = ()
    space: UInt256 = None
    nonce: UInt256 = None


class TransactionPrecondition(Model):
    """Condition that must hold before the calls execute, such as a minimum balance."""

    type: Text = None
    chain_id: UInt256 = None
    owner_address: Identifier = None
    token_address: Identifier = None
    min_amount: UInt256 = None


class MetaTxn(Model):
    """Meta-transaction that the relayer sends for the intent."""

    id: Identifier = None
    chain_id: UInt256 = None
    wallet_address: Identifier = None
    contract: Identifier = None
    input: Text = None
    bridge_gas: UInt256 = None


type _ChainPart = IntentCalls | TransactionPrecondition | MetaTxn


class ServiceAddressOverrides(Model):
    """Contract addresses to use instead of the service's own."""

    smart_wallet_factory_address: Identifier = None
    smart_wallet_main_module_address: Identifier = None
    smart_wallet_main_module_upgradable_address: Identifier = None
    smart_wallet_guest_module_address: Identifier = None
    smart_wallet_utils_address: Identifier = None


class QuoteOptions(Model):
    """Options of a quote request. `slippage_tolerance` is a fraction: 0.005 is 0.5%."""

    intent_protocol: Text = None
    swap_provider: Text = None
    bridge_provider: Text = None
    swap_provider_fallback: Flag = None
    bridge_provider_fallback: Flag = None
    preference: Text = None
    slippage_tolerance: Figure = None
    service_address_overrides: ServiceAddressOverrides | None = None


class QuoteIntentRequest(Model):
    owner_address: Identifier = None
    origin_chain_id: UInt256 = None
    origin_token_address: Identifier = None
    destination_chain_id: UInt256 = None
    destination_token_address: Identifier = None
    destination_to_address: Identifier = None
    destination_approve_address: Identifier = None
    destination_call_data: Text = None
    destination_call_value: UInt256 = None
    origin_token_amount: UInt256 = None
    destination_token_amount: UInt256 = None
    trade_type: Text = None
    fund_method: Text = None
    only_native_gas_fee: Flag = None
    options: QuoteOptions | None = None


class DepositTransaction(Model):
    """Deposit that the wallet has to send. Not a transaction on a chain yet."""

    to_address: Identifier = None
    token_address: Identifier = None
    amount: UInt256 = None
    chain_id: UInt256 = None
    to: Identifier = None
    data: Text = None
    value: UInt256 = None
    decimals: Decimals = None


class PriceImpact(Model):
    """`price_impact` is a percentage, `price_impact_usd` an amount in USD."""

    price_impact: Figure = None
    price_impact_usd: Figure = None


class PriceImpactDetails(Model):
    execution_price_impact: PriceImpact | None = None
    market_price_impact: PriceImpact | None = None
    provider_fees_price_impact: PriceImpact | None = None
    service_fees_price_impact: PriceImpact | None = None
    net_price_impact: PriceImpact | None = None


class IntentProviderQuote(Model):
    """Quote of the route's providers. The three lists are parallel.

    `max_slippage` is a fraction, `price_impact` a percentage, `estimated_duration` is in seconds.
    """

    route_providers: ListOf[TextInList] = ()
    route_providers_request_ids: ListOf[TextInList] = ()
    route_providers_fee_usd: ListOf[FigureInList] = ()
    from_amount: UInt256 = None
    from_amount_min: UInt256 = None
    from_amount_usd: Figure = None
    from_amount_min_usd: Figure = None
    to_amount: UInt256 = None
    to_amount_min: UInt256 = None
    to_amount_usd: Figure = None
    to_amount_min_usd: Figure = None
    max_slippage: Figure = None
    price_impact: Figure = None
    price_impact_usd: Figure = None
    price_impact_details: PriceImpactDetails | None = None
    estimated_duration: Figure = None


class MetaTxnFeeDetails(Model):
    meta_txn_id: Identifier = None
    estimated_gas_limit: UInt256 = None
    fee_native: UInt256 = None


class GasFee(Model):
    """Network fee on one chain. `total_fee_amount` is in base units of the chain's native token."""

    chain_id: UInt256 = None
    total_gas_limit: UInt256 = None
    gas_price: UInt256 = None
    native_token_symbol: Text = None
    chain_gas_usage_status: Text = None
    total_fee_amount: UInt256 = None
    total_fee_usd: Figure = None
    meta_txn_fee_details: MetaTxnFeeDetails | None = None
    meta_txn_gas_quote: Text = None
    native_token_price_usd: Figure = None


class ProviderFee(Model):
    """Fee of the route's provider, without and with the service's own fee."""

    quote_provider: Text = None
    quote_provider_fee: UInt256 = None
    quote_provider_fee_usd: Figure = None
    service_fee: UInt256 = None
    service_fee_usd: Figure = None
    quote_provider_with_service_fee: UInt256 = None
    provider_with_service_fee_usd: Figure = None
    total_fee_amount: UInt256 = None
    total_fee_usd: Figure = None


class IntentFees(Model):
    """All fees of an intent. Totals and amounts are in base units of the fee token."""

    origin_gas: GasFee | None = None
    destination_gas: GasFee | None = None
    provider: ProviderFee | None = None
    fee_token_address: Identifier = None
    fee_token_amount: UInt256 = None
    fee_token_usd: Figure = None
    fee_token_total: UInt256 = None
    gas_fee_total: UInt256 = None
    gas_fee_usd: Figure = None
    service_fee_total: UInt256 = None
    service_fee_usd: Figure = None
    collector_fee_total: UInt256 = None
    collector_fee_usd: Figure = None
    provider_fee_total: UInt256 = None
    provider_fee_usd: Figure = None
    total_fee_amount: UInt256 = None
    total_fee_usd: Figure = None


class ServiceContracts(Model):
    service_intent_entrypoint_address: Identifier = None
    service_router_address: Identifier = None
    service_router_shim_address: Identifier = None


class Intent(Model):
    """A transfer with its quote.

    Fields that came only under their other names (`calls`, `preconditions`, …) are set, too.
    """

    id: UInt256 = None
    project_id: UInt256 = None
    intent_id: IntentId
    status: IntentWord = None
    quote_request: QuoteIntentRequest | None = None
    owner_address: Identifier = None
    origin_chain_id: UInt256 = None
    destination_chain_id: UInt256 = None
    origin_intent_address: Identifier = None
    destination_intent_address: Identifier = None
    salt: UInt256 = None
    deposit_transaction: DepositTransaction | None = None
    origin_calls: IntentCalls | None = None
    origin_precondition: TransactionPrecondition | None = None
    origin_meta_txn: MetaTxn | None = None
    quote: IntentProviderQuote | None = None
    fees: IntentFees | None = None
    service_version: Text = None
    service_contracts: ServiceContracts | None = None
    expires_at: Timestamp = None
    passthrough: Flag = None
    destination_calls: IntentCalls | None = None
    destination_precondition: TransactionPrecondition | None = None
    destination_meta_txn: MetaTxn | None = None
    intent_protocol: Text = None
    updated_at: Timestamp = None
    created_at: Timestamp = None

    destination_salt: UInt256 = None
    calls: ListOf[IntentCalls] = ()
    preconditions: ListOf[TransactionPrecondition] = ()
    meta_txns: ListOf[MetaTxn] = ()

    @model_validator(mode="after")
    def _use_second_names(self) -> Self:
        listed: dict[str, Sequence[_ChainPart]] = {
            "calls": self.calls,
            "precondition": self.preconditions,
            "meta_txn": self.meta_txns,
        }
        if self.destination_salt is None and not any(listed.values()):
            return self
        found: dict[str, Any] = {"salt": self.destination_salt}
        for name, entries in listed.items():
            origin = _of_chain(self.origin_chain_id, entries)
            others = tuple(entry for entry in entries if entry is not origin)
            found |= {f"origin_{name}": origin, f"destination_{name}": _of_chain(self.destination_chain_id, others)}
        self.__dict__.update({name: value for name, value in found.items() if getattr(self, name) is None})
        return self


def _of_chain(chain_id: int | None, entries: Sequence[_ChainPart]) -> _ChainPart | None:
    """Return the chain's entry, or the first one if no entry names its chain."""
    named = [entry for entry in entries if entry.chain_id is not None]
    return next((entry for entry in named or entries if entry.chain_id in (None, chain_id)), None)


class DepositIntentEntry(Model):
    """Gasless deposit. `deadline` and `permit_deadline` are Unix seconds, and may be 2**256 - 1 for "never"."""

    intent_signature: Text = None
    fee_amount: UInt256 = None
    fee_token: Identifier = None
    fee_collector: Identifier = None
    user_nonce: UInt256 = None
    deadline: UInt256 = None
    permit_signature: Text = None
    permit_deadline: UInt256 = None
    permit_amount: UInt256 = None


def is_placeholder(txn_hash: str | None) -> bool:
    """Return whether it identifies no transaction: empty, all zeros, all f's, or ending in ten or more zeros."""
    if not txn_hash:
        return True
    digits = txn_hash.lower().removeprefix("0x")
    return digits.endswith("0" * 10) or not digits.strip("f")


class IntentTransaction(Model):
    """One transaction of a transfer: deposit, origin, destination or refund."""

    id: UInt256 = None
    intent_id: IntentId | None = None
    status: TransactionWord = None
    chain_id: UInt256 = None
    type: Text = None
    context: Text = None
    from_address: Identifier = None
    to_address: Identifier = None
    token_address: Identifier = None
    token_amount: UInt256 = None
    status_reason: Text = None
    bridge_gas: UInt256 = None
    calldata: Text = None
    meta_txn_id: Identifier = None
    meta_txn_fee_quote: Text = None
    precondition: TransactionPrecondition | None = None
    deposit_intent_entry: DepositIntentEntry | None = None
    txn_hash: Identifier = None
    txn_mined_at: Timestamp = None
    updated_at: Timestamp = None
    created_at: Timestamp = None


class TokenMetadata(Model):
    chain_id: UInt256 = None
    token_address: Identifier = None
    name: Text = None
    symbol: Text = None
    decimals: Decimals = None
    logo_uri: Text = None


class IntentReceiptSummary(Model):
    intent_id: IntentId | None = None
    status: IntentWord = None
    owner_address: Identifier = None
    origin_chain_id: UInt256 = None
    destination_chain_id: UInt256 = None
    trade_type: Text = None
    route_providers: ListOf[TextInList] = ()
    origin_intent_address: Identifier = None
    origin_token_address: Identifier = None
    origin_token_amount: UInt256 = None
    origin_token_metadata: TokenMetadata | None = None
    destination_intent_address: Identifier = None
    destination_token_metadata: TokenMetadata | None = None
    destination_has_call_data: Flag = None
    destination_has_call_value: Flag = None
    created_at: Timestamp = None
    expires_at: Timestamp = None
    destination_token_address: Identifier = None
    destination_token_amount: UInt256 = None
    destination_to_address: Identifier = None
    memo: Text = None
    started_at: Timestamp = None
    finished_at: Timestamp = None


STEPS = ("deposit", "origin", "destination", "refund")


class IntentReceipt(Model):
    """Execution state of an intent, with its transactions."""

    id: UInt256 = None
    project_id: UInt256 = None
    intent_id: IntentId
    status: IntentWord = None
    owner_address: Identifier = None
    origin_chain_id: UInt256 = None
    destination_chain_id: UInt256 = None
    deposit_transaction_id: UInt256 = None
    deposit_transaction: IntentTransaction | None = None
    origin_transaction_id: UInt256 = None
    origin_transaction: IntentTransaction | None = None
    destination_transaction_id: UInt256 = None
    destination_transaction: IntentTransaction | None = None
    refund_transaction_id: UInt256 = None
    refund_transaction: IntentTransaction | None = None
    summary: IntentReceiptSummary | None = None
    updated_at: Timestamp = None
    created_at: Timestamp = None

    @property
    def transactions(self) -> dict[str, IntentTransaction]:
        """The transactions that it has, by step (`STEPS`)."""
        return {step: found for step in STEPS if (found := getattr(self, f"{step}_transaction"))}

    def step_of(self, txn_hash: str) -> str | None:
        """Return the step (`STEPS`) whose transaction has this hash."""
        wanted = txn_hash.lower().removeprefix("0x")
        sent = {step: (each.txn_hash or "").lower().removeprefix("0x") for step, each in self.transactions.items()}
        return next((step for step, known in sent.items() if known and known == wanted), None)

    def chain_of(self, txn_hash: str) -> int | None:
        """Return the chain of the transaction with this hash."""
        step = self.step_of(txn_hash)
        return self.transactions[step].chain_id if step else None

    @property
    def intent_ids(self) -> list[str]:
        """The intent IDs in it, in its summary and in its transactions, which should be the same."""
        return [part.intent_id for part in (self, self.summary, *self.transactions.values()) if part and part.intent_id]


class TokenBalance(Model):
    """Balance of a token. `balance` is in base units, `balance_usd` and `price_usd` in USD."""

    contract_address: Identifier = None
    balance: UInt256 = None
    balance_usd: Figure = None
    price_usd: Figure = None
    decimals: Decimals = None
    chain_id: UInt256 = None
    symbol: Text = None


class BalanceGroup(Model):
    intent_address: Identifier = None
    chain_id: UInt256 = None
    tokens: ListOf[TokenBalance] = ()


class IntentHistory(Model):
    """Entry of the intent history. `has_balance` is None if balances weren't requested."""

    intent_id: IntentId
    status: IntentWord = None
    expires_at: Timestamp = None
    updated_at: Timestamp = None
    created_at: Timestamp = None
    receipt: IntentReceipt | None = None
    has_balance: Flag = None
    balances: ListOf[BalanceGroup] = ()

    @field_validator("receipt")
    @classmethod
    def _refuse_another(cls, receipt: IntentReceipt | None, info: ValidationInfo) -> IntentReceipt | None:
        if receipt:
            own = info.data.get("intent_id", receipt.intent_id)
            if {each.lower() for each in receipt.intent_ids} != {own.lower()}:
                raise ValueError("of another intent")
        return receipt


NATIVE_TOKEN, NATIVE_TOKEN_ALIAS = "0x" + "0" * 40, "0x" + "e" * 40


def plain(address: str) -> str:
    """Return the normalized form of a token's address, for lookups."""
    lowered = address.lower()
    return NATIVE_TOKEN if lowered == NATIVE_TOKEN_ALIAS else lowered


class TokenInfo(Model):
    chain_id: RequiredUInt256
    address: RequiredIdentifier
    name: Text = None
    symbol: Text = None
    decimals: Decimals = None
    featured: Flag = None
    feature_index: UInt256 = None
    supports_bridging: Flag = None
    logo_uri: Text = None


class NativeCurrency(Model):
    name: Text = None
    symbol: Text = None
    decimals: Decimals = None


class BlockExplorer(Model):
    name: Text = None
    url: Text = None


class ChainInfo(Model):
    """A chain. The native token and the explorer come in two forms, so read them through the properties."""

    id: ChainId
    name: Text = None
    native_currency: NativeCurrency | None = None
    logo_uri: Text = None
    block_explorer: BlockExplorer | None = None

    token_name: Text = None
    token_symbol: Text = None
    token_decimals: Decimals = None
    is_testnet: Flag = None
    supports_bridging: Flag = None
    block_explorer_url: Text = None

    @property
    def native_name(self) -> str | None:
        return (self.native_currency and self.native_currency.name) or self.token_name

    @property
    def native_symbol(self) -> str | None:
        return (self.native_currency and self.native_currency.symbol) or self.token_symbol

    @property
    def native_decimals(self) -> int | None:
        nested = self.native_currency.decimals if self.native_currency else None
        return self.token_decimals if nested is None else nested

    @property
    def explorer_name(self) -> str | None:
        return self.block_explorer.name if self.block_explorer else None

    @property
    def explorer_url(self) -> str | None:
        """As received. Check that it is HTTP or HTTPS before linking to it."""
        return (self.block_explorer and self.block_explorer.url) or self.block_explorer_url


class SortBy(Model):
    column: Text = None
    order: Text = None


class Page(Model):
    """Page of a list, used as its cursor. One from the service is opaque: its `raw` text is sent back unchanged."""

    column: Text = None
    before: Cursor = None
    after: Cursor = None
    sort: ListOf[SortBy] = ()
    page_size: UInt256 = None
    more: Flag = None

    @classmethod
    def first(cls, *, size: int = 20, order: str = "DESC") -> Self:
        """Return the request for the first page, newest first by default.

        Intents are numbered as they are created. Unlike a creation time, no two have the same ID, of which one could be
        lost between two pages.
        """
        return cls(page_size=size, sort=(SortBy(column="id", order=order),))

    @property
    def raw(self) -> str:
        """The JSON text as received or, of one of ours, as written."""
        return super().raw or json.dumps(self.model_dump(exclude_defaults=True), separators=(",", ":"))

    @property
    def cursor(self) -> tuple[str | None, int | None, int | None]:
        """What distinguishes this page from the list's other pages."""
        return self.column, self.before, self.after


class PricedToken(Model):
    chain_id: UInt256 = None
    token_address: Identifier = None
    token_symbol: Text = None


class TokenPrice(Model):
    """Price of a token. `price_usd` None means that the price is unknown, not zero."""

    token: PricedToken
    price_usd: Figure = None
    updated_at: Timestamp = None


class IntentAnswer(Model):
    intent: Intent


class ReceiptAnswer(Model):
    intent_receipt: IntentReceipt


class WaitAnswer(ReceiptAnswer):
    """Response of WaitIntentReceipt.

    `done` means "stop polling", not success. Send `receipt_states` back as `last_receipt_states`.
    """

    receipt_states: ListOf[TextInList] = ()
    done: Flag = None


class _Listed[T: Intent | IntentHistory](Model):
    """Response that lists the intents matching a filter."""

    essential = frozenset({"intents"})

    intents: ListOf[T] = ()

    def fitting(self, fits: Callable[[T], bool]) -> Self:
        """Return the response without the entries for which `fits` is false.

        They count as entries that couldn't be parsed. Raises Unreadable if no entry fits, because an empty list would
        say that there are no matches.
        """
        matching = tuple(filter(fits, self.intents))
        unfit = len(self.intents) - len(matching)
        if not unfit:
            return self
        if not matching:
            raise Unreadable(reason=Reason.OTHER_FILTER)
        log.warning("%d of %d listed intents do not match the filter and were dropped", unfit, len(self.intents))
        return self.model_copy(update={"intents": matching, "notes": {**self.notes, "unfit": unfit}})


class SearchAnswer(_Listed[Intent]):
    """Response of SearchIntents, unordered."""

    @property
    def beyond(self) -> int:
        """Number of older matches that were not read."""
        return int(self.notes.get("beyond", 0))


class End(StrEnum):
    """Why a list ends with a page."""

    COMPLETE = "complete"
    CIRCLES = "circles"  # the service reports more, but its cursor didn't advance
    LOST = "lost"  # the service reports more, but its cursor isn't a number, so it can't belong to this list
    EMPTY_PAGE = "empty page"  # although the service reports more


class HistoryAnswer(_Listed[IntentHistory]):
    """Response of GetIntentHistory: one page of a paginated list."""

    next_page: Page | None = None

    @property
    def following(self) -> Page | None:
        """The next page to request, with its cursor unchanged, or None at the end of the list."""
        return None if self.end else self.next_page

    @property
    def end(self) -> End | None:
        """Why no page follows, or None if one does."""
        page, requested = self.next_page, self.notes.get("requested")
        if page is None or page.more is False:
            return End.COMPLETE
        if not (self.intents or self.unreadable_entries):
            return End.EMPTY_PAGE if page.more else End.COMPLETE
        if not {"before", "after"}.isdisjoint(page.unreadable):
            return End.LOST
        return End.CIRCLES if requested is not None and page.cursor == requested.cursor else None


class CommitAnswer(Model):
    intent_id: IntentId


def _first_by[K, V](key: Callable[[V], K], entries: Iterable[V]) -> dict[K, V]:
    """Return the entries by key, in their order. Of duplicates, the first one."""
    found: dict[K, V] = {}
    for entry in entries:
        found.setdefault(key(entry), entry)
    return found


class TokensAnswer(Model):
    """Response of the operations that list tokens."""

    essential = frozenset({"tokens"})

    tokens: ListOf[TokenInfo] = ()

    @cached_property
    def index(self) -> Mapping[tuple[int, str], TokenInfo]:
        """The tokens by chain and `plain` address."""
        return _first_by(lambda token: (token.chain_id, plain(token.address)), self.tokens)

    @cached_property
    def by_address(self) -> Mapping[str, TokenInfo]:
        """The tokens of a response for one chain, whatever chain they name."""
        return _first_by(lambda token: plain(token.address), self.tokens)


class ChainsAnswer(Model):
    """Response of the operations that list chains."""

    essential = frozenset({"chains"})

    chains: ListOf[ChainInfo] = ()

    @cached_property
    def index(self) -> Mapping[int, ChainInfo]:
        """The chains by ID."""
        return _first_by(lambda chain: chain.id, self.chains)


class PricesAnswer(Model):
    """Response of GetTokenPrices.

    Tokens without a price may be missing, and the order can differ from the request's.
    """

    essential = frozenset({"token_prices"})

    token_prices: ListOf[TokenPrice] = ()
