"""`/operator`: whether this browser is signed in as operator, and signing out."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from intents_ui.settings import ENV
from intents_ui.web import operator_auth


@require_http_methods(["GET", "HEAD", "POST"])
@operator_auth.guarded
def view(request: HttpRequest) -> HttpResponse:
    if ENV.console != "write" or not operator_auth.has_token():
        raise Http404("This dashboard has no operator sessions.")
    if request.method != "POST":
        return render(request, "operator.html", {"asked": operator_auth.asked(request)})
    response = redirect("operator")
    operator_auth.forget(response)
    return response
