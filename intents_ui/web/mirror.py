"""What the mirror says of itself, as read in the last seconds, and the transfers that only it can find: by the address
that they paid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest

from intents_ui import app
from intents_ui.http import operator_auth
from intents_ui.settings import ENV
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import StatusLabel

if TYPE_CHECKING:
    from intents_ui.mirror.coverage import Coverage
    from intents_ui.mirror.models import Transfer


def mirror_coverage() -> "Coverage | None":
    """Return what the mirror knows. None if there is no mirror, or it can't be read."""
    if settings.MIRROR_DATABASE is None:
        return None
    from intents_ui.mirror import readonly  # imported only with a mirror

    return app.current().recent_reads.get("coverage", readonly.read_coverage, max_age=readonly.MAX_AGE)


def open_incidents() -> Mapping[tuple[str, str], int] | None:
    """Return how many incidents aren't over, by state and kind. None if the mirror's database can't be read."""
    from intents_ui.mirror.incidents import keeper  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    try:
        with reading():
            return keeper.open_counts()
    except CopyUnreadable:
        return None


MAX_SHOWN, MAX_COUNTED = 50, 10_000


@dataclass(frozen=True)
class PaidList:
    """The newest transfers that paid an address in a role, and how many there are.

    Each has its ID, whether a URL can have that, its status and the time of its creation.
    """

    role: str
    heading: str
    rows: Sequence[tuple[str, bool, StatusLabel, datetime]]
    count: int

    @property
    def number(self) -> str:
        return f"{self.count:,}{' or more' if self.count == MAX_COUNTED else ''}"


@dataclass(frozen=True)
class Paid:
    """What the mirror found of an address: the lists that aren't empty.

    `lists` is None if only staff may see them, or if the mirror can't be read.
    """

    mirror: "Coverage | None"
    may_see: bool
    lists: Sequence[PaidList] | None = None


def that_paid(request: HttpRequest, address: str) -> Paid | None:
    """Return the transfers of other owners that paid the address, or None without insight."""
    if settings.MIRROR_DATABASE is None or ENV.insight == "off":
        return None
    mirror, may_see = mirror_coverage(), operator_auth.may_see_insight(request)
    if not may_see or mirror is None:
        return Paid(mirror, may_see)
    from intents_ui.mirror.entry import ADDRESS, packed  # imported only with a mirror
    from intents_ui.mirror.models import Transfer
    from intents_ui.mirror.readonly import CopyUnreadable, reading

    lists = []
    try:
        with reading():
            for role, heading in (("recipient", "Received from others"), ("refund", "Refunded to")):
                found = Transfer.objects.filter(**{role: packed(address, ADDRESS) or b""})
                newest = found.order_by("-created")[:MAX_SHOWN]
                rows = [(each.text_id, each.has_url, _status(each), each.created_at) for each in newest]
                lists += [PaidList(role, heading, rows, found[:MAX_COUNTED].count())] if rows else []
    except CopyUnreadable:
        return Paid(mirror, may_see)
    return Paid(mirror, may_see, lists)


def _status(transfer: "Transfer") -> StatusLabel:
    now = datetime.now(UTC)
    is_expired = transfer.execute_by is not None and now >= transfer.execute_by
    return statuses.EXPIRED if is_expired else statuses.intent(transfer.status or None, now=now)
