"""URL routes of the dashboard."""

from django.apps import apps
from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.urls.converters import StringConverter
from django.utils.module_loading import import_string

from intents_ui.api import v1
from intents_ui.exports.formats import FORMATS
from intents_ui.http import failures
from intents_ui.mcp import endpoint
from intents_ui.pages import (
    address,
    attention,
    balances,
    chains,
    commit,
    console,
    coverage,
    demo,
    embed,
    export,
    feeds,
    help,
    history,
    home,
    intent,
    operator,
    provider,
    route_stats,
    routes,
    saved,
    search,
    share,
    suggest,
    tokens,
    triage,
    well_known,
)
from intents_ui.pages.helpdesk import side_bar, slack
from intents_ui.settings import ENV


class Identifier(StringConverter):
    """Intent ID, hash or address, unvalidated: no slash, at most 200 characters."""

    regex = r"[^/]{1,200}"


class ChainNumber(StringConverter):
    """Digits of a chain ID, unvalidated. Django's `int` converter would accept any script's digits."""

    regex = r"[0-9]{1,20}"

    def to_url(self, value: str | int) -> str:
        return str(value)


class FileKind(StringConverter):
    regex = "|".join(FORMATS)


register_converter(Identifier, "identifier")
register_converter(FileKind, "file")
register_converter(ChainNumber, "chain")


# Below `intent/<ID>/`.
OF_INTENT = [
    path("raw/intent.json", intent.raw_intent, name="intent-raw"),
    path("raw/receipt.json", intent.raw_receipt, name="receipt-raw"),
    path("receipt", intent.receipt, name="receipt"),
    path("reply", intent.answer, name="reply"),
    path("route-stats", route_stats.others, name="route-stats"),
    path("proof", intent.proof, name="proof"),
    path("commit", commit.view, name="commit"),
    path("balances", balances.view, name="balances"),
    path("card.png", share.card, name="card"),
    path("qr.svg", share.qr, name="qr"),
    path("share", share.intent, name="share"),
    path("feed.atom", feeds.intent, name="intent-atom"),
]
# Below `address/<address>/`.
OF_ADDRESS = [
    path("qr.svg", share.address_qr, name="address-qr"),
    path("share", share.address, name="address-share"),
    path("feed.atom", feeds.address, name="address-atom"),
]
# Below `token/<chain ID>/<address>/`.
OF_TOKEN = [
    path("routes", tokens.routes, name="token-routes"),
    path("intents", tokens.intents, name="token-intents"),
]
EXPORTS = [
    path("history.<file:kind>", export.history, name="export-history"),
    path("attention.<file:kind>", export.attention, name="export-attention"),
    path("address/<identifier:address>.<file:kind>", export.address, name="export-address"),
    path("progress/<identifier:run>", export.run, name="export-run"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.view, name="home"),
    path("newest", home.newest, name="newest"),
    path("overview", home.tiles, name="overview"),
    path("history", history.view, name="history"),
    path("history/newer", history.newer, name="history-newer"),
    path("attention", attention.view, name="attention"),
    path("search", search.view, name="search"),
    path("suggest", suggest.view, name="suggest"),
    path("triage", triage.view, name="triage"),
    path("tx/<identifier:transaction_hash>", search.transaction, name="transaction"),
    path("tx/<chain:chain_id>/<identifier:transaction_hash>", search.transaction, name="transaction-on"),
    path("intent/<identifier:intent_id>.json", intent.as_json, name="intent-json"),
    path("intent/<identifier:intent_id>/", include(OF_INTENT)),
    path("intent/<identifier:intent_id>", intent.view, name="intent"),
    path("intents/<identifier:intent_id>", intent.other_address),
    path("i/<identifier:intent_id>", intent.other_address),
    path("address/<identifier:address>/", include(OF_ADDRESS)),
    path("address/<identifier:address>", address.view, name="address"),
    path("embed/intent/<identifier:intent_id>", embed.intent, name="embed"),
    path("embed/ticket", side_bar.view, name="side-bar"),
    path("slack/command", slack.command, name="slack-command"),
    path("slack/events", slack.events, name="slack-events"),
    path("export/", include(EXPORTS)),
    path("chains", chains.view, name="chains"),
    path("chain/<chain:chain_id>", chains.chain, name="chain"),
    path("provider/<identifier:name>", provider.view, name="provider"),
    path("tokens", tokens.view, name="tokens"),
    path("tokens/rows", tokens.rows, name="tokens-rows"),
    path("token/<chain:chain_id>/<identifier:address>/", include(OF_TOKEN)),
    path("token/<chain:chain_id>/<identifier:address>", tokens.token, name="token"),
    path("routes", routes.view, name="routes"),
    path("routes/tokens", routes.tokens, name="routes-tokens"),
    path("console", console.view, name="console"),
    path("console/<identifier:operation>", console.operation, name="console-operation"),
    path("operator", operator.view, name="operator"),
    path("status", help.service, name="status"),
    path("saved", saved.view, name="saved"),
    path("saved/status", saved.status, name="saved-status"),
    path("robots.txt", well_known.robots, name="robots"),
    path("site.webmanifest", well_known.manifest, name="manifest"),
    path("opensearch.xml", well_known.opensearch, name="opensearch"),
    path("favicon.ico", well_known.icon, name="icon"),
    path(".well-known/security.txt", well_known.security, name="security"),
    path("help", help.states, name="help"),
    path("help/status/<identifier:status>", help.status, name="help-status"),
]


SCOPE = "insight.scope"  # the figures of a level, which ends the name of its page
# By route, the name of each page of the mirror and its view in `pages`.
INSIGHT = {
    "insight": ("insight", "insight.overview"),
    "insight.json": ("insight-json", "insight.overview_json"),
    "insight/coverage": ("insight-coverage", "coverage.view"),
    "insight/incidents": ("insight-incidents", "insight.recent_incidents"),
    "insight/incidents/feed.atom": ("insight-incidents-atom", "insight.incidents_atom"),
    "insight/incident/<chain:number>": ("insight-incident", "insight.incident"),
    "insight/incident/<chain:number>.json": ("insight-incident-json", "insight.incident_json"),
    "insight/transfers": ("insight-transfers", "insight.ended"),
    "late": ("late", "insight.late"),
    "late.csv": ("late-csv", "insight.late_csv"),
    "insight/route/<identifier:used>/<identifier:origin>/<identifier:destination>": ("insight-route", SCOPE),
    "insight/provider/<identifier:name>": ("insight-provider", SCOPE),
    "insight/chain/<identifier:chain_id>": ("insight-chain", SCOPE),
    "insight/token/<identifier:chain_id>/<identifier:address>": ("insight-token", SCOPE),
}
has_mirror = apps.is_installed("intents_ui.mirror")
for route, (name, view) in INSIGHT.items():
    # Without a mirror, its pages say so, and nothing of it is imported.
    shown = import_string(f"intents_ui.pages.{view}") if has_mirror else coverage.no_mirror
    level = {"level": name.removeprefix("insight-")} if view == SCOPE else None
    urlpatterns.append(path(route, shown, level, name=name))
urlpatterns += [
    path("api", help.api, name="api"),
    path("api/openapi.json", v1.openapi, name="openapi"),
    path("api/v1/", include(v1.urls())),
    path("mcp", endpoint.view, name="mcp"),
]
if ENV.embedded:
    urlpatterns += [path("demo", demo.view, name="demo"), path("demo/new", demo.create, name="demo-create")]

handler400 = failures.bad_request
handler404 = failures.not_found
handler500 = failures.internal_error
