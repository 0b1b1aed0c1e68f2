"""Compression of pages and data, so that a deployment needs no proxy for it, and their ETags.

Compression can leak secrets that share a response with user input (BREACH). The only secret of a page is its CSRF
token, which Django masks differently in each response.
"""

import gzip
import hashlib
import re
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.http import quote_etag

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


# The time in each page, for the clocks of its scripts (clock.js). Without it, unchanged pages have the same ETag.
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
