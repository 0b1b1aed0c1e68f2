"""Feeds of a transfer's events and of an owner's newest transfers, as Atom (RFC 4287).

Errors are error responses, never empty feeds. Frequent requests are served from a short-lived cache, with 304 if
nothing has changed. Entries are sanitized plain text without characters that are invalid in XML. An entry's id names
its subject and never changes; its `updated` does. Times in its text include the date, because entries are read on
another day.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import http_date
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import failures, hashes, text, times
from intents_ui.formatting.times import Time
from intents_ui.search.filters import Filters
from intents_ui.service import lookup, operations, request_context
from intents_ui.service.models import IntentHistory, IntentStatus
from intents_ui.transfers import summary, timeline
from intents_ui.transfers.timeline import Name, Step, StepState
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.frame import GENERATED
from intents_ui.web.links import canonical_url

MOST = 25
MAX_AGE = 15.0  # seconds


@require_safe
@canonical_url
def intent(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    found, receipt, error = lookup.read_transfer(app.current().service, intent_id)
    if error:
        raise error  # both are needed for the status
    feed = of_transfer(reading.of(found, receipt, wait=reading.PATIENCE))
    return respond(request, feed, page=reverse("intent", args=[intent_id]), page_of=page_of)


@require_safe
def address(request: HttpRequest, address: str) -> HttpResponseBase:
    known = hashes.account(address)
    if known is None:
        raise Http404("This is not an account address.")
    if known != address:
        return redirect(reverse("address-atom", args=[known]), permanent=True)
    feed = of_owner(address, reading.of_entries(newest(address)))
    return respond(request, feed, page=reverse("address", args=[address]), page_of=page_of)


def newest(owner: str) -> Sequence[IntentHistory]:
    wanted = Filters(owner=owner, size=MOST)
    call = operations.get_intent_history(page=wanted.first, **wanted.request)
    return app.current().service.ask(call, max_age=MAX_AGE).intents[:MOST]


def page_of(entry: "Entry") -> str:
    return reverse("intent", args=[entry.about])


LONGEST_TITLE = 120


@dataclass(frozen=True)
class Entry:
    """An event. `about`: the intent or incident that it links to. `key`: the event, unique for it."""

    about: str
    key: str
    title: str
    paragraphs: tuple[str, ...]
    published: datetime
    updated: datetime
    categories: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return _id(f"{self.about}#{self.key}")


@dataclass(frozen=True)
class Feed:
    """A feed, newest entry first."""

    key: str
    title: str
    subtitle: str
    entries: tuple[Entry, ...]

    @property
    def id(self) -> str:
        return _id(self.key)

    @property
    def updated(self) -> datetime:
        return max((entry.updated for entry in self.entries), default=times.EPOCH)


def of_transfer(transfer: Transfer) -> Feed:
    """Return an entry for each step that completed or failed, and one for the end."""
    intent = transfer.intent
    steps = timeline.of(transfer).steps
    entries = [*_of_steps(transfer, steps), *_of_end(transfer)]
    return Feed(
        key=intent.intent_id,
        title=_safe(f"Transfer {hashes.short_id(intent.intent_id)}"),
        subtitle=_dated(summary.of(transfer).headline_with_status),
        # Of two entries at the same time, the later step is newer.
        entries=tuple(sorted(entries, key=lambda entry: entry.updated)[::-1]),
    )


def of_owner(address: str, found: Sequence[Transfer]) -> Feed:
    """Return an entry for each of an owner's newest intents, updated when its status changes."""
    return Feed(
        key=f"owner:{address}",
        title=_safe(f"Transfers of {hashes.short_address(address)}"),
        subtitle="This owner's newest transfers" if found else "No transfers by this owner yet",
        entries=tuple(map(_of_listed, found)),
    )


def _of_steps(transfer: Transfer, steps: Sequence[Step]) -> Iterator[Entry]:
    """Return the steps' entries. A step without a time gets the time of the step before it."""
    intent, last = transfer.intent, transfer.quoted_at or times.EPOCH
    for step in steps:
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
        key = f"{step.name}:waiting" if waits else f"{step.name}:{step.state}"
        yield Entry(intent.intent_id, key, title, said, last, last)


def _of_end(transfer: Transfer) -> Iterator[Entry]:
    has_expired = transfer.is_expired
    if transfer.is_open and not has_expired:
        return
    ended = transfer.execute_by if has_expired else transfer.last_change or transfer.finished_at
    at = ended or transfer.updated_at or times.EPOCH
    key = "end:EXPIRED" if has_expired else f"end:{transfer.status}"
    yield _atom_entry(transfer, key=key, published=at, updated=at)


def _of_listed(transfer: Transfer) -> Entry:
    ended = transfer.execute_by if transfer.is_expired else transfer.last_change
    published = transfer.quoted_at or times.EPOCH
    updated = max(published, ended or published)
    return _atom_entry(transfer, key="", published=published, updated=updated)


def _atom_entry(transfer: Transfer, *, key: str, published: datetime, updated: datetime) -> Entry:
    """Return an entry with the page's own summary."""
    result = summary.of(transfer)
    ways = f"{result.sent} → {result.returned or result.received}."
    words = (result.sentence, result.location, result.balance_note, result.instructions, ways)
    paragraphs = tuple(_dated(each) for each in words if each)
    return Entry(
        transfer.intent.intent_id,
        key,
        _dated(result.headline_with_status),
        paragraphs,
        published,
        updated,
    )


def _dated(sentence: str) -> str:
    """Return the sentence with the date of each time."""
    parts = text.parts_of(sentence)
    return _safe("".join(times.dated(part.at) if isinstance(part, Time) else part for part in parts))


def _safe(words: str) -> str:
    return text.visible(text.bare(words), lines=True)


def _id(name: str) -> str:
    """Return a URN that doesn't depend on the dashboard's host."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"intent:{name}").urn


AUTHOR = "Intents"


def respond(request: HttpRequest, feed: Feed, *, page: str, page_of: Callable[[Entry], str]) -> HttpResponse:
    """Render a feed. `page` is the path of its page, `page_of` returns that of an entry's."""
    if old := failures.old(request_context.stale_responses(), now=datetime.now(UTC)):
        feed = replace(feed, subtitle=f"{feed.subtitle} {old.sentence}")
    if settings.DEMO_STARTED is not None:
        feed = replace(feed, subtitle=f"{feed.subtitle.removesuffix('.')}. {GENERATED}")
    changed = int(feed.updated.replace(microsecond=0).timestamp())  # a float could round up
    atom = DatedFeed(
        title=feed.title,
        subtitle=feed.subtitle,
        description="",
        link=request.build_absolute_uri(page),
        feed_url=request.build_absolute_uri(request.path),
        feed_guid=feed.id,
        author_name=AUTHOR,
        language="en",
        changed_at=feed.updated,
    )
    for entry in feed.entries:
        atom.add_item(
            title=entry.title,
            link=request.build_absolute_uri(page_of(entry)),
            description="".join(f"<p>{escape(paragraph)}</p>" for paragraph in entry.paragraphs),
            unique_id=entry.id,
            pubdate=entry.published,
            updateddate=entry.updated,
            categories=entry.categories,
        )
    return HttpResponse(
        atom.writeString("utf-8"),
        content_type="application/atom+xml; charset=utf-8",
        headers={"Last-Modified": http_date(changed)},
    )


class DatedFeed(Atom1Feed):
    """Atom feed whose update time is its newest entry's, also if it is empty."""

    def latest_post_date(self) -> datetime:
        changed_at: datetime = self.feed["changed_at"]
        return changed_at
