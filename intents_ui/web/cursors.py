"""Signed, URL-safe pagination cursors.

A cursor contains the service's own cursors unchanged, so a link to a page of a list works later and for other users. It
is signed because its contents are sent to the service.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, HttpResponse, QueryDict

from intents_ui.service.wire.models import Page
from intents_ui.service.wire.results import Position

NAME = "cursor"  # the URL parameter
LONGEST = 8_000  # characters, far above the usual length with twenty cursors
# the list's fingerprint, the edge, the direction, the cursor. Earlier versions may have written other parts
FEWEST_PARTS = 4
REMEMBERED = 128  # cursors. Each is verified before any request is sent, and then read, and each page has the same ones
SIGNER = Signer(salt="bookmark")


class Unreadable(Exception):
    """The cursor's signature is invalid."""


class OfAnotherList(Exception):
    """The cursor is valid, but for other filters than the URL's."""


def write(position: Position, *, of: str) -> str:
    """Return a position as a cursor. `of` is the list's query without its cursor.

    If the cursor is too long, it drops the oldest pages.
    """
    cursors = (position.cursor, *position.earlier)
    texts = [page.received if page else None for page in cursors]
    word = _signed(_fingerprint(of), position.edge, position.is_backward, *texts)
    if len(word) > LONGEST and position.earlier:
        return write(replace(position, earlier=position.earlier[1:]), of=of)
    return word


def read(word: str, *, of: str) -> Position:
    """Return the position of a cursor. Raises Unreadable or OfAnotherList."""
    if not word:
        return Position()
    fingerprint, edge, is_backward, *texts = _verified(word)
    if fingerprint != _fingerprint(of):
        raise OfAnotherList
    cursor, *earlier = (None if text is None else Page.from_text(text) for text in texts)
    return Position(cursor, tuple(earlier), edge, is_backward)


def verified(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate the view of a list: verify the cursor in the URL before any request is sent. Raises Unreadable."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check(request.GET.get(NAME, ""))
        return view(request, *args, **kwargs)

    return checked


def check(word: str) -> None:
    """Verify the signature. Raises Unreadable."""
    if word:
        _verified(word)


def address(path: str, *, of: str, at: Position | None = None, written: str | None = None) -> str:
    """Return the canonical URL of a list, or of a position in it.

    `written` replaces the query where the path contains a part of it.
    """
    query = of if written is None else written
    words = [query] if query else []
    if at and at != Position():
        words.append(urlencode({NAME: write(at, of=of)}))
    return f"{path}?{'&'.join(words)}" if words else path


def is_at(request: HttpRequest, url: str) -> bool:
    """Return whether the request's URL has the same query as the canonical one, however it is escaped."""
    return list(request.GET.lists()) == list(QueryDict(url.partition("?")[2]).lists())


@lru_cache(REMEMBERED)
def _signed(*parts: str | int | None) -> str:
    return SIGNER.sign_object(list(parts), compress=True)


def _verified(word: str) -> Any:
    if len(word) > LONGEST:
        raise Unreadable
    return _unsigned(word)


@lru_cache(REMEMBERED)
def _unsigned(word: str) -> Any:
    try:
        found = SIGNER.unsign_object(word)
    except (BadSignature, ValueError):
        raise Unreadable from None
    if not (isinstance(found, list) and len(found) >= FEWEST_PARTS):
        raise Unreadable
    return found


def _fingerprint(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()[:12]
