"""Client configuration: the service's address, and the limits and cache TTLs of its operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from pydantic import SecretStr

from intents_ui.service.operations.cache_ttl import LIFETIMES, CacheKind, Lifetime
from intents_ui.service.wire.json_text import Brand

MEGABYTE = 2**20


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
    def names(self) -> Brand:
        return Brand(self.brand, self.wallet_brand)

    def url(self, operation: str) -> str:
        return f"{self.base_url.rstrip('/')}/rpc/{self.service_name}/{operation}"
