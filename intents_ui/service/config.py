"""Where the service is, how much we let it take, and how long its answers are kept (faults.md 8.1, 8.2, 8.6, 8.7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from pydantic import SecretStr

from intents_ui.service.brand import Brand
from intents_ui.service.lifetimes import LIFETIMES, Kind, Lifetime

MEGABYTE = 2**20


class Group(StrEnum):
    """Operations that may take equally long and answer equally much."""

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
    """Seconds to connect, between two pieces of an answer, and for the whole call; bytes of a decoded answer."""

    connect: float
    read: float
    total: float
    size: int


LIMITS: Mapping[Group, Limits] = {
    Group.REFERENCE: Limits(2, 3, 5, 1 * MEGABYTE),
    Group.TOKENS: Limits(2, 3, 5, 8 * MEGABYTE),
    Group.INTENT: Limits(2, 3, 4, 1 * MEGABYTE),
    Group.HISTORY: Limits(2, 5, 8, 4 * MEGABYTE),
    # The service reads chains before it answers, so its first byte may take as long as the whole.
    Group.BALANCES: Limits(2, 12, 12, 4 * MEGABYTE),
    Group.SEARCH: Limits(2, 5, 8, 16 * MEGABYTE),
    # It holds the call for about 28 s when nothing changes.
    Group.WAIT: Limits(2, 35, 40, 1 * MEGABYTE),
    Group.WRITE: Limits(2, 15, 20, 1 * MEGABYTE),
}


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """Everything that a client has to be told. The access key is masked wherever this is printed."""

    base_url: str
    access_key: SecretStr | None = None
    service_name: str = "Service"
    brand: str = "service"
    wallet_brand: str = "smart"
    connections: int = 48
    connection_wait: float = 0.5
    held_calls: int = 64  # calls of WaitIntentReceipt that an async client keeps open beside the others
    limits: Mapping[Group, Limits] = field(default_factory=lambda: LIMITS, repr=False)
    lifetimes: Mapping[Kind, Lifetime] = field(default_factory=lambda: LIFETIMES, repr=False)

    @property
    def names(self) -> Brand:
        return Brand(self.brand, self.wallet_brand)

    def url(self, operation: str) -> str:
        return f"{self.base_url.rstrip('/')}/rpc/{self.service_name}/{operation}"
