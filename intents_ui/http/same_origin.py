"""Rejection of forms that other sites send, also of those that change nothing and need no CSRF token.

Other sites may use the API, which reads no cookies.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_BAD_ORIGIN

from intents_ui import api
from intents_ui.http import client_ip, failures


def refuse_cross_site(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        is_form = request.method == "POST" and not request.path.startswith(api.PATHS)
        if is_form and not client_ip.is_same_origin(request):
            return failures.csrf_failure(request, REASON_BAD_ORIGIN)
        return get_response(request)

    return answer
