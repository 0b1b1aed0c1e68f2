"""`/provider/<name>`: a route provider, its chains, and its transfers among the newest ones."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.catalog.routes import RouteQuery, RouteSide
from intents_ui.formatting import text
from intents_ui.service.catalog import Listed
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import ChainInfo, IntentHistory
from intents_ui.tokens import chains, names
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render

TRANSFERS_SHOWN = 10
ROUTES_SHOWN = 12


@require_safe
def view(request: HttpRequest, name: str) -> HttpResponse:
    word = names.provider_named(name)
    if word not in names.KNOWN_PROVIDERS:
        return unknown(request, name)
    if word != name:
        return redirect("provider", word, permanent=True)
    catalog = app.current().catalog
    listed, newest = app.current().service.threads.both(
        partial(catalog.listed_chains, route_provider=word), reading.latest
    )
    if isinstance(listed, ServiceError) and isinstance(newest, ServiceError):
        raise listed
    context: dict[str, object] = {
        "provider": names.provider(word),
        "swaps_only": word in names.ON_ONE_CHAIN,
        "slow_range": names.slow_range([word]),
        "all_known": len(catalog.chains()),
    }
    return render(request, "catalog/provider.html", context | its_chains(listed) | its_transfers(word, newest))


def unknown(request: HttpRequest, name: str) -> HttpResponse:
    context = {"name": text.name(name).shown, "providers": tuple(map(names.provider, names.KNOWN_PROVIDERS))}
    return render(request, "catalog/provider_unknown.html", context, status=HTTPStatus.NOT_FOUND)


def its_chains(listed: Listed[ChainInfo] | ServiceError) -> dict[str, object]:
    if isinstance(listed, ServiceError):
        return {"listed": None, "chains_error": listed}
    return {"listed": listed, "chains_error": None, "chains": [chains.of(info) for info in listed.entries]}


def its_transfers(word: str, newest: Sequence[IntentHistory] | ServiceError) -> dict[str, object]:
    """Return the provider's transfers among the newest. The service can't filter by provider."""
    if isinstance(newest, ServiceError):
        return {"transfers_error": newest}
    read = reading.of_entries(newest)
    found = [each for each in read if word in map(str.upper, each.providers)]
    pairs = Counter((each.origin_chain_id, each.destination_chain_id) for each in found)
    routes = [used_route(*pair, count) for pair, count in pairs.most_common()]
    return {
        "transfers_error": None,
        "looked_at": len(read),
        "count": len(found),
        "transfers": [summary.of(each) for each in found[:TRANSFERS_SHOWN]],
        "routes": routes[:ROUTES_SHOWN],
        "more_routes": len(routes[ROUTES_SHOWN:]),
    }


def used_route(origin: int | None, destination: int | None, count: int) -> tuple[str, str, int, str]:
    """Return a pair of chains, its number of transfers, and the query of its routes, "" unless both are listed."""
    start, end = (app.current().catalog.chain(each) for each in (origin, destination))
    query = RouteQuery(RouteSide(origin), RouteSide(destination)).query if start and end else ""
    return names.chain(origin, info=start), names.chain(destination, info=end), count, query
