"""`/triage`: a whole ticket at once. Every identifier in it is answered with one row, as soon as it is known.

What is pasted comes by POST, so that it stands in no address and no history; it changes nothing, and nothing of it is
kept or logged. The page is streamed: its head at once, then row by row in the order of the text, then the end.
"""

import asyncio
import contextvars
import logging
import threading
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from intents_ui import visitors, wiring
from intents_ui.display import copies, failures, hashes, ticket
from intents_ui.display import triage as rows
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.pasted import ADDRESSES, Finding, Kind
from intents_ui.display.questions import KEYS, KEYS_AFTER_A_MISS
from intents_ui.display.short_forms import ShortForms
from intents_ui.display.ticket import Ticket
from intents_ui.display.triage import Reading, Row
from intents_ui.links import intent_url
from intents_ui.service import freshness, lookup, origin
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import BlockingOperations, ServiceClient
from intents_ui.service.errors import NotFound, OutOfTime, ServiceError
from intents_ui.service.operations import Call

log = logging.getLogger(__name__)

MOST_AT_ONCE = 4  # identifiers of one ticket
# Stands in the template where the rows go, and the end. What somebody pasted cannot hold it: `<` is escaped.
PLACE = "<!-- here -->"
FOREIGN = "This came from another site, so it was not read. Paste the text here."


@require_http_methods(["GET", "HEAD", "POST"])
async def triage(request: HttpRequest) -> HttpResponseBase:
    if request.method != "POST":
        return form(request)
    if not visitors.is_ours(request):
        return form(request, problem=FOREIGN, status=HTTPStatus.FORBIDDEN)
    received = request.POST.get("q", "")
    read = await asyncio.to_thread(ticket.read, received)
    if read.problem:
        return form(request, received=received, problem=read.problem, status=HTTPStatus.BAD_REQUEST)
    page = render_to_string("triaged.html", {"ticket": read}, request)
    answers = Answers(read, page=page, root=visitors.root(request))
    # A proxy that buffers would hold the rows back until the last of them.
    return StreamingHttpResponse(answers, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


def form(
    request: HttpRequest, *, received: str = "", problem: str = "", status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    context = {"received": received, "problem": problem, "most": ticket.MOST, "longest": ticket.LONGEST}
    answer = render(request, "triage.html", context, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


class ReadersService(BlockingOperations):
    """The service as one reader asks it: when he has left, nothing more is asked."""

    def __init__(self, service: ServiceClient) -> None:
        self._service = service
        self._left = threading.Event()

    def leave(self) -> None:
        self._left.set()

    def ask[T](self, call: Call[T]) -> T:
        self._stay()
        return self._service.ask(call)

    def catalog(self) -> Catalog:
        """The names that all readers share; learning them asks too."""
        self._stay()
        return wiring.catalog()

    def _stay(self) -> None:
        if self._left.is_set():
            raise OutOfTime


class Answers:
    """The page, piece by piece. `close` ends it, from any thread."""

    def __init__(self, read: Ticket, *, page: str, root: str) -> None:
        self._ticket = read
        self._head, self._between, self._foot = page.split(PLACE)
        self._root = root
        self._service = ReadersService(wiring.service())
        self._forms = ShortForms()
        # A row that was sent stays as it is, so what the others will show must be known before the first.
        for each in read.findings:
            self._forms.of(each.value, hashes.short_hash(each.value))
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)

    def close(self) -> None:
        self._service.leave()

    async def __aiter__(self) -> AsyncIterator[str]:
        yield self._head
        told: list[Row] = []
        asked = [asyncio.create_task(self._answer(*each)) for each in enumerate(self._ticket.findings, start=1)]
        try:
            for each in asked:
                # Unshielded, a cancelled page would cancel this one first, whose place the next would take to ask.
                told.append(once(await asyncio.shield(each), told))
                yield self._drawn(told[-1])
        finally:
            self.close()
            for each in asked:
                each.cancel()
        yield self._between + await asyncio.to_thread(ended, told, root=self._root) + self._foot

    def _drawn(self, row: Row) -> str:
        return self._forms.draw(lambda: macros().triage_row(row))

    async def _answer(self, number: int, finding: Finding) -> Row:
        context = contextvars.copy_context()
        async with self._at_once:
            return await asyncio.get_running_loop().run_in_executor(
                wiring.ticket_threads(), context.run, answer, self._service, number, finding
            )


def once(row: Row, told: list[Row]) -> Row:
    """A transfer is told in full by the first row that leads to it."""
    first = next((each for each in told if each.intent_id.lower() == row.intent_id.lower() != ""), None)
    return rows.again(row, first=first.number) if first else row


def ended(told: list[Row], *, root: str) -> str:
    """What stands below the last row. What was not answered can be asked again."""
    at = now()
    again = [row.value for row in told if row.outcome is rows.Outcome.FAILED]
    return str(macros().triage_end(copies.total(told), at, again, copies.copies(told, root=root, now=at)))


def macros() -> Any:
    return cast(Jinja2, engines["jinja2"]).env.get_template("parts/triage.html").module


def answer(service: ReadersService, number: int, finding: Finding) -> Row:
    """One identifier's row, whatever happens. Its questions have the time and the place of a page."""
    try:
        with wiring.page(), freshness.collecting() as old:
            return rows.as_of(resolved(service, number, finding), failures.old(old, now=now()))
    except ServiceError as error:
        return rows.failed(number, finding, error, now=now(), link=search_url(finding))
    except Exception as error:
        reference = origin.reference()
        # Where it happened, and not the error's own words: they may hold what was pasted.
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error("Unforeseen %s, reference %s\n%s", type(error).__name__, reference, where)
        return rows.our_fault(number, finding, reference=reference, now=now())


def resolved(service: ReadersService, number: int, finding: Finding) -> Row:
    if row := rows.unasked(number, finding, now=now()):
        return row
    found = lookup.in_turn(
        lambda: lookup.as_any(service, KEYS[finding.kind], finding.value),
        lambda: lookup.as_any(service, KEYS_AFTER_A_MISS.get(finding.kind, ()), finding.value),
    )
    if found.error:
        return rows.failed(number, finding, found.error, found=found, now=now(), link=search_url(finding))
    if not found.hits:
        return missed(service, number, finding, found)
    if len(found.hits) > 1:
        return several(service, number, finding, found)
    link = intent_url(found.hits[0])
    reading = read(service, found.hits[0])
    using = named(service, reading)
    return rows.one(number, finding, found, reading, using=using, now=now(), link=link)


def several(service: ReadersService, number: int, finding: Finding, found: lookup.Found) -> Row:
    newest = rows.newest_to_look_at(found.hits, now=now())
    if newest is None:
        return rows.several(number, finding, found, None, using=NO_NAMES, now=now(), links=[all_url(finding)])
    links = [intent_url(newest), all_url(finding)]
    reading = read(service, newest)
    using = named(service, reading)
    return rows.several(number, finding, found, reading, using=using, now=now(), links=links)


def missed(service: ReadersService, number: int, finding: Finding, found: lookup.Found) -> Row:
    """What no intent was found by may be a token, which tickets name beside the rest."""
    if finding.kind is Kind.ADDRESS:
        using = service.catalog()
        tokens = lookup.tokens_at(service, [chain.id for chain in using.chains()], finding.value)
        if tokens:
            return rows.token(number, finding, tokens, using=using, now=now())
    return rows.unknown(number, finding, found, now=now(), link=search_url(finding))


def read(service: ReadersService, hit: lookup.Hit) -> Reading:
    """With its receipt. What was never executed has none: that is no trouble."""
    try:
        return Reading(hit.intent, service.get_intent_receipt(hit.intent.intent_id))
    except NotFound:
        return Reading(hit.intent, None)
    except ServiceError as error:
        return Reading(hit.intent, None, error)


def named(service: ReadersService, reading: Reading) -> Names:
    """The names of its chains and tokens."""
    using = service.catalog()
    using.learn((reading.intent.origin_chain_id, reading.intent.destination_chain_id))
    return using


def all_url(finding: Finding) -> str:
    """Where everything stands that a finding leads to."""
    return reverse("address", args=[finding.value]) if finding.kind in ADDRESSES else search_url(finding)


def search_url(finding: Finding) -> str:
    return f"{reverse('search')}?{urlencode({'q': finding.value})}"


def now() -> datetime:
    return datetime.now(UTC)
