"""Feeds of a transfer's events and of an owner's newest transfers, as Atom (RFC 4287) and JSON Feed 1.1.

Errors are error responses, never empty feeds. Frequent requests are served from a short-lived cache, with 304 if
nothing has changed.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import http_date, quote_etag
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.lists import address as about
from intents_ui.display.lists.filters import Filters
from intents_ui.display.sharing import feeds
from intents_ui.display.sharing.feeds import Entry, Feed
from intents_ui.service.context import request_context
from intents_ui.service.operations import operations
from intents_ui.service.queries import transfers
from intents_ui.service.wire.models import Intent, IntentHistory, IntentReceipt
from intents_ui.web.links import elsewhere
from intents_ui.web.transfers import situations

AUTHOR = "Intents"
MOST = 25
MAX_AGE = 15.0  # seconds


class Format(NamedTuple):
    """`write` renders the body from the feed, its page's URL and its own URL."""

    content_type: str
    write: Callable[[Feed, HttpRequest, str], str]


@require_safe
def intent_atom(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    return elsewhere(request, intent_id, page="intent-atom") or of_intent(request, intent_id, ATOM)


@require_safe
def intent_json(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    return elsewhere(request, intent_id, page="intent-feed") or of_intent(request, intent_id, JSON)


@require_safe
def address_atom(request: HttpRequest, address: str) -> HttpResponseBase:
    return of_other_address(address, page="address-atom") or of_owner(request, address, ATOM)


@require_safe
def address_json(request: HttpRequest, address: str) -> HttpResponseBase:
    return of_other_address(address, page="address-feed") or of_owner(request, address, JSON)


def of_other_address(written: str, *, page: str) -> HttpResponse | None:
    """Return a redirect for a non-canonical spelling. Raises Http404 for anything but an account address."""
    known = about.canonical(written)
    if known is None:
        raise Http404("This is not an account address.")
    return None if known == written else redirect(reverse(page, args=[known]), permanent=True)


def of_intent(request: HttpRequest, intent_id: str, how: Format) -> HttpResponseBase:
    found, receipt = transfer(intent_id)
    feed = feeds.of_transfer(situations.of(found, receipt, wait=situations.PATIENCE))
    return respond(request, feed, how, page=reverse("intent", args=[intent_id]))


def of_owner(request: HttpRequest, address: str, how: Format) -> HttpResponseBase:
    feed = feeds.of_owner(address, situations.of_entries(newest(address)))
    return respond(request, feed, how, page=reverse("address", args=[address]))


def transfer(intent_id: str) -> tuple[Intent, IntentReceipt | None]:
    """Return the intent and its receipt. Raises ServiceError for either, because both are needed for the status."""
    found, receipt, error = transfers.read(wiring.service(), intent_id)
    if error:
        raise error
    return found, receipt


def newest(owner: str) -> Sequence[IntentHistory]:
    wanted = Filters(owner=owner, size=MOST)
    call = operations.get_intent_history(page=wanted.first, **wanted.request)
    return wiring.service().ask(call, max_age=MAX_AGE).intents[:MOST]


def respond(request: HttpRequest, feed: Feed, how: Format, *, page: str) -> HttpResponseBase:
    if old := failures.old(request_context.stale_responses(), now=datetime.now(UTC)):
        feed = replace(feed, subtitle=f"{feed.subtitle} {old.sentence}")
    body = how.write(feed, request, page)
    etag = quote_etag(hashlib.blake2b(body.encode(), digest_size=9).hexdigest())
    changed = int(feed.updated.replace(microsecond=0).timestamp())  # a float could round up
    headers = {"ETag": etag, "Last-Modified": http_date(changed), "X-Robots-Tag": "noindex"}
    response = HttpResponse(body, content_type=how.content_type, headers=headers)
    return get_conditional_response(request, etag=etag, last_modified=changed, response=response) or response


def atom(source: Feed, request: HttpRequest, page: str) -> str:
    feed = DatedFeed(
        title=source.title,
        subtitle=source.subtitle,
        description="",
        link=request.build_absolute_uri(page),
        feed_url=request.build_absolute_uri(request.path),
        feed_guid=source.id,
        author_name=AUTHOR,
        language="en",
        changed_at=source.updated,
    )
    for entry in source.entries:
        feed.add_item(
            title=entry.title,
            link=page_of(entry, request),
            description="".join(f"<p>{escape(paragraph)}</p>" for paragraph in entry.paragraphs),
            unique_id=entry.id,
            pubdate=entry.published,
            updateddate=entry.updated,
        )
    return feed.writeString("utf-8")


class DatedFeed(Atom1Feed):
    """Atom feed whose update time is its newest entry's, also if it is empty."""

    def latest_post_date(self) -> datetime:
        changed_at: datetime = self.feed["changed_at"]
        return changed_at


def json_feed(feed: Feed, request: HttpRequest, page: str) -> str:
    return json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": feed.title,
            "description": feed.subtitle,
            "home_page_url": request.build_absolute_uri(page),
            "feed_url": request.build_absolute_uri(request.path),
            "language": "en",
            "authors": [{"name": AUTHOR}],
            "items": [item(entry, request) for entry in feed.entries],
        },
        indent=1,
    )


def item(entry: Entry, request: HttpRequest) -> dict[str, str]:
    return {
        "id": entry.id,
        "url": page_of(entry, request),
        "title": entry.title,
        "content_text": "\n\n".join(entry.paragraphs),
        "date_published": entry.published.isoformat(),
        "date_modified": entry.updated.isoformat(),
    }


def page_of(entry: Entry, request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("intent", args=[entry.about]))


ATOM = Format("application/atom+xml; charset=utf-8", atom)
JSON = Format("application/feed+json; charset=utf-8", json_feed)
