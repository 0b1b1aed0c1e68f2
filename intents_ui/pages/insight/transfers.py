"""`/insight/transfers` and `/late`: the transfers behind a number, those that ended and those that are late."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from intents_ui import app
from intents_ui.display.formatting import csv_text, times
from intents_ui.display.tokens import names, providers
from intents_ui.exports.formats import FORMATS
from intents_ui.mirror import coverage
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.facts import ENDED
from intents_ui.mirror.figures.queries import Age, LateTransfers, Sort
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.figures.snapshots import Basis
from intents_ui.mirror.models import Transfer
from intents_ui.mirror.readonly import reading
from intents_ui.mirror.windows import DAY, HOUR, utc
from intents_ui.service.outcome import Outcome
from intents_ui.web.frame import GENERATED, render
from intents_ui.web.insight import access, choices, figures, scopes
from intents_ui.web.insight.choices import Choices, Offered
from intents_ui.web.insight.scopes import PLAIN, NamedScope, named
from intents_ui.web.mirror import mirror_coverage

OUTCOMES = {"": "Any outcome", "undelivered": "Not delivered", **{each.value: each.capitalize() for each in ENDED}}
COLUMNS = (
    "intent_id", "status", "providers", "origin_chain_id", "destination_chain_id", "open_since", "open_seconds",
    "limit_seconds", "limit_basis", "times_the_limit", "sent_base_units", "token_address",
)  # fmt: skip
KIND = "csv"
SHOWN, MOST_EXPORTED, ROUTES_SHOWN = 100, 500, 10
LONGEST_TIME = 12  # digits

OF_ENDED: Final[Offered] = {"outcome": OUTCOMES, "sort": {Sort.NEWEST: "Newest", Sort.SLOWEST: "Slowest"}}
OF_LATE: Final[Offered] = {"age": {Age.DAY: "Up to a day", Age.OLDER: "Older", Age.ANY: "All"}}


@access.insight
def ended(request: HttpRequest) -> HttpResponse:
    """Return the transfers of a scope that ended in a time, by their outcome and reason."""
    given, scope = request.GET, scopes.read(request.GET)
    same = {name: given[name] for name in ("from", "to", "reason") if name in given}
    picked = choices.read(request, OF_ENDED, others=scopes.query(scope) | same)
    chosen, reason = picked.values["outcome"], given.get("reason")
    outcomes = [
        each for each in ENDED if chosen in ("", each) or (chosen == "undelivered" and each is not Outcome.DELIVERED)
    ]
    with reading():
        now = int(coverage.service_now().timestamp())
        until = _time(given.get("to"), default=now // HOUR * HOUR + HOUR)
        since = _time(given.get("from"), default=now - DAY)
        sort = Sort(picked.values["sort"])
        found, count = queries.listed(scope, (since, until), outcomes=outcomes, reason=reason, sort=sort)
    return access.page(
        request,
        "insight/ended.html",
        picked=picked,
        scope=named([scope])[0],
        reason=None if reason is None else figures.shown_reason(reason),
        since=utc(since),
        until=utc(until) if until <= now else None,
        count=count,
        rows=figures.transfer_rows(found),
    )


def _time(written: str | None, *, default: int) -> int:
    """Return Unix seconds."""
    is_time = written and written.isascii() and written.isdigit() and len(written) <= LONGEST_TIME
    return min(int(written), default + DAY) if written and is_time else default


@access.insight
def late(request: HttpRequest) -> HttpResponse:
    scope, routes = scopes.read(request.GET), late_routes()
    picked = choices.read(request, OF_LATE, others=scopes.query(scope))
    found = late_transfers(scope, picked, most=SHOWN)
    context = {
        "mirror": mirror_coverage(),
        "picked": picked,
        "scope": named([scope])[0] if scope != EVERYTHING else None,
        "query": request.GET.urlencode(),
        "chains": offered_chains(routes),
        "providers": offered_providers(routes),
        "ages": [
            replace(link, word=f"{link.word}: {count:,}")
            for link, count in zip(picked.links("age"), found.counts.values(), strict=True)
        ],
        "count": found.counts[Age.ANY],
        "routes": by_route(routes, picked) if scope == EVERYTHING else [],
        "found": found,
        "rows": figures.transfer_rows(found.transfers, late_at=found.at),
    }
    return render(request, "insight/late.html", context)


def late_transfers(scope: ScopeName, picked: Choices, *, most: int) -> LateTransfers:
    with reading():
        where, age = queries.is_of(scope), Age(picked.values["age"])
        return queries.late(now=coverage.service_now(), where=where, age=age, most=most)


def late_routes() -> Mapping[tuple[str, ...], int]:
    """Return how many transfers are late on each route, most first."""
    found = figures.still_open().counts.items()
    counts = {scope.route: counts["late"] for scope, counts in found if scope.level is Level.ROUTE and counts["late"]}
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def by_route(routes: Mapping[tuple[str, ...], int], picked: Choices) -> list[tuple[NamedScope, int, str]]:
    """Return the routes with most late transfers, with their number and its list."""
    first = named(ScopeName(Level.ROUTE, *key) for key in [*routes][:ROUTES_SHOWN])
    lists = [picked.with_values({"age": "any", **scopes.query(each.scope)}) if each.path else "" for each in first]
    return [(each, routes[each.scope.route], path) for each, path in zip(first, lists, strict=True)]


def offered_chains(routes: Mapping[tuple[str, ...], int]) -> list[tuple[str, str]]:
    """Return the chains of late transfers with their names."""
    numbers = {number for _, *chains in routes for each in chains if (number := scopes.number_of(each)) is not None}
    catalog = app.current().catalog
    catalog.learn(numbers)
    found = [(str(each), names.chain(each, info=catalog.chain(each))) for each in numbers]
    return sorted(found, key=lambda chain: chain[1].lower())


def offered_providers(routes: Mapping[tuple[str, ...], int]) -> list[tuple[str, str]]:
    """Return the providers of late transfers, as far as a form can name them."""
    known = {each for used, *_ in routes for each in used.split(";") if PLAIN.fullmatch(each)}
    return sorted(((each, providers.label(each)) for each in known), key=lambda each: each[1].lower())


@access.insight
def late_csv(request: HttpRequest) -> HttpResponse:
    """Return the matching transfers. The last line says whether they are all."""
    found = late_transfers(scopes.read(request.GET), choices.read(request, OF_LATE), most=MOST_EXPORTED)
    lines = [csv_text.line(COLUMNS)]
    lines += [csv_text.line(map(csv_text.cell, _cells(each, found.at - each.began_at))) for each in found.transfers]
    why = ""
    if len(found.transfers) < found.count:
        why = "there are more"
    elif not found.completeness.is_complete:
        why = "the local copy of the last day is not complete"
    if settings.DEMO_STARTED is not None:
        lines.append(csv_text.line([f"# {GENERATED}"]))
    lines.append(FORMATS[KIND].end(len(found.transfers), why))
    name = f"intents-late-{datetime.now(UTC):%Y-%m-%dT%H%MZ}.{KIND}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse("".join(lines), content_type=FORMATS[KIND].content_type, headers=headers)


def _cells(each: Transfer, elapsed: timedelta) -> tuple[str, ...]:
    return (
        each.text_id, each.status, *each.route.key, times.iso(each.began_at), str(int(elapsed.total_seconds())),
        str(int(each.route.limit.total_seconds())), Basis(each.route.late_by).value,
        f"{elapsed / each.route.limit:.2f}", each.sent or "", each.origin_token.address if each.origin_token else "",
    )  # fmt: skip
