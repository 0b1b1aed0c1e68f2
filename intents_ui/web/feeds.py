"""Feeds of a transfer's events and of an owner's newest transfers, as Atom (RFC 4287).

Errors are error responses, never empty feeds. Frequent requests are served from a short-lived cache, with 304 if
nothing has changed. Entries are sanitized plain text without characters that are invalid in XML. An entry's id names
its subject and never changes; its `updated` does. Times in its text include the date, because entries are read on
another day.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import http_date
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import failures, hashes, text, times
from intents_ui.formatting.times import Time
from intents_ui.search.filters import Filters
from intents_ui.service import operations, request_context
from intents_ui.service.models import IntentStatus
from intents_ui.transfers import summary, timeline
from intents_ui.transfers.timeline import Name, StepState
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.frame import GENERATED
from intents_ui.web.links import canonical_url, page_url

MOST = 25
MAX_AGE = 15.0  # seconds
LONGEST_TITLE = 120
AUTHOR = "Intents"


@dataclass(frozen=True)
class Entry:
    """An event. `key` names it among all entries, and `path` is that of its page."""

    key: str
    path: str
    title: str
    paragraphs: tuple[str, ...]
    published: datetime
    updated: datetime
    categories: tuple[str, ...] = ()


@require_safe
@canonical_url
def intent(request: HttpRequest, intent_id: str) -> HttpResponse:
    """Return an entry for each step that completed or failed, and one for the end."""
    transfer = reading.read(intent_id)
    entries = list(_of_steps(transfer))
    if transfer.is_expired or not transfer.is_open:
        entries.append(_summarized(transfer, is_of_end=True))
    return respond(
        request,
        # Of two entries at the same time, the later step is newer.
        sorted(entries, key=lambda entry: entry.updated)[::-1],
        key=intent_id,
        page=reverse("intent", args=[intent_id]),
        title=_safe(f"Transfer {hashes.short_id(intent_id)}"),
        subtitle=_dated(summary.of(transfer).headline_with_status),
    )


@require_safe
@canonical_url
def address(request: HttpRequest, address: str) -> HttpResponse:
    """Return an entry for each of an owner's newest intents, updated when its status changes."""
    wanted = Filters(owner=address, size=MOST)
    call = operations.get_intent_history(page=wanted.first, **wanted.request)
    found = app.current().service.ask(call, max_age=MAX_AGE).intents[:MOST]
    return respond(
        request,
        list(map(_summarized, reading.of_entries(found))),
        key=f"owner:{address}",
        page=reverse("address", args=[address]),
        title=_safe(f"Transfers of {hashes.short_address(address)}"),
        subtitle="This owner's newest transfers" if found else "No transfers by this owner yet",
    )


def _of_steps(transfer: Transfer) -> Iterator[Entry]:
    """Return the steps' entries. A step without a time gets the time of the step before it."""
    intent, last = transfer.intent, transfer.quoted_at or times.EPOCH
    for step in timeline.of(transfer).steps:
        if step.state not in (StepState.DONE, StepState.FAILED):
            continue
        last = step.at or last
        failed = " failed" if step.state is StepState.FAILED else ""
        words = (f"{step.title}{failed}", _dated(text.without_period(step.sentence)))
        title = text.fitting(words, LONGEST_TITLE, between=" · ")
        reason = (f"Service message: {step.reason.shown}",) if step.reason else ()
        said = tuple(_dated(words) for words in (step.sentence or step.title, *reason))
        # Accepting a quote and starting the transfer are two events.
        waits = step.name is Name.ACCEPTED and intent.status == IntentStatus.COMMITTED
        key = f"{intent.intent_id}#{step.name}:{'waiting' if waits else step.state}"
        yield Entry(key, page_url(transfer, root=""), title, said, last, last)


def _summarized(transfer: Transfer, *, is_of_end: bool = False) -> Entry:
    """Return an entry with the page's own summary, for the end of a transfer or for all of it."""
    result, began = summary.of(transfer), transfer.quoted_at or times.EPOCH
    ended = transfer.execute_by if transfer.is_expired else transfer.last_change or transfer.finished_at
    event, published, updated = "", began, max(began, ended or began)
    if is_of_end:
        event = f"end:{'EXPIRED' if transfer.is_expired else transfer.status}"
        published = updated = ended or transfer.updated_at or times.EPOCH
    ways = f"{result.sent} → {result.returned or result.received}."
    words = (result.sentence, result.location, result.balance_note, result.instructions, ways)
    paragraphs = tuple(_dated(each) for each in words if each)
    key, title = f"{transfer.intent.intent_id}#{event}", _dated(result.headline_with_status)
    return Entry(key, page_url(transfer, root=""), title, paragraphs, published, updated)


def _dated(sentence: str) -> str:
    """Return the sentence with the date of each time."""
    parts = text.parts_of(sentence)
    return _safe("".join(times.dated(part.at) if isinstance(part, Time) else part for part in parts))


def _safe(words: str) -> str:
    return text.visible(text.bare(words), lines=True)


class DatedFeed(Atom1Feed):
    """Atom feed whose update time is its newest entry's, also if it is empty."""

    def latest_post_date(self) -> datetime:
        return max((item["updateddate"] for item in self.items), default=times.EPOCH)


def respond(
    request: HttpRequest, entries: Iterable[Entry], *, key: str, page: str, title: str, subtitle: str
) -> HttpResponse:
    """Render a feed, newest entry first. `key` names it among all feeds, and `page` is the path of its page."""
    if old := failures.old(request_context.current().stale, now=datetime.now(UTC)):
        subtitle = f"{subtitle} {old.sentence}"
    if settings.DEMO_STARTED is not None:
        subtitle = f"{subtitle.removesuffix('.')}. {GENERATED}"
    atom = DatedFeed(
        title=title,
        subtitle=subtitle,
        description="",
        link=request.build_absolute_uri(page),
        feed_url=request.build_absolute_uri(request.path),
        feed_guid=_id(key),
        author_name=AUTHOR,
        language="en",
    )
    for entry in entries:
        atom.add_item(
            title=entry.title,
            link=request.build_absolute_uri(entry.path),
            description="".join(f"<p>{escape(paragraph)}</p>" for paragraph in entry.paragraphs),
            unique_id=_id(entry.key),
            pubdate=entry.published,
            updateddate=entry.updated,
            categories=entry.categories,
        )
    changed = int(atom.latest_post_date().replace(microsecond=0).timestamp())  # a float could round up
    content, kind = atom.writeString("utf-8"), "application/atom+xml; charset=utf-8"
    return HttpResponse(content, content_type=kind, headers={"Last-Modified": http_date(changed)})


def _id(name: str) -> str:
    """Return a URN that doesn't depend on the dashboard's host."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"intent:{name}").urn
