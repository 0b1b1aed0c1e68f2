"""URL-safe pagination cursors.

A cursor contains the service's own cursors unchanged, so a link to a page of a list works later and for other users.
"""

import hashlib
import json
import zlib
from dataclasses import replace
from typing import Annotated, Final
from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from pydantic import Field, TypeAdapter

from intents_ui.search.filters import LARGEST_SIZE
from intents_ui.service.lookup import MAX_EARLIER, Position
from intents_ui.service.models import Page

NAME = "cursor"  # the URL parameter
LONGEST = 8_000  # characters, far above the usual length
LONGEST_TEXT = 50_000  # characters of its JSON
# The list's fingerprint, the page's number, and the cursors of the page and of those before it.
PARTS: Final = TypeAdapter(
    tuple[
        str,
        Annotated[int, Field(ge=1, le=10**6)],
        Annotated[tuple[str | None, ...], Field(min_length=1, max_length=1 + MAX_EARLIER)],
    ]
)


class Unreadable(Exception):
    """The cursor is none of ours."""


class ListMismatch(Exception):
    """The cursor is for other filters than the URL's."""


def write(position: Position, *, query: str) -> str:
    """Return a position as a cursor. `query` is that of the list, without its cursor.

    If the cursor is too long, it drops the oldest pages.
    """
    cursors = (position.cursor, *position.earlier)
    texts = [page.raw if page else None for page in cursors]
    parts = json.dumps([_fingerprint(query), position.number, texts], separators=(",", ":")).encode()
    word = urlsafe_base64_encode(zlib.compress(parts))  # the cursors of a list are alike
    if (len(word) > LONGEST or len(parts) > LONGEST_TEXT) and position.earlier:
        return write(replace(position, earlier=position.earlier[1:]), query=query)
    return word


def read(word: str, *, query: str) -> Position:
    """Return the position of a cursor. Raises Unreadable or ListMismatch.

    Anyone can write a cursor, so no page is larger than a list's.
    """
    if not word:
        return Position()
    if len(word) > LONGEST:
        raise Unreadable
    try:
        compressed = zlib.decompressobj()
        parts = compressed.decompress(urlsafe_base64_decode(word), LONGEST_TEXT)
        if not compressed.eof or compressed.unused_data:
            raise Unreadable
        fingerprint, number, texts = PARTS.validate_json(parts)
        cursor, *earlier = [None if text is None else Page.from_text(text) for text in texts]
    except (ValueError, zlib.error):
        raise Unreadable from None
    if any(page and (page.page_size or 0) > LARGEST_SIZE for page in (cursor, *earlier)):
        raise Unreadable
    if fingerprint != _fingerprint(query):
        raise ListMismatch
    return Position(cursor, tuple(earlier), number)


def address(path: str, *, query: str, at: Position | None = None, written: str | None = None) -> str:
    """Return the canonical URL of a list, or of a position in it.

    `written` replaces the query where the path contains a part of it.
    """
    shown = query if written is None else written
    words = [shown] if shown else []
    if at and at != Position():
        words.append(urlencode({NAME: write(at, query=query)}))
    return f"{path}?{'&'.join(words)}" if words else path


def is_at(request: HttpRequest, url: str) -> bool:
    """Return whether the request's URL has the same query as the canonical one, however it is escaped."""
    return list(request.GET.lists()) == list(QueryDict(url.partition("?")[2]).lists())


def _fingerprint(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()[:12]
