"""URL routes of the dashboard."""

from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.urls.converters import StringConverter

from intents_ui import exports
from intents_ui.api import insight, v1
from intents_ui.catalog import chains, routes, suggest, tokens
from intents_ui.exports import FORMATS
from intents_ui.http import failures
from intents_ui.lists import address, attention, history
from intents_ui.mcp import endpoint
from intents_ui.triage import lookup as triage
from intents_ui.web import feeds, help, intent, operator, saved, search, well_known


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
    path("proof", intent.proof, name="proof"),
    path("balances", intent.intent_balances, name="balances"),
    path("feed.atom", feeds.intent, name="intent-atom"),
]
# Below `token/<chain ID>/<address>/`.
OF_TOKEN = [
    path("routes", tokens.routes, name="token-routes"),
    path("intents", tokens.intents, name="token-intents"),
]
EXPORTS = [
    path("history.<file:kind>", exports.history, name="export-history"),
    path("attention.<file:kind>", exports.attention, name="export-attention"),
    path("address/<identifier:address>.<file:kind>", exports.address, name="export-address"),
    path("progress/<identifier:run>", exports.run, name="export-run"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("", attention.home, name="home"),
    path("newest", attention.newest, name="newest"),
    path("overview", attention.tiles, name="overview"),
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
    path("address/<identifier:address>/feed.atom", feeds.address, name="address-atom"),
    path("address/<identifier:address>", address.view, name="address"),
    path("export/", include(EXPORTS)),
    path("chains", chains.view, name="chains"),
    path("chain/<chain:chain_id>", chains.chain, name="chain"),
    path("provider/<identifier:name>", chains.provider, name="provider"),
    path("tokens", tokens.view, name="tokens"),
    path("tokens/rows", tokens.rows, name="tokens-rows"),
    path("token/<chain:chain_id>/<identifier:address>/", include(OF_TOKEN)),
    path("token/<chain:chain_id>/<identifier:address>", tokens.token, name="token"),
    path("routes", routes.view, name="routes"),
    path("routes/tokens", routes.tokens, name="routes-tokens"),
    path("operator", operator.view, name="operator"),
    path("status", help.service, name="status"),
    path("saved", saved.view, name="saved"),
    path("saved/status", saved.status, name="saved-status"),
    path("columns", saved.columns, name="columns"),
    path("robots.txt", well_known.file, {"name": "robots.txt"}, name="robots"),
    path("site.webmanifest", well_known.file, {"name": "site.webmanifest"}, name="manifest"),
    path("opensearch.xml", well_known.file, {"name": "opensearch.xml"}, name="opensearch"),
    path("favicon.ico", well_known.icon, name="icon"),
    path(".well-known/security.txt", well_known.security, name="security"),
    path("help", help.states, name="help"),
    path("help/status/<identifier:status>", help.status, name="help-status"),
    path("api", v1.page, name="api"),
    path("api/openapi.json", v1.openapi, name="openapi"),
    path("api/v1/", include(v1.urls())),
    path("insight.json", insight.answer, {"operation": "overview"}, name="insight-json"),
    path(
        "insight/incident/<chain:number>.json", insight.answer, {"operation": "incident"}, name="insight-incident-json"
    ),
    path("mcp", endpoint.view, name="mcp"),
]
# Each of these apps can be left out here and in `INSTALLED_APPS`.
urlpatterns += [
    path("", include("intents_ui.insight.urls")),
    path("", include("intents_ui.share.urls")),
    path("", include("intents_ui.console.urls")),
    path("", include("intents_ui.helpdesk.urls")),
]

handler400 = failures.bad_request
handler404 = failures.not_found
handler500 = failures.internal_error
