"""Operations about transfers: lookups, the history, one of them, an address, a ticket."""

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from ninja import P, PathEx, Query, QueryEx, Schema

from intents_ui import app
from intents_ui.api import answers, models
from intents_ui.api.answers import answered, invalid
from intents_ui.api.models import about, optional
from intents_ui.http import client_ip, cursors, failures, marks
from intents_ui.lists import address as addresses
from intents_ui.lists.address import AddressLookup
from intents_ui.search import empty_results, filters, identifiers, input_errors
from intents_ui.search.filters import Filters
from intents_ui.service.lookup import Position
from intents_ui.service.results import LookupResult
from intents_ui.triage import rows
from intents_ui.triage.lookup import rows_of
from intents_ui.triage.rows import TriageRow
from intents_ui.web import links, reading, search
from intents_ui.web.search import Candidates

MAX_MATCHES: Final = 50


class TransferFilters(Schema):
    """Filters of the history, as in the URLs of its pages."""

    owner: str | None = optional("Address of the owner", models.ADDRESS)
    status: list[str] | None = optional(
        "`COMMITTED`, `EXECUTING`, `SUCCEEDED`, …, or `in-flight`. Repeat it for several", ["FAILED"]
    )
    origin: str | None = optional("ID or name of the origin chain", "8453")
    destination: str | None = optional("ID or name of the destination chain", "arbitrum")
    since: str | None = optional("Created at this Unix time or later", "1795258800", alias="from")
    until: str | None = optional("Created at this Unix time or earlier", "1795262400", alias="to")
    recoverable: str | None = optional("`1`: with recoverable balances only", "1")
    order: str | None = optional("`DESC` (newest first) or `ASC`", "DESC")
    size: str | None = optional("Transfers of a page, 1 to 100", "20")
    cursor: str | None = optional("From `next` or `previous` of another page", "eyJwYWdl")


def list_transfers(request: HttpRequest, given: Query[TransferFilters]) -> HttpResponse:
    """List transfers, newest first."""
    parsed = filters.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return invalid(request, parsed)
    query, root = parsed.filters.query, client_ip.root(request)
    at = cursors.read(given.cursor or "", query=query)
    found = reading.list_page(parsed.filters, at=at)

    def page(position: Position | None) -> str | None:
        return f"{root}{cursors.address(request.path, query=query, at=position)}" if position else None

    return answered(
        models.ApiTransfers(
            transfers=tuple(answers.listed(each, root=root) for each in reading.of_entries(found.entries)),
            next=page(found.following),
            previous=page(at.previous),
            unreadable=found.unreadable,
        )
    )


def get_transfer(
    request: HttpRequest, intent_id: PathEx[str, P(description="Intent ID", examples=[models.INTENT_ID])]
) -> HttpResponse:
    """Get a transfer by its intent ID."""
    transfer = reading.read(links.canonical(intent_id))
    return answered(answers.transfer(transfer, root=client_ip.root(request)))


@marks.Marks(costly="always")
def look_up(
    request: HttpRequest, q: QueryEx[str, P(description="Text with identifiers", examples=[models.INTENT_ID])]
) -> HttpResponse:
    """Find the transfers of any text with identifiers: an intent ID, a transaction hash, an address, a link."""
    read, root = identifiers.read(q), client_ip.root(request)
    found = search.of_text(read) if read.lookups else LookupResult()
    if found.error:
        raise found.error
    possible = search.possible_transfers(request, q, read, found)
    if not read.lookups and not (possible and possible.count):
        return failures.invalid_fields(request, {"q": unread(read.refusal or input_errors.NOTHING, possible)})
    hits = found.hits[:MAX_MATCHES]
    matched = reading.from_search([each.intent for each in hits])
    return answered(
        models.ApiLookup(
            identifiers=tuple(
                models.ApiIdentifier(value=each.value, kind=each.kind.value, warning=each.warning or None)
                for each in read.lookups
            ),
            matches=tuple(
                models.ApiMatch(
                    reasons=tuple(empty_results.reason(question, found=found) for question in hit.reasons),
                    warnings=tuple(map(empty_results.warning, hit.doubts)),
                    transfer=answers.listed(transfer, root=root),
                )
                for hit, transfer in zip(hits, matched, strict=True)
            ),
            is_complete=not found.failed and not found.unreadable,
            may_be_more=found.may_be_capped or found.count > len(hits),
            candidates=answers.candidates(possible, root=root),
        )
    )


def unread(problem: str, possible: Candidates | None) -> str:
    """Return why a text has no answer, and where a transfer in words was searched."""
    return f"{problem} {possible.searched}" if possible else problem


def get_reply(
    request: HttpRequest, intent_id: PathEx[str, P(description="Intent ID", examples=[models.INTENT_ID])]
) -> HttpResponse:
    """Get a reply to the owner of a transfer, which a support agent can send unedited."""
    known, root = links.canonical(intent_id), client_ip.root(request)
    transfer = reading.read(known)
    url, plain = links.page_url(transfer, root=root), links.reply_about([transfer], root=root).written()
    return answered(models.ApiReply(intent_id=known, url=url, plain=plain))


def get_address(
    request: HttpRequest, address: PathEx[str, P(description="Address", examples=[models.ADDRESS])]
) -> HttpResponse:
    """Get the roles of an address, its open transfers, and those with recoverable balances."""
    finding, root = addresses.read(address), client_ip.root(request)
    owner = Filters(owner=finding.value)
    found = AddressLookup(finding, listed=owner)
    if found.is_nothing:
        if found.errors:
            raise found.errors[0]
        raise Http404("The service has no transfers of this address.")
    return answered(
        models.ApiAddress(
            address=finding.value,
            url=f"{root}{reverse('address', args=[finding.value])}",
            warning=finding.warning or None,
            roles=tuple(
                models.ApiRole(role=addresses.ROLES[each.key], transfers=each.intents, may_be_more=each.may_be_more)
                for each in found.roles
            ),
            open=tuple(answers.listed(each.transfer, root=root) for each in found.open_transfers),
            recoverable=tuple(answers.listed(each, root=root) for each in found.work.rows),
            transfers=f"{root}{cursors.address(reverse('api-listTransfers'), query=owner.query)}",
            is_complete=not found.errors,
        )
    )


class TicketText(Schema):
    """The text of a ticket."""

    text: str = about(
        "Any text with identifiers. It is neither stored nor logged",
        f"My transfer {models.INTENT_ID} has not arrived. Can you check?",
    )


@marks.Marks(costly="always", body="triage")
def triage(request: HttpRequest, given: TicketText) -> HttpResponse:
    """Look up every identifier in the text of a ticket."""
    found, root = rows_of(given.text, request), client_ip.root(request)
    if found.wait:
        words = {"why": found.problem}
        return failures.page(request, failures.of_dashboard("too many identifiers", words, retry_after=found.wait))
    possible = found.candidates
    if found.problem and not (possible and possible.count):
        return failures.invalid_fields(request, {"text": unread(found.problem, possible)})
    return answered(
        models.ApiTriage(
            rows=tuple(_row(each, root=root) for each in found.rows),
            summary=found.problem or rows.total(found.rows),
            notes=found.notes,
            candidates=answers.candidates(possible, root=root),
        )
    )


def _row(row: TriageRow, *, root: str) -> models.ApiTicketRow:
    return models.ApiTicketRow(
        number=row.number,
        value=row.value,
        kind=row.what,
        outcome=row.outcome.name.lower(),
        headline=row.headline,
        details=row.details,
        notes=row.notes,
        next_step=row.next or None,
        same_as=row.same_as or None,
        link=f"{root}{row.links[0].path}" if row.links else None,
        transfers=tuple(answers.listed(each, root=root) for each in row.transfers),
        is_complete=not row.is_incomplete,
    )
