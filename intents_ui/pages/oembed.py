"""`/oembed`: what an intent's page offers to sites that want to show it (oEmbed 1.0, https://oembed.com).

The frame of `/embed/intent/<id>`, where INTENTS_EMBED_HOSTS lets anybody show it, else a link with a title and a
picture. Only addresses of this dashboard are answered for, so that nobody can have it speak for another site.
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

from intents_ui import situations
from intents_ui.display import embed, share, text, watching
from intents_ui.links import canonical

PROVIDER = "Intents"
# For how long others may keep the title: while it can still change, and afterwards.
RUNNING_SECONDS = 60
OVER_SECONDS = 60 * 60
CARD = (1200, 630)  # of `/intent/<id>/card.png`, in pixels
LONGEST_LINK = 2_000
MOST_DIGITS = 5
# Addresses of ours that name an intent: its page, the frame, and those without a name that lead to it.
OF_INTENTS = ("intent", "embed", None)

type Fields = Mapping[str, str | int]


class Refused(Exception):
    """A question that oEmbed answers with a status of its own; the sentence is for who wrote it."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@require_safe
def oembed(request: HttpRequest) -> HttpResponse:
    try:
        write = writer(request)
        room = side(request, "maxwidth"), side(request, "maxheight")
        root, intent_id = intent_at(request.GET.get("url", ""), request)
    except Refused as refused:
        return HttpResponse(refused.sentence + "\n", status=refused.status, content_type="text/plain; charset=utf-8")
    response = write(fields(root, intent_id, *room))
    response["X-Robots-Tag"] = "noindex"
    return response


def writer(request: HttpRequest) -> Callable[[Fields], HttpResponse]:
    try:
        return WRITERS[request.GET.get("format", "json")]
    except KeyError:
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, "The format can be json or xml.") from None


def side(request: HttpRequest, name: str) -> int | None:
    """So many pixels at the most, or as many as there are."""
    given = request.GET.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS and int(given)):
        raise Refused(HTTPStatus.BAD_REQUEST, f"{name} should be a number of pixels.")
    return int(given)


def intent_at(link: str, request: HttpRequest) -> tuple[str, str]:
    """Scheme and host as they were written, because the frame has to be reached that way too, and the intent's id."""
    if not link:
        raise Refused(HTTPStatus.BAD_REQUEST, "Which page is meant? url=… is missing.")
    try:
        parts = urlsplit(link)
        is_ours = parts.scheme in ("http", "https") and parts.netloc.lower() == request.get_host().lower()
        found = resolve(unquote(parts.path)) if is_ours and len(link) <= LONGEST_LINK else None
        intent_id = canonical(found.kwargs.get("intent_id", "")) if found and found.url_name in OF_INTENTS else ""
    except (ValueError, Http404):
        intent_id = ""
    if not intent_id:
        raise Refused(HTTPStatus.NOT_FOUND, "This is not the address of an intent on this dashboard.")
    return f"{parts.scheme}://{parts.netloc}", intent_id


def fields(root: str, intent_id: str, max_width: int | None, max_height: int | None) -> Fields:
    """Raises what kept us from the intent: others would keep a title that says nothing of its state."""
    situation = situations.read(intent_id)
    title = share.preview(situation).title
    told: dict[str, str | int] = {
        "version": "1.0",
        "type": "link",
        "title": text.visible(text.bare(title)),
        "provider_name": PROVIDER,
        "provider_url": f"{root}/",
        "cache_age": RUNNING_SECONDS if watching.may_change(situation) else OVER_SECONDS,
    }
    if settings.ENV.intents_embed_hosts:
        frame = embed.frame(max_width=max_width, max_height=max_height)
        src = root + reverse("embed", args=[intent_id])
        told |= {"type": "rich", "width": frame.width, "height": frame.height}
        told |= {"html": frame.html(src, title=text.visible(text.bare(title)))}
    width, height = CARD
    if (max_width or width) >= width and (max_height or height) >= height:
        told |= {"thumbnail_url": root + reverse("card", args=[intent_id])}
        told |= {"thumbnail_width": width, "thumbnail_height": height}
    return told


def as_json(told: Fields) -> HttpResponse:
    return HttpResponse(json.dumps(told, indent=1), content_type="application/json; charset=utf-8")


def as_xml(told: Fields) -> HttpResponse:
    document = ElementTree.Element("oembed")
    for name, value in told.items():
        ElementTree.SubElement(document, name).text = str(value)
    body = ElementTree.tostring(document, encoding="utf-8", xml_declaration=True)
    return HttpResponse(body, content_type="text/xml; charset=utf-8")


WRITERS = {"json": as_json, "xml": as_xml}
