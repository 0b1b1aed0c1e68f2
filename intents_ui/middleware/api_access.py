"""Who may use the API and MCP: anyone, clients with a token, or no one (INTENTS_API). Tokens have scopes."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse

from intents_ui import api, mcp
from intents_ui.api import tokens
from intents_ui.api.tokens import Scope, Token
from intents_ui.middleware import failures, marks
from intents_ui.middleware.failures import Failure
from intents_ui.settings import ENV

NEEDS_TOKEN = Failure(
    HTTPStatus.UNAUTHORIZED,
    "Token required",
    "This API answers clients with a token only.",
    "Send the header Authorization: Bearer, with your token. Your administrator can give you one.",
)
UNKNOWN_TOKEN = Failure(
    HTTPStatus.UNAUTHORIZED,
    "Unknown token",
    "The token in the Authorization header is none of this dashboard's.",
    "Check that it is complete, or ask your administrator for a new one.",
)


def access(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        if ENV.intents_api == "off" and (is_for_programs(request) or request.path.startswith(api.PATHS)):
            return failures.not_found(request, Http404())
        if not is_for_programs(request):
            return get_response(request)
        return refusal(request) or get_response(request)

    return answer


def is_for_programs(request: HttpRequest) -> bool:
    """Whether it is an operation of the API, or MCP, which needs a token as these do."""
    return request.path.startswith(api.OPERATIONS) or request.path == mcp.PATH


def refusal(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a client that may not send this request, or None.

    Where no token is needed, an unknown one is that of a proxy for single sign-on.
    """
    token = token_of(request)
    if token is None and ENV.intents_api == "public":
        return None
    if token is None and _sent_token(request) is not None:
        return _challenge(request, UNKNOWN_TOKEN, 'Bearer error="invalid_token"')
    if token is None:
        return _challenge(request, NEEDS_TOKEN, 'Bearer realm="API"')
    scope = marks.of_path(request.path_info).scope
    if scope not in token.scopes:
        return _challenge(request, lacks(scope), f'Bearer error="insufficient_scope", scope="{scope}"')
    return None


def token_of(request: HttpRequest) -> Token | None:
    """Return the token that a request to the API was sent with, if it is a known one."""
    given = _sent_token(request)
    return tokens.find(ENV.api_tokens, given) if given is not None else None


def lacks(scope: Scope) -> Failure:
    return Failure(
        HTTPStatus.FORBIDDEN,
        "Missing scope",
        f"This token is not for {scope}.",
        f"Ask your administrator for a token with the scope {scope}.",
    )


def _sent_token(request: HttpRequest) -> str | None:
    """Return the token in the Authorization header. Other schemes are those of a proxy."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" and is_for_programs(request) else None


def _challenge(request: HttpRequest, failure: Failure, challenge: str) -> HttpResponse:
    response = failures.page(request, failure)
    response["WWW-Authenticate"] = challenge
    return response
