"""Operator authentication: what visitors may do in the console, and the operator's token.

The token is sent with each form that writes. A browser can be remembered for half an hour, but never stores the token
itself.

    @require_http_methods(["GET", "HEAD", "POST"])
    @operators.guarded
    def page(request):
        if operators.level() is not Level.WRITE:
            raise Http404
        if request.method == "POST":
            if refused := operators.refusal(request):
                return form(request, refused)         # its sentence, its status, its wait
            …
            operators.remember(request, response)
        # templates: parts/operator.html, `operator_fields(csrf_input, operators.asked(request))`
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import wraps
from http import HTTPStatus
from math import ceil
from typing import Any, cast

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_protect

from intents_ui import visitors
from intents_ui.settings import ENV, LONGEST_SECRET
from intents_ui.spending import CannotCount, Limit, give_back, spend

COOKIE = "__Host-operator" if settings.BY_HTTPS else "operator"
REMEMBERED_SECONDS = 1800
TOKEN_FIELD = "operator-token"  # noqa: S105 - a field's name
REMEMBER_FIELD = "remember"
MINUTE = 60
LONGEST_TOKEN = LONGEST_SECRET  # characters to compare
WRONG_TOKENS = Limit("operator-token", 5, 900, is_strict=True)
# A limit over all addresses, so that many addresses don't give more guesses.
WRONG_TOKENS_OF_ALL = Limit("operator-token-of-all", 50, 900, is_strict=True)
ALL = "all"
SIGNER = Signer(salt="operator")


class Level(StrEnum):
    """Access to the console. `READ` allows operations that change nothing, `WRITE` also quote, commit and execute."""

    OFF = "off"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True)
class Refusal:
    """Why a request was rejected. Retry after `wait` seconds."""

    status: HTTPStatus
    sentence: str
    wait: int | None = None


@dataclass(frozen=True)
class Asked:
    """What a form that writes requires. `until` is how long this browser is remembered as the operator's."""

    token: bool
    until: datetime | None


MISSING = Refusal(HTTPStatus.FORBIDDEN, "The operator's token is missing. Nothing was sent to the service.")
WRONG = Refusal(HTTPStatus.FORBIDDEN, "This is not the operator's token. Nothing was sent to the service.")
UNCOUNTED = "Who has asked how much cannot be looked up just now, and what changes something waits for that."
NOT_HERE = Refusal(HTTPStatus.FORBIDDEN, "This dashboard sends nothing that changes anything. Nothing was sent.")


def level() -> Level:
    return Level(ENV.console)


def may_read() -> bool:
    """Return whether raw calls are allowed at all."""
    return level() is not Level.OFF


def may_write(request: HttpRequest) -> bool:
    """Return whether this visitor may write without entering the token."""
    return level() is Level.WRITE and (not has_token() or remembered_until(request) is not None)


def has_token() -> bool:
    """Return whether writing requires a token. It always does with a real service."""
    return ENV.intents_console_token is not None


def asked(request: HttpRequest) -> Asked:
    return Asked(token=has_token() and not may_write(request), until=remembered_until(request))


def refusal_to_read(request: HttpRequest) -> Refusal | None:
    """Return why a raw read is rejected for this visitor, or None. Counts it."""
    if not may_read():
        return NOT_HERE
    return _spent(Limit("read-by-hand", ENV.intents_console_reads, MINUTE), visitors.of(request))


def refusal(request: HttpRequest) -> Refusal | None:
    """Return why this form is rejected, or None. Counts writes and wrong tokens."""
    if level() is not Level.WRITE:
        return NOT_HERE
    visitor = visitors.of(request)
    if not may_write(request) and (refused := _unknown(request, visitor)):
        return refused
    return _spent(Limit("write-by-hand", ENV.intents_console_writes, MINUTE, is_strict=True), visitor)


def _unknown(request: HttpRequest, visitor: str | None) -> Refusal | None:
    """Return why the form's sender isn't authenticated as the operator, or None."""
    if not _given(request):
        return MISSING
    # Take the tokens before the comparison, so that concurrent guesses count like sequential ones.
    if refused := _spent(WRONG_TOKENS, visitor, "Too many wrong tokens came from this address."):
        return refused
    if refused := _spent(WRONG_TOKENS_OF_ALL, ALL, "Too many wrong tokens came."):
        return refused
    if not _is_token(_given(request)):
        return WRONG
    give_back(WRONG_TOKENS, visitor)
    give_back(WRONG_TOKENS_OF_ALL, ALL)
    return None


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """Remember the browser for half an hour, if its user chose that. Call it for accepted forms."""
    if REMEMBER_FIELD not in request.POST or not _is_token(_given(request)):
        return
    until = int(time.time()) + REMEMBERED_SECONDS
    response.set_cookie(
        COOKIE,
        SIGNER.sign_object([until, _fingerprint()]),
        max_age=REMEMBERED_SECONDS,
        httponly=True,
        samesite="Strict",
    )


def forget(response: HttpResponse) -> None:
    response.delete_cookie(COOKIE, samesite="Strict")


def remembered_until(request: HttpRequest) -> datetime | None:
    """Return until when this browser is remembered. A changed token or SECRET_KEY ends that."""
    if not has_token():
        return None
    try:
        until, fingerprint = SIGNER.unsign_object(request.COOKIES.get(COOKIE, ""))
    except (BadSignature, ValueError, TypeError):
        return None
    is_known = until > time.time() and secrets.compare_digest(fingerprint, _fingerprint())
    return datetime.fromtimestamp(until, UTC) if is_known else None


def guarded[V: Callable[..., HttpResponse]](view: V) -> V:
    """Decorator for pages with forms that write: CSRF protection, and no caching.

    Only these pages set cookies, which are Secure over HTTPS.
    """
    protected = csrf_protect(view)

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = protected(request, *args, **kwargs)
        if visitors.comes_by_https(request):
            for cookie in response.cookies.values():
                cookie["secure"] = True
        response["Cache-Control"] = "no-store"
        return response

    return cast(V, answer)


def _given(request: HttpRequest) -> str:
    return request.POST.get(TOKEN_FIELD, "")[:LONGEST_TOKEN]


def _is_token(given: str) -> bool:
    return has_token() and secrets.compare_digest(given.encode(errors="replace"), _token().encode())


def _token() -> str:
    return ENV.intents_console_token.get_secret_value() if ENV.intents_console_token else ""


def _fingerprint() -> str:
    """Return which token a cookie belongs to, without revealing the token."""
    return salted_hmac("operator", _token(), algorithm="sha256").hexdigest()[:32]


def _spent(
    limit: Limit,
    visitor: str | None,
    too_many: str = "More was asked from this address than one visitor may ask in a minute.",
) -> Refusal | None:
    try:
        wait, status = spend(limit, visitor), HTTPStatus.TOO_MANY_REQUESTS
    except CannotCount as error:
        wait, status, too_many = error.wait, HTTPStatus.SERVICE_UNAVAILABLE, UNCOUNTED
    if not wait:
        return None
    again = f"{wait} {'second' if wait == 1 else 'seconds'}" if wait <= 2 * MINUTE else f"{ceil(wait / MINUTE)} minutes"
    return Refusal(status, f"{too_many} Nothing was sent to the service. Try again in {again}.", wait)
