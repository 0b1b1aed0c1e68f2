"""From what somebody has to the intents that it belongs to: every key that it may be is asked at once.

Source: interface.md 4.1 and 4.3; domain.md 3.2 and section 7, rows 33 to 37.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Self

from intents_ui.service.answers import SearchAnswer
from intents_ui.service.client import BlockingOperations
from intents_ui.service.errors import Flaw, Invalid, NotFound, ServiceError, Unreadable
from intents_ui.service.together import together
from intents_ui.service.wire import Intent, IntentReceipt, TokenInfo

# The service may cut a search to its ten newest intents without saying so.
CAPPED_FROM = 10
# How many hits of an unverified search are looked at more closely.
MOST_VERIFIED = 3

LONG_AGO = datetime.min.replace(tzinfo=UTC)

INTENT_ID = "intent id"
TRANSACTION_HASH = "transaction hash"
OWNER = "owner"
DEPOSIT_ADDRESS = "deposit address on the origin chain"
DELIVERY_ADDRESS = "intent address on the destination chain"
WORDS = "text"
ADDRESS = (OWNER, DEPOSIT_ADDRESS, DELIVERY_ADDRESS)


@dataclass(frozen=True)
class Question:
    """`key` is what `value` was taken for. Together they are the reason of every hit that asking brings."""

    key: str
    value: str
    ask: Callable[[], Sequence[Intent]] = field(compare=False, repr=False)


class Hits(tuple[Intent, ...]):
    """What a search brought, but for its `unreadable` entries and for the older ones `beyond`."""

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
    reasons: tuple[Question, ...]

    @property
    def transaction_hash(self) -> str | None:
        """By which of its transactions it was found."""
        return next((reason.value for reason in self.reasons if reason.key == TRANSACTION_HASH), None)


@dataclass(frozen=True)
class Found:
    """Newest first. `failed` are the questions that got no answer: without hits, "nothing found" would be a guess."""

    hits: tuple[Hit, ...]
    answered: tuple[Question, ...]
    failed: tuple[tuple[Question, ServiceError], ...]
    may_be_capped: bool
    unreadable: int = 0  # entries of the answers
    beyond: int = 0  # older intents that were not read

    @property
    def count(self) -> int:
        return len(self.hits) + self.beyond

    @property
    def asked(self) -> tuple[Question, ...]:
        return (*self.answered, *(question for question, _ in self.failed))

    @property
    def values(self) -> frozenset[str]:
        return frozenset(question.value for question in self.asked)

    @property
    def only(self) -> Hit | None:
        """The one intent to which everything leads. Its own id leads to it, whatever else could not be asked."""
        if len(self.hits) != 1 or self.unreadable:
            return None
        certain = {reason.value for reason in self.hits[0].reasons if reason.key == INTENT_ID}
        return self.hits[0] if all(question.value in certain for question, _ in self.failed) else None

    @property
    def error(self) -> ServiceError | None:
        """What stood in the way, when it keeps us from saying that there is nothing."""
        return self.failed[0][1] if self.failed and not self.hits else None


def in_turn(*stages: Callable[[], Sequence[Question]]) -> Found:
    """The questions of a stage all at once; the next stage only if this one brought no hit, though it was answered."""
    answers: list[tuple[Question, Answer]] = []
    for stage in stages:
        newest = _asked(stage())
        answers += newest
        answered = [answer for _, answer in newest if not isinstance(answer, ServiceError)]
        if any(answered) or (newest and not answered):
            break
    return _found(answers)


def as_any(service: BlockingOperations, keys: Iterable[str], value: str) -> tuple[Question, ...]:
    """A question for each key that the value may be."""
    return tuple(Question(key, value, partial(ASK[key], service, value)) for key in keys)


def as_address(service: BlockingOperations, value: str) -> tuple[Question, ...]:
    return as_any(service, ADDRESS, value)


def by_key(service: BlockingOperations, called: str, **criterion: str | int) -> tuple[Question, ...]:
    """One criterion, which readers know as `called`."""
    (value,) = criterion.values()
    return (Question(called, str(value), lambda: _search(service, **criterion)),)


def by_keys(service: BlockingOperations, **criteria: str | int) -> tuple[Question, ...]:
    """Several criteria of one search; the service takes them together."""
    return (Question("all the keys together", "", lambda: _search(service, **criteria)),)


def tokens_among(service: BlockingOperations, chain_ids: Sequence[int], addresses: Sequence[str]) -> frozenset[str]:
    """Which of the addresses are known tokens of these chains; one that cannot be asked about is none."""
    if not chain_ids or not addresses:
        return frozenset()
    lists = together(*(_tokens_at(service, chain_ids, address) for address in addresses))
    return frozenset(
        address
        for address, listed in zip(addresses, lists, strict=True)
        if not isinstance(listed, ServiceError) and address.lower() in listed
    )


def tokens_at(service: BlockingOperations, chain_ids: Sequence[int], address: str) -> tuple[TokenInfo, ...]:
    """The known tokens that have this address, one for each chain; none where that cannot be asked."""
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
        # "Nothing found" would be a guess.
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
    """Deposits have a key of their own in the usage examples. A service without it may answer with anything."""
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
    """Which of the receipt's transactions has this hash: `deposit`, `origin`, `destination` or `refund`."""
    legs = {
        "deposit": receipt.deposit_transaction,
        "origin": receipt.origin_transaction,
        "destination": receipt.destination_transaction,
        "refund": receipt.refund_transaction,
    }
    wanted = txn_hash.lower()
    return next((leg for leg, sent in legs.items() if sent and (sent.txn_hash or "").lower() == wanted), None)


def _asked(questions: Sequence[Question]) -> list[tuple[Question, Answer]]:
    return list(zip(questions, together(*(question.ask for question in questions)), strict=True))


def _found(answers: Iterable[tuple[Question, Answer]]) -> Found:
    intents: dict[str, Intent] = {}
    reasons: dict[str, dict[Question, None]] = {}
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
    return Found(
        hits=tuple(sorted(hits, key=lambda hit: hit.intent.created_at or LONG_AGO, reverse=True)),
        answered=tuple(question for question, _ in answered),
        failed=tuple(failed),
        may_be_capped=any(len(answer) == CAPPED_FROM for _, answer in answered),
        unreadable=sum(unreadable_in(answer) for _, answer in answered),
        # Of several keys' older intents nobody knows which are the same.
        beyond=max((beyond_in(answer) for _, answer in answered), default=0),
    )
