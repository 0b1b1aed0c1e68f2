"""`/demo`: every kind of trouble that the embedded service plays, with links to a fresh and a finished copy."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring


@require_safe
def demo(request: HttpRequest) -> HttpResponse:
    emulator = wiring.emulator()
    if emulator is None:
        raise Http404
    return render(request, "demo.html", {"scenarios": emulator.scenarios()})
