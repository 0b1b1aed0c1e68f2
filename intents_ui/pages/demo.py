"""`/demo`: the emulator's scenarios, each with a live, a held and a completed transfer."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from intents_ui import wiring


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    emulator = wiring.emulator()
    if emulator is None:
        raise Http404
    return render(request, "demo.html", {"scenarios": emulator.scenarios()})
