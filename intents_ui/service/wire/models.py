"""Models of the service's objects. Nested objects are defined before those that contain them.

Names are snake_case, amounts `int` in base units, USD amounts and shares `Decimal`, times aware `datetime`s in UTC.
Absent, null and "" are all None (an empty list for lists). Only the ID that names an object is required. Invalid values
are None, too, with their text in `unreadable` (`lenient_models.Wire`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

from intents_ui.service.wire import lenient_models
from intents_ui.service.wire.lenient_models import Kept, Wire
from intents_ui.service.wire.scalars import (
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


@dataclass(frozen=True)
class WordParser:
    """Parser of a status, which logs unknown ones: when the object is built, not when a page first shows it."""

    kind: str
    known: frozenset[str]
    is_immediate = True

    def __call__(self, value: object) -> str:
        word = read_text(value)
        if word not in self.known:
            lenient_models.log_unknown(self.kind, word)
        return word


# Text, because the service may send other values. Those are counted.
read_intent_word = WordParser("an intent", frozenset(IntentStatus))
read_transaction_word = WordParser("a transaction", frozenset(TransactionStatus))
IntentWord = Annotated[str, read_intent_word]
TransactionWord = Annotated[str, read_transaction_word]


class Call(Wire):
    """One call of an intent's execution plan."""

    to: Reference | None = None
    value: Whole | None = None
    data: Text | None = None
    gas_limit: Whole | None = None
    delegate_call: Flag | None = None
    only_fallback: Flag | None = None
    behavior_on_error: Whole | None = None


class IntentCalls(Wire):
    """Calls to execute on one chain."""

    chain_id: Whole | None = None
    calls: tuple[Call, ...] = ()
    space: Whole | None = None
    nonce: Whole | None = None


class TransactionPrecondition(Wire):
    """Condition that must hold before the calls execute, such as a minimum balance."""

    type: Text | None = None
    chain_id: Whole | None = None
    owner_address: Reference | None = None
    token_address: Reference | None = None
    min_amount: Whole | None = None


class MetaTxn(Wire):
    """Meta-transaction that the relayer sends for the intent."""

    id: Reference | None = None
    chain_id: Whole | None = None
    wallet_address: Reference | None = None
    contract: Reference | None = None
    input: Text | None = None
    bridge_gas: Whole | None = None


class ServiceAddressOverrides(Wire):
    """Contract addresses to use instead of the service's own."""

    smart_wallet_factory_address: Reference | None = None
    smart_wallet_main_module_address: Reference | None = None
    smart_wallet_main_module_upgradable_address: Reference | None = None
    smart_wallet_guest_module_address: Reference | None = None
    smart_wallet_utils_address: Reference | None = None


class QuoteOptions(Wire):
    """Options of a quote request. `slippage_tolerance` is a fraction: 0.005 is 0.5%."""

    intent_protocol: Text | None = None
    swap_provider: Text | None = None
    bridge_provider: Text | None = None
    swap_provider_fallback: Flag | None = None
    bridge_provider_fallback: Flag | None = None
    preference: Text | None = None
    slippage_tolerance: Figure | None = None
    service_address_overrides: ServiceAddressOverrides | None = None


class QuoteIntentRequest(Wire):
    """Request for a quote."""

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


class DepositTransaction(Wire):
    """Deposit that the wallet has to send. Not a transaction on a chain yet."""

    to_address: Reference | None = None
    token_address: Reference | None = None
    amount: Whole | None = None
    chain_id: Whole | None = None
    to: Reference | None = None
    data: Text | None = None
    value: Whole | None = None
    decimals: Decimals | None = None


class PriceImpact(Wire):
    """`price_impact` is a percentage, `price_impact_usd` an amount in USD."""

    price_impact: Figure | None = None
    price_impact_usd: Figure | None = None


class PriceImpactDetails(Wire):
    """Price impact by cause."""

    execution_price_impact: PriceImpact | None = None
    market_price_impact: PriceImpact | None = None
    provider_fees_price_impact: PriceImpact | None = None
    service_fees_price_impact: PriceImpact | None = None
    net_price_impact: PriceImpact | None = None


class IntentProviderQuote(Wire):
    """Quote of the route's providers. The three lists are parallel.

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


class MetaTxnFeeDetails(Wire):
    """Network fee of one meta-transaction."""

    meta_txn_id: Reference | None = None
    estimated_gas_limit: Whole | None = None
    fee_native: Whole | None = None


class GasFee(Wire):
    """Network fee on one chain. `total_fee_amount` is in base units of the chain's native token."""

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
    """Fee of the route's provider, without and with the service's own fee."""

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
    """All fees of an intent. Totals and amounts are in base units of the fee token."""

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


class ServiceContracts(Wire):
    """Addresses of the service's contracts."""

    service_intent_entrypoint_address: Reference | None = None
    service_router_address: Reference | None = None
    service_router_shim_address: Reference | None = None


class Intent(Kept):
    """A transfer with its quote.

    Fields that came only under their other names (`calls`, `preconditions`, …) are set, too.
    """

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

    fallbacks: ClassVar[Mapping[str, Callable[["Intent"], Any]]] = MappingProxyType(
        {
            "salt": lambda intent: intent.destination_salt,
            "origin_calls": lambda intent: intent._on_origin(intent.calls),
            "origin_precondition": lambda intent: intent._on_origin(intent.preconditions),
            "origin_meta_txn": lambda intent: intent._on_origin(intent.meta_txns),
            "destination_calls": lambda intent: intent._on_destination(intent.calls),
            "destination_precondition": lambda intent: intent._on_destination(intent.preconditions),
            "destination_meta_txn": lambda intent: intent._on_destination(intent.meta_txns),
        }
    )

    def _on_origin[T: (IntentCalls, TransactionPrecondition, MetaTxn)](self, listed: tuple[T, ...]) -> T | None:
        """Return the origin chain's entry, or the first one if no entry names its chain."""
        named = [entry for entry in listed if entry.chain_id is not None]
        return next((entry for entry in named or listed if entry.chain_id in (None, self.origin_chain_id)), None)

    def _on_destination[T: (IntentCalls, TransactionPrecondition, MetaTxn)](self, listed: tuple[T, ...]) -> T | None:
        """Return the destination chain's entry other than the origin's, or the second one if no entry names a chain."""
        rest = [entry for entry in listed if entry is not self._on_origin(listed)]
        named = [entry for entry in rest if entry.chain_id is not None]
        return next((entry for entry in named or rest if entry.chain_id in (None, self.destination_chain_id)), None)


class DepositIntentEntry(Wire):
    """Gasless deposit. `deadline` and `permit_deadline` are Unix seconds, and may be 2**256 - 1 for "never"."""

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
    """One transaction of a transfer: deposit, origin, destination or refund."""

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


class TokenMetadata(Wire):
    """A token's name, symbol and decimals."""

    chain_id: Whole | None = None
    token_address: Reference | None = None
    name: Text | None = None
    symbol: Text | None = None
    decimals: Decimals | None = None
    logo_uri: Text | None = None


class IntentReceiptSummary(Wire):
    """Summary of a receipt, with the amounts and tokens on both chains."""

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


class IntentReceipt(Kept):
    """Execution state of an intent, with its transactions."""

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

    def step_of(self, txn_hash: str) -> str | None:
        """Return which of the transactions has this hash: `deposit`, `origin`, `destination` or `refund`."""
        steps = {
            "deposit": self.deposit_transaction,
            "origin": self.origin_transaction,
            "destination": self.destination_transaction,
            "refund": self.refund_transaction,
        }
        wanted = txn_hash.lower().removeprefix("0x")
        sent = {
            step: each.txn_hash.lower().removeprefix("0x") for step, each in steps.items() if each and each.txn_hash
        }
        return next((step for step, known in sent.items() if known == wanted), None)


class TokenBalance(Wire):
    """Balance of a token. `balance` is in base units, `balance_usd` and `price_usd` in USD."""

    contract_address: Reference | None = None
    balance: Whole | None = None
    balance_usd: Figure | None = None
    price_usd: Figure | None = None
    decimals: Decimals | None = None
    chain_id: Whole | None = None
    symbol: Text | None = None


class BalanceGroup(Wire):
    """Balances of one intent address."""

    intent_address: Reference | None = None
    chain_id: Whole | None = None
    tokens: tuple[TokenBalance, ...] = ()


PARTS_OF_RECEIPT = ("summary", "depositTransaction", "originTransaction", "destinationTransaction", "refundTransaction")


class IntentHistory(Kept):
    """Entry of the intent history. `has_balance` is None if balances weren't requested."""

    intent_id: IntentId
    status: IntentWord | None = None
    expires_at: Moment = None
    updated_at: Moment = None
    created_at: Moment = None
    receipt: IntentReceipt | None = None
    has_balance: Flag | None = None
    balances: tuple[BalanceGroup, ...] = ()

    refusals: ClassVar[Mapping[str, Callable[["IntentHistory", Any], bool]]] = MappingProxyType(
        {"receipt": lambda entry, receipt: entry._is_of_another(receipt)}
    )

    def _is_of_another(self, receipt: object) -> bool:
        """Return whether a receipt or a part of it belongs to another intent."""
        own = self.document.get("intentId")
        return isinstance(receipt, Mapping) and isinstance(own, str) and another_in(receipt, own) != ""


def another_in(receipt: Mapping[str, Any], own: str) -> str:
    """Return the ID of another intent that a receipt, its summary or a transaction names, or "" if there is none."""
    for part in (receipt, *[receipt.get(name) for name in PARTS_OF_RECEIPT]):
        other = part.get("intentId") if isinstance(part, dict) else None
        if isinstance(other, str) and other and other != own and other.lower() != own.lower():
            return read_text(other)
    return ""


class TokenInfo(Wire):
    """A token in one of the service's lists."""

    chain_id: Whole
    address: Reference
    name: Text | None = None
    symbol: Text | None = None
    decimals: Decimals | None = None
    featured: Flag | None = None
    feature_index: Whole | None = None
    supports_bridging: Flag | None = None
    logo_uri: Text | None = None


class NativeCurrency(Wire):
    """A chain's native token."""

    name: Text | None = None
    symbol: Text | None = None
    decimals: Decimals | None = None


class BlockExplorer(Wire):
    """A chain's block explorer."""

    name: Text | None = None
    url: Text | None = None


class ChainInfo(Wire):
    """A chain. The native token and the explorer come in two forms, so read them through the properties."""

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
        """As received. Check that it is HTTP or HTTPS before linking to it."""
        return (self.block_explorer and self.block_explorer.url) or self.block_explorer_url


class SortBy(Wire):
    """Sort order of a list."""

    column: Text | None = None
    order: Text | None = None


class Page(Kept):
    """Page of a list, used as its cursor.

    One from the service is opaque: its `received` text is sent back unchanged.
    """

    column: Text | None = None
    before: Cursor | None = None
    after: Cursor | None = None
    sort: tuple[SortBy, ...] = ()
    page_size: Whole | None = None
    more: Flag | None = None

    @classmethod
    def first(cls, *, size: int = 20, column: str = "createdAt", order: str = "DESC") -> Self:
        """Return the request for the first page, newest first by default."""
        return cls(page_size=size, sort=(SortBy(column=column, order=order),))

    @property
    def cursor(self) -> tuple[str | None, int | None, int | None]:
        """What distinguishes this page from the list's other pages."""
        return self.column, self.before, self.after


class PricedToken(Wire):
    """A token to get the price of."""

    chain_id: Whole | None = None
    token_address: Reference | None = None
    token_symbol: Text | None = None


class TokenPrice(Wire):
    """Price of a token. `price_usd` None means that the price is unknown, not zero."""

    token: PricedToken
    price_usd: Figure | None = None
    updated_at: Moment = None


class GasEstimate(Wire):
    """Estimated network fee."""

    total_gas: Whole | None = None
    gas_price: Whole | None = None
    native_cost: Whole | None = None
    native_cost_usd: Figure | None = None


class FeeOption(Wire):
    """A token to pay fees in. `amount` is in its base units."""

    token_address: Reference | None = None
    token_symbol: Text | None = None
    token_decimals: Decimals | None = None
    amount: Whole | None = None
    amount_usd: Figure | None = None
    fee_collector_address: Reference | None = None
    is2612: Flag | None = None
    is_passthrough_eligible: Flag | None = None


class GasFeeOptions(Wire):
    """Tokens that fees can be paid in, with their amounts."""

    gas_estimate: GasEstimate | None = None
    fee_options: tuple[FeeOption, ...] = ()
    expires_at: Moment = None
    fee_collector_address: Reference | None = None
