"""Finds intents by any identifier, looking up every kind that it may be concurrently."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from intents_ui.service.client import BlockingOperations
from intents_ui.service.errors import Flaw, Invalid, NotFound, OutOfTime, ServiceError, Unreadable
from intents_ui.service.models import Intent, IntentReceipt, TokenInfo
from intents_ui.service.results import (
    ADDRESS,
    CAPPED_FROM,
    DELIVERY_ADDRESS,
    DEPOSIT_ADDRESS,
    INTENT_ID,
    OWNER,
    TRANSACTION_HASH,
    WORDS,
    Hit,
    Hits,
    LookupQuestion,
    LookupResult,
    beyond_in,
    doubt,
    unreadable_in,
)

# Number of unverified hits by deposit hash to check with a request each.
MOST_VERIFIED = 3
# Number of hits whose receipts are read, with a request each.
MOST_RECEIPTS = 8

LONG_AGO = datetime.min.replace(tzinfo=UTC)


type Answer = Sequence[Intent] | ServiceError


def in_turn(service: BlockingOperations, *stages: Callable[[], Sequence[LookupQuestion]]) -> LookupResult:
    """Run the lookups of a stage concurrently, and the next stage only if this one got responses but no hits."""
    answers: list[tuple[LookupQuestion, Answer]] = []
    for stage in stages:
        newest = _run(service, stage())
        answers += newest
        answered = [answer for _, answer in newest if not isinstance(answer, ServiceError)]
        if any(answered) or (newest and not answered):
            break
    return _checked(service, _merged(answers))


def as_any(service: BlockingOperations, keys: Iterable[str], value: str) -> tuple[LookupQuestion, ...]:
    """Return a lookup for each key that the value may be."""
    return tuple(
        LookupQuestion(key, value, partial(ASK[key], service, value), value if key == TRANSACTION_HASH else "")
        for key in keys
    )


def as_address(service: BlockingOperations, value: str) -> tuple[LookupQuestion, ...]:
    return as_any(service, ADDRESS, value)


def by_key(service: BlockingOperations, called: str, **criterion: str | int) -> tuple[LookupQuestion, ...]:
    """Return a lookup by one criterion, labeled `called`."""
    (value,) = criterion.values()
    return (LookupQuestion(called, str(value), lambda: _search(service, **criterion), _hash_in(criterion)),)


def by_keys(service: BlockingOperations, **criteria: str | int) -> tuple[LookupQuestion, ...]:
    """Return one lookup by several criteria, which the service combines."""
    return (LookupQuestion("all fields together", "", lambda: _search(service, **criteria), _hash_in(criteria)),)


def _hash_in(criteria: Mapping[str, str | int]) -> str:
    return str(criteria.get("by_transaction_hash") or criteria.get("by_deposit_transaction_hash") or "")


def tokens_among(service: BlockingOperations, chain_ids: Sequence[int], addresses: Sequence[str]) -> frozenset[str]:
    """Return which addresses are known tokens on these chains. Addresses whose lookup fails are left out."""
    lists = service.threads.together(*(partial(tokens_at, service, chain_ids, address) for address in addresses))
    found = zip(addresses, lists, strict=True)
    return frozenset(address for address, listed in found if listed and not isinstance(listed, ServiceError))


def tokens_at(service: BlockingOperations, chain_ids: Sequence[int], address: str) -> tuple[TokenInfo, ...]:
    """Return the known tokens with this address, one for each chain, or none if the lookup fails."""
    try:
        listed = service.get_token_list(chain_ids, token_address=address).tokens if chain_ids else ()
    except ServiceError:
        return ()
    return tuple(token for token in listed if (token.address or "").lower() == address.lower())


def _search(service: BlockingOperations, **criteria: str | int) -> Sequence[Intent]:
    try:
        answer = service.search_intents(**criteria)  # type: ignore[arg-type]
    except NotFound:
        return ()
    if answer.unreadable_entries and not answer.intents:
        # An empty result would claim that there are no matches.
        error = Unreadable.because(Flaw.WRONG_SHAPE)
        error.operation = "SearchIntents"
        raise error
    return Hits.of(answer)


def _intent(service: BlockingOperations, value: str) -> Sequence[Intent]:
    try:
        return (service.get_intent(value),)
    except NotFound:
        return ()


def _with_deposit(service: BlockingOperations, value: str) -> Sequence[Intent]:
    """Search by deposit hash and verify each hit, because a service that ignores this criterion can return anything."""
    try:
        found = _search(service, by_deposit_transaction_hash=value)[:MOST_VERIFIED]
    except Invalid:
        return ()
    return [intent for intent in found if _has_deposit(service, intent, value)]


def _has_deposit(service: BlockingOperations, intent: Intent, value: str) -> bool:
    try:
        receipt = service.get_intent_receipt(intent.intent_id)
    except NotFound:
        return False
    return receipt.step_of(value) == "deposit"


ASK: Mapping[str, Callable[[BlockingOperations, str], Sequence[Intent]]] = {
    INTENT_ID: _intent,
    TRANSACTION_HASH: lambda service, value: (
        _search(service, by_transaction_hash=value) or _with_deposit(service, value)
    ),
    OWNER: lambda service, value: _search(service, by_owner_address=value),
    DEPOSIT_ADDRESS: lambda service, value: _search(service, by_origin_intent_address=value),
    DELIVERY_ADDRESS: lambda service, value: _search(service, by_destination_intent_address=value),
    WORDS: lambda service, value: _search(service, by_query_string=value),
}


def _run(service: BlockingOperations, questions: Sequence[LookupQuestion]) -> list[tuple[LookupQuestion, Answer]]:
    return list(zip(questions, service.threads.together(*(question.ask for question in questions)), strict=True))


def _merged(answers: Iterable[tuple[LookupQuestion, Answer]]) -> LookupResult:
    intents: dict[str, Intent] = {}
    reasons: dict[str, dict[LookupQuestion, None]] = {}
    answered = []
    failed = []
    for question, answer in answers:
        if isinstance(answer, ServiceError):
            failed.append((question, answer))
            continue
        answered.append((question, answer))
        for intent in answer:
            intents.setdefault(intent.intent_id.lower(), intent)
            reasons.setdefault(intent.intent_id.lower(), {})[question] = None
    hits = [Hit(intent, tuple(reasons[key])) for key, intent in intents.items()]
    return LookupResult(
        hits=tuple(sorted(hits, key=lambda hit: hit.intent.created_at or LONG_AGO, reverse=True)),
        answered=tuple(question for question, _ in answered),
        failed=tuple(failed),
        may_be_capped=any(len(answer) == CAPPED_FROM for _, answer in answered),
        unreadable=sum(unreadable_in(answer) for _, answer in answered),
        # The counts may overlap, so the largest one is a lower bound.
        beyond=max((beyond_in(answer) for _, answer in answered), default=0),
    )


def _checked(service: BlockingOperations, found: LookupResult) -> LookupResult:
    """Return the result with the doubts about hits by transaction hash. Their receipts are needed for them anyway."""
    named = [hit for hit in found.hits if hit.transaction_hashes]
    calls = (partial(service.get_intent_receipt, hit.intent.intent_id) for hit in named[:MOST_RECEIPTS])
    receipts: list[IntentReceipt | ServiceError] = service.threads.together(*calls)
    receipts += [OutOfTime()] * len(named[MOST_RECEIPTS:])
    by_id = {hit.intent.intent_id: receipt for hit, receipt in zip(named, receipts, strict=True)}
    return replace(found, hits=tuple(_doubted(hit, by_id.get(hit.intent.intent_id)) for hit in found.hits))


def _doubted(hit: Hit, receipt: IntentReceipt | ServiceError | None) -> Hit:
    doubts = (doubt(each, hit.intent.intent_id, receipt) for each in hit.transaction_hashes)
    return replace(hit, doubts=tuple(filter(None, doubts)))
