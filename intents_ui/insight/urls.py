"""URL routes of the figures, incidents and late transfers of the mirror. Without one, its pages say so."""

from django.apps import apps
from django.urls import URLPattern, path
from django.utils.module_loading import import_string

from intents_ui.insight import coverage, route_stats

SCOPE = "views.scope"  # the figures of a level, which ends the name of its page
# By route, the name of each page and its view.
PAGES = {
    "insight": ("insight", "views.overview"),
    "insight/coverage": ("insight-coverage", "coverage.view"),
    "insight/incidents": ("insight-incidents", "views.recent_incidents"),
    "insight/incidents/feed.atom": ("insight-incidents-atom", "views.incidents_atom"),
    "insight/incident/<chain:number>": ("insight-incident", "views.incident"),
    "insight/transfers": ("insight-transfers", "views.ended"),
    "late": ("late", "views.late"),
    "late.csv": ("late-csv", "views.late_csv"),
    "insight/route/<identifier:used>/<identifier:origin>/<identifier:destination>": ("insight-route", SCOPE),
    "insight/provider/<identifier:name>": ("insight-provider", SCOPE),
    "insight/chain/<identifier:chain_id>": ("insight-chain", SCOPE),
    "insight/token/<identifier:chain_id>/<identifier:address>": ("insight-token", SCOPE),
}
has_mirror = apps.is_installed("intents_ui.mirror")
urlpatterns: list[URLPattern] = [
    path("intent/<identifier:intent_id>/route-stats", route_stats.others, name="route-stats")
]
for route, (name, view) in PAGES.items():
    # Without a mirror, nothing of it is imported.
    shown = import_string(f"intents_ui.insight.{view}") if has_mirror else coverage.no_mirror
    level = {"level": name.removeprefix("insight-")} if view == SCOPE else None
    urlpatterns.append(path(route, shown, level, name=name))
