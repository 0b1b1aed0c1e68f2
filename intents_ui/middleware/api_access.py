"""The API and MCP exist unless INTENTS_API is `off`. Clients with a token have its rate limit."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse

from intents_ui import api, mcp
from intents_ui.api import tokens
from intents_ui.api.tokens import Token
from intents_ui.middleware import failures
from intents_ui.settings import ENV


def access(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        if ENV.intents_api == "off" and (is_for_programs(request) or request.path.startswith(api.PATHS)):
            return failures.not_found(request, Http404())
        return get_response(request)

    return answer


def is_for_programs(request: HttpRequest) -> bool:
    """Whether it is an operation of the API, or MCP."""
    return request.path.startswith(api.OPERATIONS) or request.path == mcp.PATH


def token_of(request: HttpRequest) -> Token | None:
    """Return the token that a request was sent with. An unknown one is that of a proxy for single sign-on."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    is_sent = scheme.lower() == "bearer" and is_for_programs(request)
    return tokens.find(ENV.api_tokens, given.strip()) if is_sent else None
