"""What a client may do by its role, the operator token, and confirmations of console calls and commits.

The token is sent with each form that writes. A signed cookie can stand in for it for half an hour; it doesn't contain
the token.

A view with such a form is an `operator_form`. It rejects with `refusal`, calls `remember` for its response, and draws
`operator_fields` (parts/operator.html) with a `TokenPrompt`.
"""

import hashlib
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from http import HTTPStatus
from typing import Any, cast

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_protect

from intents_ui import app
from intents_ui.formatting import text
from intents_ui.http import client_ip, limits
from intents_ui.http.client_ip import Role, current_user
from intents_ui.service import request_context
from intents_ui.settings import ENV, LONGEST_SECRET

log = logging.getLogger(__name__)


COOKIE = "__Host-operator" if settings.BY_HTTPS else "operator"
REMEMBERED_SECONDS = 1800
TOKEN_FIELD = "operator-token"  # noqa: S105 - a field's name
REMEMBER_FIELD = "remember"


@dataclass(frozen=True)
class Refusal:
    """Why a request was rejected; `wait`: seconds until a retry can succeed."""

    status: HTTPStatus
    sentence: str
    wait: int | None = None


MISSING = Refusal(HTTPStatus.FORBIDDEN, "Enter the operator token. Nothing was sent to the service.")
WRONG = Refusal(HTTPStatus.FORBIDDEN, "Wrong operator token. Nothing was sent to the service.")
NOT_OPERATOR = Refusal(HTTPStatus.FORBIDDEN, "Only operators can do this. Nothing was sent to the service.")
NOT_HERE = Refusal(HTTPStatus.FORBIDDEN, "Write operations are disabled in this dashboard. Nothing was sent.")


def may_write(request: HttpRequest) -> bool:
    """Whether this client can write without entering the token (again)."""
    return ENV.console == "write" and (is_open() or is_at_least(request, Role.OPERATOR))


def may_see_insight(request: HttpRequest) -> bool:
    """Whether this client can see what the mirror knows (INTENTS_INSIGHT)."""
    return ENV.insight == "public" or (ENV.insight == "staff" and is_at_least(request, Role.SUPPORT))


def may_read_console(request: HttpRequest) -> bool:
    """Whether this client can send calls that read. Without sign-in, anyone can."""
    return not ENV.intents_user_header or is_at_least(request, Role.SUPPORT)


def is_at_least(request: HttpRequest, role: Role) -> bool:
    """Whether this client has a role, by its sign-in or by the operator token."""
    return current_user(request).role >= role or remembered_until(request) is not None


def is_open() -> bool:
    """Whether anyone may write. Never with a real service."""
    return not has_token() and not ENV.intents_user_header


def has_token() -> bool:
    return ENV.intents_console_token is not None


class TokenPrompt:
    """What a form that writes says about its client, and whether it needs the token.

    `until`: when this browser's operator cookie expires. `is_barred`: only others may write.
    """

    def __init__(self, request: HttpRequest) -> None:
        may = may_write(request)
        self.user, self.until = current_user(request), remembered_until(request)
        self.token = has_token() and not may and self.until is None
        self.is_barred = not may and not has_token()


def refusal(request: HttpRequest) -> Refusal | None:
    """Return why a write operation is rejected for this client, or None. A right token costs as much as a wrong one."""
    return token_refusal(request, is_known=may_write(request)) if ENV.console == "write" else NOT_HERE


def token_refusal(request: HttpRequest, *, is_known: bool = False) -> Refusal | None:
    """Return why the token of a form is rejected. Who `is_known` needs none."""
    if not (is_known or request.POST.get(TOKEN_FIELD)):
        return MISSING if has_token() else NOT_OPERATOR
    # Charged before the comparison, so that concurrent guesses are limited like sequential ones.
    cost = limits.SEARCH if is_known else limits.TOKEN
    if wait := app.current().rate_limiter.charge(request, cost, exempts_this_machine=is_known):
        return too_many(wait)
    if is_known or _has_token(request):
        return None
    return WRONG if has_token() else NOT_OPERATOR


def record(request: HttpRequest, operation: str) -> None:
    """Log who has an operation sent that writes. Its request ID is that of the page."""
    by = current_user(request).name or ("the operator token" if has_token() else "anyone")
    log.info("%s sent by %s, request %s", operation, by, request_context.reference())


def too_many(wait: int) -> Refusal:
    again = text.counted(wait, "second")
    sentence = f"Too many requests from this IP address. Nothing was sent to the service. Try again in {again}."
    return Refusal(HTTPStatus.TOO_MANY_REQUESTS, sentence, wait)


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """Set the operator cookie for half an hour, if the form asks for it and the token is right."""
    if REMEMBER_FIELD not in request.POST or not _has_token(request):
        return
    until = int(time.time()) + REMEMBERED_SECONDS
    response.set_signed_cookie(
        COOKIE, str(until), salt=_salt(), max_age=REMEMBERED_SECONDS, httponly=True, samesite="Strict"
    )


def remembered_until(request: HttpRequest) -> datetime | None:
    """Return when the operator cookie expires; a new token or SECRET_KEY invalidates it."""
    until = int(request.get_signed_cookie(COOKIE, "", salt=_salt()) or 0) if has_token() else 0
    return datetime.fromtimestamp(until, UTC) if until > time.time() else None


def operator_form[V: Callable[..., HttpResponse]](view: V) -> V:
    """Protect a view with forms that write: CSRF check, no caching, Secure cookies over HTTPS.

    No other page sets cookies.
    """
    protected = cache_control(no_store=True)(csrf_protect(view))

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = protected(request, *args, **kwargs)
        # The proxy that terminates TLS may not say so.
        if request.is_secure() or client_ip.source_url(request).startswith("https:"):
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response

    return cast(V, answer)


def _has_token(request: HttpRequest) -> bool:
    """Return whether the form has the right token."""
    given = request.POST.get(TOKEN_FIELD, "")[:LONGEST_SECRET].encode(errors="replace")
    return has_token() and secrets.compare_digest(given, _token().encode())


def _token() -> str:
    return ENV.intents_console_token.get_secret_value() if ENV.intents_console_token else ""


def _salt() -> str:
    """Return a salt of the cookie's signature that ties it to the token."""
    return f"operator {_token()}"


# Confirmations: a form carries what the operator was shown, so that exactly those bytes are sent.

CONFIRMED = "operator.confirmed"


@dataclass(frozen=True)
class Confirmed:
    """Content of a confirmation. `carried` is the text itself, if the form carries it."""

    digest: str
    carried: str | None

    def is_of(self, text: str) -> bool:
        return constant_time_compare(self.digest, _digest(text))


def sign(text: str, *subject: str, carried: str | None = None) -> str:
    """Return the confirmation of a text that was shown, for the same subject only, such as an operation."""
    return signing.dumps([*subject, _digest(text), carried], salt=CONFIRMED, compress=True)


def read_confirmed(given: str, *subject: str, max_age: int | None = None) -> Confirmed | None:
    """Return a form's confirmation, or None if its signature is invalid, too old, or for another subject."""
    try:
        *named, digest, carried = signing.loads(given, salt=CONFIRMED, max_age=max_age)
    except signing.BadSignature:
        return None
    return Confirmed(digest, carried) if tuple(named) == subject else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
