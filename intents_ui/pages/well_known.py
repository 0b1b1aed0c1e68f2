"""Well-known files: `robots.txt`, `security.txt`, the web app manifest and the icon."""

from datetime import UTC, datetime, timedelta

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui.settings import ENV

A_DAY = "public, max-age=86400"
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
    }
    return JsonResponse(fields, content_type="application/manifest+json", headers={"Cache-Control": A_DAY})


def _text(lines: list[str], headers: dict[str, str]) -> HttpResponse:
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon. Browsers request this path for JSON, images and feeds."""
    return redirect(static("img/mark.svg"))
