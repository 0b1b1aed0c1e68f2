"""What every page's frame needs beside the page's own context."""

from django.http import HttpRequest

from intents_ui import wiring


def frame(request: HttpRequest) -> dict[str, object]:
    return {"embedded": wiring.embedded(), "pasted": request.GET.get("q", "")}
