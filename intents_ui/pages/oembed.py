"""`/oembed`: embed code of a transfer for other sites (oEmbed 1.0, https://oembed.com).

Returns the frame of `/embed/intent/<id>` if INTENTS_EMBED_HOSTS is set, else a link with a title and a thumbnail. Only
URLs of this dashboard are accepted, so that it can't vouch for another site.
"""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve, reverse
from django.views.decorators.http import require_safe

from intents_ui.display.formatting import text
from intents_ui.display.sharing import embed, preview
from intents_ui.web.links import canonical
from intents_ui.web.transfers import situations

PROVIDER = "Intents"
# Cache lifetimes of the title: while it can change, and afterwards.
OPEN_SECONDS = 60
FINAL_SECONDS = 60 * 60
CARD = (1200, 630)  # of `/intent/<id>/card.png`, in pixels
LONGEST_LINK = 2_000
MOST_DIGITS = 5
# Names of routes with an intent ID: its page, its frame, and unnamed redirects to them.
OF_INTENTS = ("intent", "embed", None)

type Fields = Mapping[str, str | int]


class OembedRefused(Exception):
    """An invalid request, with its HTTP status and a message for the developer."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    try:
        write = writer(request)
        room = side(request, "maxwidth"), side(request, "maxheight")
        root, intent_id = intent_at(request.GET.get("url", ""), request)
    except OembedRefused as refused:
        return HttpResponse(refused.sentence + "\n", status=refused.status, content_type="text/plain; charset=utf-8")
    response = write(fields(root, intent_id, *room))
    response["X-Robots-Tag"] = "noindex"
    return response


def writer(request: HttpRequest) -> Callable[[Fields], HttpResponse]:
    try:
        return WRITERS[request.GET.get("format", "json")]
    except KeyError:
        raise OembedRefused(HTTPStatus.NOT_IMPLEMENTED, "Unsupported format. Use json or xml.") from None


def side(request: HttpRequest, name: str) -> int | None:
    """Return a limit in pixels, or None for no limit."""
    given = request.GET.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS and int(given)):
        raise OembedRefused(HTTPStatus.BAD_REQUEST, f"Invalid {name}. Enter a number of pixels.")
    return int(given)


def intent_at(link: str, request: HttpRequest) -> tuple[str, str]:
    """Return the link's origin as written, because the frame must be reachable by it, too, and the intent ID."""
    if not link:
        raise OembedRefused(HTTPStatus.BAD_REQUEST, "Missing parameter with the URL of the page: url=…")
    try:
        parts = urlsplit(link)
        is_ours = parts.scheme in ("http", "https") and parts.netloc.lower() == request.get_host().lower()
        found = resolve(unquote(parts.path)) if is_ours and len(link) <= LONGEST_LINK else None
        intent_id = canonical(found.kwargs.get("intent_id", "")) if found and found.url_name in OF_INTENTS else ""
    except (ValueError, Http404):
        intent_id = ""
    if not intent_id:
        raise OembedRefused(HTTPStatus.NOT_FOUND, "Not the URL of a transfer on this dashboard.")
    return f"{parts.scheme}://{parts.netloc}", intent_id


def fields(root: str, intent_id: str, max_width: int | None, max_height: int | None) -> Fields:
    """Return the oEmbed fields. Raises ServiceError, because sites would cache a title without a status."""
    situation = situations.read(intent_id)
    title = preview.describe(situation).title
    response: dict[str, str | int] = {
        "version": "1.0",
        "type": "link",
        "title": text.visible(text.bare(title)),
        "provider_name": PROVIDER,
        "provider_url": f"{root}/",
        "cache_age": OPEN_SECONDS if situation.may_change else FINAL_SECONDS,
    }
    if settings.ENV.intents_embed_hosts:
        frame = embed.frame(max_width=max_width, max_height=max_height)
        src = root + reverse("embed", args=[intent_id])
        response |= {"type": "rich", "width": frame.width, "height": frame.height}
        response |= {"html": frame.html(src, title=text.visible(text.bare(title)))}
    width, height = CARD
    if (max_width or width) >= width and (max_height or height) >= height:
        response |= {"thumbnail_url": root + reverse("card", args=[intent_id])}
        response |= {"thumbnail_width": width, "thumbnail_height": height}
    return response


def as_json(response: Fields) -> HttpResponse:
    return HttpResponse(json.dumps(response, indent=1), content_type="application/json; charset=utf-8")


def as_xml(response: Fields) -> HttpResponse:
    document = ElementTree.Element("oembed")
    for name, value in response.items():
        ElementTree.SubElement(document, name).text = str(value)
    body = ElementTree.tostring(document, encoding="utf-8", xml_declaration=True)
    return HttpResponse(body, content_type="text/xml; charset=utf-8")


WRITERS = {"json": as_json, "xml": as_xml}
