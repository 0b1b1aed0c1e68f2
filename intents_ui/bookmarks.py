"""Where in a list a reader is, as one word of a URL: compact, signed, the same for everybody who gets the link.

It holds the service's cursors as they came (interface.md 4.2), so that a page can be opened again later and elsewhere.
Signed, because whatever came back in its place would be sent to the service.
"""

import hashlib
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, QueryDict

from intents_ui.service.paging import Position
from intents_ui.service.wire import Page

NAME = "cursor"  # in the URL
LONGEST = 8_000  # characters; far above what twenty cursors take as a rule
FEWEST_PARTS = 4  # what list it is of, its edge, which way, where; one that an earlier version wrote may have others
SIGNER = Signer(salt="bookmark")


class Unreadable(Exception):
    """It is not one of ours, or somebody has changed it."""


class OfAnotherList(Exception):
    """It is ours, but the filters beside it are not those that it was made for."""


def write(position: Position, *, of: str) -> str:
    """`of` is the list's own query, without the bookmark. Of long cursors it remembers as many as there is room for."""
    cursors = (position.cursor, *position.earlier)
    texts = [page.received if page else None for page in cursors]
    word = SIGNER.sign_object([_fingerprint(of), position.edge, position.is_backward, *texts], compress=True)
    if len(word) > LONGEST and position.earlier:
        return write(replace(position, earlier=position.earlier[1:]), of=of)
    return word


def read(word: str, *, of: str) -> Position:
    """Raises Unreadable and OfAnotherList."""
    if not word:
        return Position()
    fingerprint, edge, is_backward, *texts = _opened(word)
    if fingerprint != _fingerprint(of):
        raise OfAnotherList
    cursor, *earlier = (None if text is None else Page.from_text(text) for text in texts)
    return Position(cursor, tuple(earlier), edge, is_backward)


def check(word: str) -> None:
    """Before anything is asked. Raises Unreadable."""
    if word:
        _opened(word)


def address(path: str, *, of: str, at: Position | None = None, written: str | None = None) -> str:
    """The one address of a list, and of a place in it. `written`: its query, where the path says some of it."""
    query = of if written is None else written
    words = [query] if query else []
    if at and at != Position():
        words.append(urlencode({NAME: write(at, of=of)}))
    return f"{path}?{'&'.join(words)}" if words else path


def is_at(request: HttpRequest, url: str) -> bool:
    """Whether this was asked for by the one address that it has: the same words, however they are escaped."""
    return list(request.GET.lists()) == list(QueryDict(url.partition("?")[2]).lists())


def _opened(word: str) -> Any:
    if len(word) > LONGEST:
        raise Unreadable
    try:
        found = SIGNER.unsign_object(word)
    except (BadSignature, ValueError):
        raise Unreadable from None
    if not (isinstance(found, list) and len(found) >= FEWEST_PARTS):
        raise Unreadable
    return found


def _fingerprint(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()[:12]
