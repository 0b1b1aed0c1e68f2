"""Requests with a recovery phrase or a private key end here: nothing of it reaches the service, a page or a log."""

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from intents_ui.display.search import secret_text
from intents_ui.middleware import failures
from intents_ui.middleware.failures import Failure
from intents_ui.web import cursors
from intents_ui.web.frame import is_partial

HELD_BACK: Final = Failure(
    HTTPStatus.BAD_REQUEST,
    "Recovery phrase or private key",
    "This looks like a recovery phrase or a private key. It was neither looked up nor stored.",
    "Never share it, not even with support. Anyone who has seen it can take the funds, so move them to a new wallet.",
)
# Random characters that our own pages made. Now and then they have the form of a key.
TOKENS: Final = {"csrfmiddlewaretoken", "form", "seen", cursors.NAME}
FORMS: Final = {"application/x-www-form-urlencoded", "multipart/form-data"}
# In JSON, `\n` is two characters, the second of which looks like a letter of the next word.
JSON_BREAKS: Final = re.compile(r"\\[nrt]")


def refuse_secrets(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Reject a request whose URL or body holds a secret. A page's URL is replaced, so that no history keeps it."""

    def answer(request: HttpRequest) -> HttpResponse:
        if not secret_text.is_in(text_of(request)):
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
