"""The pages of the mirror in a dashboard that has none."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def view(request: HttpRequest, **_: str) -> HttpResponse:
    return render(request, "insight/no_mirror.html", status=HTTPStatus.NOT_FOUND)
