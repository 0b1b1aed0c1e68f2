"""`/api`: what the API is for, and its operations."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui.api import description
from intents_ui.settings import ENV


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    if ENV.intents_api == "off":
        raise Http404("This dashboard has no API.")
    return render(request, "api.html", {"paths": description.document()["paths"], "headers": description.HEADERS})
