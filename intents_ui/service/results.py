"""What the service library returns besides the API's own objects: plain data, which the display puts into words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum, auto
from typing import Any

from intents_ui.service.errors import NotFound, ServiceError
from intents_ui.service.models import ChainInfo, Intent, IntentReceipt, TokenInfo

# Number of hits that suggests a capped search. The service may return only the newest ten without saying so.
CAPPED_FROM = 10

# Search keys.
INTENT_ID = "intent ID"
TRANSACTION_HASH = "transaction hash"
OWNER = "owner"
DEPOSIT_ADDRESS = "deposit address"
DELIVERY_ADDRESS = "destination intent address"
WORDS = "text"
ADDRESS = (OWNER, DEPOSIT_ADDRESS, DELIVERY_ADDRESS)


@dataclass(frozen=True)
class LookupQuestion:
    """One lookup: `value` interpreted as the identifier `key`. It is also the reason shown for its hits.

    One of the transactions of each hit should have the `transaction_hash`, unless it is "". With `criteria`, it
    searches by these, and `key` is their label.
    """

    key: str
    value: str
    transaction_hash: str = ""
    criteria: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Doubt:
    """A transaction hash by which a transfer was found although none of its transactions has it.

    If it isn't `checked`, the receipt couldn't be read.
    """

    transaction_hash: str
    intent_id: str
    checked: bool = True


def doubt(txn_hash: str, intent_id: str, receipt: IntentReceipt | ServiceError | None) -> Doubt | None:
    """Return the doubt about a transfer that was found by a transaction hash, or None if its receipt confirms it."""
    if isinstance(receipt, IntentReceipt):
        return None if receipt.step_of(txn_hash) else Doubt(txn_hash, intent_id)
    return Doubt(txn_hash, intent_id, checked=receipt is None or isinstance(receipt, NotFound))


@dataclass(frozen=True)
class Hit:
    intent: Intent
    reasons: tuple[LookupQuestion, ...]
    doubts: tuple[Doubt, ...] = ()

    @property
    def transaction_hashes(self) -> tuple[str, ...]:
        """The transaction hashes by which the intent was found. Its own ID may have been looked up as one, too."""
        own = self.intent.intent_id.lower()
        hashes = (reason.transaction_hash for reason in self.reasons)
        return tuple(each for each in hashes if each and each.lower() != own)


@dataclass(frozen=True)
class LookupResult:
    """Result of all lookups, newest intent first.

    `failed` are the lookups without a response. If there are any and no hits, "nothing found" would be a guess.
    """

    hits: tuple[Hit, ...] = ()
    answered: tuple[LookupQuestion, ...] = ()
    failed: tuple[tuple[LookupQuestion, ServiceError], ...] = ()
    may_be_capped: bool = False
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


@dataclass(frozen=True, slots=True)
class Price:
    """USD per whole token, None if the service has no price. `at` is the price's time, None if unknown."""

    usd: Decimal | None
    at: datetime | None = None


NO_PRICE = Price(None)


class ServiceState(StrEnum):
    """What the calls so far show about the service."""

    UNKNOWN = auto()  # no call yet
    UP = auto()
    DEGRADED = auto()  # the last call failed, or the breaker is open
    RATE_LIMITED = auto()  # it sent a Retry-After
    UNAUTHORIZED = auto()  # it rejects our key


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """Health of the service.

    Times are in seconds ago, None for "never" or "not now". `typical` is the median response time.
    """

    state: ServiceState
    answered: float | None
    failed: float | None
    degraded_for: float | None
    typical: float | None
    is_open: bool  # whether the circuit breaker rejects calls


class Names:
    """Names of chains and tokens. This class has none: chains show as IDs and amounts as base units."""

    # Results that depend on these names, by a key of their own. Another object once a name changes. None: keep none.
    derived: dict[Any, Any] | None = None

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        """Return a listed chain."""
        return None

    def chains(self) -> Sequence[ChainInfo]:
        """Return all listed chains, in the service's order."""
        return ()

    def tokens(self, chain_id: int | None) -> Sequence[TokenInfo]:
        """Return a chain's listed tokens without duplicates, in the service's order."""
        return ()

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        """Return a listed token. The zero address and 0xeee… both mean the chain's native token."""
        return None

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        """Return whether a token is listed, or None if the chain's tokens aren't known. The native token always is."""
        return None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        """Return the featured tokens of a chain, or of all (None). The same object until the lists change."""
        return ()
