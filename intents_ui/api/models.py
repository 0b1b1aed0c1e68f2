"""What the API answers. OpenAPI describes these models, and they serialize the answers.

Names of fields are in camelCase. Amounts are text in base units, with the decimals beside them. Times are RFC 3339 in
UTC. What is unknown is null. New values can appear at any time, so a program must accept values that it doesn't
know.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from django.http import HttpResponse
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from intents_ui.catalog.chains import Network
from intents_ui.catalog.routes import Verdict
from intents_ui.formatting import times
from intents_ui.formatting.text import UNKNOWN, exact
from intents_ui.search.identifiers import Kind
from intents_ui.service.outcome import Outcome
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


def about(description: str, *examples: Any) -> Any:
    """Return a field of an answer, with what the documents of the API say of it."""
    return Field(description=description, examples=list(examples) or None)


def optional(description: str, *examples: Any, alias: str | None = None) -> Any:
    """Return a parameter of a request that can be left out."""
    return Field(None, alias=alias, description=description, examples=list(examples) or None)


class ApiModel(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid", from_attributes=True
    )

    @classmethod
    def of(cls, found: object, **others: Any) -> Self:
        """Return the answer about what was found: its attributes of the same names, and the `others`."""
        return cls(**{name: getattr(found, name) for name in cls.model_fields if name not in others}, **others)

    def response(self) -> HttpResponse:
        body = self.model_dump_json(by_alias=True)
        return HttpResponse(body, content_type="application/json", headers={"Cache-Control": "private, no-cache"})


# Words, null if there are none, and those with every digit of their amounts. Not `type` statements, which would be
# schemas of their own.
Words = Annotated[str | None, BeforeValidator(lambda words: words or None)]
Exact = Annotated[str, BeforeValidator(exact)]
ExactOrNone = Annotated[str | None, BeforeValidator(lambda words: exact(words) or None)]
Time = Annotated[str | None, BeforeValidator(lambda at: (times.iso(at) if isinstance(at, datetime) else at) or None)]
Symbol = Annotated[str | None, BeforeValidator(lambda symbol: None if symbol == UNKNOWN else symbol)]


class TokenWarning(ApiModel):
    """Why a token may not be what it seems."""

    word: str = about("The warning in a word or two", "unlisted")
    reason: str = about("Its explanation", "Not on the service's token list. Check the contract address.")


class ApiToken(ApiModel):
    """A token on a chain. Anyone can give a token any symbol, so see `warnings`."""

    chain_id: int | None = about("ID of its chain", 8453)
    chain: str = about("The chain's name", "Base")
    address: str | None = about("Contract address as received", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")
    symbol: Symbol = about("Its symbol, which its creator chose", "USDC")
    decimals: int | None = about("Decimal places of a unit", 6)
    warnings: tuple[TokenWarning, ...] = Field(
        description="Why it may not be what it seems. Empty for most tokens",
        examples=[[]],
        validation_alias=AliasChoices("warnings", "marks"),
    )


class ApiAmount(ApiModel):
    """An amount of a token, exact. `amount` is null if the token's decimals are unknown."""

    base_units: Words = about("Whole number as text", "4994620234")
    amount: str | None = about("Decimal number as text", "4994.620234")
    token: ApiToken = about("The token")
    note: Words = about(
        "Why it wasn't seen to move: `expected`, `quoted`, `to send`, `unconfirmed`. Null if it was", None, "expected"
    )
    usd: str | None = about("Value in US dollars in the quote", "4994.620234")


class ApiSummary(ApiModel):
    """The answer that every page gives: what happened, where the funds are, what to do next, and how certain it is."""

    status: str = about("The status in a word", "Succeeded")
    headline: str = about("What happened, in a few words", "Delivered")
    sentence: str = about("What happened, in a sentence", "The funds arrived on Base.")
    location: str = about("Where the funds are", "In the recipient's wallet on Base: 4,994.62 USDC.")
    location_amount: Words = about("The amount there, rounded", "4,994.62 USDC")
    address: str | None = about("The address where the funds are", "0x5868817642DB7A3168EC74379014B98874e36874")
    next_step: str = about(
        "What to do next", "No action needed. If the wallet doesn't show the funds, switch it to Base."
    )
    who: str = about(f"Who acts next: {one_of(Actor)}", "owner")
    deadline: Time = about("Until when", None, "2026-11-21T12:05:00Z")
    certainty: str = about(f"How certain the location of the funds is: {one_of(Certainty)}", "confirmed")
    attention: str = about(f"What support should do: {one_of(Attention)}", "none")
    cause: Words = about(f"Why it needs attention: {one_of(Cause)}", None, "late")
    warn_second_deposit: bool = about("Whether to warn the owner not to deposit again", False, True)
    balances: str = about(f"Whether on-chain balances were checked: {one_of(Check)}", "checked")
    balances_checked_at: Time = about("When they were checked", "2026-11-21T12:00:01Z")
    on_chain: Words = about("What the on-chain balances show", "Both intent addresses are empty.")
    incident: str | None = about(
        "The known incident that the transfer is a part of", None, "Transfers by CCTP from Ethereum are delayed."
    )


class ApiTransaction(ApiModel):
    """The transaction of a step."""

    chain_id: int | None = about("ID of its chain", 8453)
    hash: str | None = about("Its hash", "0x4cfa6a0d71856523de9c4ef1c18180b5da2dc466b5b67b1e26a3a30f3ff84371")
    status: str | None = about("The service's word", "SUCCEEDED")
    link: str | None = about(
        "Its page at the chain's block explorer",
        "https://basescan.org/tx/0x4cfa6a0d71856523de9c4ef1c18180b5da2dc466b5b67b1e26a3a30f3ff84371",
    )


class ApiStep(ApiModel):
    """A step of the timeline."""

    name: str = about(f"Which step: {one_of(Name)}", "destination")
    state: str = about(f"How far it is: {one_of(StepState)}", "done")
    sentence: str = about("What happened, may be empty", "4,994.62 USDC delivered on Base.")
    at: datetime | None = about("When it was completed", "2026-11-21T11:58:12.677003Z")
    expected_at: datetime | None = about("When it is expected, if that is in the future", None, "2026-11-21T12:04:00Z")
    reason: str | None = about(
        "Why it failed, as the service reports it. Untrusted input",
        None,
        "precondition not met: balance 79712345 < 79800000",
    )
    transaction: ApiTransaction | None = about("Its transaction, if it has one")


class ApiComparisonRow(ApiModel):
    """A quoted figure and its actual value, with every digit."""

    label: str = about("The figure", "Received on Base")
    result: str = about(f"How they compare: {one_of(Result)}", "as-quoted")
    quoted: Exact = about("The quoted value, may be empty", "4,994.620234 USDC")
    limit: ExactOrNone = about("The limit in the quote", "min. 4,969.647132 USDC")
    actual: Exact = about("The actual value", "4,994.620234 USDC")
    difference: ExactOrNone = about("The difference in words", "as quoted, 24.973102 USDC above the minimum")


class ApiComparison(ApiModel):
    """How the result compares with the quote."""

    result: str = about("The result, in a word of the rows' results", "as-quoted")
    text: str = about("The result in a line", "Received 4,994.62 USDC · 17 min 18 s (estimate 19 min)")
    rows: tuple[ApiComparisonRow, ...] = about("The compared figures")


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

    intent_id: str = about("Its intent ID", INTENT_ID)
    url: str = about("Its page", f"https://intents.example/intent/{INTENT_ID}")
    as_of: datetime | None = about(
        "When it was learned, if the service fails now. Null if it is current", None, "2026-11-21T11:59:30Z"
    )
    outcome: str | None = about(f"How it ended, or `open`: {one_of(Outcome)}. Null if unknown", "delivered")
    summary: ApiSummary = about("What happened, where the funds are, and what to do next")
    sent: ApiAmount = about("What the owner sent, or is to send", SENT)
    received: ApiAmount = about("What the recipient received, or is to receive")
    refunded: ApiAmount | None = about("What was refunded", None)
    owner: str | None = about("Address of the owner", ADDRESS)
    recipient: str | None = about("Address of the recipient", ADDRESS)
    providers: tuple[str, ...] = about("Route providers, as the service names them", ["CCTP"])
    created_at: datetime | None = about("When it was quoted", "2026-11-21T11:40:09.677003Z")
    started_at: datetime | None = about("When it was started", "2026-11-21T11:40:54.677003Z")
    finished_at: datetime | None = about("When it ended", "2026-11-21T11:58:12.677003Z")
    expires_at: datetime | None = about("When its quote expires", "2026-11-21T11:45:09.677003Z")


class ApiTransfer(ApiListedTransfer):
    """A transfer with its timeline, and how it compares with its quote."""

    comparison: ApiComparison = about("How it compares with its quote")
    steps: tuple[ApiStep, ...] = about("Its timeline")


class ApiTransfers(ApiModel):
    """A page of the history. `next` and `previous` are the URLs of other pages, null if there is none."""

    transfers: tuple[ApiListedTransfer, ...] = about("The transfers of this page, in order")
    next: str | None = about(
        "URL of the next page, null on the last one", "https://intents.example/api/v1/transfers?cursor=eyJwYWdl"
    )
    previous: str | None = about(
        "URL of the previous page, null on the first one. A cursor knows the 50 pages before it",
        None,
        "https://intents.example/api/v1/transfers?cursor=eyJiZWZv",
    )
    unreadable: int = about("Transfers of this page that could not be read and are missing here", 0)


class ApiIdentifier(ApiModel):
    """An identifier that was found in the text."""

    value: str = about("The identifier", INTENT_ID)
    kind: str = about(f"What it is: {one_of(Kind)}", "hash")
    warning: Words = about("Why it may not be what was meant", None, TYPO)


class ApiMatch(ApiModel):
    """A transfer that matches. `reasons` are the fields that do."""

    reasons: tuple[str, ...] = about("The fields in which it matches", ["intent ID"])
    warnings: tuple[str, ...] = about(
        "Why it may not be the right transfer: it has no such transaction, or that wasn't checked", []
    )
    transfer: ApiListedTransfer = about("The transfer")


class ApiCandidate(ApiModel):
    """A transfer that the text may be about."""

    why: str = about("What matches and what differs", "Amount and token match. Time differs.")
    transfer: ApiListedTransfer = about("The transfer")


class ApiCandidates(ApiModel):
    """Transfers that a text may be about, for agents. Check with the customer before you reply about one."""

    searched: str = about("What was searched, or why nothing was", "Searched the local copy of the history.")
    count: int = about("How many there are", 1)
    shown: tuple[ApiCandidate, ...] = about("The likeliest, at most 10")


CANDIDATES = "What the text may be about, if it tells of a transfer without naming it"


class ApiLookup(ApiModel):
    """What a text is about. If it isn't complete, a search failed, and there may be more matches."""

    identifiers: tuple[ApiIdentifier, ...] = about("The identifiers in the text")
    matches: tuple[ApiMatch, ...] = about("The transfers that match, at most 50")
    is_complete: bool = about("Whether all searches succeeded", True)
    may_be_more: bool = about("Whether there may be more matches", False)
    candidates: ApiCandidates | None = about(CANDIDATES)


class FieldProblem(ApiModel):
    """A value of the request that is invalid."""

    field: str = about("Name of the parameter or field", "size")
    problem: str = about("What is wrong, and what to send", "Enter a number from 1 to 100.")


class Problem(ApiModel):
    """Why a request has no answer (RFC 9457)."""

    type: str = about("Always `about:blank`: see `status`", "about:blank")
    title: str = about("The status code in words", "Not Found")
    status: int = about("The status code", 404)
    detail: str = about("What failed", "Transfer not found. There is none with this intent ID.")
    what_to_do: str = about("What to do next", "Check that the intent ID is complete.")
    request_id: str | None = about("Request ID, by which an administrator finds the log entry", "3f9a0c1d2e4b")
    retry_after: int | None = about("Seconds to wait before trying again, if that can help", None, 2)
    fields: tuple[FieldProblem, ...] = Field((), description="The values that are invalid", examples=[[]])


class ApiReply(ApiModel):
    """A reply to the owner, as text that can be sent unedited: what happened, where the funds are, what follows."""

    intent_id: str = about("The transfer's intent ID", INTENT_ID)
    url: str = about("The transfer's page", f"https://intents.example/intent/{INTENT_ID}")
    plain: str = about("Plain text", "Your transfer was delivered.\n…")


class ApiRole(ApiModel):
    """A role of an address."""

    role: str = about("`Owner`, `Deposit address`, `Destination intent address`", "Owner")
    transfers: int | None = about("In this role. Null if the lookup failed", 37)
    may_be_more: bool = about("Whether `transfers` is a minimum", False)


class ApiAddress(ApiModel):
    """What is known of an address. If it isn't complete, a lookup failed, and there may be more."""

    address: str = about("In its canonical form", ADDRESS)
    url: str = about("Its page", f"https://intents.example/address/{ADDRESS}")
    warning: Words = about("Why it may not be what was meant", None, TYPO)
    roles: tuple[ApiRole, ...] = about("All roles, the owner first")
    open: tuple[ApiListedTransfer, ...] = about("Its open transfers as owner", [])
    recoverable: tuple[ApiListedTransfer, ...] = about("Its transfers as owner with recoverable balances", [])
    transfers: str = about("URL of its history as owner", f"https://intents.example/api/v1/transfers?owner={ADDRESS}")
    is_complete: bool = about("Whether all lookups succeeded", True)


class ApiTicketRow(ApiModel):
    """What is known of one identifier of a ticket."""

    number: int = about("Place in the ticket, from 1", 1)
    value: str = about("The identifier", INTENT_ID)
    kind: str = about("What it is", "intent ID")
    outcome: str = about("`found`, `token`, `nothing`, `unknown`, `unclear`, `failed`, `possible`", "found")
    headline: str = about("The answer in a few words", "Delivered")
    details: tuple[str, ...] = about("The answer in sentences", ["The funds arrived on Base."])
    notes: tuple[str, ...] = about("What was not looked up, and other limits", [])
    next_step: Words = about("What to do next", "No action needed.")
    same_as: int | None = about("Number of the row with the same transfer", None, 1)
    link: str | None = about("The page with more", f"https://intents.example/intent/{INTENT_ID}")
    transfers: tuple[ApiListedTransfer, ...] = about("The transfers that it is about")
    is_complete: bool = about("Whether all lookups succeeded", True)


class ApiTriage(ApiModel):
    """What is known of the identifiers in a ticket, in their order."""

    rows: tuple[ApiTicketRow, ...] = about("One for each identifier")
    summary: str = about("All of them in a sentence", "1 identifier resolved: 1 found.")
    notes: tuple[str, ...] = about("What of the text was changed or not read", [])
    candidates: ApiCandidates | None = about(CANDIDATES)


class ApiChain(ApiModel):
    """A chain that the service lists."""

    chain_id: int = about("The chain's ID", 8453)
    name: str = about("The chain's name", "Base")
    url: str = about("Its page", "https://intents.example/chain/8453")
    network: str = about(one_of(Network), "mainnet")
    native_symbol: str = about("Symbol of its native token", "ETH")
    native_decimals: int | None = about("Decimals of its native token", 18)
    bridges: bool | None = about("Whether the service bridges to and from it", True)
    explorer: str | None = about("URL of its block explorer", "https://basescan.org")


class ApiChains(ApiModel):
    """All chains that the service lists, in its order."""

    chains: tuple[ApiChain, ...] = about("The chains")
    unreadable: int = about("Chains that could not be read and are missing here", 0)


class ApiListedToken(ApiToken):
    """A token that the service lists."""

    name: str = about("The token's name, as it names itself", "USD Coin")
    standing: str = about("How far the service vouches for it", "Featured")
    url: str | None = about(
        "Its page, if it has one", "https://intents.example/token/8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
    )
    usd: str | None = about("Price in US dollars", "0.9998")


class ApiTokens(ApiModel):
    """Tokens that match, the best first. `next` is the URL of more."""

    tokens: tuple[ApiListedToken, ...] = about("The tokens, at most 100")
    total: int = about("How many match", 412)
    next: str | None = about(
        "URL of the next page, null on the last one", "https://intents.example/api/v1/tokens?q=USDC&after=100"
    )
    failed_chains: tuple[int, ...] = about("Chains whose tokens could not be loaded", [])


class ApiRouteChain(ApiModel):
    """Tokens of a chain with a route. `all` is the URL that lists all of them, if some are missing here."""

    chain_id: int = about("The chain's ID", 42161)
    chain: str = about("The chain's name", "Arbitrum One")
    count: int = about("How many tokens have a route", 31)
    tokens: tuple[ApiToken, ...] = about("The first of them")
    all: str | None = about(
        "URL that lists all of them, null if they are all here",
        None,
        "https://intents.example/api/v1/routes?from=8453&token=USDC&to=42161",
    )


class ApiRouteCheck(ApiModel):
    """What one operation of the service says of a route."""

    operation: str = about("Name of the operation", "GetExactInputRoutes")
    purpose: str = about("What it is for", "to spend an exact amount")
    verdict: str = about(one_of(Verdict), "listed")


class ApiRoutes(ApiModel):
    """Routes from a token, those to one, or whether there is one between two. A listed route isn't guaranteed."""

    headline: str = about("The answer in a sentence", "31 tokens on 4 chains reachable")
    explanation: str = about("What it can't mean", "Request a quote to confirm a route.")
    chains: tuple[ApiRouteChain, ...] = about("Tokens by chain. Empty for a route between two tokens")
    checks: tuple[ApiRouteCheck, ...] = about("For a route between two tokens")
    unreadable: int = about("Tokens that could not be read and are missing here", 0)
