"""Request models of the thirteen operations with every field, for the API console.

The typed `operations` send only what pages need. Here the descriptions are the console's help texts, and `json_fields`
makes form fields of the models.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from intents_ui.service.operations.config import Group
from intents_ui.service.wire.lenient_models import Wire
from intents_ui.service.wire.models import (
    Intent,
    IntentStatus,
    Page,
    PricedToken,
    QuoteIntentRequest,
    TransactionStatus,
)
from intents_ui.service.wire.scalars import Flag, Text, TextInList, Whole


@dataclass(frozen=True)
class Known:
    """Documented values of a field. The service may accept others."""

    words: tuple[str, ...]


STATUS = Known(tuple(IntentStatus))
STATES = Known(tuple(TransactionStatus))
ROUTE_PROVIDER = Known(
    (
        "CCTP", "EVERLONG", "GASZIP", "HYPERLANE", "LIFI", "LZ_OFT", "LZ_TRANSFER", "OIF", "RELAY",
        "SOMNIA_EXCHANGE", "SOMNIA_SWAP", "SUSHI", "WETH", "ZEROX",
    )
)  # fmt: skip
PROVIDER = Known(("AUTO", *ROUTE_PROVIDER.words))


class SearchIntentsRequest(Wire):
    """Criteria of SearchIntents, combined with AND."""

    by_intent_id: Text | None = Field(None, description="The intent with this ID.")
    by_project_id: Whole | None = Field(None, description="Intents of this project.")
    by_transaction_hash: Text | None = Field(None, description="The intent of any transaction.")
    by_owner_address: Text | None = Field(None, description="Intents of this owner.")
    by_origin_intent_address: Text | None = Field(None, description="The intent with this deposit address.")
    by_destination_intent_address: Text | None = Field(
        None, description="The intent with this destination intent address."
    )
    by_query_string: Text | None = Field(None, description="ID, address, hash or word.")
    by_deposit_transaction_hash: Text | None = Field(
        None, description="The intent of this deposit transaction. Some services ignore it."
    )


class GetIntentHistoryRequest(Wire):
    """Request of GetIntentHistory."""

    page: Page | None = Field(None, description="Cursor, page size and sort order.")
    by_project_id: Whole | None = Field(None, description="Intents of this project.")
    by_owner_address: Text | None = Field(None, description="Intents of this owner.")
    by_status: Annotated[Text | None, STATUS] = Field(None, description="Intents with this status.")
    by_statuses: Annotated[tuple[TextInList, ...], STATUS] = Field(
        (), description="Intents with any of these statuses. Takes precedence over byStatus."
    )
    origin_chain_id: Whole | None = Field(None, description="Intents from this chain.")
    destination_chain_id: Whole | None = Field(None, description="Intents to this chain.")
    from_time: Whole | None = Field(None, description="Created at or after this time, in Unix seconds.")
    to_time: Whole | None = Field(None, description="Created at or before this time, in Unix seconds.")
    include_balances: Flag | None = Field(
        None, description="Include on-chain balances of the intent addresses (slower)."
    )
    only_recoverable: Flag | None = Field(None, description="Only intents with a balance at an intent address.")


class GetIntentRequest(Wire):
    """Request of GetIntent."""

    intent_id: Text = Field(description="Intent ID.")


class GetIntentReceiptRequest(Wire):
    """Request of GetIntentReceipt."""

    intent_id: Text = Field(description="Intent ID.")


class WaitIntentReceiptRequest(Wire):
    """Request of WaitIntentReceipt."""

    intent_id: Text = Field(description="Intent ID.")
    last_receipt_states: Annotated[tuple[TextInList, ...], STATES] = Field(
        (), description="receiptStates of the previous response. The call returns when they change."
    )


class CommitIntentRequest(Wire):
    """Request of CommitIntent."""

    intent: Intent = Field(description="The whole intent exactly as QuoteIntent returned it.")


class GetTokenListRequest(Wire):
    """Request of GetTokenList."""

    chain_ids: tuple[Whole, ...] = Field(description="Tokens on these chains.")
    search_query: Text | None = Field(None, description="Name, symbol or address, or part of one.")
    limit: Whole | None = Field(None, description="Maximum tokens per chain.")
    token_address: Text | None = Field(None, description="Only the token with this address.")
    include_all_listed: Flag | None = Field(None, description="All listed tokens instead of featured ones only.")
    include_external: Flag | None = Field(None, description="Include tokens of external lists.")
    exclude_tokens: tuple[TextInList, ...] = Field((), description="Exclude tokens with these addresses.")


class GetChainsRequest(Wire):
    """Request of GetChains."""

    route_provider: Annotated[Text | None, ROUTE_PROVIDER] = Field(
        None, description="Only chains of this route provider."
    )


class GetExactInputRoutesRequest(Wire):
    """Request of GetExactInputRoutes."""

    origin_chain_id: Whole = Field(description="Origin chain ID.")
    origin_token_address: Text = Field(description="Origin token address.")
    destination_chain_id: Whole | None = Field(None, description="Only tokens on this chain.")
    destination_token_address: Text | None = Field(None, description="With its chain: checks this one route.")


class GetExactOutputRoutesRequest(Wire):
    """Request of GetExactOutputRoutes."""

    destination_chain_id: Whole = Field(description="Destination chain ID.")
    destination_token_address: Text = Field(description="Destination token address.")
    origin_chain_id: Whole | None = Field(None, description="Only tokens on this chain.")
    origin_token_address: Text | None = Field(None, description="Only this token.")
    owner_address: Text | None = Field(None, description="Only tokens that this owner has.")


class ExecuteIntentRequest(Wire):
    """Request of ExecuteIntent."""

    intent_id: Text = Field(description="Intent ID. Committed at most 10 minutes ago, with an unexpired quote.")
    deposit_transaction_hash: Text | None = Field(None, description="Hash of the deposit transaction.")
    deposit_signature: dict[str, Any] | None = Field(
        None, description="The owner's signature for a gasless deposit, instead of a transaction hash."
    )


class GetTokenPricesRequest(Wire):
    """Request of GetTokenPrices."""

    tokens: tuple[PricedToken, ...] = Field(description="List of objects with chainId and tokenAddress.")


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation of the API console. `is_write` if it creates or executes something."""

    name: str
    model: type[Wire]
    group: Group

    @property
    def is_write(self) -> bool:
        return self.group is Group.WRITE


# In the order of the API's documentation.
OPERATIONS: Mapping[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("SearchIntents", SearchIntentsRequest, Group.SEARCH),
        # The balances timeout, because any of its requests can include balances, which the service reads from chains.
        Operation("GetIntentHistory", GetIntentHistoryRequest, Group.BALANCES),
        Operation("GetIntent", GetIntentRequest, Group.INTENT),
        Operation("GetIntentReceipt", GetIntentReceiptRequest, Group.INTENT),
        Operation("WaitIntentReceipt", WaitIntentReceiptRequest, Group.WAIT),
        Operation("CommitIntent", CommitIntentRequest, Group.WRITE),
        Operation("GetTokenList", GetTokenListRequest, Group.TOKENS),
        Operation("GetChains", GetChainsRequest, Group.REFERENCE),
        Operation("GetExactInputRoutes", GetExactInputRoutesRequest, Group.TOKENS),
        Operation("GetExactOutputRoutes", GetExactOutputRoutesRequest, Group.TOKENS),
        Operation("QuoteIntent", QuoteIntentRequest, Group.WRITE),
        Operation("ExecuteIntent", ExecuteIntentRequest, Group.WRITE),
        Operation("GetTokenPrices", GetTokenPricesRequest, Group.REFERENCE),
    )
}

# Descriptions of fields whose models are shared with responses.
ABOUT: Mapping[str, str] = {
    "page.column": "Cursor column.",
    "page.before": "Cursor: return the page before this.",
    "page.after": "Cursor: return the page after this.",
    "page.sort": "Sort order: list of objects with column and order.",
    "page.pageSize": "Entries per page, 20 by default.",
    "page.more": "Field of the response's nextPage. Send it back unchanged.",
    "ownerAddress": "Address that owns the funds.",
    "originChainId": "Origin chain ID.",
    "originTokenAddress": "Origin token address.",
    "destinationChainId": "Destination chain ID.",
    "destinationTokenAddress": "Destination token address.",
    "destinationToAddress": "Recipient, the owner by default.",
    "destinationApproveAddress": "Spender to approve for a contract call.",
    "destinationCallData": "Calldata for the recipient, in hex.",
    "destinationCallValue": "Native token value of the call, in base units.",
    "originTokenAmount": "Origin amount in base units (EXACT_INPUT).",
    "destinationTokenAmount": "Destination amount in base units (EXACT_OUTPUT).",
    "tradeType": "Which amount is fixed, EXACT_OUTPUT by default.",
    "fundMethod": "Deposit method.",
    "onlyNativeGasFee": "Pay network fees in the native token only.",
    "options.intentProtocol": "Protocol version.",
    "options.swapProvider": "Swap provider.",
    "options.bridgeProvider": "Bridge provider.",
    "options.swapProviderFallback": "Fall back to another swap provider.",
    "options.bridgeProviderFallback": "Fall back to another bridge provider.",
    "options.preference": "Criterion for the best route.",
    "options.slippageTolerance": "Slippage tolerance as a decimal (0.005 = 0.5%).",
    "options.serviceAddressOverrides.smartWalletFactoryAddress": "Overrides the service contract address.",
    "options.serviceAddressOverrides.smartWalletMainModuleAddress": "Overrides the service contract address.",
    "options.serviceAddressOverrides.smartWalletMainModuleUpgradableAddress": "Overrides the service contract address.",
    "options.serviceAddressOverrides.smartWalletGuestModuleAddress": "Overrides the service contract address.",
    "options.serviceAddressOverrides.smartWalletUtilsAddress": "Overrides the service contract address.",
}
WORDS: Mapping[str, Known] = {
    "page.column": Known(("id", "createdAt")),
    "tradeType": Known(("EXACT_INPUT", "EXACT_OUTPUT")),
    "fundMethod": Known(("WALLET", "DIRECT_TRANSFER", "ONRAMP_MESH", "ONRAMP_MELD", "ONRAMP_BLUVO", "ONRAMP_STRIPE")),
    "options.intentProtocol": Known(("v1", "v1.5")),
    "options.swapProvider": PROVIDER,
    "options.bridgeProvider": PROVIDER,
    "options.preference": Known(("RECOMMENDED", "FASTEST", "CHEAPEST", "TRUSTLESS")),
}
# Required fields of QuoteIntent. The schema marks none, but without these there is no quote.
NEEDED = frozenset(
    {"ownerAddress", "originChainId", "originTokenAddress", "destinationChainId", "destinationTokenAddress"}
)
