"""Request models of the thirteen operations with every field, for the API console.

The typed `operations` send only what pages need. Here the descriptions are the console's help texts, and `members`
makes form fields of the models.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from intents_ui.service.config import Group
from intents_ui.service.scalars import Flag, Text, TextInList, Whole
from intents_ui.service.tolerance import Wire
from intents_ui.service.wire import Intent, IntentStatus, Page, PricedToken, QuoteIntentRequest, TransactionStatus


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

    by_intent_id: Text | None = Field(None, description="The intent with this id.")
    by_project_id: Whole | None = Field(None, description="Intents of this project.")
    by_transaction_hash: Text | None = Field(None, description="The intent that any transaction belongs to.")
    by_owner_address: Text | None = Field(None, description="Intents of this owner.")
    by_origin_intent_address: Text | None = Field(None, description="The intent that is paid at this deposit address.")
    by_destination_intent_address: Text | None = Field(
        None, description="The intent with this intent address on the destination chain."
    )
    by_query_string: Text | None = Field(None, description="Anything: an id, an address, a hash, a word.")
    by_deposit_transaction_hash: Text | None = Field(
        None, description="The intent that this transaction paid. Not every service looks at it."
    )


class GetIntentHistoryRequest(Wire):
    """Request of GetIntentHistory."""

    page: Page | None = Field(None, description="Which part of the list, and in which order.")
    by_project_id: Whole | None = Field(None, description="Intents of this project.")
    by_owner_address: Text | None = Field(None, description="Intents of this owner.")
    by_status: Annotated[Text | None, STATUS] = Field(None, description="Intents in this state.")
    by_statuses: Annotated[tuple[TextInList, ...], STATUS] = Field(
        (), description="Intents in any of these states; outranks byStatus."
    )
    origin_chain_id: Whole | None = Field(None, description="Intents that are paid on this chain.")
    destination_chain_id: Whole | None = Field(None, description="Intents that deliver on this chain.")
    from_time: Whole | None = Field(None, description="Created at or after this moment, in Unix seconds.")
    to_time: Whole | None = Field(None, description="Created at or before this moment, in Unix seconds.")
    include_balances: Flag | None = Field(
        None, description="With what the intent addresses hold. Read from the chains, so it takes longer."
    )
    only_recoverable: Flag | None = Field(None, description="Only intents whose addresses still hold something.")


class GetIntentRequest(Wire):
    """Request of GetIntent."""

    intent_id: Text = Field(description="Which intent.")


class GetIntentReceiptRequest(Wire):
    """Request of GetIntentReceipt."""

    intent_id: Text = Field(description="Of which intent.")


class WaitIntentReceiptRequest(Wire):
    """Request of WaitIntentReceipt."""

    intent_id: Text = Field(description="Of which intent.")
    last_receipt_states: Annotated[tuple[TextInList, ...], STATES] = Field(
        (), description="The receiptStates of the answer before: the call is held until they change."
    )


class CommitIntentRequest(Wire):
    """Request of CommitIntent."""

    intent: Intent = Field(description="The whole intent exactly as QuoteIntent answered it.")


class GetTokenListRequest(Wire):
    """Request of GetTokenList."""

    chain_ids: tuple[Whole, ...] = Field(description="Tokens on these chains.")
    search_query: Text | None = Field(None, description="A name, a symbol or an address, or a part of one.")
    limit: Whole | None = Field(None, description="At most so many tokens of each chain.")
    token_address: Text | None = Field(None, description="The token at this address alone.")
    include_all_listed: Flag | None = Field(None, description="All listed tokens, not only the featured ones.")
    include_external: Flag | None = Field(None, description="Tokens of other lists too.")
    exclude_tokens: tuple[TextInList, ...] = Field((), description="Leave out the tokens at these addresses.")


class GetChainsRequest(Wire):
    """Request of GetChains."""

    route_provider: Annotated[Text | None, ROUTE_PROVIDER] = Field(
        None, description="Only the chains that this route provider serves."
    )


class GetExactInputRoutesRequest(Wire):
    """Request of GetExactInputRoutes."""

    origin_chain_id: Whole = Field(description="The chain that the money comes from.")
    origin_token_address: Text = Field(description="The token that is paid with.")
    destination_chain_id: Whole | None = Field(None, description="Only tokens on this chain.")
    destination_token_address: Text | None = Field(
        None, description="Together with its chain: whether this one route exists."
    )


class GetExactOutputRoutesRequest(Wire):
    """Request of GetExactOutputRoutes."""

    destination_chain_id: Whole = Field(description="The chain that the money goes to.")
    destination_token_address: Text = Field(description="The token that is wanted there.")
    origin_chain_id: Whole | None = Field(None, description="Only tokens on this chain.")
    origin_token_address: Text | None = Field(None, description="Only this token.")
    owner_address: Text | None = Field(None, description="Only tokens that this owner holds.")


class ExecuteIntentRequest(Wire):
    """Request of ExecuteIntent."""

    intent_id: Text = Field(
        description="Which intent; committed at most 10 minutes ago, with a quote that has not expired."
    )
    deposit_transaction_hash: Text | None = Field(None, description="The transaction that paid the deposit.")
    deposit_signature: dict[str, Any] | None = Field(
        None, description="The owner's signature for a gasless deposit. Not together with a transaction hash."
    )


class GetTokenPricesRequest(Wire):
    """Request of GetTokenPrices."""

    tokens: tuple[PricedToken, ...] = Field(description="Which tokens: a list of chainId and tokenAddress.")


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
    "page.column": "The column that the cursors count by: id or createdAt.",
    "page.before": "Cursor: the page that ends before this.",
    "page.after": "Cursor: the page that begins after this.",
    "page.sort": "The order: a list of column and order.",
    "page.pageSize": "Entries of a page; 20 when it is not said.",
    "page.more": "Part of the nextPage that the service answers; it goes back as it came.",
    "ownerAddress": "Whose money it is.",
    "originChainId": "The chain that the money comes from.",
    "originTokenAddress": "The token that is paid with.",
    "destinationChainId": "The chain that the money goes to.",
    "destinationTokenAddress": "The token that is wanted there.",
    "destinationToAddress": "The recipient; the owner when it is not said.",
    "destinationApproveAddress": "Who may take the tokens when a contract is called.",
    "destinationCallData": "What the recipient is called with, in hex.",
    "destinationCallValue": "Native money that goes along with the call, in its smallest unit.",
    "originTokenAmount": "What is paid, in the token's smallest unit; for EXACT_INPUT.",
    "destinationTokenAmount": "What has to arrive, in the token's smallest unit; for EXACT_OUTPUT.",
    "tradeType": "Which amount is fixed; EXACT_OUTPUT when it is not said.",
    "fundMethod": "How the deposit is made.",
    "onlyNativeGasFee": "Gas is paid in the chain's own money only.",
    "options.intentProtocol": "The version of the protocol.",
    "options.swapProvider": "Who swaps.",
    "options.bridgeProvider": "Who bridges.",
    "options.swapProviderFallback": "Whether another one may swap when that one cannot.",
    "options.bridgeProviderFallback": "Whether another one may bridge when that one cannot.",
    "options.preference": "What the best route is.",
    "options.slippageTolerance": "How much less may arrive, as a fraction: 0.005 is half a percent.",
    "options.serviceAddressOverrides.smartWalletFactoryAddress": "Another contract in place of the service's own.",
    "options.serviceAddressOverrides.smartWalletMainModuleAddress": "Likewise.",
    "options.serviceAddressOverrides.smartWalletMainModuleUpgradableAddress": "Likewise.",
    "options.serviceAddressOverrides.smartWalletGuestModuleAddress": "Likewise.",
    "options.serviceAddressOverrides.smartWalletUtilsAddress": "Likewise.",
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
