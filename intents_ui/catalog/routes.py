"""`/routes`: routes from and to a token, and whether the service lists a specific route."""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.catalog.reading import listed_routes, one_route, routed_tokens
from intents_ui.catalog.route_results import RouteSearch
from intents_ui.formatting import failures
from intents_ui.formatting.hashes import ZERO_ADDRESS
from intents_ui.http import cursors
from intents_ui.http.marks import is_partial
from intents_ui.search import route_query as query
from intents_ui.search.parameters import Parsed
from intents_ui.search.route_query import RouteDirection, RouteQuery
from intents_ui.service.errors import ServiceError
from intents_ui.settings import ENV
from intents_ui.tokens import chains, names
from intents_ui.tokens.names import Provider
from intents_ui.web.frame import render


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    parsed = query.read(dict(request.GET.lists()), using=app.current().catalog)
    if parsed.problems:
        return page(request, parsed, status=HTTPStatus.BAD_REQUEST)
    url = cursors.address(reverse("routes"), query=parsed.filters.query)
    if not cursors.is_at(request, url):
        return redirect(url)
    try:
        return page(request, parsed, answer(parsed.filters))
    except ServiceError as error:
        # The form as submitted, with the error in place of the results.
        return page(request, parsed, {"error": error, "words": failures.words(error)}, error=error)


def page(
    request: HttpRequest,
    parsed: Parsed[RouteQuery],
    answered: dict[str, object] | None = None,
    **response: Any,
) -> HttpResponse:
    question, catalog = parsed.filters, app.current().catalog
    catalog.learn((question.origin.chain_id, question.destination.chain_id))
    context: dict[str, object] = {
        "parsed": parsed,
        "question": question,
        "title": RouteSearch(question, catalog).title,
        "chains": [chains.of(each) for each in catalog.chains()],
        "origin": query.side("origin", parsed, using=catalog),
        "destination": query.side("destination", parsed, using=catalog),
        "can_quote": ENV.console == "write",
        "found": None,
        "providers": (),
        "error": None,
    }
    return render(request, "routes/routes.html", context | (answered or {}), **response)


def shared_providers(question: RouteQuery) -> tuple[Provider, ...]:
    """Return the route providers of both chains."""
    catalog = app.current().catalog
    origin, destination = catalog.chain(question.origin.chain_id), catalog.chain(question.destination.chain_id)
    if not (origin and destination) or origin.is_testnet != destination.is_testnet:
        return ()
    return chains.between(origin.id, destination.id, served=catalog.chains_by_provider(names.KNOWN_PROVIDERS))


def answer(question: RouteQuery) -> dict[str, object]:
    """Return the context of the results. Raises ServiceError if all requests failed."""
    match question.kind:
        case RouteDirection.CHAIN:
            # The service lists routes of a token only, so these are the routes of the chain's native one.
            found = routed_tokens(question.with_token(ZERO_ADDRESS))
            answered = RouteSearch(question, app.current().catalog).of_chain(found)
            return {"found": answered, "providers": shared_providers(question)}
        case RouteDirection.RECEIVE | RouteDirection.PAY:
            return {"found": listed_routes(question)}
        case RouteDirection.ONE:
            return {"found": one_route(question)}
    return {}


@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    """Render the token menu of one side after a chain change. Without JavaScript the whole form reloads."""
    if not is_partial(request):
        whole = query.read(dict(request.GET.lists()), using=app.current().catalog)
        of = request.GET.urlencode() if whole.problems else whole.filters.query
        return redirect(cursors.address(reverse("routes"), query=of))
    side = ("to", "for") if "to" in request.GET else ("from", "token")
    parsed = query.read({side[0]: request.GET.getlist(side[0])}, using=app.current().catalog)
    chain_id = parsed.filters.destination.chain_id or parsed.filters.origin.chain_id
    catalog = app.current().catalog
    context = {
        "name": side[1],
        "featured": query.options(catalog.tokens(chain_id) if chain_id else (), request.GET.get(side[1])),
        "chain": names.of_chain(chain_id, using=catalog) if chain_id else None,
    }
    return render(request, "routes/featured_tokens.html", context)
