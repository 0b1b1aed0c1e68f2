"""Security headers of every response, noindex for files, and compression and ETags of pages and data.

Django's middleware adds the other headers (settings.py). Pages may load and run only our own resources. All other
responses (style sheets, JSON, images, downloads, streams) may do nothing when opened directly.

Compression can leak secrets that share a response with user input (BREACH). The only secret of a page is its CSRF
token, which Django masks differently in each response.
"""

import gzip
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache, wraps
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.csp import CSP, build_policy
from django.utils.http import quote_etag
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csp import csp_override

POLICY: Final = str(CSP.HEADER_ENFORCE)
FILE_POLICY: Final = f"default-src {CSP.NONE}; frame-ancestors {CSP.NONE}; sandbox"
# Browser features that no page uses. Only writing to the clipboard is allowed.
OFF = """accelerometer aria-notify autoplay browsing-topics camera captured-surface-control clipboard-read
compute-pressure digital-credentials-create digital-credentials-get display-capture encrypted-media fullscreen gamepad
geolocation gyroscope hid identity-credentials-get idle-detection keyboard-map language-detector language-model
local-fonts local-network local-network-access loopback-network magnetometer microphone midi
on-device-speech-recognition otp-credentials payment picture-in-picture publickey-credentials-create
publickey-credentials-get screen-wake-lock serial speaker-selection storage-access summarizer sync-xhr translator usb
window-management xr-spatial-tracking"""
EVERYWHERE = {
    "Permissions-Policy": ", ".join([*(f"{each}=()" for each in OFF.split()), "clipboard-write=(self)"]),
    # Hosts of logos don't allow to be embedded, so browsers load images from them without credentials.
    "Cross-Origin-Embedder-Policy": "credentialless" if settings.ENV.intents_logo_hosts else "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def add_security_headers(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that adds the headers. A view can override those of EVERYWHERE by setting them.

    Pages are current only for a moment, so shared caches must not store them and browsers must revalidate. A static
    file can't use browser features, so it goes without their long list.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        headers = response.headers
        headers.setdefault("Cache-Control", "private, no-cache")
        for name, value in EVERYWHERE.items():
            headers.setdefault(name, value)
        if request.path.startswith(settings.STATIC_URL):
            del headers["Permissions-Policy"]
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            del headers[POLICY]  # the cached response has its own
        elif not headers.get("Content-Type", "").startswith("text/html"):
            headers[POLICY] = FILE_POLICY
            headers.setdefault("X-Robots-Tag", "noindex")
        return response

    return answer


type View = Callable[..., HttpResponseBase]


def embeddable(*, form_action: str = CSP.NONE) -> Callable[[View], View]:
    """Decorate a view whose responses INTENTS_EMBED_HOSTS may frame. They are kept out of search engines."""

    def decorate(view: View) -> View:
        @wraps(view)
        def framed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            hosts = settings.ENV.intents_embed_hosts
            policy = {"frame-ancestors": hosts or [CSP.NONE], "form-action": [form_action]}
            embedded = csp_override(settings.SECURE_CSP | policy)(view)
            if hosts:  # which X-Frame-Options can't name
                embedded = xframe_options_exempt(embedded)
            response = embedded(request, *args, **kwargs)
            response["Cross-Origin-Resource-Policy"] = "cross-origin"
            response["X-Robots-Tag"] = "noindex"
            return response

        return framed

    return decorate


@cache
def default_headers(*, is_page: bool = False) -> Sequence[tuple[bytes, bytes]]:
    """Return all headers, for responses that bypass Django."""
    headers = {
        **EVERYWHERE,
        POLICY: build_policy(settings.SECURE_CSP) if is_page else FILE_POLICY,
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
    }
    if settings.SECURE_HSTS_SECONDS:
        headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains; preload"
    return [(name.lower().encode(), str(value).encode()) for name, value in headers.items()]


# Publicly cacheable responses (images, short lists) stay uncompressed, and streams aren't buffered.
TYPES = frozenset({"text/html", "application/json", "application/atom+xml"})
SHORTEST = 500
LEVEL = 3  # Django's middleware has level 6, which takes twice the time for a tenth fewer bytes.


def compressed(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            patch_vary_headers(response, ["Accept-Encoding"])  # it has no Content-Type to check
        elif isinstance(response, HttpResponse) and response.headers.get("Content-Type", "").partition(";")[0] in TYPES:
            patch_vary_headers(response, ["Accept-Encoding"])
            if len(response.content) >= SHORTEST and accepts_gzip(request.headers.get("Accept-Encoding", "")):
                response.content = gzip.compress(response.content, compresslevel=LEVEL, mtime=0)
                response["Content-Length"] = str(len(response.content))
                response["Content-Encoding"] = "gzip"
                if response.headers.get("ETag", "").startswith('"'):
                    response["ETag"] = f"W/{response['ETag']}"  # a weak ETag: same content, different bytes
        return response

    return answer


def accepts_gzip(accepted: str) -> bool:
    """Return whether gzip is among the encodings that a client accepts (`br;q=0.5, gzip`), with a weight above 0."""
    encodings = (each.replace(" ", "").partition(";q=") for each in accepted.lower().split(","))
    return any(name == "gzip" and (not weight or weight.strip("0.")) for name, _, weight in encodings)


# The time in each page, for the clocks of its scripts (live.js). Without it, unchanged pages have the same ETag.
MADE = re.compile(rb' data-made="[^"]*"')


class ConditionalGet(ConditionalGetMiddleware):
    """Django's middleware, with ETags that leave out the time in each page."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if (
            isinstance(response, HttpResponse)
            and request.method == "GET"
            and response.content
            and self.needs_etag(response)
            and not response.has_header("ETag")
        ):
            content = MADE.sub(b"", response.content, count=1)
            response["ETag"] = quote_etag(hashlib.sha1(content, usedforsecurity=False).hexdigest())
        return super().process_response(request, response)
