"""Transfers of the mirror that a customer may mean. They are for agents: no reply is about one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest

from intents_ui.display.formatting import hashes
from intents_ui.display.search import candidates as words
from intents_ui.display.search.facts import TicketFacts
from intents_ui.display.summary import summary
from intents_ui.display.summary.summary import Summary
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.http import operator_auth
from intents_ui.service.errors import ServiceError
from intents_ui.settings import ENV
from intents_ui.web.mirror import mirror_coverage
from intents_ui.web.transfers import reading

if TYPE_CHECKING:
    from intents_ui.mirror.candidates import Wanted
    from intents_ui.mirror.coverage import Coverage

PER_PAGE = 10
CHECK = "Candidates, not answers. Check with the customer before you reply about one."


@dataclass(frozen=True)
class Candidates:
    """A page of the transfers that may be meant, the likeliest first, with what matches and what differs by intent ID.

    `is_searched` is False if there is no copy, only staff may see it, or it can't be read. `count` is that of all.
    `unread`: IDs of those of the page that the service didn't return.
    """

    has_mirror: bool = False
    may_see: bool = False
    mirror: "Coverage | None" = None
    is_searched: bool = False
    transfers: Sequence[Summary] = ()
    reasons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    count: int = 0
    page: int = 1
    unread: Sequence[str] = ()

    @property
    def searched(self) -> str:
        """What was searched, and why not more."""
        if not self.has_mirror:
            return words.NO_MIRROR
        if not self.may_see:
            return words.NOT_ALLOWED
        return (words.SEARCHED if self.count else words.NOTHING) if self.is_searched else words.UNREADABLE

    @property
    def pages(self) -> int:
        return -(-self.count // PER_PAGE)

    @property
    def first(self) -> int:
        """The place of the first one of the page."""
        return (self.page - 1) * PER_PAGE + 1


def is_told(facts: TicketFacts) -> bool:
    """Return whether the text says enough to look for a transfer that it doesn't name."""
    has_fact = facts.amounts or facts.symbols or facts.since or facts.memo or facts.origin or facts.destination
    return bool(facts.shortened or facts.describes_transfer or (facts.addresses and has_fact))


def of_facts(request: HttpRequest, facts: TicketFacts, *, page: int = 1) -> Candidates | None:
    """Return a page of the transfers that may be meant, or None if the text doesn't say enough."""
    if not is_told(facts):
        return None
    if settings.MIRROR_DATABASE is None or ENV.intents_insight == "off":
        return Candidates()
    mirror, may_see = mirror_coverage(), operator_auth.may_see_insight(request)
    if mirror is None or not may_see:
        return Candidates(has_mirror=True, may_see=may_see, mirror=mirror)
    from intents_ui.mirror.candidates import candidates  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable
    from intents_ui.mirror.readonly import reading as reading_copy

    try:
        with reading_copy():
            found = candidates(wanted(facts), now=datetime.now(UTC))
        found = [each for each in found if hashes.canonical_hash(each.intent_id)]  # others can't be part of a URL
    except CopyUnreadable:
        return Candidates(has_mirror=True, may_see=True)
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    transfers = reading.of_ids([each.intent_id for each in shown])
    return Candidates(
        has_mirror=True,
        may_see=True,
        mirror=mirror,
        is_searched=True,
        transfers=[summary.of(each) for each in transfers if isinstance(each, Transfer)],
        reasons={each.intent_id: [words.sentences(each.matches, each.contradicts)] for each in shown},
        count=len(found),
        page=page,
        unread=[
            each.intent_id for each, answer in zip(shown, transfers, strict=True) if isinstance(answer, ServiceError)
        ],
    )


def wanted(facts: TicketFacts) -> "Wanted":
    from intents_ui.mirror.candidates import Wanted

    return Wanted(
        amounts=facts.amounts,
        in_dollars=facts.in_dollars,
        symbols=facts.symbols,
        origin=facts.origin.id if facts.origin else None,
        destination=facts.destination.id if facts.destination else None,
        chains=[each.id for each in facts.chains],
        since=facts.since,
        until=facts.until,
        outcomes=facts.statuses,
        memo=facts.memo,
        shortened=facts.shortened,
        addresses=[each.value for each in facts.addresses],
    )
