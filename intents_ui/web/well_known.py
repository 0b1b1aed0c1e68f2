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
A_DAY = {"Cache-Control": "public, max-age=86400"}
VALID_DAYS = 180


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    rules = render_to_string("well_known/robots.txt", {"may_be_listed": ENV.intents_index == "index"})
    return HttpResponse(rules, content_type=TEXT, headers=A_DAY)


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """`security.txt` (RFC 9116). It must expire: half a year after each day it's requested."""
    if ENV.intents_security_contact is None:
        raise Http404("No security contact is configured for this dashboard.")
    expires = datetime.now(UTC).date() + timedelta(days=VALID_DAYS)
    lines = [f"Contact: {ENV.intents_security_contact}", f"Expires: {expires}T00:00:00Z", "Preferred-Languages: en"]
    if request.is_secure():
        lines.append(f"Canonical: {request.build_absolute_uri(request.path)}")
    return HttpResponse("\n".join(lines) + "\n", content_type=TEXT, headers=A_DAY)


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    manifest = render_to_string("well_known/site.webmanifest")
    return HttpResponse(manifest, content_type="application/manifest+json", headers=A_DAY)


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Return the description with which browsers add the search to their address bar."""
    described = render_to_string("well_known/opensearch.xml", {"root": client_ip.root(request)})
    kind = "application/opensearchdescription+xml"
    return HttpResponse(described, content_type=kind, headers={"Cache-Control": "private, max-age=86400"})


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon. Browsers request this path for JSON, images and feeds."""
    return redirect(static("img/mark.svg"))
