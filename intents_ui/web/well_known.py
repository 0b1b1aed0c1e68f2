"""Well-known files: `robots.txt`, `security.txt`, the web app manifest, the search engine and the icon."""

from datetime import UTC, datetime, timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from intents_ui.http import client_ip
from intents_ui.settings import ENV

TEXT = "text/plain; charset=utf-8"
DAY = "max-age=86400"
# The content type of each, and who may cache it: the addresses of the search engine are those of the request's host.
FILES = {
    "robots.txt": (TEXT, "public"),
    "site.webmanifest": ("application/manifest+json", "public"),
    "opensearch.xml": ("application/opensearchdescription+xml", "private"),
}
VALID_DAYS = 180


@require_safe
def file(request: HttpRequest, name: str) -> HttpResponse:
    context = {"may_be_listed": ENV.intents_index == "index", "root": client_ip.root(request)}
    content_type, cached_by = FILES[name]
    headers = {"Cache-Control": f"{cached_by}, {DAY}"}
    return HttpResponse(render_to_string(f"well_known/{name}", context), content_type=content_type, headers=headers)


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """`security.txt` (RFC 9116). It must expire: half a year after each day it's requested."""
    if ENV.intents_security_contact is None:
        raise Http404("No security contact is configured for this dashboard.")
    expires = datetime.now(UTC).date() + timedelta(days=VALID_DAYS)
    lines = [f"Contact: {ENV.intents_security_contact}", f"Expires: {expires}T00:00:00Z", "Preferred-Languages: en"]
    if request.is_secure():
        lines.append(f"Canonical: {request.build_absolute_uri(request.path)}")
    return HttpResponse("\n".join(lines) + "\n", content_type=TEXT, headers={"Cache-Control": f"public, {DAY}"})


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon. Browsers request this path for JSON, images and feeds."""
    return redirect(static("img/mark.svg"))
