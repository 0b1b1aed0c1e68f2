"""Client configuration: the service's address, and the limits and cache lifetimes of each kind of call."""

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


class Kind(StrEnum):
    """Kinds of calls. Where its response decides how long it may be shown, each case is a kind."""

    CHAINS = auto()
    TOKENS = auto()
    TOKEN_SEARCH = auto()  # also for the tokens that a route connects
    NO_ROUTES = auto()
    PRICES = auto()
    MOVING = auto()  # an open intent or its receipt
    ENDED_LATELY = auto()  # SUCCEEDED or REFUNDED within the last hour
    ENDED = auto()
    STOPPED_LATELY = auto()  # FAILED, ABORTED or INVALID within the last half hour, so a refund may follow
    STOPPED = auto()
    HISTORY = auto()
    OLDER_HISTORY = auto()  # a page after the first
    BALANCES = auto()
    SEARCH = auto()
    WAIT = auto()
    WRITE = auto()


class Policy(NamedTuple):
    """Limits of a call, and the ages up to which its response is shown.

    `total` and `read` (between two pieces of a response) are in seconds, `size` (of the decoded response) in bytes. A
    response is `fresh`, then shown while it is renewed up to the age `renewed`, then if the service fails up to `old`.
    Without ages it isn't cached.
    """

    total: float
    read: float
    size: int = MEGABYTE
    fresh: float = 0
    renewed: float = 0
    old: float = 0
    connect: float = 2


POLICIES: Mapping[Kind, Policy] = {
    Kind.CHAINS: Policy(5, 3, MEGABYTE, HOUR, DAY, 7 * DAY),
    Kind.TOKENS: Policy(5, 3, 8 * MEGABYTE, 15 * MINUTE, 6 * HOUR, 7 * DAY),
    Kind.TOKEN_SEARCH: Policy(5, 3, 8 * MEGABYTE, MINUTE, 5 * MINUTE, HOUR),
    Kind.NO_ROUTES: Policy(5, 3, 8 * MEGABYTE, 30, 30, 30),  # short, so that a new route shows up soon
    Kind.PRICES: Policy(5, 3),
    Kind.MOVING: Policy(4, 3, MEGABYTE, 2, 10, DAY),
    Kind.ENDED_LATELY: Policy(4, 3, MEGABYTE, 10 * MINUTE, 7 * DAY, 30 * DAY),
    Kind.ENDED: Policy(4, 3, MEGABYTE, DAY, 7 * DAY, 30 * DAY),
    Kind.STOPPED_LATELY: Policy(4, 3, MEGABYTE, 5, HOUR, 30 * DAY),
    Kind.STOPPED: Policy(4, 3, MEGABYTE, 10 * MINUTE, HOUR, 30 * DAY),
    Kind.HISTORY: Policy(8, 5, 4 * MEGABYTE, 2, MINUTE, HOUR),
    Kind.OLDER_HISTORY: Policy(8, 5, 4 * MEGABYTE, 10, MINUTE, HOUR),
    # Amounts on screen must be current. The service queries chains before it responds, so the first byte can take as
    # long as the whole response.
    Kind.BALANCES: Policy(12, 12, 4 * MEGABYTE, 15, 15, 10 * MINUTE),
    Kind.SEARCH: Policy(8, 5, 16 * MEGABYTE, 5, 30, 10 * MINUTE),
    Kind.WAIT: Policy(40, 35),  # the service holds this call for about 28 s while nothing changes
    Kind.WRITE: Policy(20, 15),
}


def kind_of_intent(found: Intent | IntentReceipt) -> Kind:
    """Return the kind of an intent by its status. One with an unknown status may change at any moment."""
    age = datetime.now(UTC) - found.updated_at if found.updated_at else timedelta(0)
    if found.status in ENDED:
        return Kind.ENDED if age > timedelta(hours=1) else Kind.ENDED_LATELY
    if found.status in STOPPED:
        return Kind.STOPPED if age > timedelta(minutes=30) else Kind.STOPPED_LATELY
    return Kind.MOVING


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
    policies: Mapping[Kind, Policy] = field(default_factory=lambda: POLICIES, repr=False)

    @property
    def key(self) -> str:
        """The access key, or an empty string."""
        return self.access_key.get_secret_value() if self.access_key else ""

    @property
    def names(self) -> Brand:
        return Brand(self.brand, self.wallet_brand)

    def url(self, operation: str) -> str:
        return f"{self.base_url.rstrip('/')}/rpc/{self.service_name}/{operation}"
