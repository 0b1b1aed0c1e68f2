"""`/provider/<name>`: a route provider, its chains, and its transfers among the newest ones."""

from collections import Counter
from functools import partial
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.catalog.routes import RouteQuery
from intents_ui.formatting import text
from intents_ui.tokens import chains, names
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.reading import Part, read_parts

TRANSFERS_SHOWN = 10
ROUTES_SHOWN = 12


@require_safe
def view(request: HttpRequest, name: str) -> HttpResponse:
    word = names.provider_named(name)
    if word not in names.KNOWN_PROVIDERS:
        known = tuple(map(names.provider, names.KNOWN_PROVIDERS))
        context: dict[str, object] = {"name": text.name(name).shown, "providers": known}
        return render(request, "catalog/provider_unknown.html", context, status=HTTPStatus.NOT_FOUND)
    if word != name:
        return redirect("provider", word, permanent=True)
    catalog = app.current().catalog
    served, newest = Part(partial(catalog.listed_chains, route_provider=word)), Part(reading.latest)
    read_parts(served, newest)
    if served.error and newest.error:
        raise served.error
    # The service can't filter by provider.
    transfers = reading.of_entries(newest.found or ())
    found = [each for each in transfers if word in map(str.upper, each.providers)]
    pairs = Counter((each.origin_chain_id, each.destination_chain_id) for each in found).most_common()
    context = {
        "provider": names.provider(word),
        "swaps_only": word in names.ON_ONE_CHAIN,
        "slow_range": names.slow_range([word]),
        "all_known": len(catalog.chains()),
        "listed": served.found,
        "chains_error": served.error,
        "chains": [chains.of(info) for info in served.found.entries] if served.found else (),
        "transfers_error": newest.error,
        "looked_at": len(transfers),
        "count": len(found),
        "transfers": [summary.of(each) for each in found[:TRANSFERS_SHOWN]],
        "routes": [used_route(*pair, count) for pair, count in pairs[:ROUTES_SHOWN]],
        "more_routes": len(pairs[ROUTES_SHOWN:]),
    }
    return render(request, "catalog/provider.html", context)


def used_route(origin: int | None, destination: int | None, count: int) -> tuple[str, str, int, str]:
    """Return a pair of chains, its number of transfers, and the query of its routes, "" unless both are listed."""
    start, end = (app.current().catalog.chain(each) for each in (origin, destination))
    query = RouteQuery(origin=origin, destination=destination).query if start and end else ""
    return names.chain(origin, info=start), names.chain(destination, info=end), count, query
