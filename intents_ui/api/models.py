"""What the API answers. OpenAPI describes these models, and they serialize the answers.

Names of fields are in camelCase. Amounts are text in base units, with the decimals beside them. Times are RFC 3339 in
UTC. What is unknown is null. Closed sets of words may get more of them, so a program must accept a word that it doesn't
know.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from intents_ui.display.quotes.comparison_status import Result
from intents_ui.display.summary.rules import Attention, Cause, Certainty, Who
from intents_ui.display.summary.timeline import Name, StepState
from intents_ui.service.wire.outcome import Outcome


def one_of(words: type[StrEnum]) -> str:
    """Return the words of a set, for a description."""
    return ", ".join(f"`{each}`" for each in words if each)


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


class TokenWarning(ApiModel):
    """Why a token may not be what it seems."""

    word: str = Field(examples=["unlisted"])
    reason: str = Field(examples=["Not on the service's token list. Check the contract address."])


class ApiToken(ApiModel):
    """A token on a chain. Anyone can give a token any symbol, so see `warnings`."""

    chain_id: int | None = Field(examples=[8453])
    chain: str = Field(description="The chain's name", examples=["Base"])
    address: str | None = Field(
        description="Contract address as received", examples=["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
    )
    symbol: str | None = Field(examples=["USDC"])
    decimals: int | None = Field(examples=[6])
    warnings: tuple[TokenWarning, ...]


class ApiAmount(ApiModel):
    """An amount of a token, exact. `amount` is null if the token's decimals are unknown."""

    base_units: str | None = Field(description="Whole number as text", examples=["99850000"])
    amount: str | None = Field(description="Decimal number as text", examples=["99.85"])
    token: ApiToken
    note: str | None = Field(
        description="Why it wasn't seen to move: `expected`, `quoted`, `to send`, `unconfirmed`. Null if it was",
        examples=["expected"],
    )
    usd: str | None = Field(description="Value in US dollars in the quote", examples=["99.83"])


class ApiSummary(ApiModel):
    """The answer that every page gives: what happened, where the funds are, what to do next, and how certain it is."""

    status: str = Field(examples=["Failed"])
    headline: str = Field(examples=["Failed, funds recoverable"])
    sentence: str
    location: str = Field(description="Where the funds are", examples=["At the deposit address: 79.71 USDC on Base."])
    location_amount: str | None = Field(examples=["79.71 USDC"])
    address: str | None = Field(description="The address where the funds are")
    next_step: str
    who: str = Field(description=f"Who acts next: {one_of(Who)}", examples=["owner"])
    deadline: str | None
    certainty: str = Field(description=one_of(Certainty), examples=["confirmed"])
    attention: str = Field(description=one_of(Attention), examples=["act"])
    cause: str | None = Field(description=f"Why it needs attention: {one_of(Cause)}")
    warn_second_deposit: bool = Field(description="Whether to warn the owner not to deposit again")
    balances: str = Field(description="Whether on-chain balances were checked", examples=["checked"])
    balances_checked_at: str | None
    on_chain: str | None
    incident: str | None = Field(description="The known incident that the transfer is a part of")


class ApiTransaction(ApiModel):
    """The transaction of a step."""

    chain_id: int | None = Field(examples=[8453])
    hash: str | None
    status: str | None = Field(description="The service's word", examples=["SUCCEEDED"])
    link: str | None = Field(description="Its page at the chain's block explorer")


class ApiStep(ApiModel):
    """A step of the timeline."""

    name: str = Field(description=one_of(Name), examples=["origin"])
    state: str = Field(description=one_of(StepState), examples=["done"])
    sentence: str
    at: datetime | None
    expected_at: datetime | None
    reason: str | None = Field(description="Why it failed, as the service reports it. Text of strangers")
    transaction: ApiTransaction | None


class ApiComparisonRow(ApiModel):
    """A quoted figure and its actual value, with every digit."""

    label: str = Field(examples=["Received on Base"])
    result: str = Field(description=one_of(Result), examples=["as-quoted"])
    quoted: str
    limit: str | None
    actual: str
    difference: str | None


class ApiComparison(ApiModel):
    """How the result compares with the quote."""

    result: str = Field(examples=["as-quoted"])
    text: str
    rows: tuple[ApiComparisonRow, ...]


class ApiListedTransfer(ApiModel):
    """A transfer in a list, with the same answer as its page."""

    intent_id: str
    url: str = Field(description="Its page")
    as_of: datetime | None = Field(description="When it was learned, if the service fails now. Null if it is current")
    outcome: str | None = Field(description=one_of(Outcome), examples=["delivered"])
    summary: ApiSummary
    sent: ApiAmount
    received: ApiAmount
    refunded: ApiAmount | None
    owner: str | None
    recipient: str | None
    providers: tuple[str, ...]
    created_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime | None


class ApiTransfer(ApiListedTransfer):
    """A transfer with its timeline, and how it compares with its quote."""

    comparison: ApiComparison
    steps: tuple[ApiStep, ...]


class ApiTransfers(ApiModel):
    """A page of the history. `next` and `previous` are the URLs of other pages, null if there is none."""

    transfers: tuple[ApiListedTransfer, ...]
    next: str | None
    previous: str | None
    unreadable: int = Field(description="Transfers of this page that could not be read and are missing here")


class ApiIdentifier(ApiModel):
    """An identifier that was found in the text."""

    value: str
    kind: str = Field(examples=["transaction"])
    warning: str | None


class ApiMatch(ApiModel):
    """A transfer that matches. `reasons` are the fields that do."""

    reasons: tuple[str, ...] = Field(examples=[("intent ID",)])
    transfer: ApiListedTransfer


class ApiLookup(ApiModel):
    """What a text is about. If it isn't complete, a search failed, and there may be more matches."""

    identifiers: tuple[ApiIdentifier, ...]
    matches: tuple[ApiMatch, ...]
    is_complete: bool
    may_be_more: bool


class FieldProblem(ApiModel):
    """A value of the request that is invalid."""

    field: str = Field(examples=["q"])
    problem: str


class Problem(ApiModel):
    """Why a request has no answer (RFC 9457)."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str
    what_to_do: str
    request_id: str | None
    retry_after: int | None = Field(description="Seconds")
    fields: tuple[FieldProblem, ...] = ()


class ApiReply(ApiModel):
    """A reply to the owner, as text that can be sent unedited. Its facts are those of the transfer's page."""

    intent_id: str = Field(description="The transfer's ID", examples=["0x…"])
    url: str = Field(description="The transfer's page", examples=["https://intents.example/intent/0x…"])
    plain: str = Field(description="Plain text", examples=["Your transfer of 25 USDC was delivered.…"])
    markdown: str = Field(description="Markdown", examples=["**Your transfer of 25 USDC was delivered.**…"])


class ApiRole(ApiModel):
    """A role of an address."""

    role: str = Field(description="`Owner`, `Deposit address`, `Destination intent address`", examples=["Owner"])
    transfers: int | None = Field(description="In this role. Null if the lookup failed", examples=[37])
    may_be_more: bool = Field(description="Whether `transfers` is a minimum", examples=[False])


class ApiAddress(ApiModel):
    """What is known of an address. If it isn't complete, a lookup failed, and there may be more."""

    address: str = Field(description="In its canonical form", examples=["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"])
    url: str = Field(description="Its page", examples=["https://intents.example/address/0x…"])
    warning: str | None = Field(description="Why it may not be what was meant", examples=[None])
    roles: tuple[ApiRole, ...] = Field(description="All roles, the owner first")
    open: tuple[ApiListedTransfer, ...] = Field(description="Its open transfers as owner")
    recoverable: tuple[ApiListedTransfer, ...] = Field(description="Its transfers as owner with recoverable balances")
    transfers: str = Field(
        description="URL of its history as owner", examples=["https://intents.example/api/v1/transfers?owner=0x…"]
    )
    is_complete: bool = Field(description="Whether all lookups succeeded", examples=[True])


class ApiTicketRow(ApiModel):
    """What is known of one identifier of a ticket."""

    number: int = Field(description="Place in the ticket, from 1", examples=[1])
    value: str = Field(description="The identifier", examples=["0x…"])
    kind: str = Field(description="What it is", examples=["intent ID"])
    outcome: str = Field(
        description="`found`, `token`, `nothing`, `unknown`, `unclear`, `failed`, `possible`", examples=["found"]
    )
    headline: str = Field(description="The answer in a few words", examples=["Delivered"])
    details: tuple[str, ...] = Field(description="The answer in sentences", examples=[("10 USDC on Base.",)])
    notes: tuple[str, ...] = Field(description="What was not looked up, and other limits", examples=[()])
    next_step: str | None = Field(description="What to do next", examples=["Nothing to do."])
    same_as: int | None = Field(description="Number of the row with the same transfer", examples=[None])
    link: str | None = Field(description="The page with more", examples=["https://intents.example/intent/0x…"])
    transfers: tuple[ApiListedTransfer, ...] = Field(description="The transfers that it is about")
    is_complete: bool = Field(description="Whether all lookups succeeded", examples=[True])


class ApiTriage(ApiModel):
    """What is known of the identifiers in a ticket, in their order."""

    rows: tuple[ApiTicketRow, ...] = Field(description="One for each identifier")
    summary: str = Field(description="All of them in a sentence", examples=["All 3 identifiers resolved: 3 found."])
    notes: tuple[str, ...] = Field(description="What of the text was changed or not read", examples=[()])
