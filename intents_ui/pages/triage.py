"""Triage page: look up every identifier of a ticket, and stream a line for each as soon as it's known.

The text is sent by POST, to keep it out of URLs and browser history. It is neither stored nor logged. The page streams
its head at once, then a line for each in the order of the text, then the rows by owner and the summary. A text without
identifiers that describes a transfer has guesses instead.
"""

import asyncio
import contextlib
import contextvars
import logging
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Literal, cast
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from intents_ui import wiring
from intents_ui.display import failures
from intents_ui.display.formatting import hashes, times
from intents_ui.display.formatting.short_forms import ShortForms
from intents_ui.display.search import input_errors, shortened
from intents_ui.display.search.form import KEYS_AFTER_A_MISS, KEYS_OF_KIND
from intents_ui.display.search.identifiers import ADDRESSES, Finding, Kind
from intents_ui.display.search.shortened import Candidate
from intents_ui.display.sharing import group_reply
from intents_ui.display.sharing.customer_reply import Reply
from intents_ui.display.summary import glance
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.triage import cases, description, export, rows, ticket
from intents_ui.display.triage.rows import Fitting, Reading, TriageRow
from intents_ui.display.triage.ticket import Ticket
from intents_ui.middleware import marks
from intents_ui.service.catalog.catalog import Catalog
from intents_ui.service.client import BlockingOperations, ServiceClient
from intents_ui.service.context import processor, request_context
from intents_ui.service.context.shares import FairThreads
from intents_ui.service.errors import NotFound, OutOfTime, ServiceError
from intents_ui.service.operations.operations import ServiceCall
from intents_ui.service.queries import lookup
from intents_ui.service.wire import results
from intents_ui.settings import ENV
from intents_ui.web import client_ip
from intents_ui.web.links import intent_url
from intents_ui.web.rate_limiter import Limit, settle, spend
from intents_ui.web.transfers import descriptions, mirrored, situations
from intents_ui.web.transfers.descriptions import Guesses
from intents_ui.web.transfers.mirrored import Mirrored

log = logging.getLogger(__name__)

MOST_AT_ONCE = 4  # identifiers of one ticket
CALLS_OF_AN_IDENTIFIER = 6  # average service calls of a ticket with many misses
MOST_COMPARED = 100  # transfers of one row, with a shortened ID
# Marks where the rows and the summary go in the template. User input can't contain it, because `<` is escaped.
PLACE = "<!-- here -->"
FOREIGN = "Rejected: the form came from another site. Paste the text here."


@marks.costly(marks.posted)
@marks.streams(marks.posted)
@marks.body("triage")
@require_http_methods(["GET", "HEAD", "POST"])
async def view(request: HttpRequest) -> HttpResponseBase:
    if request.method != "POST":
        return form(request)
    if not client_ip.is_ours(request):
        return form(request, problem=FOREIGN, status=HTTPStatus.FORBIDDEN)
    received = request.POST.get("q", "")
    read = await aside(wiring.text_threads(), partial(ticket.read, received))
    if read.is_prose and await aside(wiring.text_threads(), partial(description.has_number, ticket.readable(received))):
        return await guessed(request, received=received)
    if read.problem:
        return form(request, received=received, problem=read.problem, status=HTTPStatus.BAD_REQUEST)
    allowance = Allowance(len(read.findings))
    if wait := await asyncio.to_thread(allowance.spend):
        return limited(request, received=received, wait=wait)
    root = client_ip.root(request)
    context = {"ticket": read, "received": received, "link": case_url(read, root=root)}
    page = render_to_string("triage/triage_results.html", context, request)
    answers = Answers(read, page=page, root=root, allowance=allowance, search_mirror=partial(search_mirror, request))
    # A buffering proxy would delay all rows until the last one.
    return StreamingHttpResponse(answers, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


def search_mirror(request: HttpRequest, finding: Finding) -> Mirrored | None:
    return mirrored.with_ends(request, [(finding.head, finding.tail)], without=())


async def guessed(request: HttpRequest, *, received: str) -> HttpResponse:
    """Respond with the newest transfers that fit a text without identifiers, or ask for one.

    Guesses are only for such a text. Next to an identifier, they would compete with what is certain.
    """
    allowance = Allowance(1)
    if wait := await asyncio.to_thread(allowance.spend):
        return limited(request, received=received, wait=wait)
    guesses, error = None, None
    try:
        guesses = await aside(wiring.ticket_threads(), partial(guess, ticket.readable(received)))
    except ServiceError as failure:
        error = failure
    finally:
        allowance.settle()
    if not (guesses or error):
        return form(request, received=received, problem=input_errors.NOTHING, status=HTTPStatus.BAD_REQUEST)
    status = failures.status(error) if error else HTTPStatus.OK
    answer = form(request, received=received, status=status, template="guesses", guesses=guesses, error=error)
    if error and (seconds := failures.retry_after(error)):
        answer["Retry-After"] = str(seconds)
    return answer


def guess(written: str) -> Guesses | None:
    """Return the guesses for a text. Its service calls have the limits of a page."""
    with wiring.page():
        return descriptions.guess(written)


def limited(request: HttpRequest, *, received: str, wait: int) -> HttpResponse:
    answer = form(request, received=received, problem=too_many(wait), status=HTTPStatus.TOO_MANY_REQUESTS)
    answer["Retry-After"] = str(wait)
    return answer


def form(
    request: HttpRequest,
    *,
    received: str = "",
    problem: str = "",
    status: HTTPStatus = HTTPStatus.OK,
    template: Literal["triage", "guesses"] = "triage",
    **context: object,
) -> HttpResponse:
    context |= {"received": received, "problem": problem, "most": ticket.MOST, "longest": ticket.LONGEST}
    answer = render(request, f"triage/{template}.html", context, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


def case_url(read: Ticket, *, root: str) -> str:
    """Return a URL that reproduces the case. A fragment is sent to no server, and is in no log."""
    return f"{root}{reverse('triage')}#ids={','.join(read.linked)}" if read.linked else ""


def too_many(wait: int) -> str:
    return (
        "Tickets from your IP address have reached the rate limit. Nothing was looked up. Try again in"
        f" {wait} {'second' if wait == 1 else 'seconds'}, or with fewer identifiers."
    )


class Allowance:
    """A ticket's share of the rate limit on service calls, charged up front and corrected afterwards."""

    def __init__(self, identifiers: int) -> None:
        self._limit = Limit("calls", ENV.intents_rate_service_calls, 60)
        self._origin = request_context.current()
        self._visitor = request_context.visitor()
        self._spent = min(identifiers * CALLS_OF_AN_IDENTIFIER, self._limit.most)
        self._is_settled = False

    def spend(self) -> int:
        """Charge the estimate. Return 0, or the seconds to wait if the rate limit is reached."""
        return spend(self._limit, self._visitor, self._spent) if self._visitor else 0

    def settle(self) -> None:
        """Correct the charge to the actual number of calls. Runs on a thread, because the counter may be remote."""
        if self._is_settled or self._origin is None or self._visitor is None:
            return
        self._is_settled = True
        correct = partial(settle, self._limit, self._visitor, spent=self._spent, cost=self._origin.calls)
        with contextlib.suppress(RuntimeError):  # the process is shutting down
            wiring.ticket_threads().submit(correct, None)


class ClientService(BlockingOperations):
    """Service calls for one client, which stop when the client disconnects."""

    def __init__(
        self,
        service: ServiceClient,
        *,
        compares: bool = False,
        search_mirror: Callable[[Finding], Mirrored | None] = lambda _: None,
    ) -> None:
        self._service = service
        self._search_mirror = search_mirror
        self.threads = service.threads
        self._left = threading.Event()
        self.compares = compares
        self._reading_newest = threading.Lock()
        self._unread: ServiceError | None = None

    def leave(self) -> None:
        self._left.set()

    def ask[T](self, call: ServiceCall[T]) -> T:
        self.stay()
        return self._service.ask(call)

    def catalog(self) -> Catalog:
        """Return the shared catalog. Loading names calls the service, too."""
        self.stay()
        return wiring.catalog()

    def newest(self) -> situations.Newest:
        """Return the newest transfers, requested once for all rows of the ticket, even if that fails."""
        with self._reading_newest:
            self.stay()
            if self._unread:
                raise self._unread.with_traceback(None)
            try:
                return situations.latest()
            except ServiceError as error:
                self._unread = error
                raise

    def older(self, finding: Finding) -> Mirrored | None:
        """Return the transfers of the mirror that match a shortened ID. None if it can't be searched for this one."""
        self.stay()
        found = self._search_mirror(finding)
        return None if found is None or found.lists is None or found.why_partial else found

    def stay(self) -> None:
        if self._left.is_set():
            raise OutOfTime


class Answers:
    """Streamed body of the page. `close` ends it, from any thread."""

    def __init__(
        self,
        read: Ticket,
        *,
        page: str,
        root: str,
        allowance: "Allowance",
        search_mirror: Callable[[Finding], Mirrored | None],
    ) -> None:
        self._ticket = read
        self._allowance = allowance
        self._head, self._between, self._foot = page.split(PLACE)
        self._root = root
        compares = any(each.kind is Kind.SHORTENED for each in read.findings)
        self._service = ClientService(wiring.service(), compares=compares, search_mirror=search_mirror)
        self._forms = ShortForms()
        # A sent row can't change, so find the values that look alike before the first row.
        for each in read.findings:
            self._forms.of(each.value, hashes.short_hash(each.value))
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)

    def close(self) -> None:
        self._service.leave()
        self._allowance.settle()

    async def __aiter__(self) -> AsyncIterator[str]:
        yield self._head
        sent: list[TriageRow] = []
        tasks = self._tasks()
        try:
            for each in tasks:
                # Unshielded, canceling the page would cancel this task first, and free its slot for the next lookup.
                sent.append(once(await asyncio.shield(each), sent))
                yield self._drawn(sent[-1])
        finally:
            self.close()
            for each in tasks:
                each.cancel()
        yield self._between + await aside(wiring.text_threads(), partial(self._ended, sent)) + self._foot

    def _tasks(self) -> list[asyncio.Task[TriageRow]]:
        """Return a task for each row, in the order of the text. A shortened ID waits for the other rows."""
        numbered = list(enumerate(self._ticket.findings, start=1))
        whole = {
            number: asyncio.create_task(self._answer(number, finding))
            for number, finding in numbered
            if finding.kind is not Kind.SHORTENED
        }
        others = list(whole.values())
        return [
            whole.get(number) or asyncio.create_task(self._compared(number, finding, others))
            for number, finding in numbered
        ]

    def _drawn(self, row: TriageRow) -> str:
        return self._forms.draw(lambda: macros().triage_line(row))

    def _ended(self, sent: list[TriageRow]) -> str:
        return self._forms.draw(lambda: ended(sent, root=self._root))

    async def _compared(self, number: int, finding: Finding, others: Sequence[asyncio.Task[TriageRow]]) -> TriageRow:
        """Compare a shortened ID with the transfers of the other rows, then with the newest transfers."""
        if others:
            await asyncio.wait(others)
        known = [each.result() for each in others]
        row = await asyncio.to_thread(rows.in_ticket, number, finding, known, now=now())
        return row or await self._answer(number, finding, partial(elsewhere, known=known))

    async def _answer(self, number: int, finding: Finding, how: "How | None" = None) -> TriageRow:
        async with self._at_once:
            return await aside(
                wiring.ticket_threads(), partial(answer, self._service, number, finding, how or resolved)
            )


async def aside[T](threads: FairThreads, do: Callable[[], T]) -> T:
    """Run a function on one of these threads, in the turn of the client's address."""
    context, visitor = contextvars.copy_context(), request_context.visitor()

    def in_turn() -> T:
        with processor.computing(visitor):
            return context.run(do)

    return await asyncio.wrap_future(threads.submit(in_turn, visitor))


def once(row: TriageRow, sent: list[TriageRow]) -> TriageRow:
    """Return the row, shortened if an earlier row has the same transfer."""
    first = next((each for each in sent if each.intent_id.lower() == row.intent_id.lower() != ""), None)
    return rows.again(row, first=first.number) if first else row


def ended(sent: list[TriageRow], *, root: str) -> str:
    """Render the rows by owner, each with a reply, and the summary, with a button to retry the failed rows."""
    at = now()
    by_owner = cases.groups(sent)
    groups = [(group, replies(group.transfers, root=root)) for group in by_owner]
    failed = [row.value for row in sent if row.outcome is rows.TriageOutcome.FAILED]
    whole = group_reply.plain([each for _, owned in groups for each in owned])
    case = macros().triage_case([(group, group_reply.plain(owned)) for group, owned in groups], cases.counts(by_owner))
    copies = export.copies(sent, root=root, now=at)
    return f"{case}{macros().triage_end(export.total(sent), at, failed, whole, copies)}"


def replies(transfers: Iterable[Situation], *, root: str) -> list[Reply]:
    return [Reply(each, root + reverse("intent", args=[each.intent.intent_id])) for each in transfers]


def macros() -> Any:
    return cast(Jinja2, engines["jinja2"]).env.get_template("triage/rows.html").module


type How = Callable[[ClientService, int, Finding], TriageRow]


def answer(service: ClientService, number: int, finding: Finding, how: How) -> TriageRow:
    """Return the row of an identifier, also on errors. Its service calls have the limits of a page."""
    try:
        with wiring.page(), request_context.collecting_stale() as old:
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
    return with_candidates(service, row, [reading.situation])


def several(service: ClientService, number: int, finding: Finding, found: results.LookupResult) -> TriageRow:
    listed = rows.to_look_at(found.hits, now=now())[: rows.MOST_LISTED]
    readings = [read(service, hit) for hit in listed]
    links = [*map(intent_url, listed), all_url(finding)]
    row = rows.several(number, finding, found, readings, now=now(), links=links)
    others = [Situation.of(hit.intent, None, now=now(), unread=True) for hit in found.hits[:MOST_COMPARED]]
    return with_candidates(service, row, [*row.transfers, *others])


def with_candidates(service: ClientService, row: TriageRow, transfers: Iterable[Situation]) -> TriageRow:
    """Return the row with its transfers' values if the ticket has a shortened ID to compare with them."""
    if not service.compares:
        return row
    return replace(
        row, candidates=tuple(each for one in transfers for each in shortened.of_transfer(one.intent, one.receipt))
    )


def elsewhere(service: ClientService, number: int, finding: Finding, *, known: Sequence[TriageRow]) -> TriageRow:
    """Compare a shortened ID with the newest transfers, then with the intent IDs of the mirror."""
    try:
        newest = service.newest()
    except ServiceError as error:
        return rows.unsearched(number, finding, error, now=now(), link=search_url(finding))
    found = shortened.by_transfer(shortened.matching(newest.candidates, head=finding.head, tail=finding.tail))
    entries = [entry for entry in newest.entries if entry.intent_id in found]
    fitting = [
        Fitting(rows.glance_of(each, now=now()), found[each.intent_id], intent_path(each.intent_id))
        for each in map(glance.of, situations.of_entries(entries))
    ]
    where, searched = "among the newest transfers", shortened.searched(len(newest.entries))
    if not fitting and (older := service.older(finding)):
        where, searched = "in the local copy", f"{searched} Searched the intent IDs of the local copy."
        fitting = [
            Fitting(
                f"{each.status.word}, created {times.utc(each.created_at, now=now())}",
                (Candidate(each.intent_id, "intent ID", each.intent_id),),
                intent_path(each.intent_id),
            )
            for listed in older.lists or ()
            for each in listed.rows
            if each.is_linked
        ]
    return rows.elsewhere(
        number, finding, fitting, where=where, searched=searched, told=known, now=now(), link=search_url(finding)
    )


def intent_path(intent_id: str) -> str:
    return reverse("intent", args=[intent_id])


def missed(service: ClientService, number: int, finding: Finding, found: results.LookupResult) -> TriageRow:
    """Return the row of an identifier without transfers, which may be a token."""
    if finding.kind is Kind.ADDRESS:
        using = service.catalog()
        tokens = lookup.tokens_at(service, [chain.id for chain in using.chains()], finding.value)
        if tokens:
            return rows.token(number, finding, tokens, using=using, now=now())
    return rows.unknown(number, finding, found, now=now(), link=search_url(finding))


def read(service: ClientService, hit: results.Hit) -> Reading:
    """Read a transfer with its receipt and balances. One that was never executed has no receipt, which is no error."""
    receipt, failure = None, None
    try:
        receipt = service.get_intent_receipt(hit.intent.intent_id)
    except NotFound:
        pass
    except ServiceError as error:
        failure = error
    service.stay()
    return Reading(situations.of(hit.intent, receipt, failure, wait=situations.PATIENCE), failure)


def all_url(finding: Finding) -> str:
    """Return the URL of all transfers of an identifier."""
    return reverse("address", args=[finding.value]) if finding.kind in ADDRESSES else search_url(finding)


def search_url(finding: Finding) -> str:
    return f"{reverse('search')}?{urlencode({'q': finding.value})}"


def now() -> datetime:
    return datetime.now(UTC)
