"""Images of a transfer or an address for other sites (`card.png`, `qr.svg`), and the `share` page.

Cards show what the transfer's page would show now. Other sites may embed them.
"""

import io
import threading
from html import escape
from http import HTTPStatus

import segno
from cachetools import LRUCache
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from intents_ui.formatting import failures, hashes
from intents_ui.service import request_context
from intents_ui.settings import ENV
from intents_ui.transfers import summary
from intents_ui.transfers.summary import Card
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.links import canonical_url

OPEN_SECONDS = 15
FINAL_SECONDS = 60 * 60
ONE_DAY = {"Cache-Control": "public, max-age=86400"}

# A card's content is its key, so a changed status renders a new image. One is rendered at a time, in less than 0.1 s.
# That is enough for chats, and leaves the other processors to pages when a crawler requests many.
CARDS: LRUCache[Card, bytes] = LRUCache(4 * 2**20, getsizeof=len)
RENDERING = threading.Lock()
PATIENCE_SECONDS = 1.0  # for which a thread that makes pages may wait


@require_safe
@canonical_url
def card(request: HttpRequest, intent_id: str) -> HttpResponseBase:
    """Return the link preview. If it can't be drawn, return 503 without an image, because chats cache images."""
    found, seconds = card_of(intent_id)
    etag = quote_etag(found.version)
    headers = {
        "Cross-Origin-Resource-Policy": "cross-origin",  # lets other sites embed it
        "Cache-Control": f"public, max-age={seconds}",
        "ETag": etag,
    }
    answer = HttpResponse(content_type="image/png", headers=headers)
    known = get_conditional_response(request, etag=etag, response=answer)
    if known is not None and known is not answer:
        return known
    if not RENDERING.acquire(timeout=PATIENCE_SECONDS):
        headers = {"Cache-Control": "no-store", "Retry-After": "2"}
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE, content_type="text/plain", headers=headers)
    try:
        answer.content = CARDS[found] = CARDS.get(found) or draw(found)
    finally:
        RENDERING.release()
    return answer


def draw(card: Card) -> bytes:
    from intents_ui.share import drawing  # imports Pillow, so only when cards are used

    return drawing.png(card)


def card_of(intent_id: str) -> tuple[Card, int]:
    """Return the card of a transfer and its cache lifetime.

    Raises ServiceError, also for the receipt, without which the status is unknown.
    """
    transfer = reading.read(intent_id)
    old = failures.old(request_context.current().stale, now=transfer.now)
    may_change = old or summary.of(transfer).is_provisional or transfer.may_change
    seconds = OPEN_SECONDS if may_change else FINAL_SECONDS
    return summary.card(transfer, as_of=old.as_of if old else None), seconds


@require_safe
@canonical_url
def qr(request: HttpRequest, **named: str) -> HttpResponse:
    """Return the QR code of the page that the path begins with.

    Dark on white in both themes, because scanners expect it.
    """
    written = io.BytesIO()
    made = segno.make(request.build_absolute_uri(request.path.rpartition("/")[0]), error="m", micro=False)
    made.save(written, kind="svg", scale=4, border=4, xmldecl=False, svgclass=None, lineclass=None, light="#ffffff")
    return HttpResponse(written.getvalue(), content_type="image/svg+xml", headers=ONE_DAY)


@require_safe
@canonical_url
def share(request: HttpRequest, *, intent_id: str | None = None, address: str = "") -> HttpResponse:
    """Return the ways to share a transfer or an address."""
    name = f"transfer {hashes.short_id(intent_id)}" if intent_id else f"address {hashes.short_address(address)}"
    frame = framed(request, intent_id) if intent_id and ENV.intents_embed_hosts else None
    context = {"name": name, "intent_id": intent_id, "address": address, "frame": frame}
    return render(request, "sharing/share.html", context, block="ways")


def framed(request: HttpRequest, intent_id: str) -> str:
    """Return the embed code for the hosts of INTENTS_EMBED_HOSTS."""
    src = escape(request.build_absolute_uri(reverse("embed", args=[intent_id])))
    title = f"Transfer {hashes.short_id(intent_id)}"
    return f'<iframe src="{src}" title="{title}" width="480" height="440" loading="lazy" frameborder="0"></iframe>'
