"""Finds intents by any identifier, looking up every kind that it may be concurrently, and reads a transfer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from intents_ui.service import operations
from intents_ui.service.client import Client, ServiceClient
from intents_ui.service.context import executor
from intents_ui.service.errors import Invalid, NotFound, OutOfTime, ServiceError, Unreadable
from intents_ui.service.models import EARLIEST, HistoryAnswer, Intent, IntentReceipt, Page, SearchAnswer, TokenInfo
from intents_ui.service.operations import SearchCriteria, ServiceCall
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

# Number of unverified hits by deposit hash to check with a request each.
MOST_VERIFIED = 3
# Number of hits whose receipts are read, with a request each.
MOST_RECEIPTS = 8

ROUTE_PAGE = Page.first(size=50)

type Answer = SearchAnswer | ServiceError


def newest_of_route(origin: int, destination: int, page: Page = ROUTE_PAGE) -> ServiceCall[HistoryAnswer]:
    """Return the call for the newest transfers between two chains."""
    return operations.get_intent_history(page=page, origin_chain_id=origin, destination_chain_id=destination)


def read_transfer(service: ServiceClient, intent_id: str) -> tuple[Intent, IntentReceipt | None, ServiceError | None]:
    """Return the intent, its receipt, and the error for the receipt. An intent that was never executed has neither.

    Raises the error for the intent itself.
    """
    intent, its_receipt = operations.get_intent(intent_id), operations.get_intent_receipt(intent_id)
    # Cached responses need no thread to wait in.
    cached = service.cache.get(intent), service.cache.get(its_receipt)
    ask = executor.in_turn if all(entry and entry.is_fresh for entry in cached) else service.threads.both
    found, receipt = ask(lambda: service.ask(intent), lambda: service.ask(its_receipt))
    if isinstance(found, ServiceError):
        raise found
    if isinstance(receipt, ServiceError):
        return found, None, None if isinstance(receipt, NotFound) else receipt
    return found, receipt, None


def in_turn(service: Client, *stages: Callable[[], Sequence[LookupQuestion]]) -> LookupResult:
    """Run the lookups of a stage concurrently, and the next stage only if this one got responses but no hits."""
    answers: list[tuple[LookupQuestion, Answer]] = []
    for stage in stages:
        questions = stage()
        found = service.threads.together(*(question.ask for question in questions))
        newest: list[tuple[LookupQuestion, Answer]] = list(zip(questions, found, strict=True))
        answers += newest
        answered = [answer for _, answer in newest if not isinstance(answer, ServiceError)]
        if any(answer.intents for answer in answered) or (newest and not answered):
            break
    return _checked(service, _merged(answers))


def as_any(service: Client, keys: Iterable[str], value: str) -> tuple[LookupQuestion, ...]:
    """Return a lookup for each key that the value may be."""
    return tuple(
        LookupQuestion(key, value, partial(ASK[key], service, value), value if key == TRANSACTION_HASH else "")
        for key in keys
    )


def by_criteria(service: Client, called: str, **criteria: Unpack[SearchCriteria]) -> tuple[LookupQuestion, ...]:
    """Return one lookup by these criteria, which the service combines, labeled `called`."""
    value = str(next(iter(criteria.values()))) if len(criteria) == 1 else ""
    txn_hash = criteria.get("by_transaction_hash") or criteria.get("by_deposit_transaction_hash") or ""
    return (LookupQuestion(called, value, lambda: _search(service, **criteria), txn_hash),)


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


def _search(service: Client, **criteria: Unpack[SearchCriteria]) -> SearchAnswer:
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


def _intent(service: Client, value: str) -> SearchAnswer:
    try:
        return SearchAnswer(intents=(service.ask(operations.get_intent(value)),))
    except NotFound:
        return SearchAnswer()


def _with_transaction(service: Client, value: str) -> SearchAnswer:
    found = _search(service, by_transaction_hash=value)
    return found if found.intents else _with_deposit(service, value)


def _with_deposit(service: Client, value: str) -> SearchAnswer:
    """Search by deposit hash and verify each hit, because a service that ignores this criterion can return anything."""
    try:
        found = _search(service, by_deposit_transaction_hash=value).intents[:MOST_VERIFIED]
    except Invalid:
        return SearchAnswer()
    return SearchAnswer(intents=tuple(intent for intent in found if _has_deposit(service, intent, value)))


def _has_deposit(service: Client, intent: Intent, value: str) -> bool:
    try:
        receipt = service.ask(operations.get_intent_receipt(intent.intent_id))
    except NotFound:
        return False
    return receipt.step_of(value) == "deposit"


ASK: Mapping[str, Callable[[Client, str], SearchAnswer]] = {
    INTENT_ID: _intent,
    TRANSACTION_HASH: _with_transaction,
    OWNER: lambda service, value: _search(service, by_owner_address=value),
    DEPOSIT_ADDRESS: lambda service, value: _search(service, by_origin_intent_address=value),
    DELIVERY_ADDRESS: lambda service, value: _search(service, by_destination_intent_address=value),
    WORDS: lambda service, value: _search(service, by_query_string=value),
}


def _merged(answers: Sequence[tuple[LookupQuestion, Answer]]) -> LookupResult:
    answered = [(question, answer) for question, answer in answers if isinstance(answer, SearchAnswer)]
    found = [answer for _, answer in answered]
    intents: dict[str, Intent] = {}
    reasons: dict[str, list[LookupQuestion]] = {}
    for question, answer in answered:
        for intent in answer.intents:
            intents.setdefault(intent.intent_id.lower(), intent)
            reasons.setdefault(intent.intent_id.lower(), []).append(question)
    hits = [Hit(intent, tuple(dict.fromkeys(reasons[key]))) for key, intent in intents.items()]
    return LookupResult(
        hits=tuple(sorted(hits, key=lambda hit: hit.intent.created_at or EARLIEST, reverse=True)),
        answered=tuple(question for question, _ in answered),
        failed=tuple((question, answer) for question, answer in answers if isinstance(answer, ServiceError)),
        may_be_capped=any(len(answer.intents) == CAPPED_FROM for answer in found),
        unreadable=sum(answer.unreadable_entries for answer in found),
        # The counts may overlap, so the largest one is a lower bound.
        beyond=max((answer.beyond for answer in found), default=0),
    )


def _checked(service: Client, found: LookupResult) -> LookupResult:
    """Return the result with the doubts about hits by transaction hash. Their receipts are needed for them anyway."""
    named = [hit for hit in found.hits if hit.transaction_hashes]
    wanted = (operations.get_intent_receipt(hit.intent.intent_id) for hit in named[:MOST_RECEIPTS])
    calls = (partial(service.ask, each) for each in wanted)
    receipts: list[IntentReceipt | ServiceError] = service.threads.together(*calls)
    receipts += [OutOfTime()] * len(named[MOST_RECEIPTS:])
    by_id = {hit.intent.intent_id: receipt for hit, receipt in zip(named, receipts, strict=True)}
    hits = []
    for hit in found.hits:
        receipt = by_id.get(hit.intent.intent_id)
        doubts = (doubt(each, hit.intent.intent_id, receipt) for each in hit.transaction_hashes)
        hits.append(replace(hit, doubts=tuple(filter(None, doubts))))
    return replace(found, hits=tuple(hits))
