"""`/routes/matrix`: number of route providers for each pair of chains, loaded after the routes page has rendered."""

from collections.abc import Mapping
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.routes import matrix
from intents_ui.display.routes.matrix import PairPerformance
from intents_ui.display.tokens import connections, providers
from intents_ui.service.errors import ServiceError
from intents_ui.web.frame import part_or_page

MOST_CHAINS = 40


@require_safe
def routes_matrix(request: HttpRequest) -> HttpResponse:
    catalog = wiring.catalog()
    try:
        listed = catalog.listed_chains()
        served = catalog.chains_by_provider(providers.KNOWN)
        featured = catalog.count_featured([chain.id for chain in listed.entries])
    except ServiceError as error:
        return failed(request, error)
    unknown = connections.unknown(served)
    if len(unknown) == len(served):
        return page(request, {"unknown": unknown}, status=HTTPStatus.SERVICE_UNAVAILABLE)
    figures = performance(request)
    context = {
        "listed": listed,
        "has_figures": bool(figures),
        "unknown": unknown,
        "tables": matrix.tables(listed.entries[:MOST_CHAINS], served=served, featured=featured, performance=figures),
        "left_out": len(listed.entries[MOST_CHAINS:]),
    }
    return page(request, context)


def performance(request: HttpRequest) -> Mapping[tuple[int, int], PairPerformance]:
    """Return the figures of the mirror, if there is one."""
    if settings.MIRROR_DATABASE is None:
        return {}
    from intents_ui.web.insight import pairs  # imported only with a mirror

    return pairs.by_pair(request)


def page(request: HttpRequest, answered: dict[str, object], *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    context = {
        "listed": None,
        "has_figures": False,
        "unknown": (),
        "tables": (),
        "left_out": 0,
        "words": None,
    } | answered
    return part_or_page(request, "routes/matrix.html", "routes/matrix_fragment.html", context, status=status)


def failed(request: HttpRequest, error: ServiceError) -> HttpResponse:
    response = page(request, {"words": failures.words(error)}, status=failures.status(error))
    if seconds := failures.retry_after(error):
        response["Retry-After"] = str(seconds)
    return response
