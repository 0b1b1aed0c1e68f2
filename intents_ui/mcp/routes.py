"""`route_health`: how many transfers between two chains are delivered and how fast. Imported only with a mirror."""

from typing import Final

from django.http import HttpRequest

from intents_ui import app
from intents_ui.api.figures import of_incident, of_row
from intents_ui.formatting import times
from intents_ui.http.json_rpc import ToolError, fenced_json
from intents_ui.insight import access, figures
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.scopes import Level, ScopeName
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.readonly import CopyUnreadable, reading
from intents_ui.search import filters
from intents_ui.tokens import names
from intents_ui.web import incidents
from intents_ui.web.mirror import mirror_coverage

UNKNOWN_CHAIN: Final = "Unknown {which} chain. Give its ID, for example 8453, or its name."
NOTHING: Final = "No transfer with a deposit ended in 24 hours or is open on this route."


def health(request: HttpRequest, chains: tuple[str, str], provider: str) -> str:
    """Return the figures of the routes between two chains, or of those with a provider, and their open incidents."""
    if refusal := access.why_refused(request):
        raise ToolError(refusal.what)
    scope = ScopeName(Level.ROUTE, "", chain(chains[0], which="origin"), chain(chains[1], which="destination"))
    try:
        recent, counts = incidents.read(), incidents.still_open()
        with reading():
            report = queries.report(scope, Period.DAY, counts)
    except CopyUnreadable as error:
        raise ToolError(access.UNREADABLE.what) from error
    found = [each for each in (report.total, *report.rows) if each.funded]
    if provider:
        word = names.provider_named(provider) or provider
        found = [each for each in found if word in each.scope.providers.split(";")]
    affecting = {each.number: each for row in found for each in recent.of(row.scope)}
    mirror = mirror_coverage()
    return fenced_json(
        {
            "period": "24 hours",
            "updatedAt": times.iso(mirror.updated_at if mirror else None) or None,
            "routes": [of_row(each).model_dump(mode="json", by_alias=True) for each in figures.of_rows(found)],
            "incidents": [of_incident(each).model_dump(mode="json", by_alias=True) for each in affecting.values()],
            "notes": [] if found else [NOTHING],
        }
    )


def chain(written: str, *, which: str) -> str:
    """Return the ID of a chain by its number or name. Transfers also use chains that the service doesn't list."""
    if written.isascii() and written.isdigit():
        return written.lstrip("0") or "0"
    known = filters.find_chain(written, app.current().catalog.chains())
    if known is None:
        raise ToolError(UNKNOWN_CHAIN.format(which=which))
    return str(known)
