"""Row of one identifier of a ticket: the calls that it takes, and what is shown if they fail."""

import logging
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from django.urls import reverse

from intents_ui import app
from intents_ui.display import failures
from intents_ui.display.search import shortened
from intents_ui.display.search.form import KEYS_AFTER_A_MISS, KEYS_OF_KIND
from intents_ui.display.search.identifiers import ADDRESSES, Finding, Kind
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.display.triage import rows
from intents_ui.display.triage.rows import Reading, TriageRow
from intents_ui.service import lookup, operations, results
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import ServiceClient
from intents_ui.service.context import request_context
from intents_ui.service.errors import NotFound, OutOfTime, ServiceError
from intents_ui.service.operations import ServiceCall
from intents_ui.web.links import intent_url
from intents_ui.web.transfers import reading
from intents_ui.web.transfers.candidates import Candidates
from intents_ui.web.transfers.mirrored import Mirrored

log = logging.getLogger(__name__)

MOST_COMPARED = 100  # transfers of one row, with a shortened ID


class ClientService:
    """Service calls for one client, which stop when the client disconnects."""

    def __init__(
        self,
        service: ServiceClient,
        *,
        compares: bool = False,
        search_mirror: Callable[[Finding], Candidates | None] = lambda _: None,
        find_paid: Callable[[str], Mirrored | None] = lambda _: None,
    ) -> None:
        self._service = service
        self._find_paid = find_paid
        self._search_mirror = search_mirror
        self.threads = service.threads
        self._left = threading.Event()
        self.compares = compares

    def leave(self) -> None:
        self._left.set()

    def ask[T](self, call: ServiceCall[T]) -> T:
        self.stay()
        return self._service.ask(call)

    def catalog(self) -> Catalog:
        """Return the shared catalog. Loading names calls the service, too."""
        self.stay()
        return app.current().catalog

    def candidates(self, finding: Finding) -> Candidates | None:
        """Return the transfers of the mirror that a shortened ID may be of."""
        self.stay()
        return self._search_mirror(finding)

    def counts_paid(self, finding: Finding) -> Sequence[tuple[str, str]]:
        """Return how many transfers of others paid an address, as the mirror's lists are called."""
        self.stay()
        found = self._find_paid(finding.value)
        lists = (found and found.lists) or ()
        return [(each.heading, f"{each.count:,}{' or more' if each.is_capped else ''}") for each in lists]

    def stay(self) -> None:
        if self._left.is_set():
            raise OutOfTime


type How = Callable[[ClientService, int, Finding], TriageRow]


def answer(service: ClientService, number: int, finding: Finding, how: How) -> TriageRow:
    """Return the row of an identifier, also on errors. Its service calls have the limits of a page."""
    try:
        with request_context.page_deadline(), request_context.collecting_stale() as old:
            return rows.as_of(how(service, number, finding), failures.old(old, now=now()))
    except ServiceError as error:
        return rows.failed(number, finding, error, now=now(), link=search_url(finding))
    except Exception as error:
        reference = request_context.reference()
        # Without the error's message, which may contain the pasted text.
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error("Unhandled %s, request ID %s\n%s", type(error).__name__, reference, where)
        return rows.internal_error(number, finding, reference=reference, now=now())


def resolved(service: ClientService, number: int, finding: Finding) -> TriageRow:
    if row := rows.unasked(number, finding, now=now()):
        return row
    found = lookup.in_turn(
        service,
        lambda: lookup.as_any(service, KEYS_OF_KIND[finding.kind], finding.value),
        lambda: lookup.as_any(service, KEYS_AFTER_A_MISS.get(finding.kind, ()), finding.value),
    )
    if found.error:
        return rows.failed(number, finding, found.error, found=found, now=now(), link=search_url(finding))
    if not found.hits:
        return missed(service, number, finding, found)
    if len(found.hits) > 1:
        return several(service, number, finding, found)
    reading = read(service, found.hits[0])
    row = rows.one(number, finding, found, reading, link=intent_url(found.hits[0]))
    return with_candidates(service, row, [reading.transfer])


def several(service: ClientService, number: int, finding: Finding, found: results.LookupResult) -> TriageRow:
    judged = [(hit, read(service, hit)) for hit in rows.to_look_at(found.hits, now=now())[: rows.MOST_JUDGED]]
    listed = sorted(judged, key=lambda each: rows.rank(each[1].transfer))[: rows.MOST_LISTED]
    readings = [reading for _, reading in listed]
    of_all = reverse("address", args=[finding.value]) if finding.kind in ADDRESSES else search_url(finding)
    links = [*(intent_url(hit) for hit, _ in listed), of_all]
    row = rows.several(number, finding, found, readings, now=now(), links=links)
    others = [Transfer.of(hit.intent, None, now=now(), unread=True) for hit in found.hits[:MOST_COMPARED]]
    return with_candidates(service, row, [*row.transfers, *others])


def with_candidates(service: ClientService, row: TriageRow, transfers: Iterable[Transfer]) -> TriageRow:
    """Return the row with its transfers' values if the ticket has a shortened ID to compare with them."""
    if not service.compares:
        return row
    return replace(
        row,
        candidates=tuple(
            each for one in transfers for each in shortened.of_transfer(one.intent, one.receipt, now=datetime.now(UTC))
        ),
    )


def elsewhere(service: ClientService, number: int, finding: Finding, *, known: Sequence[TriageRow]) -> TriageRow:
    """Look for a shortened ID in the mirror."""
    found = service.candidates(finding) or Candidates()
    return rows.elsewhere(
        number, finding, found.listed, searched=found.searched, told=known, now=now(), link=search_url(finding)
    )


def missed(service: ClientService, number: int, finding: Finding, found: results.LookupResult) -> TriageRow:
    """Return the row of an identifier without transfers, which may be a token."""
    if finding.kind is Kind.ADDRESS:
        using = service.catalog()
        tokens = lookup.tokens_at(service, [chain.id for chain in using.chains()], finding.value)
        if tokens:
            return rows.token(number, finding, tokens, using=using, now=now())
    if finding.kind in ADDRESSES and (counts := service.counts_paid(finding)):
        return rows.paid(number, finding, counts, now=now(), link=reverse("address", args=[finding.value]))
    return rows.unknown(number, finding, found, now=now(), link=search_url(finding))


def read(service: ClientService, hit: results.Hit) -> Reading:
    """Read a transfer with its receipt and balances. One that was never executed has no receipt, which is no error."""
    receipt, failure = None, None
    try:
        receipt = service.ask(operations.get_intent_receipt(hit.intent.intent_id))
    except NotFound:
        pass
    except ServiceError as error:
        failure = error
    service.stay()
    return Reading(reading.of(hit.intent, receipt, failure, wait=reading.PATIENCE), failure)


def search_url(finding: Finding) -> str:
    return reverse("search", query={"q": finding.value})


def now() -> datetime:
    return datetime.now(UTC)
