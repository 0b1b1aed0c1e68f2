"""The service's objects, by the sections of interface.md section 2; parts stand before the whole they are used in.

Past this door names are snake_case, amounts `int` in base units, money and shares `Decimal`, times aware `datetime`s
in UTC. Absent, null and "" are the same: None (a list: empty). Only the id that names a thing is required. What
cannot be read is None as well, and `unreadable` has its text (`tolerance.Wire`).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import PlainValidator, model_validator

from intents_ui.service import unknown_words
from intents_ui.service.scalars import (
    ChainId,
    Cursor,
    Decimals,
    Figure,
    FigureInList,
    Flag,
    IntentId,
    Moment,
    Reference,
    Text,
    TextInList,
    Whole,
    read_text,
)
from intents_ui.service.tolerance import Kept, Wire


class IntentStatus(StrEnum):
    """The known words of interface.md 3.1; a field holds plain text, because the service may send others."""

    QUOTED = "QUOTED"
    COMMITTED = "COMMITTED"
    EXECUTING = "EXECUTING"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"
    ABORTED = "ABORTED"
    REFUNDED = "REFUNDED"
    INVALID = "INVALID"


class TransactionStatus(StrEnum):
    """The known words of interface.md 3.2."""

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


def _word(kind: str, known: type[StrEnum]) -> PlainValidator:
    words = frozenset(known)

    def read(value: object) -> str:
        word = read_text(value)
        if word not in words:
            unknown_words.heard(kind, word)
        return word

    return PlainValidator(read)


# Text, because the service may send other words; those are counted.
IntentWord = Annotated[str, _word("an intent", IntentStatus)]
TransactionWord = Annotated[str, _word("a transaction", TransactionStatus)]


# 2.4-2.6, used by Intent


class Call(Wire):
    """2.4: one call of an intent's plan."""

    to: Reference | None = None
    value: Whole | None = None
    data: Text | None = None
    gas_limit: Whole | None = None
    delegate_call: Flag | None = None
    only_fallback: Flag | None = None
    behavior_on_error: Whole | None = None


class IntentCalls(Wire):
    """2.4"""

    chain_id: Whole | None = None
    calls: tuple[Call, ...] = ()
    space: Whole | None = None
    nonce: Whole | None = None


class TransactionPrecondition(Wire):
    """2.5"""

    type: Text | None = None
    chain_id: Whole | None = None
    owner_address: Reference | None = None
    token_address: Reference | None = None
    min_amount: Whole | None = None


class MetaTxn(Wire):
    """2.6"""

    id: Reference | None = None
    chain_id: Whole | None = None
    wallet_address: Reference | None = None
    contract: Reference | None = None
    input: Text | None = None
    bridge_gas: Whole | None = None


# 2.2


class ServiceAddressOverrides(Wire):
    """2.2"""

    smart_wallet_factory_address: Reference | None = None
    smart_wallet_main_module_address: Reference | None = None
    smart_wallet_main_module_upgradable_address: Reference | None = None
    smart_wallet_guest_module_address: Reference | None = None
    smart_wallet_utils_address: Reference | None = None


class QuoteOptions(Wire):
    """2.2; `slippage_tolerance` is a fraction: 0.005 is half a percent."""

    intent_protocol: Text | None = None
    swap_provider: Text | None = None
    bridge_provider: Text | None = None
    swap_provider_fallback: Flag | None = None
    bridge_provider_fallback: Flag | None = None
    preference: Text | None = None
    slippage_tolerance: Figure | None = None
    service_address_overrides: ServiceAddressOverrides | None = None


class QuoteIntentRequest(Wire):
    """2.2"""

    owner_address: Reference | None = None
    origin_chain_id: Whole | None = None
    origin_token_address: Reference | None = None
    destination_chain_id: Whole | None = None
    destination_token_address: Reference | None = None
    destination_to_address: Reference | None = None
    destination_approve_address: Reference | None = None
    destination_call_data: Text | None = None
    destination_call_value: Whole | None = None
    origin_token_amount: Whole | None = None
    destination_token_amount: Whole | None = None
    trade_type: Text | None = None
    fund_method: Text | None = None
    only_native_gas_fee: Flag | None = None
    options: QuoteOptions | None = None


# 2.3


class DepositTransaction(Wire):
    """2.3: what the wallet is asked to send, not a transaction on a chain."""

    to_address: Reference | None = None
    token_address: Reference | None = None
    amount: Whole | None = None
    chain_id: Whole | None = None
    to: Reference | None = None
    data: Text | None = None
    value: Whole | None = None
    decimals: Decimals | None = None


# 2.7


class PriceImpact(Wire):
    """2.7; `price_impact` is a percentage already, `price_impact_usd` is USD."""

    price_impact: Figure | None = None
    price_impact_usd: Figure | None = None


class PriceImpactDetails(Wire):
    """2.7"""

    execution_price_impact: PriceImpact | None = None
    market_price_impact: PriceImpact | None = None
    provider_fees_price_impact: PriceImpact | None = None
    service_fees_price_impact: PriceImpact | None = None
    net_price_impact: PriceImpact | None = None


class IntentProviderQuote(Wire):
    """2.7. The three lists go by place.

    `max_slippage` is a fraction, `price_impact` a percentage, `estimated_duration` is in seconds.
    """

    route_providers: tuple[TextInList, ...] = ()
    route_providers_request_ids: tuple[TextInList, ...] = ()
    route_providers_fee_usd: tuple[FigureInList, ...] = ()
    from_amount: Whole | None = None
    from_amount_min: Whole | None = None
    from_amount_usd: Figure | None = None
    from_amount_min_usd: Figure | None = None
    to_amount: Whole | None = None
    to_amount_min: Whole | None = None
    to_amount_usd: Figure | None = None
    to_amount_min_usd: Figure | None = None
    max_slippage: Figure | None = None
    price_impact: Figure | None = None
    price_impact_usd: Figure | None = None
    price_impact_details: PriceImpactDetails | None = None
    estimated_duration: Figure | None = None


# 2.8


class MetaTxnFeeDetails(Wire):
    """2.8"""

    meta_txn_id: Reference | None = None
    estimated_gas_limit: Whole | None = None
    fee_native: Whole | None = None


class GasFee(Wire):
    """2.8; `total_fee_amount` is in base units of the chain's native token."""

    chain_id: Whole | None = None
    total_gas_limit: Whole | None = None
    gas_price: Whole | None = None
    native_token_symbol: Text | None = None
    chain_gas_usage_status: Text | None = None
    total_fee_amount: Whole | None = None
    total_fee_usd: Figure | None = None
    meta_txn_fee_details: MetaTxnFeeDetails | None = None
    meta_txn_gas_quote: Text | None = None
    native_token_price_usd: Figure | None = None


class ProviderFee(Wire):
    """2.8"""

    quote_provider: Text | None = None
    quote_provider_fee: Whole | None = None
    quote_provider_fee_usd: Figure | None = None
    service_fee: Whole | None = None
    service_fee_usd: Figure | None = None
    quote_provider_with_service_fee: Whole | None = None
    provider_with_service_fee_usd: Figure | None = None
    total_fee_amount: Whole | None = None
    total_fee_usd: Figure | None = None


class IntentFees(Wire):
    """2.8; totals and amounts are in base units of the fee token."""

    origin_gas: GasFee | None = None
    destination_gas: GasFee | None = None
    provider: ProviderFee | None = None
    fee_token_address: Reference | None = None
    fee_token_amount: Whole | None = None
    fee_token_usd: Figure | None = None
    fee_token_total: Whole | None = None
    gas_fee_total: Whole | None = None
    gas_fee_usd: Figure | None = None
    service_fee_total: Whole | None = None
    service_fee_usd: Figure | None = None
    collector_fee_total: Whole | None = None
    collector_fee_usd: Figure | None = None
    provider_fee_total: Whole | None = None
    provider_fee_usd: Figure | None = None
    total_fee_amount: Whole | None = None
    total_fee_usd: Figure | None = None


# 2.9


class ServiceContracts(Wire):
    """2.9"""

    service_intent_entrypoint_address: Reference | None = None
    service_router_address: Reference | None = None
    service_router_shim_address: Reference | None = None


# 2.1


class Intent(Kept):
    """2.1. What came only under the second set of names (`calls`, `preconditions`, …) is under the first as well."""

    id: Whole | None = None
    project_id: Whole | None = None
    intent_id: IntentId
    status: IntentWord | None = None
    quote_request: QuoteIntentRequest | None = None
    owner_address: Reference | None = None
    origin_chain_id: Whole | None = None
    destination_chain_id: Whole | None = None
    origin_intent_address: Reference | None = None
    destination_intent_address: Reference | None = None
    salt: Whole | None = None
    deposit_transaction: DepositTransaction | None = None
    origin_calls: IntentCalls | None = None
    origin_precondition: TransactionPrecondition | None = None
    origin_meta_txn: MetaTxn | None = None
    quote: IntentProviderQuote | None = None
    fees: IntentFees | None = None
    service_version: Text | None = None
    service_contracts: ServiceContracts | None = None
    expires_at: Moment = None
    passthrough: Flag | None = None
    destination_calls: IntentCalls | None = None
    destination_precondition: TransactionPrecondition | None = None
    destination_meta_txn: MetaTxn | None = None
    intent_protocol: Text | None = None
    updated_at: Moment = None
    created_at: Moment = None

    destination_salt: Whole | None = None
    calls: tuple[IntentCalls, ...] = ()
    preconditions: tuple[TransactionPrecondition, ...] = ()
    meta_txns: tuple[MetaTxn, ...] = ()

    def _settle(self) -> None:
        found = {
            "salt": self.salt if self.salt is not None else self.destination_salt,
            "origin_calls": self.origin_calls or self._on_origin(self.calls),
            "origin_precondition": self.origin_precondition or self._on_origin(self.preconditions),
            "origin_meta_txn": self.origin_meta_txn or self._on_origin(self.meta_txns),
            "destination_calls": self.destination_calls or self._on_destination(self.calls),
            "destination_precondition": self.destination_precondition or self._on_destination(self.preconditions),
            "destination_meta_txn": self.destination_meta_txn or self._on_destination(self.meta_txns),
        }
        self.__dict__.update(found)  # still under construction, so not yet frozen

    def _on_origin[T: (IntentCalls, TransactionPrecondition, MetaTxn)](self, listed: tuple[T, ...]) -> T | None:
        """The entry of the origin chain; the first one, if none of them names its chain."""
        named = [entry for entry in listed if entry.chain_id is not None]
        return next((entry for entry in named or listed if entry.chain_id in (None, self.origin_chain_id)), None)

    def _on_destination[T: (IntentCalls, TransactionPrecondition, MetaTxn)](self, listed: tuple[T, ...]) -> T | None:
        """The entry of the destination chain, other than the origin's; the second, if none of them names its chain."""
        rest = [entry for entry in listed if entry is not self._on_origin(listed)]
        named = [entry for entry in rest if entry.chain_id is not None]
        return next((entry for entry in named or rest if entry.chain_id in (None, self.destination_chain_id)), None)


# 2.11


class DepositIntentEntry(Wire):
    """2.11; `deadline` and `permit_deadline` are Unix seconds, and may be 2**256 - 1 for "never"."""

    intent_signature: Text | None = None
    fee_amount: Whole | None = None
    fee_token: Reference | None = None
    fee_collector: Reference | None = None
    user_nonce: Whole | None = None
    deadline: Whole | None = None
    permit_signature: Text | None = None
    permit_deadline: Whole | None = None
    permit_amount: Whole | None = None


class IntentTransaction(Wire):
    """2.11"""

    id: Whole | None = None
    intent_id: IntentId | None = None
    status: TransactionWord | None = None
    chain_id: Whole | None = None
    type: Text | None = None
    context: Text | None = None
    from_address: Reference | None = None
    to_address: Reference | None = None
    token_address: Reference | None = None
    token_amount: Whole | None = None
    status_reason: Text | None = None
    bridge_gas: Whole | None = None
    calldata: Text | None = None
    meta_txn_id: Reference | None = None
    meta_txn_fee_quote: Text | None = None
    precondition: TransactionPrecondition | None = None
    deposit_intent_entry: DepositIntentEntry | None = None
    txn_hash: Reference | None = None
    txn_mined_at: Moment = None
    updated_at: Moment = None
    created_at: Moment = None


# 2.12


class TokenMetadata(Wire):
    """2.12"""

    chain_id: Whole | None = None
    token_address: Reference | None = None
    name: Text | None = None
    symbol: Text | None = None
    decimals: Decimals | None = None
    logo_uri: Text | None = None


class IntentReceiptSummary(Wire):
    """2.12"""

    intent_id: IntentId | None = None
    status: IntentWord | None = None
    owner_address: Reference | None = None
    origin_chain_id: Whole | None = None
    destination_chain_id: Whole | None = None
    trade_type: Text | None = None
    route_providers: tuple[TextInList, ...] = ()
    origin_intent_address: Reference | None = None
    origin_token_address: Reference | None = None
    origin_token_amount: Whole | None = None
    origin_token_metadata: TokenMetadata | None = None
    destination_intent_address: Reference | None = None
    destination_token_metadata: TokenMetadata | None = None
    destination_has_call_data: Flag | None = None
    destination_has_call_value: Flag | None = None
    created_at: Moment = None
    expires_at: Moment = None
    destination_token_address: Reference | None = None
    destination_token_amount: Whole | None = None
    destination_to_address: Reference | None = None
    memo: Text | None = None
    started_at: Moment = None
    finished_at: Moment = None


# 2.10


class IntentReceipt(Kept):
    """2.10"""

    id: Whole | None = None
    project_id: Whole | None = None
    intent_id: IntentId
    status: IntentWord | None = None
    owner_address: Reference | None = None
    origin_chain_id: Whole | None = None
    destination_chain_id: Whole | None = None
    deposit_transaction_id: Whole | None = None
    deposit_transaction: IntentTransaction | None = None
    origin_transaction_id: Whole | None = None
    origin_transaction: IntentTransaction | None = None
    destination_transaction_id: Whole | None = None
    destination_transaction: IntentTransaction | None = None
    refund_transaction_id: Whole | None = None
    refund_transaction: IntentTransaction | None = None
    summary: IntentReceiptSummary | None = None
    updated_at: Moment = None
    created_at: Moment = None


# 2.13


class TokenBalance(Wire):
    """2.13; `balance` is in base units, `balance_usd` and `price_usd` are USD."""

    contract_address: Reference | None = None
    balance: Whole | None = None
    balance_usd: Figure | None = None
    price_usd: Figure | None = None
    decimals: Decimals | None = None
    chain_id: Whole | None = None
    symbol: Text | None = None


class BalanceGroup(Wire):
    """2.13: what one intent address holds."""

    intent_address: Reference | None = None
    chain_id: Whole | None = None
    tokens: tuple[TokenBalance, ...] = ()


PARTS_OF_RECEIPT = ("summary", "depositTransaction", "originTransaction", "destinationTransaction", "refundTransaction")


class IntentHistory(Wire):
    """2.13. `has_balance` None means that nobody looked: balances come only when they are asked for."""

    intent_id: IntentId
    status: IntentWord | None = None
    expires_at: Moment = None
    updated_at: Moment = None
    created_at: Moment = None
    receipt: IntentReceipt | None = None
    has_balance: Flag | None = None
    balances: tuple[BalanceGroup, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _refuse_another(cls, value: Any) -> Any:
        """A receipt of another intent, or with parts of another one, says nothing of this one."""
        match value:
            case {"intentId": str(own), "receipt": Mapping() as receipt} if other := another_in(receipt, own):
                return {**value, "receipt": [f"of {other}"]}
            case _:
                return value


def another_in(receipt: Mapping[str, Any], own: str) -> str:
    """The id of another intent that a receipt, its summary or one of its transactions names; "" if none does."""
    for part in (receipt, *(receipt.get(name) for name in PARTS_OF_RECEIPT)):
        match part:
            case {"intentId": str(other)} if other and other.lower() != own.lower():
                return read_text(other)
    return ""


# 2.14


class TokenInfo(Wire):
    """2.14"""

    chain_id: Whole
    address: Reference
    name: Text | None = None
    symbol: Text | None = None
    decimals: Decimals | None = None
    featured: Flag | None = None
    feature_index: Whole | None = None
    supports_bridging: Flag | None = None
    logo_uri: Text | None = None


# 2.15


class NativeCurrency(Wire):
    """2.15"""

    name: Text | None = None
    symbol: Text | None = None
    decimals: Decimals | None = None


class BlockExplorer(Wire):
    """2.15"""

    name: Text | None = None
    url: Text | None = None


class ChainInfo(Wire):
    """2.15, both forms. Read the native token and the explorer through the properties: they know both."""

    id: ChainId
    name: Text | None = None
    native_currency: NativeCurrency | None = None
    logo_uri: Text | None = None
    block_explorer: BlockExplorer | None = None

    token_name: Text | None = None
    token_symbol: Text | None = None
    token_decimals: Decimals | None = None
    is_testnet: Flag | None = None
    supports_bridging: Flag | None = None
    block_explorer_url: Text | None = None

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
        """As received: whoever links to it sees to it that it is http(s)."""
        return (self.block_explorer and self.block_explorer.url) or self.block_explorer_url


# 2.16


class SortBy(Wire):
    """2.16"""

    column: Text | None = None
    order: Text | None = None


class Page(Kept):
    """2.16. A page that the service gave is opaque: its `received` text goes back unchanged."""

    column: Text | None = None
    before: Cursor | None = None
    after: Cursor | None = None
    sort: tuple[SortBy, ...] = ()
    page_size: Whole | None = None
    more: Flag | None = None

    @classmethod
    def first(cls, *, size: int = 20, column: str = "createdAt", order: str = "DESC") -> Self:
        """The page to begin with: newest first, unless told otherwise."""
        return cls(page_size=size, sort=(SortBy(column=column, order=order),))

    @property
    def cursor(self) -> tuple[str | None, int | None, int | None]:
        """What tells one page of a list from another."""
        return self.column, self.before, self.after


# Prices and the answers of QuoteIntent beside the intent: domain.md 3.5 and 3b


class PricedToken(Wire):
    """domain.md 3.5"""

    chain_id: Whole | None = None
    token_address: Reference | None = None
    token_symbol: Text | None = None


class TokenPrice(Wire):
    """domain.md 3.5; `price_usd` None means that there is no price, never that it is worth nothing."""

    token: PricedToken
    price_usd: Figure | None = None
    updated_at: Moment = None


class GasEstimate(Wire):
    """domain.md 3b"""

    total_gas: Whole | None = None
    gas_price: Whole | None = None
    native_cost: Whole | None = None
    native_cost_usd: Figure | None = None


class FeeOption(Wire):
    """domain.md 3b; `amount` is in base units of the token."""

    token_address: Reference | None = None
    token_symbol: Text | None = None
    token_decimals: Decimals | None = None
    amount: Whole | None = None
    amount_usd: Figure | None = None
    fee_collector_address: Reference | None = None
    is2612: Flag | None = None
    is_passthrough_eligible: Flag | None = None


class GasFeeOptions(Wire):
    """domain.md 3b"""

    gas_estimate: GasEstimate | None = None
    fee_options: tuple[FeeOption, ...] = ()
    expires_at: Moment = None
    fee_collector_address: Reference | None = None
