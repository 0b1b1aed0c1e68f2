"""`/logo/…`: logo of a listed token or chain, from an allowed host and re-encoded.

The path names the token, not a URL, so that clients can't make this server fetch arbitrary URLs.
"""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from intents_ui import wiring
from intents_ui.service.logos.logos import MISSED_SECONDS, Busy
from intents_ui.service.wire.models import ChainInfo, TokenInfo

# Opened directly, it downloads instead of rendering as a page.
HEADERS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Disposition": 'attachment; filename="logo.webp"',
}
# A transparent pixel. Browsers draw it whatever the status; without it they would draw a broken image icon.
TRANSPARENT = b"RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"


@require_safe
@conditional_page
def token(request: HttpRequest, chain_id: str, address: str) -> HttpResponse:
    found = listed(chain_id)
    return shown(found and wiring.catalog().token(found.id, address))


@require_safe
@conditional_page
def chain(request: HttpRequest, chain_id: str) -> HttpResponse:
    return shown(listed(chain_id))


def listed(chain_id: str) -> ChainInfo | None:
    return wiring.catalog().chain(int(chain_id)) if wiring.logos() else None


def shown(about: ChainInfo | TokenInfo | None) -> HttpResponse:
    logos = wiring.logos()
    try:
        picture = logos.picture(about.logo_uri) if logos and about else None
    except Busy:
        return nothing(HTTPStatus.SERVICE_UNAVAILABLE, {"Cache-Control": "no-store", "Retry-After": "2"})
    if picture is None:
        return nothing(HTTPStatus.NOT_FOUND, {"Cache-Control": f"public, max-age={MISSED_SECONDS:.0f}"})
    return HttpResponse(picture, content_type="image/webp", headers=HEADERS)


def nothing(status: HTTPStatus, headers: dict[str, str]) -> HttpResponse:
    """Return a transparent image instead of an error page, so that the letters below it show."""
    return HttpResponse(TRANSPARENT, content_type="image/webp", status=status, headers=headers)
