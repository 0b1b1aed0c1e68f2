"""Transfers of the mirror that a customer may mean. They are for agents: no reply is about one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.urls import reverse

from intents_ui import app
from intents_ui.formatting import hashes, text, times
from intents_ui.http import operator_auth
from intents_ui.search import facts
from intents_ui.search.facts import TicketFacts
from intents_ui.search.identifiers import ParsedText
from intents_ui.service.errors import ServiceError
from intents_ui.service.results import LookupResult
from intents_ui.settings import ENV
from intents_ui.transfers import summary
from intents_ui.transfers.summary import Summary
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.mirror import mirror_coverage

if TYPE_CHECKING:
    from intents_ui.mirror.candidates import Wanted
    from intents_ui.mirror.coverage import Coverage

PER_PAGE = 10
NO_PAGE: "Page[Any]" = Paginator([], PER_PAGE).get_page(1)

CHECK = "Candidates, not answers. Check with the customer before you reply about one."
NO_MIRROR = "This dashboard has no local copy of the history, which would find shortened values and transfers in words."
NOT_ALLOWED = "Only staff can search the local copy of the history."
UNREADABLE = "The local copy can't be read. Other data is not affected."
SEARCHED = "Searched the local copy of the history."
NOTHING = "Nothing in the local copy of the history matches."
# The mirror's facts and columns that aren't called so.
NAMES = {
    "origin": "origin chain",
    "destination": "destination chain",
    "intent_id": "intent ID",
    "refund": "refund address",
    "deposit_hash": "deposit transaction",
    "origin_hash": "origin transaction",
    "destination_hash": "destination transaction",
    "refund_hash": "refund transaction",
    "deposit_address": "deposit address",
    "delivery_address": "destination intent address",
}


def facts_of(written: str, read: ParsedText | None = None) -> TicketFacts:
    """Return what a text says about a transfer. Without the lists of chains and tokens, their names say nothing."""
    try:
        chains = app.current().catalog.listed_chains().entries
        tokens = app.current().catalog.listed_featured([chain.id for chain in chains]).entries
    except ServiceError:
        chains, tokens = (), ()
    symbols = (*(token.symbol for token in tokens), *(chain.native_symbol for chain in chains))
    return facts.read(written, chains=chains, symbols=symbols, now=datetime.now(UTC), pasted=read)


class PossibleTransfer(NamedTuple):
    """A transfer that may be meant: what became of it, what matches and what differs, and its path."""

    brief: str
    why: str
    path: str


@dataclass(frozen=True)
class Candidates:
    """A page of the transfers that may be meant, the likeliest first, with what matches and what differs by intent ID.

    `searched`: what was searched, and why not more. `unread`: IDs of those of the page that the service didn't return.
    """

    searched: str = NO_MIRROR
    mirror: "Coverage | None" = None
    transfers: Sequence[Summary] = ()
    reasons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    page: "Page[Any]" = NO_PAGE
    unread: Sequence[str] = ()

    @property
    def count(self) -> int:
        return self.page.paginator.count

    @property
    def is_for_staff(self) -> bool:
        return self.searched == NOT_ALLOWED

    @property
    def listed(self) -> list[PossibleTransfer]:
        """Those of the page in short, with the ones that the service didn't return as the last."""
        told = {each.transfer.intent.intent_id: brief(each, now=datetime.now(UTC)) for each in self.transfers}
        told |= {each: hashes.short_id(each) for each in self.unread}
        return [
            PossibleTransfer(line, self.reasons[intent_id][0], reverse("intent", args=[intent_id]))
            for intent_id, line in told.items()
        ]


def brief(shown: Summary, *, now: datetime) -> str:
    """Return `Delivered: 100 USDC → 99.5 USDC, created 14:01:11 UTC`."""
    at = shown.transfer.quoted_at
    created = f", created {times.utc(at, now=now)}" if at else ""
    return f"{shown.headline}: {shown.sent} → {shown.returned or shown.received}{created}"


def is_told(facts: TicketFacts) -> bool:
    """Return whether the text says enough to look for a transfer that it doesn't name."""
    has_fact = facts.amounts or facts.symbols or facts.since or facts.memo or facts.origin or facts.destination
    return bool(facts.pasted.shortened or facts.describes_transfer or (facts.pasted.addresses and has_fact))


def of_search(
    request: HttpRequest, written: str, read: ParsedText, found: LookupResult, *, page: str | None = None
) -> Candidates | None:
    """Return a page of the transfers that a text may be about. What a hash or an ID finds needs no guess."""
    if found.hits and read.most_specific:
        return None
    return of_facts(request, facts_of(written, read), page=page)


def of_facts(request: HttpRequest, facts: TicketFacts, *, page: str | None = None) -> Candidates | None:
    """Return a page of the transfers that may be meant, or None if the text doesn't say enough."""
    if not is_told(facts):
        return None
    if settings.MIRROR_DATABASE is None or ENV.insight == "off":
        return Candidates()
    mirror = mirror_coverage()
    if not operator_auth.may_see_insight(request):
        return Candidates(NOT_ALLOWED, mirror)
    if mirror is None:
        return Candidates(UNREADABLE)
    from intents_ui.mirror.candidates import candidates  # imported only with a mirror
    from intents_ui.mirror.readonly import CopyUnreadable
    from intents_ui.mirror.readonly import reading as reading_copy

    try:
        with reading_copy():
            found = candidates(wanted(facts), now=datetime.now(UTC))
    except CopyUnreadable:
        return Candidates(UNREADABLE)
    found = [each for each in found if hashes.canonical_hash(each.intent_id)]  # others can't be part of a URL
    shown = Paginator(found, PER_PAGE).get_page(page)
    read = dict(
        zip([each.intent_id for each in shown], reading.load_many([each.intent_id for each in shown]), strict=True)
    )
    return Candidates(
        SEARCHED if found else NOTHING,
        mirror,
        transfers=[summary.of(each) for each in read.values() if isinstance(each, Transfer)],
        reasons={each.intent_id: [reason(each.matches, each.contradicts)] for each in shown},
        page=shown,
        unread=[intent_id for intent_id, each in read.items() if isinstance(each, ServiceError)],
    )


def reason(matches: Sequence[str], contradicts: Sequence[str]) -> str:
    """Return `Amount and token match. Destination chain differs.`"""
    said = []
    for found, verb, plural in ((matches, "matches", "match"), (contradicts, "differs", "differ")):
        facts = text.listed([NAMES.get(each, each) for each in found])
        said += [f"{facts[0].upper()}{facts[1:]} {verb if len(found) == 1 else plural}."] if found else []
    return " ".join(said)


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
        shortened=[(each.head, each.tail) for each in facts.pasted.shortened],
        addresses=[each.value for each in facts.pasted.addresses],
    )
