"""`/demo`: the scenarios of the embedded service, with links to a live copy, one held at its worst, a finished one."""

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
