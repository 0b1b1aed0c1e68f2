"""Pagination cursors: positions in a list as a URL parameter, signed so that no one else can write them.

A cursor contains the service's own cursors unchanged, so a link to a page of a list works later and for other users.
"""

import hashlib
from dataclasses import replace
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, QueryDict

from intents_ui.service.lookup import Position
from intents_ui.service.models import Page

NAME = "cursor"  # the URL parameter
LONGEST = 8_000  # characters, far above the usual length


class Unreadable(Exception):
    """The cursor is none of ours."""


class ListMismatch(Exception):
    """The cursor is for other filters than the URL's."""


def write(position: Position, *, query: str) -> str:
    """Return a position as a cursor. `query` is that of the list, without its cursor.

    If the cursor is too long, it drops the oldest pages.
    """
    cursors = [page.raw if page else None for page in (position.cursor, *position.earlier)]
    word = Signer(salt=NAME).sign_object([_fingerprint(query), position.number, cursors], compress=True)
    if len(word) > LONGEST and position.earlier:
        return write(replace(position, earlier=position.earlier[1:]), query=query)
    return word


def read(word: str, *, query: str) -> Position:
    """Return the position of a cursor. Raises Unreadable or ListMismatch."""
    if not word:
        return Position()
    try:
        fingerprint, number, cursors = Signer(salt=NAME).unsign_object(word)
    except BadSignature:
        raise Unreadable from None
    if fingerprint != _fingerprint(query):
        raise ListMismatch
    cursor, *earlier = (None if text is None else Page.from_text(text) for text in cursors)
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
