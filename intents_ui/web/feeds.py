"""Responses with an Atom feed (RFC 4287)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html import escape

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import http_date

from intents_ui.formatting import failures
from intents_ui.service import request_context
from intents_ui.web.feed_entries import Entry, Feed
from intents_ui.web.frame import GENERATED

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
