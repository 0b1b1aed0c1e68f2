"""Finds intents by any identifier, looking up every kind that it may be concurrently."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Self

from intents_ui.service.client import BlockingOperations
from intents_ui.service.context.concurrency import together
from intents_ui.service.errors import Flaw, Invalid, NotFound, ServiceError, Unreadable
from intents_ui.service.wire.models import Intent, IntentReceipt, TokenInfo
from intents_ui.service.wire.responses import SearchAnswer

# Number of hits that suggests a capped search. The service may return only the newest ten without saying so.
CAPPED_FROM = 10
# Number of unverified hits to check with a request each.
MOST_VERIFIED = 3

LONG_AGO = datetime.min.replace(tzinfo=UTC)

INTENT_ID = "intent ID"
TRANSACTION_HASH = "transaction hash"
OWNER = "owner"
DEPOSIT_ADDRESS = "deposit address"
DELIVERY_ADDRESS = "destination intent address"
WORDS = "text"
ADDRESS = (OWNER, DEPOSIT_ADDRESS, DELIVERY_ADDRESS)


@dataclass(frozen=True)
class LookupQuestion:
    """One lookup: `value` interpreted as the identifier `key`. It is also the reason shown for its hits."""

    key: str
    value: str
    ask: Callable[[], Sequence[Intent]] = field(compare=False, repr=False)


class Hits(tuple[Intent, ...]):
    """Intents that a search returned, with the number of `unreadable` entries and of older ones `beyond` them."""

    unreadable = 0
    beyond = 0

    @classmethod
    def of(cls, answer: SearchAnswer) -> Self:
        hits = cls(answer.intents)
        hits.unreadable, hits.beyond = answer.unreadable_entries, answer.beyond
        return hits


def unreadable_in(answer: Sequence[Intent] | None) -> int:
    return answer.unreadable if isinstance(answer, Hits) else 0


def beyond_in(answer: Sequence[Intent] | None) -> int:
    return answer.beyond if isinstance(answer, Hits) else 0


type Answer = Sequence[Intent] | ServiceError


@dataclass(frozen=True)
class Hit:
    intent: Intent
    reasons: tuple[LookupQuestion, ...]

    @property
    def transaction_hash(self) -> str | None:
        """The transaction hash by which the intent was found, or None."""
        return next((reason.value for reason in self.reasons if reason.key == TRANSACTION_HASH), None)


@dataclass(frozen=True)
class LookupResult:
    """Result of all lookups, newest intent first.

    `failed` are the lookups without a response. If there are any and no hits, "nothing found" would be a guess.
    """

    hits: tuple[Hit, ...]
    answered: tuple[LookupQuestion, ...]
    failed: tuple[tuple[LookupQuestion, ServiceError], ...]
    may_be_capped: bool
    unreadable: int = 0  # entries that couldn't be parsed
    beyond: int = 0  # older intents that were not read

    @property
    def count(self) -> int:
        return len(self.hits) + self.beyond

    @property
    def asked(self) -> tuple[LookupQuestion, ...]:
        return (*self.answered, *(question for question, _ in self.failed))

    @property
    def values(self) -> frozenset[str]:
        return frozenset(question.value for question in self.asked)

    @property
    def only(self) -> Hit | None:
        """The only match, or None. A match by intent ID is certain even if other lookups failed."""
        if len(self.hits) != 1 or self.unreadable:
            return None
        certain = {reason.value for reason in self.hits[0].reasons if reason.key == INTENT_ID}
        return self.hits[0] if all(question.value in certain for question, _ in self.failed) else None

    @property
    def error(self) -> ServiceError | None:
        """The error to show, if failed lookups leave open whether there are matches."""
        return self.failed[0][1] if self.failed and not self.hits else None


def in_turn(*stages: Callable[[], Sequence[LookupQuestion]]) -> LookupResult:
    """Run the lookups of a stage concurrently, and the next stage only if this one got responses but no hits."""
    answers: list[tuple[LookupQuestion, Answer]] = []
    for stage in stages:
        newest = _run(stage())
        answers += newest
        answered = [answer for _, answer in newest if not isinstance(answer, ServiceError)]
        if any(answered) or (newest and not answered):
            break
    return _merged(answers)


def as_any(service: BlockingOperations, keys: Iterable[str], value: str) -> tuple[LookupQuestion, ...]:
    """Return a lookup for each key that the value may be."""
    return tuple(LookupQuestion(key, value, partial(ASK[key], service, value)) for key in keys)


def as_address(service: BlockingOperations, value: str) -> tuple[LookupQuestion, ...]:
    return as_any(service, ADDRESS, value)


def by_key(service: BlockingOperations, called: str, **criterion: str | int) -> tuple[LookupQuestion, ...]:
    """Return a lookup by one criterion, labeled `called`."""
    (value,) = criterion.values()
    return (LookupQuestion(called, str(value), lambda: _search(service, **criterion)),)


def by_keys(service: BlockingOperations, **criteria: str | int) -> tuple[LookupQuestion, ...]:
    """Return one lookup by several criteria, which the service combines."""
    return (LookupQuestion("all fields together", "", lambda: _search(service, **criteria)),)


def tokens_among(service: BlockingOperations, chain_ids: Sequence[int], addresses: Sequence[str]) -> frozenset[str]:
    """Return which addresses are known tokens on these chains. Addresses whose lookup fails are left out."""
    if not chain_ids or not addresses:
        return frozenset()
    lists = together(*(_tokens_at(service, chain_ids, address) for address in addresses))
    return frozenset(
        address
        for address, listed in zip(addresses, lists, strict=True)
        if not isinstance(listed, ServiceError) and address.lower() in listed
    )


def tokens_at(service: BlockingOperations, chain_ids: Sequence[int], address: str) -> tuple[TokenInfo, ...]:
    """Return the known tokens with this address, one for each chain, or none if the lookup fails."""
    try:
        listed = service.get_token_list(chain_ids, token_address=address).tokens if chain_ids else ()
    except ServiceError:
        return ()
    return tuple(token for token in listed if (token.address or "").lower() == address.lower())


def _tokens_at(service: BlockingOperations, chain_ids: Sequence[int], address: str) -> Callable[[], frozenset[str]]:
    def ask() -> frozenset[str]:
        listed = service.get_token_list(chain_ids, token_address=address).tokens
        return frozenset(token.address.lower() for token in listed if token.address)

    return ask


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


def _with_transaction(service: BlockingOperations, value: str) -> Sequence[Intent]:
    return _search(service, by_transaction_hash=value) or _with_deposit(service, value)


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
    return leg_of(receipt, value) == "deposit"


ASK: Mapping[str, Callable[[BlockingOperations, str], Sequence[Intent]]] = {
    INTENT_ID: _intent,
    TRANSACTION_HASH: _with_transaction,
    OWNER: lambda service, value: _search(service, by_owner_address=value),
    DEPOSIT_ADDRESS: lambda service, value: _search(service, by_origin_intent_address=value),
    DELIVERY_ADDRESS: lambda service, value: _search(service, by_destination_intent_address=value),
    WORDS: lambda service, value: _search(service, by_query_string=value),
}


def leg_of(receipt: IntentReceipt, txn_hash: str) -> str | None:
    """Return which of the receipt's transactions has this hash: `deposit`, `origin`, `destination` or `refund`."""
    legs = {
        "deposit": receipt.deposit_transaction,
        "origin": receipt.origin_transaction,
        "destination": receipt.destination_transaction,
        "refund": receipt.refund_transaction,
    }
    wanted = txn_hash.lower()
    return next((leg for leg, sent in legs.items() if sent and (sent.txn_hash or "").lower() == wanted), None)


def _run(questions: Sequence[LookupQuestion]) -> list[tuple[LookupQuestion, Answer]]:
    return list(zip(questions, together(*(question.ask for question in questions)), strict=True))


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
