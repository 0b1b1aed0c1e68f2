"""What the API answers. OpenAPI describes these models, and they serialize the answers.

Names of fields are in camelCase. Amounts are text in base units, with the decimals beside them. Times are RFC 3339 in
UTC. What is unknown is null. New values can appear at any time, so a program must accept values that it doesn't
know.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from intents_ui.catalog.routes import Verdict
from intents_ui.search.identifiers import Kind
from intents_ui.service.outcome import Outcome
from intents_ui.tokens.chains import Network
from intents_ui.transfers.comparison import Result
from intents_ui.transfers.rules import Actor, Attention, Cause, Certainty
from intents_ui.transfers.timeline import Name, StepState
from intents_ui.transfers.transfer import Check

INTENT_ID: Final = "0x36176d03cce45f6a8e7b61d895c6ea724e03fe1000aa98e6dddd6585ffd3b069"  # in examples
ADDRESS: Final = "0x5868817642db7a3168ec74379014b98874e36874"
TYPO: Final = "The checksum is wrong. Check for a typo."


def one_of(words: type[StrEnum]) -> str:
    """Return the words of a set, for a description."""
    return ", ".join(f"`{each}`" for each in words if each)


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


class TokenWarning(ApiModel):
    """Why a token may not be what it seems."""

    word: str = Field(description="The warning in a word or two", examples=["unlisted"])
    reason: str = Field(
        description="Its explanation", examples=["Not on the service's token list. Check the contract address."]
    )


class ApiToken(ApiModel):
    """A token on a chain. Anyone can give a token any symbol, so see `warnings`."""

    chain_id: int | None = Field(description="ID of its chain", examples=[8453])
    chain: str = Field(description="The chain's name", examples=["Base"])
    address: str | None = Field(
        description="Contract address as received", examples=["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"]
    )
    symbol: str | None = Field(description="Its symbol, which its creator chose", examples=["USDC"])
    decimals: int | None = Field(description="Decimal places of a unit", examples=[6])
    warnings: tuple[TokenWarning, ...] = Field(
        description="Why it may not be what it seems. Empty for most tokens", examples=[[]]
    )


class ApiAmount(ApiModel):
    """An amount of a token, exact. `amount` is null if the token's decimals are unknown."""

    base_units: str | None = Field(description="Whole number as text", examples=["4994620234"])
    amount: str | None = Field(description="Decimal number as text", examples=["4994.620234"])
    token: ApiToken = Field(description="The token")
    note: str | None = Field(
        description="Why it wasn't seen to move: `expected`, `quoted`, `to send`, `unconfirmed`. Null if it was",
        examples=[None, "expected"],
    )
    usd: str | None = Field(description="Value in US dollars in the quote", examples=["4994.620234"])


class ApiSummary(ApiModel):
    """The answer that every page gives: what happened, where the funds are, what to do next, and how certain it is."""

    status: str = Field(description="The status in a word", examples=["Succeeded"])
    headline: str = Field(description="What happened, in a few words", examples=["Delivered"])
    sentence: str = Field(description="What happened, in a sentence", examples=["The funds arrived on Base."])
    location: str = Field(
        description="Where the funds are", examples=["In the recipient's wallet on Base: 4,994.62 USDC."]
    )
    location_amount: str | None = Field(description="The amount there, rounded", examples=["4,994.62 USDC"])
    address: str | None = Field(
        description="The address where the funds are", examples=["0x5868817642DB7A3168EC74379014B98874e36874"]
    )
    next_step: str = Field(
        description="What to do next",
        examples=["No action needed. If the wallet doesn't show the funds, switch it to Base."],
    )
    who: str = Field(description=f"Who acts next: {one_of(Actor)}", examples=["owner"])
    deadline: str | None = Field(description="Until when", examples=[None, "2026-11-21T12:05:00Z"])
    certainty: str = Field(
        description=f"How certain the location of the funds is: {one_of(Certainty)}", examples=["confirmed"]
    )
    attention: str = Field(description=f"What support should do: {one_of(Attention)}", examples=["none"])
    cause: str | None = Field(description=f"Why it needs attention: {one_of(Cause)}", examples=[None, "late"])
    warn_second_deposit: bool = Field(
        description="Whether to warn the owner not to deposit again", examples=[False, True]
    )
    balances: str = Field(description=f"Whether on-chain balances were checked: {one_of(Check)}", examples=["checked"])
    balances_checked_at: str | None = Field(description="When they were checked", examples=["2026-11-21T12:00:01Z"])
    on_chain: str | None = Field(
        description="What the on-chain balances show",
        examples=["Both intent addresses are empty."],
    )
    incident: str | None = Field(
        description="The known incident that the transfer is a part of",
        examples=[None, "Transfers by CCTP from Ethereum are delayed."],
    )


class ApiTransaction(ApiModel):
    """The transaction of a step."""

    chain_id: int | None = Field(description="ID of its chain", examples=[8453])
    hash: str | None = Field(
        description="Its hash", examples=["0x4cfa6a0d71856523de9c4ef1c18180b5da2dc466b5b67b1e26a3a30f3ff84371"]
    )
    status: str | None = Field(description="The service's word", examples=["SUCCEEDED"])
    link: str | None = Field(
        description="Its page at the chain's block explorer",
        examples=["https://basescan.org/tx/0x4cfa6a0d71856523de9c4ef1c18180b5da2dc466b5b67b1e26a3a30f3ff84371"],
    )


class ApiStep(ApiModel):
    """A step of the timeline."""

    name: str = Field(description=f"Which step: {one_of(Name)}", examples=["destination"])
    state: str = Field(description=f"How far it is: {one_of(StepState)}", examples=["done"])
    sentence: str = Field(description="What happened, may be empty", examples=["4,994.62 USDC delivered on Base."])
    at: datetime | None = Field(description="When it was completed", examples=["2026-11-21T11:58:12.677003Z"])
    expected_at: datetime | None = Field(
        description="When it is expected, if that is in the future", examples=[None, "2026-11-21T12:04:00Z"]
    )
    reason: str | None = Field(
        description="Why it failed, as the service reports it. Untrusted input",
        examples=[None, "precondition not met: balance 79712345 < 79800000"],
    )
    transaction: ApiTransaction | None = Field(description="Its transaction, if it has one")


class ApiComparisonRow(ApiModel):
    """A quoted figure and its actual value, with every digit."""

    label: str = Field(description="The figure", examples=["Received on Base"])
    result: str = Field(description=f"How they compare: {one_of(Result)}", examples=["as-quoted"])
    quoted: str = Field(description="The quoted value, may be empty", examples=["4,994.620234 USDC"])
    limit: str | None = Field(description="The limit in the quote", examples=["min. 4,969.647132 USDC"])
    actual: str = Field(description="The actual value", examples=["4,994.620234 USDC"])
    difference: str | None = Field(
        description="The difference in words", examples=["as quoted, 24.973102 USDC above the minimum"]
    )


class ApiComparison(ApiModel):
    """How the result compares with the quote."""

    result: str = Field(description="The result, in a word of the rows' results", examples=["as-quoted"])
    text: str = Field(
        description="The result in a line",
        examples=["Received 4,994.62 USDC · 17 min 18 s (estimate 19 min)"],
    )
    rows: tuple[ApiComparisonRow, ...] = Field(description="The compared figures")


SENT: Final = {
    "baseUnits": "5000000000",
    "amount": "5000",
    "token": {
        "chainId": 1,
        "chain": "Ethereum",
        "address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
        "symbol": "USDC",
        "decimals": 6,
        "warnings": [],
    },
    "note": None,
    "usd": "5000",
}


class ApiListedTransfer(ApiModel):
    """A transfer in a list, with the same answer as its page."""

    intent_id: str = Field(description="Its intent ID", examples=[INTENT_ID])
    url: str = Field(description="Its page", examples=[f"https://intents.example/intent/{INTENT_ID}"])
    as_of: datetime | None = Field(
        description="When it was learned, if the service fails now. Null if it is current",
        examples=[None, "2026-11-21T11:59:30Z"],
    )
    outcome: str | None = Field(
        description=f"How it ended, or `open`: {one_of(Outcome)}. Null if unknown", examples=["delivered"]
    )
    summary: ApiSummary = Field(description="What happened, where the funds are, and what to do next")
    sent: ApiAmount = Field(description="What the owner sent, or is to send", examples=[SENT])
    received: ApiAmount = Field(description="What the recipient received, or is to receive")
    refunded: ApiAmount | None = Field(description="What was refunded", examples=[None])
    owner: str | None = Field(description="Address of the owner", examples=[ADDRESS])
    recipient: str | None = Field(description="Address of the recipient", examples=[ADDRESS])
    providers: tuple[str, ...] = Field(description="Route providers, as the service names them", examples=[["CCTP"]])
    created_at: datetime | None = Field(description="When it was quoted", examples=["2026-11-21T11:40:09.677003Z"])
    started_at: datetime | None = Field(description="When it was started", examples=["2026-11-21T11:40:54.677003Z"])
    finished_at: datetime | None = Field(description="When it ended", examples=["2026-11-21T11:58:12.677003Z"])
    expires_at: datetime | None = Field(description="When its quote expires", examples=["2026-11-21T11:45:09.677003Z"])


class ApiTransfer(ApiListedTransfer):
    """A transfer with its timeline, and how it compares with its quote."""

    comparison: ApiComparison = Field(description="How it compares with its quote")
    steps: tuple[ApiStep, ...] = Field(description="Its timeline")


class ApiTransfers(ApiModel):
    """A page of the history. `next` and `previous` are the URLs of other pages, null if there is none."""

    transfers: tuple[ApiListedTransfer, ...] = Field(description="The transfers of this page, in order")
    next: str | None = Field(
        description="URL of the next page, null on the last one",
        examples=["https://intents.example/api/v1/transfers?cursor=eyJwYWdl"],
    )
    previous: str | None = Field(
        description="URL of the previous page, null on the first one",
        examples=[None, "https://intents.example/api/v1/transfers?cursor=eyJiZWZv"],
    )
    unreadable: int = Field(
        description="Transfers of this page that could not be read and are missing here", examples=[0]
    )


class ApiIdentifier(ApiModel):
    """An identifier that was found in the text."""

    value: str = Field(description="The identifier", examples=[INTENT_ID])
    kind: str = Field(description=f"What it is: {one_of(Kind)}", examples=["hash"])
    warning: str | None = Field(description="Why it may not be what was meant", examples=[None, TYPO])


class ApiMatch(ApiModel):
    """A transfer that matches. `reasons` are the fields that do."""

    reasons: tuple[str, ...] = Field(description="The fields in which it matches", examples=[["intent ID"]])
    warnings: tuple[str, ...] = Field(
        description="Why it may not be the right transfer: it has no such transaction, or that wasn't checked",
        examples=[[]],
    )
    transfer: ApiListedTransfer = Field(description="The transfer")


class ApiCandidate(ApiModel):
    """A transfer that the text may be about."""

    why: str = Field(description="What matches and what differs", examples=["Amount and token match. Time differs."])
    transfer: ApiListedTransfer = Field(description="The transfer")


class ApiCandidates(ApiModel):
    """Transfers that a text may be about, for agents. Check with the customer before you reply about one."""

    searched: str = Field(
        description="What was searched, or why nothing was", examples=["Searched the local copy of the history."]
    )
    count: int = Field(description="How many there are", examples=[1])
    shown: tuple[ApiCandidate, ...] = Field(description="The likeliest, at most 10")


CANDIDATES = "What the text may be about, if it tells of a transfer without naming it"


class ApiLookup(ApiModel):
    """What a text is about. If it isn't complete, a search failed, and there may be more matches."""

    identifiers: tuple[ApiIdentifier, ...] = Field(description="The identifiers in the text")
    matches: tuple[ApiMatch, ...] = Field(description="The transfers that match, at most 50")
    is_complete: bool = Field(description="Whether all searches succeeded", examples=[True])
    may_be_more: bool = Field(description="Whether there may be more matches", examples=[False])
    candidates: ApiCandidates | None = Field(description=CANDIDATES)


class FieldProblem(ApiModel):
    """A value of the request that is invalid."""

    field: str = Field(description="Name of the parameter or field", examples=["size"])
    problem: str = Field(description="What is wrong, and what to send", examples=["Enter a number from 1 to 100."])


class Problem(ApiModel):
    """Why a request has no answer (RFC 9457)."""

    type: str = Field(description="Always `about:blank`: see `status`", examples=["about:blank"])
    title: str = Field(description="The status code in words", examples=["Not Found"])
    status: int = Field(description="The status code", examples=[404])
    detail: str = Field(description="What failed", examples=["Transfer not found. There is none with this intent ID."])
    what_to_do: str = Field(description="What to do next", examples=["Check that the intent ID is complete."])
    request_id: str | None = Field(
        description="Request ID, by which an administrator finds the log entry", examples=["3f9a0c1d2e4b"]
    )
    retry_after: int | None = Field(
        description="Seconds to wait before trying again, if that can help", examples=[None, 2]
    )
    fields: tuple[FieldProblem, ...] = Field((), description="The values that are invalid", examples=[[]])


class ApiReply(ApiModel):
    """A reply to the owner, as text that can be sent unedited: what happened, where the funds are, what follows."""

    intent_id: str = Field(description="The transfer's intent ID", examples=[INTENT_ID])
    url: str = Field(description="The transfer's page", examples=[f"https://intents.example/intent/{INTENT_ID}"])
    plain: str = Field(description="Plain text", examples=["Your transfer was delivered.\n…"])


class ApiRole(ApiModel):
    """A role of an address."""

    role: str = Field(description="`Owner`, `Deposit address`, `Destination intent address`", examples=["Owner"])
    transfers: int | None = Field(description="In this role. Null if the lookup failed", examples=[37])
    may_be_more: bool = Field(description="Whether `transfers` is a minimum", examples=[False])


class ApiAddress(ApiModel):
    """What is known of an address. If it isn't complete, a lookup failed, and there may be more."""

    address: str = Field(description="In its canonical form", examples=[ADDRESS])
    url: str = Field(description="Its page", examples=[f"https://intents.example/address/{ADDRESS}"])
    warning: str | None = Field(description="Why it may not be what was meant", examples=[None, TYPO])
    roles: tuple[ApiRole, ...] = Field(description="All roles, the owner first")
    open: tuple[ApiListedTransfer, ...] = Field(description="Its open transfers as owner", examples=[[]])
    recoverable: tuple[ApiListedTransfer, ...] = Field(
        description="Its transfers as owner with recoverable balances", examples=[[]]
    )
    transfers: str = Field(
        description="URL of its history as owner",
        examples=[f"https://intents.example/api/v1/transfers?owner={ADDRESS}"],
    )
    is_complete: bool = Field(description="Whether all lookups succeeded", examples=[True])


class ApiTicketRow(ApiModel):
    """What is known of one identifier of a ticket."""

    number: int = Field(description="Place in the ticket, from 1", examples=[1])
    value: str = Field(description="The identifier", examples=[INTENT_ID])
    kind: str = Field(description="What it is", examples=["intent ID"])
    outcome: str = Field(
        description="`found`, `token`, `nothing`, `unknown`, `unclear`, `failed`, `possible`", examples=["found"]
    )
    headline: str = Field(description="The answer in a few words", examples=["Delivered"])
    details: tuple[str, ...] = Field(description="The answer in sentences", examples=[["The funds arrived on Base."]])
    notes: tuple[str, ...] = Field(description="What was not looked up, and other limits", examples=[[]])
    next_step: str | None = Field(description="What to do next", examples=["No action needed."])
    same_as: int | None = Field(description="Number of the row with the same transfer", examples=[None, 1])
    link: str | None = Field(description="The page with more", examples=[f"https://intents.example/intent/{INTENT_ID}"])
    transfers: tuple[ApiListedTransfer, ...] = Field(description="The transfers that it is about")
    is_complete: bool = Field(description="Whether all lookups succeeded", examples=[True])


class ApiTriage(ApiModel):
    """What is known of the identifiers in a ticket, in their order."""

    rows: tuple[ApiTicketRow, ...] = Field(description="One for each identifier")
    summary: str = Field(description="All of them in a sentence", examples=["1 identifier resolved: 1 found."])
    notes: tuple[str, ...] = Field(description="What of the text was changed or not read", examples=[[]])
    candidates: ApiCandidates | None = Field(description=CANDIDATES)


class ApiChain(ApiModel):
    """A chain that the service lists."""

    chain_id: int = Field(description="The chain's ID", examples=[8453])
    name: str = Field(description="The chain's name", examples=["Base"])
    url: str = Field(description="Its page", examples=["https://intents.example/chain/8453"])
    network: str = Field(description=one_of(Network), examples=["mainnet"])
    native_symbol: str = Field(description="Symbol of its native token", examples=["ETH"])
    native_decimals: int | None = Field(description="Decimals of its native token", examples=[18])
    bridges: bool | None = Field(description="Whether the service bridges to and from it", examples=[True])
    explorer: str | None = Field(description="URL of its block explorer", examples=["https://basescan.org"])


class ApiChains(ApiModel):
    """All chains that the service lists, in its order."""

    chains: tuple[ApiChain, ...] = Field(description="The chains")
    unreadable: int = Field(description="Chains that could not be read and are missing here", examples=[0])


class ApiListedToken(ApiToken):
    """A token that the service lists."""

    name: str = Field(description="The token's name, as it names itself", examples=["USD Coin"])
    standing: str = Field(description="How far the service vouches for it", examples=["Featured"])
    url: str | None = Field(
        description="Its page, if it has one",
        examples=["https://intents.example/token/8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"],
    )
    usd: str | None = Field(description="Price in US dollars", examples=["0.9998"])


class ApiTokens(ApiModel):
    """Tokens that match, the best first. `next` is the URL of more."""

    tokens: tuple[ApiListedToken, ...] = Field(description="The tokens, at most 100")
    total: int = Field(description="How many match", examples=[412])
    next: str | None = Field(
        description="URL of the next page, null on the last one",
        examples=["https://intents.example/api/v1/tokens?q=USDC&after=100"],
    )
    failed_chains: tuple[int, ...] = Field(description="Chains whose tokens could not be loaded", examples=[[]])


class ApiRouteChain(ApiModel):
    """Tokens of a chain with a route. `all` is the URL that lists all of them, if some are missing here."""

    chain_id: int = Field(description="The chain's ID", examples=[42161])
    chain: str = Field(description="The chain's name", examples=["Arbitrum One"])
    count: int = Field(description="How many tokens have a route", examples=[31])
    tokens: tuple[ApiToken, ...] = Field(description="The first of them")
    all: str | None = Field(
        description="URL that lists all of them, null if they are all here",
        examples=[None, "https://intents.example/api/v1/routes?from=8453&token=USDC&to=42161"],
    )


class ApiRouteCheck(ApiModel):
    """What one operation of the service says of a route."""

    operation: str = Field(description="Name of the operation", examples=["GetExactInputRoutes"])
    purpose: str = Field(description="What it is for", examples=["to spend an exact amount"])
    verdict: str = Field(description=one_of(Verdict), examples=["listed"])


class ApiRoutes(ApiModel):
    """Routes from a token, those to one, or whether there is one between two. A listed route isn't guaranteed."""

    headline: str = Field(description="The answer in a sentence", examples=["31 tokens on 4 chains reachable"])
    explanation: str = Field(description="What it can't mean", examples=["Request a quote to confirm a route."])
    chains: tuple[ApiRouteChain, ...] = Field(description="Tokens by chain. Empty for a route between two tokens")
    checks: tuple[ApiRouteCheck, ...] = Field(description="For a route between two tokens")
    unreadable: int = Field(description="Tokens that could not be read and are missing here", examples=[0])
