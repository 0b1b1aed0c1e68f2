"""`/insight/transfers` and `/late`: the transfers behind a number, those that ended and those that are late."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.formatting import csv_text, text, times
from intents_ui.display.insight.scopes import chain_ids
from intents_ui.display.tokens import names, providers
from intents_ui.exports.formats import FORMATS, End
from intents_ui.mirror import coverage
from intents_ui.mirror.figures import lateness, queries
from intents_ui.mirror.figures.facts import ENDED
from intents_ui.mirror.figures.lateness import LateTransfer, LateTransfers
from intents_ui.mirror.figures.queries import Sort
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.readonly import reading
from intents_ui.mirror.windows import DAY, HOUR
from intents_ui.service.outcome import Outcome
from intents_ui.web.frame import GENERATED
from intents_ui.web.insight import access, figures, scopes
from intents_ui.web.insight.choices import ChoiceLink
from intents_ui.web.insight.scopes import PLAIN, LinkedScope, linked

OUTCOMES = {"": "Any outcome", "undelivered": "Not delivered", **{each.value: each.capitalize() for each in ENDED}}
SORTS = {Sort.NEWEST: "Newest", Sort.SLOWEST: "Slowest"}
COLUMNS = (
    "intent_id", "status", "providers", "origin_chain_id", "destination_chain_id", "open_since", "open_seconds",
    "limit_seconds", "limit_basis", "times_the_limit", "sent_base_units", "token_address",
)  # fmt: skip
KIND = "csv"
SHOWN, ROUTES_SHOWN = 100, 10
LONGEST_TIME = 12  # digits


@access.insight
def ended(request: HttpRequest) -> HttpResponse:
    """Return the transfers of a scope that ended in a time, by their outcome and reason."""
    given = request.GET
    outcome, sort = given.get("outcome", ""), given.get("sort", Sort.NEWEST)
    problems = [
        f"Unknown {name} “{text.name(value).shown}”."
        for name, value, known in (("outcome", outcome, OUTCOMES), ("order", sort, [*Sort]))
        if value not in known
    ]
    outcome, sort = ("", Sort.NEWEST) if problems else (outcome, Sort(sort))
    scope, reason = scopes.read(given), given.get("reason")
    with reading():
        now = int(coverage.service_now().timestamp())
        until = _time(given.get("to"), default=now // HOUR * HOUR + HOUR)
        since = _time(given.get("from"), default=now - DAY)
        found, count = queries.listed(scope, (since, until), outcomes=_outcomes(outcome), reason=reason, sort=sort)
    [named] = linked([scope])
    same = {name: given[name] for name in ("from", "to", "reason") if name in given}

    def path(**chosen: str) -> str:
        return scopes.list_path(scope, **same, **{"outcome": outcome, "sort": sort} | chosen)

    context = {
        "mirror": wiring.mirror_coverage(),
        "scope": named,
        "problems": problems,
        "reason": None if reason is None else text.reason(reason).shown or "No reason reported",
        "outcome": OUTCOMES[outcome],
        "outcomes": [ChoiceLink(word, path(outcome=each), each == outcome) for each, word in OUTCOMES.items()],
        "sorts": [ChoiceLink(word, path(sort=each), each == sort) for each, word in SORTS.items()],
        "since": datetime.fromtimestamp(since, UTC),
        "until": datetime.fromtimestamp(until, UTC) if until <= now else None,
        "rows": figures.transfer_rows(found),
        "count": count,
    }
    status = HTTPStatus.BAD_REQUEST if problems else HTTPStatus.OK
    return render(request, "insight/ended.html", context, status=status)


def _time(written: str | None, *, default: int) -> int:
    """Return Unix seconds."""
    is_time = written and written.isascii() and written.isdigit() and len(written) <= LONGEST_TIME
    return min(int(written), default + DAY) if written and is_time else default


def _outcomes(chosen: str) -> Sequence[Outcome]:
    match chosen:
        case "":
            return ENDED
        case "undelivered":
            return [each for each in ENDED if each is not Outcome.DELIVERED]
        case _:
            return [Outcome(chosen)]


class Age(StrEnum):
    """For how long a late transfer has been open."""

    NEW = "day"
    OLD = "older"
    ANY = "any"

    @property
    def limits(self) -> tuple[timedelta, timedelta | None]:
        day = timedelta(days=1)
        return (day if self is Age.OLD else timedelta(), day if self is Age.NEW else None)


AGES = {Age.NEW: "Up to a day", Age.OLD: "Older", Age.ANY: "All"}


@dataclass(frozen=True)
class LateFilters:
    """A route, or a chain on either side and a provider, as in the copy. "" is any."""

    age: Age
    chain: str
    provider: str
    scope: ScopeName

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "LateFilters":
        age = next((each for each in Age if each == given.get("age")), Age.NEW)
        return cls(age, given.get("chain", ""), given.get("provider", ""), scopes.read(given))

    def path(self, **chosen: str) -> str:
        return f"{reverse('late')}?{urlencode(scopes.query(self.scope) | {'age': self.age} | chosen)}"

    def late(self, age: Age | None = None) -> LateTransfers:
        with reading():
            now, where = coverage.service_now(), queries.is_of(self.scope)
            return lateness.late(now=now, where=where, age=(age or self.age).limits)


@access.insight
def late(request: HttpRequest) -> HttpResponse:
    filters = LateFilters.read(request.GET)
    found, routes = filters.late(), late_routes()
    counts = {each: found.count if each is filters.age else filters.late(each).count for each in Age}
    context = {
        "mirror": wiring.mirror_coverage(),
        "filters": filters,
        "scope": linked([filters.scope])[0] if filters.scope != EVERYTHING else None,
        "query": request.GET.urlencode(),
        "chains": offered_chains(routes),
        "providers": offered_providers(routes),
        "ages": [
            ChoiceLink(f"{word}: {counts[each]:,}", filters.path(age=each), each is filters.age)
            for each, word in AGES.items()
        ],
        "count": counts[Age.ANY],
        "routes": [] if filters.scope != EVERYTHING else by_route(routes, filters),
        "found": found,
        "rows": figures.transfer_rows(found.transfers[:SHOWN]),
    }
    return render(request, "insight/late.html", context)


def late_routes() -> Mapping[tuple[str, ...], int]:
    """Return how many transfers are late on each route, most first."""
    counts = {key: count.late for key, count in figures.still_open().routes.items() if count.late}
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def by_route(routes: Mapping[tuple[str, ...], int], filters: LateFilters) -> list[tuple[LinkedScope, int, str]]:
    """Return the routes with most late transfers, with their number and its list."""
    first = [(ScopeName(Level.ROUTE, *key), count) for key, count in [*routes.items()][:ROUTES_SHOWN]]
    named = linked(scope for scope, _ in first)
    return [
        (each, count, filters.path(age=Age.ANY, **scopes.query(scope)) if each.path else "")
        for each, (scope, count) in zip(named, first, strict=True)
    ]


def offered_chains(routes: Mapping[tuple[str, ...], int]) -> list[tuple[str, str]]:
    """Return the chains of late transfers with their names."""
    numbers = {number for _, *chains in routes for number in chain_ids(tuple(chains))}
    catalog = wiring.catalog()
    catalog.learn(numbers)
    named = [(str(each), names.chain(each, info=catalog.chain(each))) for each in numbers]
    return sorted(named, key=lambda chain: chain[1].lower())


def offered_providers(routes: Mapping[tuple[str, ...], int]) -> list[tuple[str, str]]:
    """Return the providers of late transfers, as far as a form can name them."""
    known = {each for used, *_ in routes for each in used.split(";") if PLAIN.fullmatch(each)}
    return sorted(((each, providers.label(each)) for each in known), key=lambda each: each[1].lower())


@access.insight
def late_csv(request: HttpRequest) -> HttpResponse:
    """Return the matching transfers. The last line says whether they are all."""
    found, now = LateFilters.read(request.GET).late(), datetime.now(UTC)
    headers = {"Content-Disposition": f'attachment; filename="intents-late-{now:%Y-%m-%dT%H%MZ}.{KIND}"'}
    return HttpResponse("".join(_lines(found)), content_type=FORMATS[KIND].content_type, headers=headers)


def _lines(found: LateTransfers) -> Iterator[str]:
    yield csv_text.line(COLUMNS)
    for each in found.transfers:
        yield csv_text.line(map(csv_text.cell, _cells(each)))
    why = ""
    if len(found.transfers) < found.count:
        why = "there are more"
    elif not found.completeness.is_complete:
        why = "the local copy of the last day is not complete"
    if settings.DEMO_STARTED is not None:
        yield csv_text.line([f"# {GENERATED}"])
    yield FORMATS[KIND].end(End(len(found.transfers), why))


def _cells(each: LateTransfer) -> tuple[str, ...]:
    used, origin, destination = each.route
    return (
        each.intent_id, each.status, used, origin, destination, times.iso(each.since),
        str(int(each.elapsed.total_seconds())), str(int(each.limit.total_seconds())), each.basis.value,
        f"{each.factor:.2f}", "" if each.sent is None else str(each.sent),
        each.origin_token.address if each.origin_token else "",
    )  # fmt: skip
