"""Reads of several calls: intents by any identifier, looking up every kind that it may be concurrently, and lists.

Cursors belong to the service and are sent back unchanged. The way back is by the cursors of the previous pages, which a
position remembers. Cursors name a row, so rows that were added since don't shift these pages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import Invalid, NotFound, OutOfTime, ServiceError, Unreadable
from intents_ui.service.executor import FairExecutor
from intents_ui.service.models import (
    EARLIEST,
    End,
    HistoryAnswer,
    Intent,
    IntentHistory,
    IntentReceipt,
    Page,
    SearchAnswer,
    TokenInfo,
)
from intents_ui.service.operations import MINUTE, ServiceCall
from intents_ui.service.results import (
    CAPPED_FROM,
    DELIVERY_ADDRESS,
    DEPOSIT_ADDRESS,
    INTENT_ID,
    OWNER,
    TRANSACTION_HASH,
    WORDS,
    Hit,
    LookupQuestion,
    LookupResult,
    doubt,
)

MAX_EARLIER = 50  # pages whose cursors a position remembers
MAX_ROWS = 500  # rows per page, whatever page size was requested
ASCENDING = "ASC"

type Ask = Callable[[Page], HistoryAnswer]


class Client(Protocol):
    """The service's client, or what checks something before each of its calls."""

    threads: FairExecutor

    def ask[T](self, call: ServiceCall[T]) -> T: ...


@dataclass(frozen=True)
class Position:
    """Position in a list: the page's number and cursor (None for the first page), and those of the pages before it."""

    cursor: Page | None = None
    earlier: tuple[Page | None, ...] = ()
    number: int = 1

    def onward(self, cursor: Page) -> Self:
        return type(self)(cursor, (*self.earlier, self.cursor)[-MAX_EARLIER:], self.number + 1)

    @property
    def previous(self) -> Self | None:
        return type(self)(self.earlier[-1], self.earlier[:-1], self.number - 1) if self.earlier else None

    def has_been_at(self, page: Page) -> bool:
        been = (self.cursor, *self.earlier)
        return any(each is not None and each.cursor == page.cursor for each in been)


@dataclass(frozen=True)
class ListPage:
    """One page of a list, with the position of the next one. `end` says why none follows."""

    entries: Sequence[IntentHistory]
    following: Position | None
    end: End | None
    unreadable: int


def list_page(ask: Ask, first: Page, *, at: Position) -> ListPage:
    """Return the page at a position. `first` holds the list's order and page size."""
    answer = ask(at.cursor or first)
    onward, entries = answer.following, _entries(answer, first)
    circles = onward is not None and at.has_been_at(onward)
    return ListPage(
        entries=entries[:MAX_ROWS],
        following=at.onward(onward) if onward and not circles else None,
        end=End.CIRCLES if circles else answer.end,
        unreadable=answer.unreadable_entries + len(entries[MAX_ROWS:]),
    )


def answers(ask: Ask, first: Page) -> Iterator[tuple[HistoryAnswer, End | None]]:
    """Yield each page of a list, with the reason for the end at the last one.

    Raises what `ask` raises.
    """
    cursors = set()
    page: Page | None = first
    while page is not None:
        answer = ask(page)
        page, end = answer.following, answer.end
        if page is not None and page.cursor in cursors:
            page, end = None, End.CIRCLES
        elif page is not None:
            cursors.add(page.cursor)
        yield answer, end


def walk(ask: Ask, first: Page) -> Iterator[tuple[tuple[IntentHistory, ...], End | None]]:
    """Yield each page's entries without duplicates, with the reason for the end at the last one.

    It remembers all IDs. Raises what `ask` raises.
    """
    seen: set[str] = set()
    for answer, end in answers(ask, first):
        fresh = [entry for entry in _entries(answer, first) if entry.intent_id.lower() not in seen]
        seen.update(entry.intent_id.lower() for entry in fresh)
        yield tuple(fresh), end


def _entries(answer: HistoryAnswer, first: Page) -> Sequence[IntentHistory]:
    """Return the page's entries without duplicates, latest version of each, sorted as requested.

    Not every service sorts them.
    """
    entries = list({entry.intent_id.lower(): entry for entry in answer.intents}.values())
    is_ascending = bool(first.sort) and (first.sort[0].order or "").upper() == ASCENDING
    entries.sort(key=lambda entry: entry.created_at or EARLIEST, reverse=not is_ascending)
    return tuple(entries)


MAX_VERIFIED = 3  # hits by deposit hash that are verified with a request each
MAX_RECEIPTS = 8  # hits whose receipts are read, with a request each
ROUTE_PAGE = Page.first(size=50)
CRITERIA = {
    TRANSACTION_HASH: "by_transaction_hash",
    OWNER: "by_owner_address",
    DEPOSIT_ADDRESS: "by_origin_intent_address",
    DELIVERY_ADDRESS: "by_destination_intent_address",
    WORDS: "by_query_string",
}


def newest_of_route(origin: int, destination: int, page: Page = ROUTE_PAGE) -> ServiceCall[HistoryAnswer]:
    return operations.get_intent_history(page=page, origin_chain_id=origin, destination_chain_id=destination)


def read_transfer(service: ServiceClient, intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """Return the intent, its receipt, and the error for the receipt. An intent that was never executed has neither.

    Raises the error for the intent itself.
    """
    intent, its_receipt = operations.get_intent(intent_id), operations.get_intent_receipt(intent_id)
    cached = service.cache.get(intent), service.cache.get(its_receipt)
    if all(entry and entry.is_fresh for entry in cached):  # needs no thread to wait in
        return service.ask(intent, max_age=MINUTE), service.ask(its_receipt, max_age=MINUTE), None
    calls: tuple[ServiceCall[Any], ...] = (intent, its_receipt)
    found, receipt = service.threads.together(*(partial(service.ask, call) for call in calls))
    if isinstance(found, ServiceError):
        raise found
    if isinstance(receipt, ServiceError):
        return found, None, None if isinstance(receipt, NotFound) else receipt
    return found, receipt, None


def in_turn(service: Client, *stages: Callable[[], Sequence[LookupQuestion]]) -> LookupResult:
    """Run the lookups of a stage concurrently, and the next stage only if this one got responses but no hits."""
    answered: list[tuple[LookupQuestion, SearchAnswer]] = []
    failed: list[tuple[LookupQuestion, ServiceError]] = []
    for stage in stages:
        questions = stage()
        found = service.threads.together(*(partial(answer_to, question, service=service) for question in questions))
        answers = [answer for answer in found if not isinstance(answer, ServiceError)]
        for question, answer in zip(questions, found, strict=True):
            if isinstance(answer, ServiceError):
                failed.append((question, answer))
            else:
                answered.append((question, answer))
        if any(answer.intents for answer in answers) or (questions and not answers):
            break
    return LookupResult(
        hits=_checked(service, _hits(answered)),
        answered=tuple(question for question, _ in answered),
        failed=tuple(failed),
        may_be_capped=any(len(answer.intents) == CAPPED_FROM for _, answer in answered),
        unreadable=sum(answer.unreadable_entries for _, answer in answered),
        # The counts may overlap, so the largest one is a lower bound.
        beyond=max((answer.beyond for _, answer in answered), default=0),
    )


def as_any(keys: Iterable[str], value: str) -> tuple[LookupQuestion, ...]:
    """Return a lookup for each key that the value may be."""
    return tuple(LookupQuestion(key, value, value if key == TRANSACTION_HASH else "") for key in keys)


def by_criteria(called: str, **criteria: str | int | None) -> tuple[LookupQuestion, ...]:
    """Return one lookup by these criteria, which the service combines, labeled `called`."""
    value = str(next(iter(criteria.values()))) if len(criteria) == 1 else ""
    txn_hash = criteria.get("by_transaction_hash") or criteria.get("by_deposit_transaction_hash") or ""
    return (LookupQuestion(called, value, str(txn_hash), criteria),)


def tokens_among(service: Client, chain_ids: Sequence[int], addresses: Sequence[str]) -> frozenset[str]:
    """Return which addresses are known tokens on these chains. Addresses whose lookup fails are left out."""
    lists = service.threads.together(*(partial(tokens_at, service, chain_ids, address) for address in addresses))
    found = zip(addresses, lists, strict=True)
    return frozenset(address for address, listed in found if listed and not isinstance(listed, ServiceError))


def tokens_at(service: Client, chain_ids: Sequence[int], address: str) -> tuple[TokenInfo, ...]:
    """Return the known tokens with this address, one for each chain, or none if the lookup fails."""
    try:
        listed = service.ask(operations.get_token_list(chain_ids, token_address=address)).tokens if chain_ids else ()
    except ServiceError:
        return ()
    return tuple(token for token in listed if (token.address or "").lower() == address.lower())


def answer_to(question: LookupQuestion, *, service: Client) -> SearchAnswer:
    """Run one lookup. Raises ServiceError."""
    value = question.value
    if question.key != INTENT_ID or question.criteria:
        found = _search(service, question.criteria or {CRITERIA[question.key]: value})
        is_deposit = question.key == TRANSACTION_HASH and not (question.criteria or found.intents)
        return _with_deposit(service, value) if is_deposit else found
    try:
        return SearchAnswer(intents=(service.ask(operations.get_intent(value)),))
    except NotFound:
        return SearchAnswer()


def _search(service: Client, criteria: Mapping[str, Any]) -> SearchAnswer:
    try:
        answer = service.ask(operations.search_intents(**criteria))
    except NotFound:
        return SearchAnswer()
    if answer.unreadable_entries and not answer.intents:
        # An empty result would claim that there are no matches.
        error = Unreadable()
        error.operation = "SearchIntents"
        raise error
    return answer


def _with_deposit(service: Client, value: str) -> SearchAnswer:
    """Search by deposit hash and verify each hit, because a service that ignores this criterion can return anything."""
    try:
        found = _search(service, {"by_deposit_transaction_hash": value}).intents[:MAX_VERIFIED]
    except Invalid:
        return SearchAnswer()
    return SearchAnswer(intents=tuple(intent for intent in found if _has_deposit(service, intent, value)))


def _has_deposit(service: Client, intent: Intent, value: str) -> bool:
    try:
        receipt = service.ask(operations.get_intent_receipt(intent.intent_id))
    except NotFound:
        return False
    return receipt.step_of(value) == "deposit"


def _hits(answered: Iterable[tuple[LookupQuestion, SearchAnswer]]) -> list[Hit]:
    """Return each intent once, with all its reasons, newest first."""
    hits: dict[str, Hit] = {}
    for question, answer in answered:
        for intent in answer.intents:
            known = hits.setdefault(intent.intent_id.lower(), Hit(intent, ()))
            if question not in known.reasons:
                hits[intent.intent_id.lower()] = replace(known, reasons=(*known.reasons, question))
    return sorted(hits.values(), key=lambda hit: hit.intent.created_at or EARLIEST, reverse=True)


def _checked(service: Client, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits with the doubts about those by transaction hash, whose receipts are needed for them anyway."""
    named = [hit.intent.intent_id for hit in hits if hit.transaction_hashes]
    calls = (partial(service.ask, operations.get_intent_receipt(each)) for each in named[:MAX_RECEIPTS])
    receipts: dict[str, IntentReceipt | ServiceError] = dict.fromkeys(named, OutOfTime())
    receipts.update(zip(named, service.threads.together(*calls), strict=False))
    checked = []
    for hit in hits:
        intent_id = hit.intent.intent_id
        doubts = (doubt(each, intent_id, receipts.get(intent_id)) for each in hit.transaction_hashes)
        checked.append(replace(hit, doubts=tuple(filter(None, doubts))))
    return tuple(checked)
