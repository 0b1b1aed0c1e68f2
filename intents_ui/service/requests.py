"""Requests of the service's thirteen operations, with every field, as pydantic models.

Their JSON schemas are the forms of the API console, so descriptions are its help texts. The typed `operations` send
only what pages need, and nothing is validated here: the service validates.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from intents_ui.service.models import IntentStatus, TransactionStatus

CursorColumn = Literal["id", "createdAt"]
RouteProvider = Literal[
    "CCTP", "EVERLONG", "GASZIP", "HYPERLANE", "LIFI", "LZ_OFT", "LZ_TRANSFER", "OIF", "RELAY", "SOMNIA_EXCHANGE",
    "SOMNIA_SWAP", "SUSHI", "WETH", "ZEROX",
]  # fmt: skip
Provider = Literal["AUTO", RouteProvider]
TradeType = Literal["EXACT_INPUT", "EXACT_OUTPUT"]
FundMethod = Literal["WALLET", "DIRECT_TRANSFER", "ONRAMP_MESH", "ONRAMP_MELD", "ONRAMP_BLUVO", "ONRAMP_STRIPE"]
IntentProtocol = Literal["v1", "v1.5"]
Preference = Literal["RECOMMENDED", "FASTEST", "CHEAPEST", "TRUSTLESS"]


def required(about: str) -> Any:
    return Field(description=about)


def optional(about: str = "") -> Any:
    return Field(None, description=about)


class Request(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class HistoryPage(Request):
    """Cursor, order and size of a page."""

    column: CursorColumn = optional("Cursor column.")
    before: int = optional("Cursor: return the page before this.")
    after: int = optional("Cursor: return the page after this.")
    sort: list[dict[str, Any]] = optional("Sort order: list of objects with column and order.")
    page_size: int = optional("Entries per page, 20 by default.")
    more: bool = optional("Field of the response's nextPage. Send it back unchanged.")


class AddressOverrides(Request):
    """Contract addresses to use instead of the service's."""

    smart_wallet_factory_address: str = optional("Overrides the service contract address.")
    smart_wallet_main_module_address: str = optional("Overrides the service contract address.")
    smart_wallet_main_module_upgradable_address: str = optional("Overrides the service contract address.")
    smart_wallet_guest_module_address: str = optional("Overrides the service contract address.")
    smart_wallet_utils_address: str = optional("Overrides the service contract address.")


class QuoteOptions(Request):
    """Options of a quote."""

    intent_protocol: IntentProtocol = optional("Protocol version.")
    swap_provider: Provider = optional("Swap provider.")
    bridge_provider: Provider = optional("Bridge provider.")
    swap_provider_fallback: bool = optional("Fall back to another swap provider.")
    bridge_provider_fallback: bool = optional("Fall back to another bridge provider.")
    preference: Preference = optional("Criterion for the best route.")
    slippage_tolerance: float = optional("Slippage tolerance as a decimal (0.005 = 0.5%).")
    service_address_overrides: AddressOverrides = optional()


class SearchIntents(Request):
    """Search intents by ID, hash or address."""

    by_intent_id: str = optional("The intent with this ID.")
    by_project_id: int = optional("Intents of this project.")
    by_transaction_hash: str = optional("The intent of any transaction.")
    by_owner_address: str = optional("Intents of this owner.")
    by_origin_intent_address: str = optional("The intent with this deposit address.")
    by_destination_intent_address: str = optional("The intent with this destination intent address.")
    by_query_string: str = optional("ID, address, hash or word.")
    by_deposit_transaction_hash: str = optional("The intent of this deposit transaction. Some services ignore it.")


class GetIntentHistory(Request):
    """List intents with their receipts, page by page."""

    page: HistoryPage = optional()
    by_project_id: int = optional("Intents of this project.")
    by_owner_address: str = optional("Intents of this owner.")
    by_status: IntentStatus = optional("Intents with this status.")
    by_statuses: list[IntentStatus] = optional("Intents with any of these statuses. Takes precedence over byStatus.")
    origin_chain_id: int = optional("Intents from this chain.")
    destination_chain_id: int = optional("Intents to this chain.")
    from_time: int = optional("Created at or after this time, in Unix seconds.")
    to_time: int = optional("Created at or before this time, in Unix seconds.")
    include_balances: bool = optional("Include on-chain balances of the intent addresses (slower).")
    only_recoverable: bool = optional("Only intents with a balance at an intent address.")


class GetIntent(Request):
    """Get an intent's quote and status."""

    intent_id: str = required("Intent ID.")


class GetIntentReceipt(Request):
    """Get the status of an intent's transactions."""

    intent_id: str = required("Intent ID.")


class WaitIntentReceipt(Request):
    """Wait up to 30 s for an intent to change."""

    intent_id: str = required("Intent ID.")
    last_receipt_states: list[TransactionStatus] = optional(
        "receiptStates of the previous response. The call returns when they change."
    )


class CommitIntent(Request):
    """Accept a quote. Execute within 10 minutes of accepting, before the quote expires."""

    intent: dict[str, Any] = required("The whole intent exactly as QuoteIntent returned it.")


class GetTokenList(Request):
    """List the featured tokens of chains, or all listed tokens."""

    chain_ids: list[int] = required("Tokens on these chains.")
    search_query: str = optional("Name, symbol or address, or part of one.")
    limit: int = optional("Maximum tokens per chain.")
    token_address: str = optional("Only the token with this address.")
    include_all_listed: bool = optional("All listed tokens instead of featured ones only.")
    include_external: bool = optional("Include tokens of external lists.")
    exclude_tokens: list[str] = optional("Exclude tokens with these addresses.")


class GetChains(Request):
    """List the supported chains."""

    route_provider: RouteProvider = optional("Only chains of this route provider.")


class GetExactInputRoutes(Request):
    """List destination tokens for an origin token."""

    origin_chain_id: int = required("Origin chain ID.")
    origin_token_address: str = required("Origin token address.")
    destination_chain_id: int = optional("Only tokens on this chain.")
    destination_token_address: str = optional("With its chain: checks this one route.")


class GetExactOutputRoutes(Request):
    """List origin tokens for a destination token."""

    destination_chain_id: int = required("Destination chain ID.")
    destination_token_address: str = required("Destination token address.")
    origin_chain_id: int = optional("Only tokens on this chain.")
    origin_token_address: str = optional("Only this token.")
    owner_address: str = optional("Only tokens that this owner has.")


class QuoteIntent(Request):
    """Request a quote: the deposit, the amount delivered and the fees."""

    owner_address: str = required("Address that owns the funds.")
    origin_chain_id: int = required("Origin chain ID.")
    origin_token_address: str = required("Origin token address.")
    destination_chain_id: int = required("Destination chain ID.")
    destination_token_address: str = required("Destination token address.")
    destination_to_address: str = optional("Recipient, the owner by default.")
    destination_approve_address: str = optional("Spender to approve for a contract call.")
    destination_call_data: str = optional("Calldata for the recipient, in hex.")
    destination_call_value: int = optional("Native token value of the call, in base units.")
    origin_token_amount: int = optional("Origin amount in base units (EXACT_INPUT).")
    destination_token_amount: int = optional("Destination amount in base units (EXACT_OUTPUT).")
    trade_type: TradeType = optional("Which amount is fixed, EXACT_OUTPUT by default.")
    fund_method: FundMethod = optional("Deposit method.")
    only_native_gas_fee: bool = optional("Pay network fees in the native token only.")
    options: QuoteOptions = optional()


class ExecuteIntent(Request):
    """Execute a committed intent."""

    intent_id: str = required("Intent ID. Committed at most 10 minutes ago, with an unexpired quote.")
    deposit_transaction_hash: str = optional("Hash of the deposit transaction.")
    deposit_signature: dict[str, Any] = optional(
        "The owner's signature for a gasless deposit, instead of a transaction hash."
    )


class GetTokenPrices(Request):
    """Get token prices in US dollars."""

    tokens: list[dict[str, Any]] = required("List of objects with chainId and tokenAddress.")
