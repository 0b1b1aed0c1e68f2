"""Well-known files: `robots.txt`, `security.txt`, the web app manifest, the search engine and the icon."""

from datetime import UTC, datetime, timedelta
from html import escape

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui.http import client_ip
from intents_ui.settings import ENV

A_DAY = "public, max-age=86400"
OPENSEARCH = """\
<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Intents</ShortName>
  <Description>Find a cross-chain transfer by a hash, an address or a message</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image type="image/svg+xml">{root}{icon}</Image>
  <Url type="text/html" method="get" template="{root}{search}?q={{searchTerms}}"/>
</OpenSearchDescription>
"""
# Expensive for the service, specific to one user, or not a page.
NOT_FOR_CRAWLERS = (
    "/.well-known/",
    "/console",
    "/export/",
    "/healthz",
    "/history/",
    "/live/",
    "/metrics",
    "/newest",
    "/operator",
    "/readyz",
    "/routes",
    "/rpc/",
    "/saved/",
    "/search",
    "/tokens/",
    "/triage",
    "/tx/",
    "/intent/*/balances",
    "/intent/*/commit",
    "/intent/*/route-stats",
    "/intent/*/proof",
    "/intent/*/raw/",
    "/intent/*/receipt",
    "/intent/*/reply",
    "/intent/*/share",
    "/address/*/share",
    "/token/*/*/intents",
    "/token/*/*/routes",
)
# With noindex, crawlers may not read the lists. They may read the pages of transfers and addresses, which have the link
# previews and the noindex tag.
LISTS = ("/history", "/attention")
VALID_DAYS = 180


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    paths = (*NOT_FOR_CRAWLERS, *LISTS) if ENV.intents_index == "noindex" else NOT_FOR_CRAWLERS
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in paths)]
    return _text(lines, {"Cache-Control": A_DAY})


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """`security.txt` (RFC 9116). It must expire: half a year after each day it's requested."""
    if ENV.intents_security_contact is None:
        raise Http404("No security contact is configured for this dashboard.")
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        f"Contact: {ENV.intents_security_contact}",
        f"Expires: {today + timedelta(days=VALID_DAYS):%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
    ]
    if request.is_secure():
        lines.append(f"Canonical: {request.build_absolute_uri(request.path)}")
    return _text(lines, {"Cache-Control": A_DAY})


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    fields = {
        "name": "Intents",
        "short_name": "Intents",
        "description": "Track cross-chain transfers: what happened, where the funds are, and what to do next.",
        "start_url": reverse("home"),
        "display": "minimal-ui",
        "background_color": "#f6f7f9",
        "theme_color": "#ffffff",
        "icons": [{"src": static("img/mark.svg"), "sizes": "any", "type": "image/svg+xml"}],
        # What another app shares is searched for.
        "share_target": {"action": reverse("search"), "method": "GET", "params": {"text": "q"}},
    }
    return JsonResponse(fields, content_type="application/manifest+json", headers={"Cache-Control": A_DAY})


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Return the description with which browsers add the search to their address bar."""
    root = escape(client_ip.root(request))
    described = OPENSEARCH.format(root=root, icon=static("img/mark.svg"), search=reverse("search"))
    kind = "application/opensearchdescription+xml"
    return HttpResponse(described, content_type=kind, headers={"Cache-Control": "private, max-age=86400"})


def _text(lines: list[str], headers: dict[str, str]) -> HttpResponse:
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon. Browsers request this path for JSON, images and feeds."""
    return redirect(static("img/mark.svg"))
