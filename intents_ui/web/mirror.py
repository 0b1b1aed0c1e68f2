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
from intents_ui.formatting import hashes
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
class MirroredRow:
    """A transfer as last read. `is_linked`: its ID can be part of a URL."""

    intent_id: str
    created_at: datetime
    status: StatusLabel
    is_linked: bool


@dataclass(frozen=True)
class MirroredList:
    """The newest transfers of a kind, and how many there are. `is_capped`: there may be more."""

    key: str
    heading: str
    rows: Sequence[MirroredRow]
    count: int
    is_capped: bool = False


@dataclass(frozen=True)
class Mirrored:
    """What the mirror found: the lists that aren't empty.

    `lists` is None if only staff may see them, or if the mirror can't be read.
    """

    mirror: "Coverage | None"
    may_see: bool
    lists: Sequence[MirroredList] | None


def that_paid(request: HttpRequest, address: str) -> Mirrored | None:
    """Return the transfers of other owners that paid the address, or None without insight."""
    if settings.MIRROR_DATABASE is None or ENV.insight == "off":
        return None
    mirror, may_see = mirror_coverage(), operator_auth.may_see_insight(request)
    if not may_see or mirror is None:
        return Mirrored(mirror, may_see, None)
    from intents_ui.mirror.readonly import CopyUnreadable, reading  # imported only with a mirror

    try:
        with reading():
            lists = paid_lists(address)
    except CopyUnreadable:
        return Mirrored(mirror, may_see, None)
    return Mirrored(mirror, may_see, [each for each in lists if each.rows])


def paid_lists(address: str) -> Sequence[MirroredList]:
    """Return the newest transfers that paid an address: as the recipient, and as that of a refund."""
    from intents_ui.mirror.entry import ADDRESS, packed
    from intents_ui.mirror.models import Transfer

    now, lists = datetime.now(UTC), []
    for column, heading in (("recipient", "Received from others"), ("refund", "Refunded to")):
        found = Transfer.objects.filter(**{column: packed(address, ADDRESS) or b""})
        rows = [_row(each, now=now) for each in found.order_by("-created")[:MAX_SHOWN]]
        count = found[:MAX_COUNTED].count()
        lists.append(MirroredList(column, heading, rows, count, is_capped=count == MAX_COUNTED))
    return lists


def _row(transfer: "Transfer", *, now: datetime) -> MirroredRow:
    is_expired = transfer.execute_by is not None and now >= transfer.execute_by
    shown = statuses.EXPIRED if is_expired else statuses.intent(transfer.status or None, now=now)
    is_linked = hashes.canonical_hash(transfer.text_id) is not None
    return MirroredRow(transfer.text_id, transfer.created_at, shown, is_linked)
