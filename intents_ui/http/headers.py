"""Headers: checks of those of a request before a thread is taken, those of every response, compression and ETags.

Django's middleware adds the other headers (settings.py). Pages may load and run only our own resources. All other
responses (style sheets, JSON, images, downloads, streams) may do nothing when opened directly.

Compression can leak secrets that share a response with user input (BREACH). The only secret of a page is its CSRF
token, which Django masks differently in each response.
"""

import gzip
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, wraps
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote_from_bytes

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port, validate_host
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.csp import CSP, build_policy
from django.utils.http import parse_header_parameters, quote_etag
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csp import csp_override

from intents_ui.http.failures import Rejected, of_dashboard
from intents_ui.live.stream import Message, Receive, Send

AsgiApplication = Callable[[Message, Receive, Send], Awaitable[None]]

PIECE: Final = 32 * 1024  # bytes
HEADERS_SIZE: Final = 16_384  # bytes
CHARSETS: Final = ("utf-8", "utf8", "us-ascii", "ascii")
ASCII: Final = bytes(range(128))
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
    file can't use browser features, so it goes without their long list, and its ETag says when it changed.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        headers = response.headers
        headers.setdefault("Cache-Control", "private, no-cache")
        for name, value in EVERYWHERE.items():
            headers.setdefault(name, value)
        if request.path.startswith(settings.STATIC_URL):
            del headers["Permissions-Policy"], headers["Last-Modified"]
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


# Requests, before Django sees them


def is_for_us(scope: Message) -> bool:
    """Return whether the request has exactly one Host and it is allowed.

    DNS rebinding must not reach `/rpc/` either.
    """
    domain = host_of(scope)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def host_of(scope: Message) -> str:
    hosts = [bytes(value).decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    domain, _ = split_domain_port(hosts[0]) if len(hosts) == 1 else ("", "")
    return domain


def normalize_scope(scope: Message) -> Message:
    """Return the scope with an ASCII query, and without headers that could be mistaken for others.

    `X_Forwarded_For` and `X-Forwarded-For` share one key in WSGI. Raises Rejected for headers that are too large or not
    in UTF-8.
    """
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > HEADERS_SIZE:
        raise Rejected(of_dashboard("headers too large"))
    # Django would decode the URL with it, too, and fails to create a request at all for `zlib`.
    if any(name == b"content-type" and charset_of(value).lower() not in CHARSETS for name, value in scope["headers"]):
        raise Rejected(of_dashboard("no UTF-8"))
    headers = [header for header in scope["headers"] if b"_" not in header[0]]
    return {**scope, "query_string": quote_from_bytes(scope["query_string"], ASCII).encode(), "headers": headers}


def charset_of(content_type: bytes) -> str:
    try:
        return parse_header_parameters(content_type.decode("latin-1"))[1].get("charset", "utf-8")
    except ValueError:
        return "unreadable"


# Responses that bypass Django


async def send_text(send: Send, status: int, sentence: str, **headers: str) -> None:
    await send_response(
        send, status, f"{sentence}\n".encode(), {"Content-Type": "text/plain; charset=utf-8", **headers}
    )


async def send_response(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Send a response that bypasses Django, with its Content-Type among the headers."""
    headers = {"Content-Length": str(len(body)), "Cache-Control": "no-store", **headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    encoded += default_headers(is_page=headers["Content-Type"].startswith("text/html"))
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def without_body(send: Send) -> Send:
    """Drop the body, for HEAD requests."""

    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


def in_pieces(send: Send) -> Send:
    """Split large bodies. From 64 KB, gunicorn uses `writelines`, which in Python 3.13.0 applies no backpressure."""

    async def send_pieces(message: Message) -> None:
        body = message.get("body", b"")
        last = max(0, (len(body) - 1) // PIECE * PIECE)
        for start in range(0, last, PIECE):
            await send({**message, "body": body[start : start + PIECE], "more_body": True})
        await send({**message, "body": body[last:]} if last else message)

    return send_pieces
