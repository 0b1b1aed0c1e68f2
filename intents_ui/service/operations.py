"""The service's operations that the dashboard calls, each a function that returns a `ServiceCall`.

docs/contract.md describes them. QuoteIntent and ExecuteIntent are only sent by users, in the API console (`console`).

`ServiceClient` sends the calls, within the limits of their kinds (`POLICIES`). Any call can raise any `ServiceError`.
The docstrings name the errors with a specific meaning for the operation. Arguments that aren't given aren't sent.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum, auto
from functools import cache, cached_property
from heapq import nlargest
from typing import Any, NamedTuple, TypedDict, Unpack

from pydantic import SecretStr, alias_generators

from intents_ui.service import decode
from intents_ui.service.decode import BRAND_OF_INTERFACE, Brand, Verbatim
from intents_ui.service.errors import Reason, Unreadable
from intents_ui.service.fields import Model, read_timestamp
from intents_ui.service.models import (
    EARLIEST,
    ENDED,
    STOPPED,
    ChainsAnswer,
    CommitAnswer,
    HistoryAnswer,
    Intent,
    IntentAnswer,
    IntentHistory,
    IntentReceipt,
    IntentStatus,
    Page,
    PricesAnswer,
    ReceiptAnswer,
    SearchAnswer,
    TokensAnswer,
    TransactionStatus,
    WaitAnswer,
)

MEGABYTE = 2**20
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class Kind(StrEnum):
    """Kinds of calls. Where its response decides how long it may be shown, each case is a kind."""

    CHAINS = auto()
    TOKENS = auto()
    TOKEN_SEARCH = auto()  # also for the tokens that a route connects
    NO_ROUTES = auto()
    PRICES = auto()
    MOVING = auto()  # an open intent or its receipt
    ENDED_LATELY = auto()  # SUCCEEDED or REFUNDED within the last hour
    ENDED = auto()
    STOPPED_LATELY = auto()  # FAILED, ABORTED or INVALID within the last half hour, so a refund may follow
    STOPPED = auto()
    HISTORY = auto()
    OLDER_HISTORY = auto()  # a page after the first
    BALANCES = auto()
    SEARCH = auto()
    WAIT = auto()
    WRITE = auto()


class Policy(NamedTuple):
    """Limits of a call, and the ages up to which its response is shown.

    `total` and `read` (between two pieces of a response) are in seconds, `size` (of the decoded response) in bytes. A
    response is `fresh`, then shown while it is renewed up to the age `renewed`, then if the service fails up to `old`.
    Without ages it isn't cached.
    """

    total: float
    read: float
    size: int = MEGABYTE
    fresh: float = 0
    renewed: float = 0
    old: float = 0
    connect: float = 2


POLICIES: Mapping[Kind, Policy] = {
    Kind.CHAINS: Policy(5, 3, MEGABYTE, HOUR, DAY, 7 * DAY),
    Kind.TOKENS: Policy(5, 3, 8 * MEGABYTE, 15 * MINUTE, 6 * HOUR, 7 * DAY),
    Kind.TOKEN_SEARCH: Policy(5, 3, 8 * MEGABYTE, MINUTE, 5 * MINUTE, HOUR),
    Kind.NO_ROUTES: Policy(5, 3, 8 * MEGABYTE, 30, 30, 30),  # short, so that a new route shows up soon
    Kind.PRICES: Policy(5, 3, MEGABYTE, 90, 90, 90),
    Kind.MOVING: Policy(4, 3, MEGABYTE, 2, 10, DAY),
    Kind.ENDED_LATELY: Policy(4, 3, MEGABYTE, 10 * MINUTE, 7 * DAY, 30 * DAY),
    Kind.ENDED: Policy(4, 3, MEGABYTE, DAY, 7 * DAY, 30 * DAY),
    Kind.STOPPED_LATELY: Policy(4, 3, MEGABYTE, 5, HOUR, 30 * DAY),
    Kind.STOPPED: Policy(4, 3, MEGABYTE, 10 * MINUTE, HOUR, 30 * DAY),
    Kind.HISTORY: Policy(8, 5, 4 * MEGABYTE, 2, MINUTE, HOUR),
    Kind.OLDER_HISTORY: Policy(8, 5, 4 * MEGABYTE, 10, MINUTE, HOUR),
    # Amounts on screen must be current. The service queries chains before it responds, so the first byte can take as
    # long as the whole response.
    Kind.BALANCES: Policy(12, 12, 4 * MEGABYTE, 15, 15, 10 * MINUTE),
    Kind.SEARCH: Policy(8, 5, 16 * MEGABYTE, 5, 30, 10 * MINUTE),
    Kind.WAIT: Policy(40, 35),  # the service holds this call for about 28 s while nothing changes
    Kind.WRITE: Policy(20, 15),
}


def kind_of_intent(found: Intent | IntentReceipt) -> Kind:
    """Return the kind of an intent by its status. One with an unknown status may change at any moment."""
    age = datetime.now(UTC) - found.updated_at if found.updated_at else timedelta(0)
    if found.status in ENDED:
        return Kind.ENDED if age > timedelta(hours=1) else Kind.ENDED_LATELY
    if found.status in STOPPED:
        return Kind.STOPPED if age > timedelta(minutes=30) else Kind.STOPPED_LATELY
    return Kind.MOVING


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """Client configuration. Its repr masks the access key."""

    base_url: str
    access_key: SecretStr | None = None
    service_name: str = "Service"
    names: Brand = BRAND_OF_INTERFACE
    connections: int = 48
    connection_wait: float = 0.5
    held_calls: int = 64  # concurrent WaitIntentReceipt calls of an async client, on top of `connections`
    policies: Mapping[Kind, Policy] = field(default_factory=lambda: POLICIES, repr=False)

    @property
    def key(self) -> str:
        """The access key, or an empty string."""
        return self.access_key.get_secret_value() if self.access_key else ""

    def url(self, operation: str) -> str:
        return f"{self.base_url.rstrip('/')}/rpc/{self.service_name}/{operation}"


type CacheKey = tuple[str, bytes]

# Limit on parsed search results. Parsing one takes a thousand times as long as counting it, and no page shows as many.
MAX_HITS = 1000
STATUSES = frozenset(IntentStatus)
# Filters that a result can be checked against. The service searches its transactions and words by itself.
CHECKED_FIELDS = (
    "intent_id",
    "project_id",
    "owner_address",
    "origin_intent_address",
    "destination_intent_address",
    "origin_chain_id",
    "destination_chain_id",
)

VERBATIM = ("intent", "intent_receipt", "next_page")  # parts of responses that note their exact text, `raw`

to_camel = cache(alias_generators.to_camel)  # takes as long as everything else about a request


@dataclass(frozen=True, slots=True)
class Answer:
    """Response to parse: the document with the schema's field names, and its exact text."""

    document: Mapping[str, Any]
    text: str

    def as_a[W: Model](self, model: type[W]) -> W:
        found = model.model_validate(self.document)
        for name in VERBATIM:
            if part := getattr(found, name, None):
                is_only = len(self.document) == 1
                part.with_raw(decode.only_member(self.text) if is_only else decode.member(self.text, to_camel(name)))
        return found

    def as_history(self) -> HistoryAnswer:
        """Parse a history. An entry that is as in a recent list is the same object, and so is what was made of it."""
        listed = self.document.get("intents")
        if not isinstance(listed, list):
            return self.as_a(HistoryAnswer)
        entries = [_known_as(entry) or entry for entry in listed]
        found = replace(self, document={**self.document, "intents": entries}).as_a(HistoryAnswer)
        if len(found.intents) == len(listed):
            read = zip(listed, found.intents, strict=True)
            _known_entries.update({(entry.intent_id, len(before)): (before, entry) for before, entry in read})
            while len(_known_entries) > MAX_KNOWN:
                _known_entries.popitem(last=False)
        return found


def _about[T: Intent | IntentReceipt | CommitAnswer](found: T, intent_id: str) -> T:
    """Return an object of the intent. Raises Unreadable if it or a part of it belongs to another one."""
    found_ids = found.intent_ids if isinstance(found, IntentReceipt) else [found.intent_id]
    if any(each.lower() != intent_id.lower() for each in found_ids):
        raise Unreadable(reason=Reason.OTHER_INTENT)
    return found


# History entries as received and as parsed, by ID and number of fields: lists with and without balances differ in it.
# More entries than the lists of the overview have, which are read every ten seconds.
_known_entries: OrderedDict[tuple[object, int], tuple[object, IntentHistory]] = OrderedDict()
MAX_KNOWN = 500


def _known_as(entry: object) -> IntentHistory | None:
    key = (entry.get("intentId"), len(entry)) if isinstance(entry, dict) else None
    before, known = _known_entries.get(key, (None, None)) if key and isinstance(key[0], str) else (None, None)
    return known if before == entry else None


@dataclass(frozen=True, kw_only=True)
class ServiceCall[T]:
    """One request to the service.

    If it `is_read`, repeating it changes nothing, so identical calls can share a response. `kind_of` returns the kind
    of a response where it isn't the call's.
    """

    operation: str
    request: Mapping[str, Any] | Verbatim
    read: Callable[[Answer], T]
    kind: Kind
    is_read: bool = True
    kind_of: Callable[[T], Kind] | None = None

    @cached_property
    def written(self) -> bytes:
        """The request as JSON."""
        return decode.write(self.request)

    @cached_property
    def cache_key(self) -> CacheKey:
        """Operation and request, without anything about the user."""
        return self.operation, self.written


def search_intents(**criteria: str | int | None) -> ServiceCall[SearchAnswer]:
    """Search intents by a criterion, such as `by_owner_address`. The result is unpaged and unordered.

    The service may return only the newest ten, without quotes. Use `get_intent_history` for a complete list. Of more
    than MAX_HITS results the newest are parsed and the others counted.
    """

    def read(answer: Answer) -> SearchAnswer:
        listed = answer.document.get("intents")
        beyond = max(len(listed) - MAX_HITS, 0) if isinstance(listed, list) else 0
        if listed and beyond:
            answer = replace(answer, document={**answer.document, "intents": nlargest(MAX_HITS, listed, key=_created)})
        found = answer.as_a(SearchAnswer)
        found.notes["beyond"] = beyond
        return found.fitting(lambda intent: _meets(intent, wanted))

    request = _request(criteria)
    wanted = _wanted(request)
    return ServiceCall(operation="SearchIntents", request=request, read=read, kind=Kind.SEARCH)


def _created(hit: object) -> datetime:
    try:
        return (read_timestamp(hit.get("createdAt")) if isinstance(hit, Mapping) else None) or EARLIEST
    except ValueError:
        return EARLIEST


class HistoryFilters(TypedDict, total=False):
    by_project_id: int | None
    by_owner_address: str | None
    by_status: str | None
    by_statuses: Sequence[str]
    origin_chain_id: int | None
    destination_chain_id: int | None
    from_time: datetime | int | None
    to_time: datetime | int | None
    include_balances: bool
    only_recoverable: bool


def get_intent_history(*, page: Page | None = None, **filters: Unpack[HistoryFilters]) -> ServiceCall[HistoryAnswer]:
    """List intents with their receipts, one page at a time.

    Start with `Page.first()`, continue with `following` of the response. `by_statuses` takes precedence over
    `by_status`. `from_time` and `to_time` limit the creation time, inclusive, in Unix seconds. Balances make the call
    slow, because the service reads them from the chains.
    """

    def read(answer: Answer) -> HistoryAnswer:
        found = answer.as_history()
        found.notes["requested"] = page
        return found.fitting(meets)

    def meets(entry: IntentHistory) -> bool:
        if is_checkable and entry.status and entry.status not in statuses:
            return False
        return entry.receipt is None or _meets(entry.receipt, wanted)

    request = _request(filters)
    if "byStatuses" in request:
        request.pop("byStatus", None)
    statuses = frozenset(request.get("byStatuses") or filter(None, [request.get("byStatus")]))
    # The service replaces an unknown status with another, so results can't be checked against it.
    is_checkable = bool(statuses) and statuses <= STATUSES
    wanted = _wanted(request)
    if page:
        request = {"page": Verbatim(page.raw), **request}
    is_first = page is None or (page.before is None and page.after is None)
    kind = Kind.HISTORY if is_first else Kind.OLDER_HISTORY
    if not request.keys().isdisjoint({"includeBalances", "onlyRecoverable"}):
        kind = Kind.BALANCES
    return ServiceCall(operation="GetIntentHistory", request=request, read=read, kind=kind)


def get_intent(intent_id: str) -> ServiceCall[Intent]:
    """Get one intent with its quotes and its `raw` text. Raises NotFound."""
    return ServiceCall(
        operation="GetIntent",
        request={"intentId": intent_id},
        read=lambda answer: _about(answer.as_a(IntentAnswer).intent, intent_id),
        kind=Kind.MOVING,
        kind_of=kind_of_intent,
    )


def get_intent_receipt(intent_id: str) -> ServiceCall[IntentReceipt]:
    """Get a receipt with its `raw` text. Raises NotFound, also for an intent that was never executed."""
    return ServiceCall(
        operation="GetIntentReceipt",
        request={"intentId": intent_id},
        read=lambda answer: _about(answer.as_a(ReceiptAnswer).intent_receipt, intent_id),
        kind=Kind.MOVING,
        kind_of=kind_of_intent,
    )


def wait_intent_receipt(intent_id: str, *, last_receipt_states: Sequence[str] = ()) -> ServiceCall[WaitAnswer]:
    """Wait for a change after `last_receipt_states`. Returns on a change, when the intent is done, or after about 28 s.

    Raises Unreachable with Reason.TIMEOUT after 35 s without a response, which doesn't imply a change. The receipt has
    its `raw` text.
    """

    def read(answer: Answer) -> WaitAnswer:
        found = answer.as_a(WaitAnswer)
        _about(found.intent_receipt, intent_id)
        return found

    # States are positional, so one that couldn't be parsed is sent as UNKNOWN.
    states = [state or TransactionStatus.UNKNOWN for state in last_receipt_states]
    return ServiceCall(
        operation="WaitIntentReceipt",
        request=_request({"intent_id": intent_id, "last_receipt_states": states}),
        read=read,
        kind=Kind.WAIT,
    )


def commit_intent(intent: Intent) -> ServiceCall[str]:
    """Commit a quoted intent, sent back exactly as received, and return its ID.

    It must be executed within 10 minutes. Raises Invalid if the service finds it modified, Expired, WrongState if it is
    already committed, and ValueError for an intent without its `raw` text.
    """
    if not intent.raw:
        raise ValueError("only an intent that is still exactly as the service gave it can be committed")
    return ServiceCall(
        operation="CommitIntent",
        request={"intent": Verbatim(intent.raw)},
        read=lambda answer: _about(answer.as_a(CommitAnswer), intent.intent_id).intent_id,
        kind=Kind.WRITE,
        is_read=False,
    )


class TokenFilters(TypedDict, total=False):
    search_query: str | None
    limit: int | None
    token_address: str | None
    include_all_listed: bool
    include_external: bool
    exclude_tokens: Sequence[str]


def get_token_list(chain_ids: Sequence[int], **filters: Unpack[TokenFilters]) -> ServiceCall[TokensAnswer]:
    """List the featured tokens of these chains, or all listed ones. `limit` applies to each chain."""
    is_search = filters.get("search_query") or filters.get("token_address")
    request = {"chainIds": list(chain_ids), **_request(filters)}
    return _listing("GetTokenList", request, TokensAnswer, Kind.TOKEN_SEARCH if is_search else Kind.TOKENS)


def get_chains(*, route_provider: str | None = None) -> ServiceCall[ChainsAnswer]:
    """List the supported chains, or those of one route provider."""
    return _listing("GetChains", _request({"route_provider": route_provider}), ChainsAnswer, Kind.CHAINS)


def get_token_prices(tokens: Sequence[tuple[int, str]]) -> ServiceCall[PricesAnswer]:
    """Get the USD prices of tokens, given as pairs of chain ID and address."""
    request = {"tokens": [{"chainId": chain_id, "tokenAddress": address} for chain_id, address in tokens]}
    return _listing("GetTokenPrices", request, PricesAnswer, Kind.PRICES)


type RouteEnd = tuple[int | None, str | None]  # chain ID and token address
ANY = (None, None)


def get_exact_input_routes(origin: tuple[int, str], *, destination: RouteEnd = ANY) -> ServiceCall[TokensAnswer]:
    """List the tokens that a token can be sent as. An empty list doesn't prove that there is no route."""
    return _routes("GetExactInputRoutes", origin, destination)


def get_exact_output_routes(
    destination: tuple[int, str], *, origin: RouteEnd = ANY, owner_address: str | None = None
) -> ServiceCall[TokensAnswer]:
    """List the tokens that a token can be paid with, optionally only those that `owner_address` holds."""
    return _routes("GetExactOutputRoutes", origin, destination, owner_address)


def _routes(
    operation: str, origin: RouteEnd, destination: RouteEnd, owner_address: str | None = None
) -> ServiceCall[TokensAnswer]:
    names = ("origin_chain_id", "origin_token_address", "destination_chain_id", "destination_token_address")
    request = _request({**dict(zip(names, (*origin, *destination), strict=True)), "owner_address": owner_address})
    call = _listing(operation, request, TokensAnswer, Kind.TOKEN_SEARCH)
    return replace(call, kind_of=lambda found: Kind.TOKEN_SEARCH if found.tokens else Kind.NO_ROUTES)


def _listing[W: Model](operation: str, request: Mapping[str, Any], model: type[W], kind: Kind) -> ServiceCall[W]:
    return ServiceCall(operation=operation, request=request, read=lambda answer: answer.as_a(model), kind=kind)


def _request(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that say something, in one order, so that equal calls are the same request.

    Times become Unix seconds.
    """
    given = ((name, arguments[name]) for name in sorted(arguments))
    return {
        to_camel(name): int(value.timestamp()) if isinstance(value, datetime) else value
        for name, value in given
        if value not in (None, "", [], ()) and value is not False
    }


def _wanted(request: Mapping[str, Any]) -> dict[str, str]:
    """Return what the fields of a result must be, in lower case. A blank filter demands nothing."""
    given = {field: request.get(to_camel(f"by_{field}"), request.get(to_camel(field), "")) for field in CHECKED_FIELDS}
    return {field: text for field, value in given.items() if (text := str(value).strip().lower())}


def _meets(found: Model, wanted: Mapping[str, str]) -> bool:
    """Return whether no field of an object contradicts a filter. A missing field doesn't."""
    values = ((getattr(found, field), value) for field, value in wanted.items())
    return all(has is None or str(has).lower() == value for has, value in values)
