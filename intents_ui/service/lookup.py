"""From what somebody has to the intents that it belongs to: every key that it may be is asked at once.

Source: interface.md 4.1 and 4.3; domain.md 3.2 and section 7, rows 33 to 37.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound, ServiceError
from intents_ui.service.together import together
from intents_ui.service.wire import Intent, IntentReceipt

# The service may cut a search to its ten newest intents without saying so.
CAPPED_FROM = 10
# How many hits of an unverified search are looked at more closely.
MOST_VERIFIED = 3

LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Question:
    """`key` is what the value was taken for; it is the reason of every hit that it brings."""

    key: str
    ask: Callable[[], Sequence[Intent]]


@dataclass(frozen=True)
class Hit:
    intent: Intent
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """Newest first. `failed` are the questions that got no answer: without hits, "nothing found" would be a guess."""

    hits: tuple[Hit, ...]
    asked: tuple[str, ...]
    failed: tuple[tuple[str, ServiceError], ...]
    may_be_capped: bool

    @property
    def error(self) -> ServiceError | None:
        """What stood in the way, when it keeps us from saying that there is nothing."""
        return self.failed[0][1] if self.failed and not self.hits else None


def by_id(service: ServiceClient, value: str) -> Found:
    return _found(Question("intent id", lambda: _intent(service, value)))


def by_hash(service: ServiceClient, value: str) -> Found:
    """64 hex digits alone: an intent id or a transaction hash."""
    return _found(
        Question("intent id", lambda: _intent(service, value)),
        Question("transaction hash", lambda: _with_transaction(service, value)),
    )


def by_transaction(service: ServiceClient, value: str) -> Found:
    return _found(Question("transaction hash", lambda: _with_transaction(service, value)))


def by_address(service: ServiceClient, value: str) -> Found:
    return _found(
        Question("owner", lambda: service.search_intents(by_owner_address=value).intents),
        Question(
            "deposit address on the origin chain",
            lambda: service.search_intents(by_origin_intent_address=value).intents,
        ),
        Question(
            "intent address on the destination chain",
            lambda: service.search_intents(by_destination_intent_address=value).intents,
        ),
    )


def by_words(service: ServiceClient, value: str) -> Found:
    return _found(Question("text", lambda: service.search_intents(by_query_string=value).intents))


def by_keys(service: ServiceClient, **criteria: str | int) -> Found:
    """Several criteria of one search; the service takes them together."""
    return _found(Question("the keys given", lambda: service.search_intents(**criteria).intents))  # type: ignore[arg-type]


def _intent(service: ServiceClient, value: str) -> list[Intent]:
    try:
        return [service.get_intent(value)]
    except NotFound:
        return []


def _with_transaction(service: ServiceClient, value: str) -> Sequence[Intent]:
    found = service.search_intents(by_transaction_hash=value).intents
    return found or _with_deposit(service, value)


def _with_deposit(service: ServiceClient, value: str) -> list[Intent]:
    """Deposits have a key of their own in the usage examples. A service without it may answer with anything."""
    found = service.search_intents(by_deposit_transaction_hash=value).intents[:MOST_VERIFIED]
    return [intent for intent in found if _has_deposit(service, intent, value)]


def _has_deposit(service: ServiceClient, intent: Intent, value: str) -> bool:
    try:
        receipt = service.get_intent_receipt(intent.intent_id)
    except NotFound:
        return False
    return leg_of(receipt, value) == "deposit"


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


def _found(*questions: Question) -> Found:
    answers = together(*(question.ask for question in questions))
    intents: dict[str, Intent] = {}
    reasons: dict[str, list[str]] = {}
    failed = []
    for question, answer in zip(questions, answers, strict=True):
        if isinstance(answer, ServiceError):
            failed.append((question.key, answer))
            continue
        for intent in answer:
            intents.setdefault(intent.intent_id.lower(), intent)
            reasons.setdefault(intent.intent_id.lower(), []).append(question.key)
    hits = [Hit(intent, tuple(dict.fromkeys(reasons[key]))) for key, intent in intents.items()]
    return Found(
        hits=tuple(sorted(hits, key=lambda hit: hit.intent.created_at or LONG_AGO, reverse=True)),
        asked=tuple(question.key for question in questions),
        failed=tuple(failed),
        may_be_capped=any(not isinstance(answer, ServiceError) and len(answer) == CAPPED_FROM for answer in answers),
    )
