"""`/operator`: who is signed in, and signing in and out with the operator token."""

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from intents_ui.http import operator_auth
from intents_ui.http.operator_auth import Refusal
from intents_ui.web.frame import render


@require_http_methods(["GET", "HEAD", "POST"])
@operator_auth.operator_form
def view(request: HttpRequest) -> HttpResponse:
    if operator_auth.is_open():
        raise Http404("This dashboard has no operator sessions.")
    if request.method != "POST" or not operator_auth.has_token():
        return page(request)
    response = redirect("operator")
    if operator_auth.TOKEN_FIELD not in request.POST:
        response.delete_cookie(operator_auth.COOKIE, samesite="Strict")
        return response
    if refused := operator_auth.token_refusal(request):
        return page(request, refused)
    operator_auth.remember(request, response)
    return response


def page(request: HttpRequest, refused: Refusal | None = None) -> HttpResponse:
    context = {"asked": operator_auth.TokenPrompt(request), "refused": refused}
    status, wait = (refused.status, refused.wait) if refused else (HTTPStatus.OK, None)
    return render(request, "operator.html", context, status=status, retry_after=wait)
