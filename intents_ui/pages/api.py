"""`/api`: documentation of the API, made of its description as OpenAPI."""

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.api.openapi import description
from intents_ui.api.openapi.reference import Reference
from intents_ui.display.lists.filters import Filters
from intents_ui.service.context import request_context
from intents_ui.service.errors import ServiceError
from intents_ui.settings import ENV
from intents_ui.web import client_ip, cursors


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    if ENV.intents_api == "off":
        raise Http404("This dashboard has no API.")
    reference = Reference(description.document())
    context = {
        "operations": reference.operations(client_ip.root(request), _known()),
        "objects": reference.objects(),
        "headers": description.HEADERS,
    }
    return render(request, "api.html", context)


def _known() -> Mapping[str, str]:
    """Return values of the newest transfers, with which the examples have an answer. None if there is no transfer."""
    newest = Filters()
    try:
        found = wiring.leaf(newest.request, newest.first, at=cursors.read("", of=newest.query))
    except ServiceError as error:
        request_context.add_failed(error)
        return {}
    ids = [each.intent_id for each in found.entries]
    summaries = [each.receipt.summary for each in found.entries if each.receipt and each.receipt.summary]
    owners = [each.owner_address for each in summaries if each.owner_address]
    values = {"intent_id": ids, "q": ids, "address": owners}
    return {name: each[0] for name, each in values.items() if each}
