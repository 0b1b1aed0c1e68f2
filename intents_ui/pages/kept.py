"""`/kept`: what the reader's browser keeps for him. It is not known here: the page is the same for everybody."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def kept(request: HttpRequest) -> HttpResponse:
    return render(request, "kept.html")
