"""`/late`: open transfers that take longer than usual on their route, worst first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from intents_ui import wiring
from intents_ui.display.formatting import csv_text, times
from intents_ui.display.insight.scopes import chain_ids
from intents_ui.display.tokens import names, providers
from intents_ui.exports.formats import FORMATS, End
from intents_ui.mirror import coverage
from intents_ui.mirror.figures import lateness
from intents_ui.mirror.figures.lateness import LateTransfers, OpenTransfer
from intents_ui.mirror.readonly import reading
from intents_ui.web.insight import access
from intents_ui.web.insight.figures import late_rows
from intents_ui.web.insight.scopes import PLAIN

COLUMNS = (
    "intent_id", "status", "providers", "origin_chain_id", "destination_chain_id", "open_since", "open_seconds",
    "limit_seconds", "limit_basis", "times_the_limit", "sent_base_units", "token_address",
)  # fmt: skip
KIND = "csv"
SHOWN = 100


@dataclass(frozen=True)
class LateFilters:
    """A chain on either side and a provider, as in the copy. "" is any."""

    chain: str
    provider: str

    def matches(self, transfer: OpenTransfer) -> bool:
        _, origin, destination = transfer.route
        return self.chain in ("", origin, destination) and (
            not self.provider or self.provider in transfer.route.providers.split(";")
        )


@access.insight
def view(request: HttpRequest) -> HttpResponse:
    filters = read_filters(request.GET)
    found = read()
    matching = [each for each in found.transfers if filters.matches(each)]
    context = {
        "mirror": wiring.mirror_coverage(),
        "filters": filters,
        "query": request.GET.urlencode(),
        "chains": offered_chains(found),
        "providers": offered_providers(found),
        "found": found,
        "matching": len(matching),
        "rows": late_rows(matching[:SHOWN]),
    }
    return render(request, "insight/late.html", context)


@access.insight
def csv(request: HttpRequest) -> HttpResponse:
    """Return the matching transfers. The last line says whether they are all."""
    filters, found, now = read_filters(request.GET), read(), datetime.now(UTC)
    body = "".join(lines(found, [each for each in found.transfers if filters.matches(each)]))
    headers = {"Content-Disposition": f'attachment; filename="intents-late-{now:%Y-%m-%dT%H%MZ}.{KIND}"'}
    return HttpResponse(body, content_type=FORMATS[KIND].content_type, headers=headers)


def read() -> LateTransfers:
    with reading():
        return lateness.late(now=coverage.service_now(), slow=providers.SLOW)


def read_filters(given: Mapping[str, str]) -> LateFilters:
    return LateFilters(given.get("chain", "")[:20], given.get("provider", "")[:200])


def offered_chains(found: LateTransfers) -> list[tuple[str, str]]:
    """Return the chains of late transfers with their names."""
    numbers = {number for transfer in found.transfers for number in chain_ids(transfer.route[1:])}
    catalog = wiring.catalog()
    catalog.learn(numbers)
    named = [(str(each), names.chain(each, info=catalog.chain(each))) for each in numbers]
    return sorted(named, key=lambda chain: chain[1].lower())


def offered_providers(found: LateTransfers) -> list[tuple[str, str]]:
    """Return the providers of late transfers, as far as a form can name them."""
    known = {each for transfer in found.transfers for each in transfer.route.providers.split(";")}
    known = {each for each in known if PLAIN.fullmatch(each)}
    return sorted(((each, providers.label(each)) for each in known), key=lambda each: each[1].lower())


def lines(found: LateTransfers, matching: Sequence[OpenTransfer]) -> Iterator[str]:
    yield csv_text.line(COLUMNS)
    for each in matching:
        used, origin, destination = each.route
        cells = (
            each.intent_id, each.status, used, origin, destination, times.iso(each.since),
            str(int(each.elapsed.total_seconds())), str(int(each.limit.total_seconds())), each.basis.value,
            f"{each.factor:.2f}", "" if each.sent is None else str(each.sent),
            each.origin_token.address if each.origin_token else "",
        )  # fmt: skip
        yield csv_text.line(map(csv_text.cell, cells))
    why = ""
    if len(found.transfers) < found.count or found.is_capped:
        why = "there are more"
    elif not found.completeness.is_complete:
        why = "the local copy of the last day is not complete"
    yield FORMATS[KIND].end(End(len(matching), why))
