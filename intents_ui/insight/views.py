"""Figures, incidents and lists of the mirror: `/insight`, `/insight/…` and `/late`."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse

from intents_ui import app
from intents_ui.exports import FORMATS
from intents_ui.formatting import text, times
from intents_ui.http import failures
from intents_ui.insight import access, choices, figures
from intents_ui.insight.choices import Choices, Offered
from intents_ui.mirror import coverage
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.queries import Age, LateTransfers, Sort
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.figures.snapshots import Basis
from intents_ui.mirror.models import ENDED
from intents_ui.mirror.readonly import reading
from intents_ui.mirror.windows import DAY, HOUR, utc
from intents_ui.service.outcome import Outcome
from intents_ui.tokens import names
from intents_ui.web import feeds, incidents, scopes
from intents_ui.web.feeds import Entry
from intents_ui.web.frame import GENERATED
from intents_ui.web.incidents import ListedIncident
from intents_ui.web.scopes import PLAIN, named

OUTCOMES = {"": "Any outcome", "undelivered": "Not delivered", **{each.value: each.capitalize() for each in ENDED}}
OF_ENDED: Final[Offered] = {"outcome": OUTCOMES, "sort": {Sort.NEWEST: "Newest", Sort.SLOWEST: "Slowest"}}
OF_LATE: Final[Offered] = {"age": {Age.DAY: "Up to a day", Age.OLDER: "Older", Age.ANY: "All"}}
COLUMNS = (
    "intent_id", "status", "providers", "origin_chain_id", "destination_chain_id", "open_since", "open_seconds",
    "limit_seconds", "limit_basis", "times_the_limit", "sent_base_units", "token_address",
)  # fmt: skip
KIND = "csv"
SHOWN, EXPORTED, ROUTES_SHOWN = 100, 500, 10
LONGEST_TIME = 12  # digits


@access.insight
def overview(request: HttpRequest) -> HttpResponse:
    picked = choices.read(request)
    report, recent = figures.overview(picked), incidents.read()
    return access.page(request, "insight/overview.html", picked=picked, report=report, recent=recent)


@access.insight
def scope(request: HttpRequest, level: str, **named_by: str) -> HttpResponse:
    picked, name = choices.read(request), scopes.of(level, *named_by.values())
    report, here = figures.report(name, picked), incidents.read().of(name)
    return access.page(request, "insight/scope.html", picked=picked, incidents=here, **vars(report))


@access.insight
def recent_incidents(request: HttpRequest) -> HttpResponse:
    return access.page(request, "insight/incidents_page.html", recent=incidents.read())


@access.insight
def incidents_atom(request: HttpRequest) -> HttpResponseBase:
    """Return an entry for each of the newest incidents, updated when its state changes. Alerts have that category."""
    entries = sorted(map(_entry, incidents.read().incidents), key=lambda each: each.updated, reverse=True)
    return feeds.respond(
        request,
        entries,
        key="incidents",
        page=reverse("insight-incidents"),
        title="Incidents",
        subtitle="Routes, tokens, providers and chains that are worse than usual",
    )


def _entry(incident: ListedIncident) -> Entry:
    return Entry(
        key=f"{incident.number}#incident",
        path=reverse("insight-incident", args=[incident.number]),
        title=f"{incident.status.word}: {incident.title}",
        paragraphs=(incident.sentence,),
        published=incident.since,
        updated=incident.closed or incident.recovered or incident.since,
        categories=("alert",) if incident.is_alert else (),
    )


@access.insight
def incident(request: HttpRequest, number: str) -> HttpResponse:
    found, course = incidents.report(number)
    return access.page(
        request,
        "insight/incident.html",
        incident=found,
        course=course,
        reasons=figures.of_reasons(course.reasons, failed=course.failed),
        text=found.for_customers(request.build_absolute_uri(reverse("home"))),
    )


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
    context = {
        "scope": named([scope])[0],
        "reason": None if reason is None else figures.shown_reason(reason),
        "since": utc(since),
        "until": utc(until) if until <= now else None,
        "count": count,
        "rows": figures.transfer_rows(found),
    }
    return access.page(request, "insight/ended.html", picked=picked, **context)


def _time(written: str | None, *, default: int) -> int:
    """Return Unix seconds."""
    is_time = written and written.isascii() and written.isdigit() and len(written) <= LONGEST_TIME
    return min(int(written), default + DAY) if written and is_time else default


@access.insight
def late(request: HttpRequest) -> HttpResponse:
    scope, still_open = scopes.read(request.GET), incidents.still_open().counts
    picked = choices.read(request, OF_LATE, others=scopes.query(scope))
    counts = {each: n["late"] for each, n in still_open.items() if each.level is Level.ROUTE and n["late"]}
    most_late = sorted(counts, key=lambda each: (-counts[each], each))[:ROUTES_SHOWN] if scope == EVERYTHING else ()
    found, catalog = _late(scope, picked, most=SHOWN), app.current().catalog
    ages = zip(picked.links("age"), found.counts.values(), strict=True)
    used = {each for on in counts for each in on.providers.split(";") if PLAIN.fullmatch(each)}
    numbers = {scopes.number_of(each) for on in counts for each in on.route[1:]} - {None}
    catalog.learn(())
    context = {
        "scope": named([scope])[0] if scope != EVERYTHING else None,
        "query": request.GET.urlencode(),
        "chains": _by_name((str(each), names.chain(each, info=catalog.chain(each))) for each in numbers),
        "providers": _by_name((each, names.provider_label(each)) for each in used),
        "ages": [(f"{word}: {count:,}", *link) for (word, *link), count in ages],
        "count": found.counts[Age.ANY],
        "routes": [
            (each, counts[each.scope], picked.with_values({"age": Age.ANY, **scopes.query(each.scope)}))
            for each in named(most_late)
        ],
        "found": found,
        "rows": figures.transfer_rows(found.transfers, late_at=found.at),
    }
    return access.page(request, "insight/late.html", picked=picked, **context)


def _late(scope: ScopeName, picked: Choices, *, most: int) -> LateTransfers:
    with reading():
        where, age = queries.is_of(scope), Age(picked.values["age"])
        return queries.late(now=coverage.service_now(), where=where, age=age, most=most)


def _by_name(offered: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(offered, key=lambda each: each[1].lower())


@access.insight
def late_csv(request: HttpRequest) -> HttpResponse:
    """Return the matching transfers. The last line says whether they are all."""
    picked = choices.read(request, OF_LATE)
    if picked.problems:
        return failures.invalid_fields(request, picked.problems)
    found = _late(scopes.read(request.GET), picked, most=EXPORTED)
    lines = [text.csv_line(COLUMNS)]
    for each in found.transfers:
        elapsed, token = found.at - each.began_at, each.origin_token
        cells = (
            each.text_id, each.status, *each.route.key, times.iso(each.began_at), str(int(elapsed.total_seconds())),
            str(int(each.route.limit.total_seconds())), Basis(each.route.late_by).value,
            f"{elapsed / each.route.limit:.2f}", each.sent or "", token.address if token else "",
        )  # fmt: skip
        lines.append(text.csv_line(map(text.csv_cell, cells)))
    why = ""
    if len(found.transfers) < found.count:
        why = "there are more"
    elif not found.is_complete:
        why = "the local copy of the last day is not complete"
    if settings.DEMO_STARTED is not None:
        lines.append(text.csv_line([f"# {GENERATED}"]))
    lines.append(FORMATS[KIND].end(len(found.transfers), why))
    name = f"intents-late-{datetime.now(UTC):%Y-%m-%dT%H%MZ}.{KIND}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse("".join(lines), content_type=FORMATS[KIND].content_type, headers=headers)
