"""`/operator`: whether this browser is signed in as operator, and signing out."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from intents_ui import operators
from intents_ui.operators import Level


@require_http_methods(["GET", "HEAD", "POST"])
@operators.guarded
def operator(request: HttpRequest) -> HttpResponse:
    if operators.level() is not Level.WRITE or not operators.has_token():
        raise Http404("This dashboard has no operator sessions.")
    if request.method != "POST":
        return render(request, "operator.html", {"asked": operators.asked(request)})
    response = redirect("operator")
    operators.forget(response)
    return response
