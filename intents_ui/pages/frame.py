"""What every page has in common: what its frame needs, and who may keep it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from intents_ui import wiring


def frame(request: HttpRequest) -> dict[str, object]:
    return {"embedded": wiring.embedded()}


def private_pages(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """A page is of a moment: nobody between us and the reader keeps it, and the reader's browser asks again."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return answer
