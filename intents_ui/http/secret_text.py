"""Requests with a recovery phrase or a private key end here: nothing of it reaches the service, a page or a log.

Such text is recognized also within pasted text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from intents_ui import installation
from intents_ui.http import cursors, failures
from intents_ui.http.marks import is_partial

HELD_BACK: Final = failures.of_dashboard("secret")
# Random characters that our own pages made. Now and then they have the form of a key.
TOKENS: Final = {"csrfmiddlewaretoken", "form", "seen", cursors.NAME}
FORMS: Final = {"application/x-www-form-urlencoded", "multipart/form-data"}
# In JSON, `\n` is two characters, the second of which looks like a letter of the next word.
JSON_BREAKS: Final = re.compile(r"\\[nrt]")


def refuse_secrets(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Reject a request whose URL or body holds a secret. A page's URL is replaced, so that no history keeps it."""

    def answer(request: HttpRequest) -> HttpResponse:
        if not is_in(text_of(request)):
            return get_response(request)
        is_page = (
            request.method == "GET" and not is_partial(request) and "text/html" in request.headers.get("Accept", "")
        )
        response = redirect(f"{reverse('search')}?held-back") if is_page else failures.page(request, HELD_BACK)
        response["Cache-Control"] = "no-store"
        return response

    return answer


def text_of(request: HttpRequest) -> str:
    texts = [request.path, *_typed(request.GET)]
    if request.method == "POST":
        body = request.body  # read before its fields, after which views couldn't read it
        is_form = request.content_type in FORMS
        texts += _typed(request.POST) if is_form else [JSON_BREAKS.sub(" ", body.decode("utf-8", "replace"))]
    return " ".join(texts)


def _typed(fields: QueryDict) -> Iterator[str]:
    return (f"{name}={value}" for name, values in fields.lists() if name not in TOKENS for value in values)


# The English words of BIP-39, the list that nearly all wallets use.
WORDS: Final = installation.ROOT / "static" / "vendor" / "bip39-english.txt"
LETTERS: Final = re.compile(r"[^\W\d_]+")
SHORTEST_PHRASE: Final = 12  # words
MAX_MISSPELLED: Final = 1  # among these words
MIN_DISTINCT: Final = 8  # A phrase rarely has a word twice
BASE58: Final = "[1-9A-HJ-NP-Za-km-z]"
NAMED: Final = r"(?:(?:private|secret|signing)[\W_]*key|privkey|recovery[\W_]*phrase|seed|mnemonic)"
BETWEEN: Final = r"[^.!?]{0,40}?"
KEY: Final = rf"(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-f]{{64}}|{BASE58}{{86,88}})(?![0-9A-Za-z])"
SECRETS: Final = (
    # Bitcoin's wallet import format, and extended keys.
    re.compile(
        rf"(?<![0-9A-Za-z])(?:[59]{BASE58}{{50}}|[KLc]{BASE58}{{51}}|[a-zA-Z]prv{BASE58}{{90,120}})(?![0-9A-Za-z])"
    ),
    re.compile(rf"{NAMED}{BETWEEN}{KEY}", re.IGNORECASE),
    re.compile(rf"{KEY}{BETWEEN}{NAMED}", re.IGNORECASE),
    # The bytes of a Solana key, as its command line writes them.
    re.compile(r"\[\s*(?:[0-9]{1,3}\s*,\s*){63}[0-9]{1,3}\s*\]"),
)


def is_in(text: str) -> bool:
    """Return whether a text holds a recovery phrase or a private key.

    A phrase is twelve words of BIP-39 in a row, whatever stands between them, one of which may be misspelt. A key has
    the form of one, or is 64 hex digits next to words such as "private key".
    """
    plain = unicodedata.normalize("NFKC", text)
    words = LETTERS.findall(plain.casefold())
    windows = (words[start : start + SHORTEST_PHRASE] for start in range(len(words) - SHORTEST_PHRASE + 1))
    return any(form.search(plain) for form in SECRETS) or any(map(_is_phrase, windows))


def _is_phrase(words: list[str]) -> bool:
    known = [word for word in words if word in _words()]
    if len(set(known)) >= MIN_DISTINCT:
        return len(known) >= SHORTEST_PHRASE - MAX_MISSPELLED
    # Phrases of tests have a word eleven times and end with another, which is their checksum.
    return len(known) == SHORTEST_PHRASE and len(set(known[:-1])) == 1 and known[-1] != known[0]


@cache
def _words() -> frozenset[str]:
    return frozenset(WORDS.read_text(encoding="ascii").split())
