"""`/routes/matrix`: number of reachable tokens for each pair of chains, loaded after the routes page has rendered."""

from collections.abc import Sequence
from http import HTTPStatus
from itertools import batched

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.routes import matrix
from intents_ui.display.routes.matrix import Counts, Origins
from intents_ui.service.errors import ServiceError
from intents_ui.service.operations import operations
from intents_ui.web.frame import is_partial, part_or_page

AT_A_TIME = 6  # concurrent requests, so that one matrix can't use all connections to the service
MOST_CHAINS = 40


@require_safe
def routes_matrix(request: HttpRequest) -> HttpResponse:
    try:
        chains = wiring.service().get_chains().chains
    except ServiceError as error:
        return failed(request, error)
    names, drawn = wiring.catalog(), chains[:MOST_CHAINS]
    names.learn([chain.id for chain in drawn])
    offers = matrix.offers(request.GET.get(matrix.PARAMETER, ""), drawn, using=names)
    url = reverse("routes-matrix") + offers.query
    if request.get_full_path() != url:
        return redirect(url)
    origins = matrix.origins(offers.chosen, drawn, using=names)
    if not any(origins.values()):
        return page(request, {"offers": offers}, status=HTTPStatus.BAD_REQUEST)
    found = rows(origins)
    errors = [answer for answer in found.values() if isinstance(answer, ServiceError)]
    if len(errors) == len(found):
        return failed(request, errors[0])
    tables = matrix.tables(found, origins, drawn, using=names)
    return page(request, {"offers": offers, "tables": tables, "left_out": len(chains) - len(drawn)})


def page(request: HttpRequest, answered: dict[str, object], *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    context = {"offers": None, "tables": (), "left_out": 0, "words": None, "is_part": is_partial(request)} | answered
    return part_or_page(request, "routes/matrix.html", "routes/matrix_fragment.html", context, status=status)


def failed(request: HttpRequest, error: ServiceError) -> HttpResponse:
    response = page(request, {"words": failures.words(error)}, status=failures.status(error))
    if seconds := failures.retry_after(error):
        response["Retry-After"] = str(seconds)
    return response


def rows(origins: Origins) -> dict[int, Counts | ServiceError]:
    """Return the counts by origin chain. Stops after a batch in which every request failed."""
    wanted = [(chain_id, address) for chain_id, address in origins.items() if address]
    found: dict[int, Counts | ServiceError] = {}
    for some in batched(wanted, AT_A_TIME):
        answers = count(some)
        found |= {chain_id: answer for (chain_id, _), answer in zip(some, answers, strict=True)}
        if all(isinstance(answer, ServiceError) for answer in answers):
            break
    return found


def count(origins: Sequence[tuple[int, str]]) -> list[Counts | ServiceError]:
    calls = [operations.get_exact_input_routes(chain_id, address) for chain_id, address in origins]
    return wiring.service().threads.together(*((lambda call=call: wiring.routes().count(call)) for call in calls))
