"""The service's thirteen operations, each defined once as a function that returns a `ServiceCall`.

Call them through `ServiceClient` and `AsyncServiceClient`, whose methods have the same names and arguments. Any call
can raise any `ServiceError`. The docstrings name the errors with a specific meaning for the operation. Arguments that
aren't given aren't sent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from intents_ui.service import decode
from intents_ui.service.config import CacheKind, Group, kind_of_intent
from intents_ui.service.decode import Verbatim
from intents_ui.service.errors import Flaw, Unreadable
from intents_ui.service.fields import Model, read_timestamp
from intents_ui.service.models import (
    ChainsAnswer,
    CommitAnswer,
    ExecuteAnswer,
    HistoryAnswer,
    Intent,
    IntentAnswer,
    IntentHistory,
    IntentReceipt,
    IntentStatus,
    Page,
    PricesAnswer,
    QuoteAnswer,
    QuoteIntentRequest,
    ReceiptAnswer,
    SearchAnswer,
    TokensAnswer,
    TransactionStatus,
    WaitAnswer,
)

type CacheKey = tuple[str, bytes]

# Limit on parsed search results. Parsing one takes a thousand times as long as counting it, and no page shows as many.
MOST_HITS = 1000
LONG_AGO = datetime.min.replace(tzinfo=UTC)
STATUSES = frozenset(IntentStatus)


@dataclass(frozen=True, slots=True)
class Answer:
    """Response to parse: the document with the schema's field names, and its exact text."""

    document: Mapping[str, Any]
    text: str

    def as_a[W: Model](self, model: type[W]) -> W:
        return model.model_validate(self.document)

    def with_raw[M: Model](self, member: str, found: M) -> M:
        """Note the exact text of a field in the object parsed from it. Return the object."""
        return found.with_raw(decode.member(self.text, member))


@dataclass(frozen=True, kw_only=True)
class ServiceCall[T]:
    """One request to the service.

    If `is_read`, repeating it changes nothing, so identical calls can share a response. `kind` returns a response's
    cache TTL class. None means that responses are not cached.
    """

    operation: str
    request: Mapping[str, Any] | Verbatim
    read: Callable[[Answer], T]
    group: Group
    is_read: bool = True
    kind: Callable[[T], CacheKind] | None = None

    @property
    def cache_key(self) -> CacheKey:
        """Operation and request, without anything about the user."""
        return self.operation, self.written

    @cached_property
    def written(self) -> bytes:
        """The request as JSON, serialized once per call object."""
        return decode.write(self.request)


def search_intents(
    *,
    by_intent_id: str | None = None,
    by_project_id: int | None = None,
    by_transaction_hash: str | None = None,
    by_deposit_transaction_hash: str | None = None,
    by_owner_address: str | None = None,
    by_origin_intent_address: str | None = None,
    by_destination_intent_address: str | None = None,
    by_query_string: str | None = None,
) -> ServiceCall[SearchAnswer]:
    """Search intents by one criterion. The result is unpaged and unordered, and empty if nothing matches.

    The service may return only the newest ten, without quotes. Use `get_intent_history` for a complete list. Of more
    than MOST_HITS results the newest are parsed and the others counted.
    """

    def read(answer: Answer) -> SearchAnswer:
        document, beyond = _newest(answer.document, MOST_HITS)
        found = replace(answer, document=document).as_a(SearchAnswer)
        found.derived["beyond"] = beyond
        return found.fitting(found.intents, lambda intent: _meets(intent, wanted))

    wanted = _present(
        intent_id=by_intent_id,
        project_id=by_project_id,
        owner_address=by_owner_address,
        origin_intent_address=by_origin_intent_address,
        destination_intent_address=by_destination_intent_address,
    )

    return ServiceCall(
        operation="SearchIntents",
        request=_present(
            byIntentId=by_intent_id,
            byProjectId=by_project_id,
            byTransactionHash=by_transaction_hash,
            byDepositTransactionHash=by_deposit_transaction_hash,
            byOwnerAddress=by_owner_address,
            byOriginIntentAddress=by_origin_intent_address,
            byDestinationIntentAddress=by_destination_intent_address,
            byQueryString=by_query_string,
        ),
        read=read,
        group=Group.SEARCH,
        kind=lambda found: CacheKind.SEARCH if found.intents else CacheKind.NO_HITS,
    )


def _newest(document: Mapping[str, Any], most: int) -> tuple[Mapping[str, Any], int]:
    """Return a search response reduced to its newest hits, and the number of hits removed."""
    listed = document.get("intents")
    if not isinstance(listed, list) or len(listed) <= most:
        return document, 0
    newest = sorted(listed, key=_created, reverse=True)[:most]
    return {**document, "intents": newest}, len(listed) - most


def _created(hit: object) -> datetime:
    try:
        return (read_timestamp(hit.get("createdAt")) if isinstance(hit, Mapping) else None) or LONG_AGO
    except ValueError:
        return LONG_AGO


def get_intent_history(
    *,
    page: Page | None = None,
    by_project_id: int | None = None,
    by_owner_address: str | None = None,
    by_status: str | None = None,
    by_statuses: Sequence[str] = (),
    origin_chain_id: int | None = None,
    destination_chain_id: int | None = None,
    from_time: datetime | int | None = None,
    to_time: datetime | int | None = None,
    include_balances: bool = False,
    only_recoverable: bool = False,
) -> ServiceCall[HistoryAnswer]:
    """List intents with their receipts, one page at a time.

    Start with `Page.first()`, continue with `following` of the response. `by_statuses` takes precedence over
    `by_status`. `from_time` and `to_time` limit the creation time, inclusive, in Unix seconds. Balances make the call
    slow, because the service reads them from the chains.
    """

    with_balances = include_balances or only_recoverable
    is_first = page is None or (page.before is None and page.after is None)

    def read(answer: Answer) -> HistoryAnswer:
        found = answer.as_a(HistoryAnswer)
        found.derived["requested"] = page
        if found.next_page:
            answer.with_raw("nextPage", found.next_page)
        return found.fitting(found.intents, meets)

    statuses = frozenset(by_statuses or ([by_status] if by_status else ()))
    # The service replaces an unknown status with another, so results can't be checked against it.
    is_told = statuses <= STATUSES

    wanted = _present(
        project_id=by_project_id,
        owner_address=by_owner_address,
        origin_chain_id=origin_chain_id,
        destination_chain_id=destination_chain_id,
    )

    def meets(entry: IntentHistory) -> bool:
        if statuses and is_told and entry.status and entry.status not in statuses:
            return False
        return not wanted or entry.receipt is None or _meets(entry.receipt, wanted)

    return ServiceCall(
        operation="GetIntentHistory",
        request=_present(
            page=_page_field(page),
            byProjectId=by_project_id,
            byOwnerAddress=by_owner_address,
            byStatus=None if by_statuses else by_status,
            byStatuses=list(by_statuses),
            originChainId=origin_chain_id,
            destinationChainId=destination_chain_id,
            fromTime=_unix_seconds(from_time),
            toTime=_unix_seconds(to_time),
            includeBalances=include_balances or None,
            onlyRecoverable=only_recoverable or None,
        ),
        read=read,
        group=Group.BALANCES if with_balances else Group.HISTORY,
        kind=lambda _: (
            CacheKind.BALANCES if with_balances else CacheKind.HISTORY if is_first else CacheKind.OLDER_HISTORY
        ),
    )


def get_intent(intent_id: str) -> ServiceCall[Intent]:
    """Get one intent with its quotes and its `raw` text. Raises NotFound."""

    def read(answer: Answer) -> Intent:
        intent = answer.as_a(IntentAnswer).intent
        _refuse_another(intent_id, intent.intent_id)
        return answer.with_raw("intent", intent)

    return ServiceCall(
        operation="GetIntent",
        request={"intentId": intent_id},
        read=read,
        group=Group.INTENT,
        kind=kind_of_intent,
    )


def get_intent_receipt(intent_id: str) -> ServiceCall[IntentReceipt]:
    """Get a receipt with its `raw` text. Raises NotFound, also for an intent that was never executed."""

    def read(answer: Answer) -> IntentReceipt:
        receipt = answer.as_a(ReceiptAnswer).intent_receipt
        _refuse_another_in(receipt, intent_id)
        return answer.with_raw("intentReceipt", receipt)

    return ServiceCall(
        operation="GetIntentReceipt",
        request={"intentId": intent_id},
        read=read,
        group=Group.INTENT,
        kind=kind_of_intent,
    )


def wait_intent_receipt(intent_id: str, *, last_receipt_states: Sequence[str] = ()) -> ServiceCall[WaitAnswer]:
    """Wait for a change after `last_receipt_states`. Returns on a change, when the intent is done, or after about 28 s.

    Raises Unreachable with Reason.TIMEOUT after 35 s without a response, which doesn't imply a change. The receipt has
    its `raw` text.
    """

    def read(answer: Answer) -> WaitAnswer:
        found = answer.as_a(WaitAnswer)
        _refuse_another_in(found.intent_receipt, intent_id)
        answer.with_raw("intentReceipt", found.intent_receipt)
        return found

    # States are positional, so one that couldn't be parsed is sent as UNKNOWN.
    states = [state or TransactionStatus.UNKNOWN for state in last_receipt_states]
    return ServiceCall(
        operation="WaitIntentReceipt",
        request=_present(intentId=intent_id, lastReceiptStates=states),
        read=read,
        group=Group.WAIT,
    )


def commit_intent(intent: Intent) -> ServiceCall[str]:
    """Commit an intent from `quote_intent`, sent back exactly as received, and return its ID.

    It must be executed within 10 minutes. Raises Invalid if the service finds it modified, Expired, WrongState if it is
    already committed, and ValueError for an intent without its `raw` text.
    """
    if not intent.raw:
        raise ValueError("only an intent that is still exactly as the service gave it can be committed")

    def read(answer: Answer) -> str:
        committed = answer.as_a(CommitAnswer).intent_id
        _refuse_another(intent.intent_id, committed)
        return committed

    return ServiceCall(
        operation="CommitIntent",
        request={"intent": Verbatim(intent.raw)},
        read=read,
        group=Group.WRITE,
        is_read=False,
    )


def get_token_list(
    chain_ids: Sequence[int],
    *,
    search_query: str | None = None,
    limit: int | None = None,
    token_address: str | None = None,
    include_all_listed: bool = False,
    include_external: bool = False,
    exclude_tokens: Sequence[str] = (),
) -> ServiceCall[TokensAnswer]:
    """List the featured tokens of these chains, or all listed ones. `limit` applies to each chain."""
    return ServiceCall(
        operation="GetTokenList",
        request={
            "chainIds": list(chain_ids),
            **_present(
                searchQuery=search_query,
                limit=limit,
                tokenAddress=token_address,
                includeAllListed=include_all_listed or None,
                includeExternal=include_external or None,
                excludeTokens=list(exclude_tokens),
            ),
        },
        read=lambda answer: answer.as_a(TokensAnswer),
        group=Group.TOKENS,
        kind=lambda _: CacheKind.TOKEN_SEARCH if search_query or token_address else CacheKind.TOKENS,
    )


def get_chains(*, route_provider: str | None = None) -> ServiceCall[ChainsAnswer]:
    """List the supported chains, or those of one route provider."""
    return ServiceCall(
        operation="GetChains",
        request=_present(routeProvider=route_provider),
        read=lambda answer: answer.as_a(ChainsAnswer),
        group=Group.REFERENCE,
        kind=lambda _: CacheKind.CHAINS,
    )


def get_exact_input_routes(
    origin_chain_id: int,
    origin_token_address: str,
    *,
    destination_chain_id: int | None = None,
    destination_token_address: str | None = None,
) -> ServiceCall[TokensAnswer]:
    """List the tokens that a token can be sent as. An empty list doesn't prove that there is no route."""
    return ServiceCall(
        operation="GetExactInputRoutes",
        request=_present(
            originChainId=origin_chain_id,
            originTokenAddress=origin_token_address,
            destinationChainId=destination_chain_id,
            destinationTokenAddress=destination_token_address,
        ),
        read=lambda answer: answer.as_a(TokensAnswer),
        group=Group.TOKENS,
        kind=_kind_of_routes,
    )


def get_exact_output_routes(
    destination_chain_id: int,
    destination_token_address: str,
    *,
    origin_chain_id: int | None = None,
    origin_token_address: str | None = None,
    owner_address: str | None = None,
) -> ServiceCall[TokensAnswer]:
    """List the tokens that a token can be paid with, optionally only those that `owner_address` holds."""
    return ServiceCall(
        operation="GetExactOutputRoutes",
        request=_present(
            destinationChainId=destination_chain_id,
            destinationTokenAddress=destination_token_address,
            originChainId=origin_chain_id,
            originTokenAddress=origin_token_address,
            ownerAddress=owner_address,
        ),
        read=lambda answer: answer.as_a(TokensAnswer),
        group=Group.TOKENS,
        kind=_kind_of_routes,
    )


def quote_intent(request: QuoteIntentRequest) -> ServiceCall[QuoteAnswer]:
    """Request a quote. Its intent has the `raw` text that `commit_intent` sends back."""

    def read(answer: Answer) -> QuoteAnswer:
        found = answer.as_a(QuoteAnswer)
        answer.with_raw("intent", found.intent)
        return found

    return ServiceCall(
        operation="QuoteIntent",
        request=request.model_dump(exclude_defaults=True),
        read=read,
        group=Group.WRITE,
        is_read=False,
    )


def execute_intent(
    intent_id: str,
    *,
    deposit_transaction_hash: str | None = None,
    deposit_signature: Mapping[str, Any] | None = None,
) -> ServiceCall[ExecuteAnswer]:
    """Execute a committed intent with its deposit's transaction hash, with a signature, or with neither.

    Raises Unreachable with code 2002 while the deposit isn't visible yet, and WrongState if the intent is already
    executing.
    """

    def read(answer: Answer) -> ExecuteAnswer:
        found = answer.as_a(ExecuteAnswer)
        _refuse_another(intent_id, found.intent_id)
        return found

    return ServiceCall(
        operation="ExecuteIntent",
        request=_present(
            intentId=intent_id, depositTransactionHash=deposit_transaction_hash, depositSignature=deposit_signature
        ),
        read=read,
        group=Group.WRITE,
        is_read=False,
    )


def get_token_prices(tokens: Sequence[tuple[int, str]]) -> ServiceCall[PricesAnswer]:
    """Get the USD prices of tokens, given as pairs of chain ID and address."""
    return ServiceCall(
        operation="GetTokenPrices",
        request={"tokens": [{"chainId": chain_id, "tokenAddress": address} for chain_id, address in tokens]},
        read=lambda answer: answer.as_a(PricesAnswer),
        group=Group.REFERENCE,
    )


def _kind_of_routes(found: TokensAnswer) -> CacheKind:
    return CacheKind.ROUTES if found.tokens else CacheKind.NO_ROUTES


def _present(**members: Any) -> dict[str, Any]:
    return {name: member for name, member in members.items() if member is not None and member not in ("", [])}


def _page_field(page: Page | None) -> Verbatim | None:
    """Return the page as received or, for one of ours, as written before."""
    if page and not page.raw:
        page.with_raw(decode.write(page.model_dump(exclude_defaults=True)).decode())
    return Verbatim(page.raw) if page else None


def _unix_seconds(moment: datetime | int | None) -> int | None:
    return int(moment.timestamp()) if isinstance(moment, datetime) else moment


def _meets(found: Model, wanted: Mapping[str, str | int]) -> bool:
    """Return whether no field of an object contradicts a filter. A blank filter and a missing field don't."""
    return all(_matches(value, getattr(found, name)) for name, value in wanted.items())


def _matches(wanted: str | int, found: str | int | None) -> bool:
    return found is None or str(wanted).strip().lower() in ("", str(found).lower())


def _refuse_another_in(receipt: IntentReceipt, asked: str) -> None:
    """Raise Unreadable if a receipt or a part of it belongs to another intent."""
    if receipt.other_intent(asked):
        raise Unreadable.because(Flaw.OTHER_INTENT)


def _refuse_another(asked: str, answered: str) -> None:
    if asked.lower() != answered.lower():
        raise Unreadable.because(Flaw.OTHER_INTENT)
