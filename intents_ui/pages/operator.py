"""`/operator`: whether this browser is remembered as the operator's, and a way to be forgotten."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from intents_ui import operators
from intents_ui.operators import Level


@require_http_methods(["GET", "HEAD", "POST"])
@operators.guarded
def operator(request: HttpRequest) -> HttpResponse:
    if operators.level() is not Level.WRITE or not operators.has_token():
        raise Http404("This dashboard has no operator's token to remember.")
    if request.method != "POST":
        return render(request, "operator.html", {"asked": operators.asked(request)})
    response = redirect("operator")
    operators.forget(response)
    return response
