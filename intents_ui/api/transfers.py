"""Operations about transfers: lookups, the history, one of them, an address, a ticket."""

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from ninja import P, PathEx, Query, QueryEx, Schema

from intents_ui import app
from intents_ui.api import models
from intents_ui.api.models import about, optional
from intents_ui.formatting import amounts, hashes
from intents_ui.http import client_ip, cursors, failures, marks
from intents_ui.lists import address as addresses
from intents_ui.lists.address import AddressLookup
from intents_ui.search import empty_results, filters, identifiers, input_errors
from intents_ui.search.filters import Filters, Parsed, UrlFilters
from intents_ui.service import request_context
from intents_ui.service.lookup import Position
from intents_ui.service.results import LookupResult
from intents_ui.transfers import comparison, summary, timeline
from intents_ui.transfers.summary import Side, Summary
from intents_ui.transfers.timeline import Step
from intents_ui.transfers.transfer import Transfer
from intents_ui.triage import rows
from intents_ui.triage.lookup import rows_of
from intents_ui.triage.rows import TriageRow
from intents_ui.web import links, reading, search
from intents_ui.web.customer_reply import Reply
from intents_ui.web.search import Candidates

MAX_MATCHES: Final = 50


def invalid(request: HttpRequest, parsed: Parsed[UrlFilters]) -> HttpResponse:
    """Reject filters by the names of their parameters."""
    names = parsed.filters.PARAMETERS
    return failures.invalid_fields(request, {names.get(name, name): why for name, why in parsed.problems.items()})


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

    return models.ApiTransfers(
        transfers=[listed(each, root=root) for each in reading.of_entries(found.entries)],
        next=page(found.following),
        previous=page(at.previous),
        unreadable=found.unreadable,
    ).response()


def get_transfer(
    request: HttpRequest, intent_id: PathEx[str, P(description="Intent ID", examples=[models.INTENT_ID])]
) -> HttpResponse:
    """Get a transfer by its intent ID."""
    return whole(reading.read(links.canonical(intent_id)), root=client_ip.root(request)).response()


def whole(transfer: Transfer, *, root: str) -> models.ApiTransfer:
    """Return a transfer. `root` is the absolute URL of the dashboard."""
    return models.ApiTransfer(
        **dict(listed(transfer, root=root)),
        comparison=comparison.of(transfer),
        steps=[_step(each, transfer) for each in timeline.of(transfer).steps],
    )


def listed(transfer: Transfer, *, root: str) -> models.ApiListedTransfer:
    shown = summary.of(transfer)
    return models.ApiListedTransfer.of(
        transfer,
        intent_id=transfer.intent.intent_id,
        url=links.page_url(transfer, root=root),
        as_of=request_context.current().as_of if request_context.current().stale else None,
        outcome=None if transfer.is_unread else transfer.outcome,
        summary=summarized(shown),
        sent=_amount(shown.sent),
        received=_amount(shown.received),
        refunded=shown.returned and _amount(shown.returned),
        created_at=transfer.quoted_at,
    )


def summarized(told: Summary) -> models.ApiSummary:
    balances, incident = told.transfer.balances, told.transfer.incident
    return models.ApiSummary.of(
        told,
        status=told.status.word,
        location_amount=told.amount,
        address=told.address and hashes.checksum(told.address),
        warn_second_deposit=told.row.warn_second_deposit,
        balances=balances.check,
        balances_checked_at=balances.checked_at,
        on_chain=told.finding,
        incident=incident and incident.sentence,
    )


def _amount(side: Side) -> models.ApiAmount:
    units, decimals = side.amount.base_units, side.token.decimals
    return models.ApiAmount.of(
        side,
        base_units=units,
        amount=amounts.plain(int(units), decimals=decimals) if units and decimals is not None else None,
        usd=None if side.usd is None else f"{side.usd:f}",
    )


def _step(step: Step, transfer: Transfer) -> models.ApiStep:
    sent = step.transaction
    if sent:
        chain = transfer.names.chain(sent.chain_id)
        link = identifiers.transaction_link(sent.txn_hash, chain_id=sent.chain_id, info=chain)
        transaction = models.ApiTransaction.of(sent, hash=sent.txn_hash, link=link)
    return models.ApiStep.of(step, reason=step.reason and step.reason.shown, transaction=transaction if sent else None)


def candidates(found: Candidates | None, *, root: str) -> models.ApiCandidates | None:
    """Return the transfers that a text may be about, without those that the service didn't return."""
    if found is None:
        return None
    transfers = (listed(each.transfer, root=root) for each in found.transfers)
    shown = [models.ApiCandidate(why=found.reasons[each.intent_id][0], transfer=each) for each in transfers]
    return models.ApiCandidates.of(found, shown=shown)


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
    return models.ApiLookup(
        identifiers=read.lookups,
        matches=[
            models.ApiMatch(
                reasons=[empty_results.reason(question, found=found) for question in hit.reasons],
                warnings=list(map(empty_results.warning, hit.doubts)),
                transfer=listed(transfer, root=root),
            )
            for hit, transfer in zip(hits, matched, strict=True)
        ],
        is_complete=not found.failed and not found.unreadable,
        may_be_more=found.may_be_capped or found.count > len(hits),
        candidates=candidates(possible, root=root),
    ).response()


def unread(problem: str, possible: Candidates | None) -> str:
    """Return why a text has no answer, and where a transfer in words was searched."""
    return f"{problem} {possible.searched}" if possible else problem


def get_reply(
    request: HttpRequest, intent_id: PathEx[str, P(description="Intent ID", examples=[models.INTENT_ID])]
) -> HttpResponse:
    """Get a reply to the owner of a transfer, which a support agent can send unedited."""
    known, root = links.canonical(intent_id), client_ip.root(request)
    transfer = reading.read(known)
    url, plain = links.page_url(transfer, root=root), Reply([transfer], root).written()
    return models.ApiReply(intent_id=known, url=url, plain=plain).response()


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
    return models.ApiAddress(
        address=finding.value,
        url=f"{root}{reverse('address', args=[finding.value])}",
        warning=finding.warning,
        roles=[models.ApiRole.of(each, role=addresses.ROLES[each.key], transfers=each.intents) for each in found.roles],
        open=[listed(each.transfer, root=root) for each in found.open_transfers],
        recoverable=[listed(each, root=root) for each in found.work.rows],
        transfers=f"{root}{cursors.address(reverse('api-listTransfers'), query=owner.query)}",
        is_complete=not found.errors,
    ).response()


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
    return models.ApiTriage(
        rows=[_row(each, root=root) for each in found.rows],
        summary=found.problem or rows.total(found.rows),
        notes=found.notes,
        candidates=candidates(possible, root=root),
    ).response()


def _row(row: TriageRow, *, root: str) -> models.ApiTicketRow:
    return models.ApiTicketRow.of(
        row,
        kind=row.what,
        outcome=row.outcome.name.lower(),
        next_step=row.next,
        same_as=row.same_as or None,
        link=f"{root}{row.links[0].path}" if row.links else None,
        transfers=[listed(each, root=root) for each in row.transfers],
        is_complete=not row.is_incomplete,
    )
