"""URL routes of the dashboard."""

from django.urls import URLPattern, path, register_converter

from intents_ui import wiring
from intents_ui.exports.formats import FORMATS
from intents_ui.middleware import failures
from intents_ui.pages import (
    address,
    balances,
    chains,
    commit,
    console,
    csp_report,
    demo,
    embed,
    export,
    feeds,
    help,
    history,
    home,
    intent,
    logo,
    oembed,
    operator,
    recoverable,
    route_matrix,
    route_stats,
    routes,
    saved,
    search,
    share,
    status,
    token,
    tokens,
    triage,
    well_known,
)


class Identifier:
    """Intent ID, hash or address, unvalidated: no slash, at most 200 characters."""

    regex = r"[^/]{1,200}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class ChainNumber:
    """Digits of a chain ID, unvalidated. Django's `int` converter would accept any script's digits."""

    regex = r"[0-9]{1,20}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str | int) -> str:
        return str(value)


class FileKind:
    regex = "|".join(FORMATS)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Identifier, "identifier")
register_converter(FileKind, "file")
register_converter(ChainNumber, "chain")

urlpatterns: list[URLPattern] = [
    path("", home.view, name="home"),
    path("newest", home.newest, name="newest"),
    path("history", history.view, name="history"),
    path("history/newer", history.newer, name="history-newer"),
    path("recoverable", recoverable.view, name="recoverable"),
    path("search", search.view, name="search"),
    path("triage", triage.view, name="triage"),
    path("intent/<identifier:intent_id>.json", intent.as_json, name="intent-json"),
    path("intent/<identifier:intent_id>/raw/intent.json", intent.raw_intent, name="intent-raw"),
    path("intent/<identifier:intent_id>/raw/receipt.json", intent.raw_receipt, name="receipt-raw"),
    path("intent/<identifier:intent_id>/receipt", intent.receipt, name="receipt"),
    path("intent/<identifier:intent_id>/reply", intent.answer, name="reply"),
    path("intent/<identifier:intent_id>/everyone", route_stats.others, name="everyone"),
    path("intent/<identifier:intent_id>/proof", intent.proof, name="proof"),
    path("intent/<identifier:intent_id>/commit", commit.view, name="commit"),
    path("intent/<identifier:intent_id>/balances", balances.view, name="balances"),
    path("intent/<identifier:intent_id>/card.png", share.card, name="card"),
    path("intent/<identifier:intent_id>/badge.svg", share.badge, name="badge"),
    path("intent/<identifier:intent_id>/qr.svg", share.qr, name="qr"),
    path("intent/<identifier:intent_id>/share", share.intent, name="share"),
    path("intent/<identifier:intent_id>/feed.atom", feeds.intent_atom, name="intent-atom"),
    path("intent/<identifier:intent_id>/feed.json", feeds.intent_json, name="intent-feed"),
    path("intent/<identifier:intent_id>", intent.view, name="intent"),
    path("intents/<identifier:intent_id>", intent.other_address),
    path("i/<identifier:intent_id>", intent.other_address),
    path("address/<identifier:address>/qr.svg", share.address_qr, name="address-qr"),
    path("address/<identifier:address>/share", share.address, name="address-share"),
    path("address/<identifier:address>/feed.atom", feeds.address_atom, name="address-atom"),
    path("address/<identifier:address>/feed.json", feeds.address_json, name="address-feed"),
    path("address/<identifier:address>", address.view, name="address"),
    path("embed/intent/<identifier:intent_id>", embed.intent, name="embed"),
    path("oembed", oembed.view, name="oembed"),
    path("export/history.<file:kind>", export.history, name="export-history"),
    path("export/recoverable.<file:kind>", export.recoverable, name="export-recoverable"),
    path("export/address/<identifier:address>.<file:kind>", export.address, name="export-address"),
    path("export/progress/<identifier:run>", export.run, name="export-run"),
    path("tx/<identifier:transaction_hash>", search.transaction, name="transaction"),
    path("tx/<chain:chain_id>/<identifier:transaction_hash>", search.transaction, name="transaction-on"),
    path("chains", chains.view, name="chains"),
    path("chain/<chain:chain_id>", chains.chain, name="chain"),
    path("tokens", tokens.view, name="tokens"),
    path("tokens/rows", tokens.rows, name="tokens-rows"),
    path("token/<chain:chain_id>/<identifier:address>/routes", token.routes, name="token-routes"),
    path("token/<chain:chain_id>/<identifier:address>/intents", token.intents, name="token-intents"),
    path("token/<chain:chain_id>/<identifier:address>", token.view, name="token"),
    path("routes", routes.view, name="routes"),
    path("routes/matrix", route_matrix.routes_matrix, name="routes-matrix"),
    path("routes/tokens", routes.tokens, name="routes-tokens"),
    path("console", console.view, name="console"),
    path("console/<identifier:operation>", console.operation, name="console-operation"),
    path("logo/token/<chain:chain_id>/<identifier:address>", logo.token, name="token-logo"),
    path("logo/chain/<chain:chain_id>", logo.chain, name="chain-logo"),
    path("operator", operator.view, name="operator"),
    path("status", status.view, name="status"),
    path("kept", saved.kept, name="kept"),
    path("saved/status", saved.status, name="saved-status"),
    path("csp-report", csp_report.report, name="policy-report"),
    path("robots.txt", well_known.robots, name="robots"),
    path("site.webmanifest", well_known.manifest, name="manifest"),
    path("favicon.ico", well_known.icon, name="icon"),
    path(".well-known/security.txt", well_known.security, name="security"),
    path("help", help.states, name="help"),
    path("help/status/<identifier:status>", help.status, name="help-status"),
]
if wiring.embedded():
    urlpatterns.append(path("demo", demo.view, name="demo"))

handler400 = failures.bad_request
handler404 = failures.not_found
handler500 = failures.internal_error
