"""Client configuration: the service's address, and the limits and cache TTLs of its operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum, auto
from typing import NamedTuple

from pydantic import SecretStr

from intents_ui.service.decode import Brand
from intents_ui.service.models import ENDED, STOPPED, Intent, IntentReceipt

MEGABYTE = 2**20
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class Group(StrEnum):
    """Operations that share a timeout and a size limit."""

    REFERENCE = auto()
    TOKENS = auto()
    INTENT = auto()
    HISTORY = auto()
    BALANCES = auto()
    SEARCH = auto()
    WAIT = auto()
    WRITE = auto()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a call.

    `connect`, `read` (between two pieces of a response) and `total` are in seconds, `size` (of the decoded response) in
    bytes.
    """

    connect: float
    read: float
    total: float
    size: int


LIMITS: Mapping[Group, Limits] = {
    Group.REFERENCE: Limits(2, 3, 5, 1 * MEGABYTE),
    Group.TOKENS: Limits(2, 3, 5, 8 * MEGABYTE),
    Group.INTENT: Limits(2, 3, 4, 1 * MEGABYTE),
    Group.HISTORY: Limits(2, 5, 8, 4 * MEGABYTE),
    # The service queries chains before it responds, so the first byte can take as long as the whole response.
    Group.BALANCES: Limits(2, 12, 12, 4 * MEGABYTE),
    Group.SEARCH: Limits(2, 5, 8, 16 * MEGABYTE),
    # The service holds this call for about 28 s while nothing changes.
    Group.WAIT: Limits(2, 35, 40, 1 * MEGABYTE),
    Group.WRITE: Limits(2, 15, 20, 1 * MEGABYTE),
}


class CacheKind(StrEnum):
    """Kinds of responses that share a TTL."""

    CHAINS = auto()
    TOKENS = auto()
    TOKEN_SEARCH = auto()  # also for the tokens that a route connects
    NO_ROUTES = auto()
    MOVING = auto()  # an open intent or its receipt
    ENDED_LATELY = auto()  # SUCCEEDED or REFUNDED within the last hour
    ENDED = auto()
    STOPPED_LATELY = auto()  # FAILED, ABORTED or INVALID within the last half hour, so a refund may follow
    STOPPED = auto()
    HISTORY = auto()
    OLDER_HISTORY = auto()  # a page after the first
    BALANCES = auto()
    SEARCH = auto()


class Lifetime(NamedTuple):
    """TTLs as ages in seconds: fresh, then stale-while-revalidate up to `renewed`, then stale-if-error up to `old`."""

    fresh: float
    renewed: float
    old: float


LIFETIMES: Mapping[CacheKind, Lifetime] = {
    CacheKind.CHAINS: Lifetime(HOUR, DAY, 7 * DAY),
    CacheKind.TOKENS: Lifetime(15 * MINUTE, 6 * HOUR, 7 * DAY),
    CacheKind.TOKEN_SEARCH: Lifetime(MINUTE, 5 * MINUTE, HOUR),
    CacheKind.NO_ROUTES: Lifetime(30, 30, 30),  # short, so that a new route shows up soon
    CacheKind.MOVING: Lifetime(2, 10, DAY),
    CacheKind.ENDED_LATELY: Lifetime(10 * MINUTE, 7 * DAY, 30 * DAY),
    CacheKind.ENDED: Lifetime(DAY, 7 * DAY, 30 * DAY),
    CacheKind.STOPPED_LATELY: Lifetime(5, HOUR, 30 * DAY),
    CacheKind.STOPPED: Lifetime(10 * MINUTE, HOUR, 30 * DAY),
    CacheKind.HISTORY: Lifetime(2, MINUTE, HOUR),
    CacheKind.OLDER_HISTORY: Lifetime(10, MINUTE, HOUR),
    CacheKind.BALANCES: Lifetime(15, 15, 10 * MINUTE),  # amounts on screen must be current
    CacheKind.SEARCH: Lifetime(5, 30, 10 * MINUTE),
}


def kind_of_intent(found: Intent | IntentReceipt) -> CacheKind:
    """Return the kind of an intent by its status. One with an unknown status may change at any moment."""
    age = datetime.now(UTC) - found.updated_at if found.updated_at else timedelta(0)
    if found.status in ENDED:
        return CacheKind.ENDED if age > timedelta(hours=1) else CacheKind.ENDED_LATELY
    if found.status in STOPPED:
        return CacheKind.STOPPED if age > timedelta(minutes=30) else CacheKind.STOPPED_LATELY
    return CacheKind.MOVING


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """Client configuration. Its repr masks the access key."""

    base_url: str
    access_key: SecretStr | None = None
    service_name: str = "Service"
    brand: str = "service"
    wallet_brand: str = "smart"
    connections: int = 48
    connection_wait: float = 0.5
    held_calls: int = 64  # concurrent WaitIntentReceipt calls of an async client, on top of `connections`
    limits: Mapping[Group, Limits] = field(default_factory=lambda: LIMITS, repr=False)
    lifetimes: Mapping[CacheKind, Lifetime] = field(default_factory=lambda: LIFETIMES, repr=False)

    @property
    def key(self) -> str:
        """The access key, or an empty string."""
        return self.access_key.get_secret_value() if self.access_key else ""

    @property
    def names(self) -> Brand:
        return Brand(self.brand, self.wallet_brand)

    def url(self, operation: str) -> str:
        return f"{self.base_url.rstrip('/')}/rpc/{self.service_name}/{operation}"
