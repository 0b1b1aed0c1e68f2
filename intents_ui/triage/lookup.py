"""`/triage`: look up every identifier of a ticket, and stream a line for each as soon as it's known.

The text is sent by POST, to keep it out of URLs and browser history. It is neither stored nor logged. The identifiers
are looked up a few at a time. The page streams its head at once, then a line for each in the order of the text, then
the rows by owner and the summary.
"""

import asyncio
import logging
import re
import threading
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods

from intents_ui import app
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import client_ip, limits, marks
from intents_ui.search import identifiers, input_errors
from intents_ui.search.facts import TicketFacts
from intents_ui.search.filters import KEYS_AFTER_A_MISS, KEYS_OF_KIND
from intents_ui.search.identifiers import ADDRESSES, Finding, Kind, ParsedText
from intents_ui.service import lookup, operations, request_context
from intents_ui.service.errors import NotFound, OutOfTime, ServiceError
from intents_ui.service.results import Hit, LookupResult
from intents_ui.triage import rows
from intents_ui.triage.rows import Reading, TriageOutcome, TriageRow
from intents_ui.web import mirror, reading, search
from intents_ui.web.customer_reply import Reply
from intents_ui.web.frame import render

log = logging.getLogger(__name__)

MOST = 200  # identifiers of one ticket
LONGEST = 64_000  # characters
MAX_AT_ONCE = 4  # identifiers of one ticket
MAX_JUDGED = 8  # open and failed transfers of one identifier, of which the most urgent are listed
# Replaces characters that can't be typed. It is neither part of an identifier nor whitespace that could break one.
SEPARATOR = "\ufffd"

# Marks where the rows and the summary go in the template. User input can't contain it, because `<` is escaped.
PLACE = "<!-- here -->"
# Markup, mentions, HTML and links, wherever it is pasted.
MARKDOWN = re.compile(r"[\\`*_{}\[\]#~|!$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
NOT_IN_A_TABLE = ("Outcome", "Notes", "As of")

EMPTY = "Paste some text."
# What a link to a case may contain, and nothing else that a ticket may. `search.js` reads it.
LINKED = re.compile(r"0x(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]+\.{3}[0-9a-f]+)")

TOO_LONG = "Only the first {read:,} of {length:,} characters were read. Submit the rest separately."
TOO_MANY = "Only the first {most} of {found:,} identifiers were looked up. Submit the other {left:,} separately."
MORE = "Only the first {most} of {found} identifiers were looked up."
# Notes about the whole text appear once.
SAID_ONCE = {
    input_errors.INVISIBLE: "Ignored invisible characters in or around identifiers.",
    input_errors.LOOKALIKES_READ: "Read lookalike characters in identifiers as regular ones.",
}


@dataclass(frozen=True)
class Ticket:
    """`notes`: what was changed or not read; `problem`: why there is nothing to look up."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def linked(self) -> tuple[str, ...]:
        """Return the identifiers that a link to the case contains: hashes and addresses, also shortened ones."""
        written = (f"0x{each.head}...{each.tail}" if each.head else each.value for each in self.findings)
        return tuple(each for each in map(str.lower, written) if LINKED.fullmatch(each))


def read(received: str) -> Ticket:
    """Return the identifiers of a text, each once, in order, with notes about what exceeds the limits."""
    fitting = readable(received)
    found = identifiers.read(identifiers.CONTROL.sub(SEPARATOR, fitting), longest=LONGEST)
    # Numbers, for example of an order, may be saved with a transfer, unlike text.
    words = [word for each in found.findings if each.kind is Kind.WORDS for word in each.value.split()]
    if not all(any(map(str.isdigit, word)) for word in words):
        return Ticket(problem=input_errors.NOTHING)
    # A single malformed identifier gets a validation message instead of a row.
    if len(found.findings) < 2 and not (found.lookups or found.shortened):
        return Ticket(problem=found.problem or EMPTY)
    notes = []
    if len(fitting) < len(received):
        notes.append(TOO_LONG.format(length=len(received), read=len(fitting)))
    if left := len(found.findings[MOST:]):
        notes.append(TOO_MANY.format(found=len(found.findings), most=MOST, left=left))
    warnings = {finding.warning for finding in found.findings}
    notes += [note for warning, note in SAID_ONCE.items() if warning in warnings]
    own = [replace(each, warning="") if each.warning in SAID_ONCE else each for each in found.findings[:MOST]]
    return Ticket(tuple(own), tuple(notes))


def readable(received: str) -> str:
    """Return the text up to the limit, without cutting a word."""
    whole, following = received[:LONGEST], received[LONGEST : LONGEST + 1]
    if not following or following.isspace() or whole[-1].isspace():
        return whole
    return whole.rsplit(maxsplit=1)[0]


def charge(request: HttpRequest, read: Ticket) -> int:
    """Charge a ticket's identifiers. Returns the seconds to wait, 0 if none."""
    return app.current().rate_limiter.charge(request, limits.SEARCH * len(read.findings))


def too_many(wait: int) -> str:
    return (
        "Tickets from your IP address have reached the rate limit. Nothing was looked up. Try again in"
        f" {text.counted(wait, 'second')}, or with fewer identifiers."
    )


class TicketLookup:
    """The rows of a ticket, each as soon as it and those before are known.

    `close` ends it, from any thread: no request to the service is sent after that.
    """

    def __init__(self, read: Ticket, request: HttpRequest, facts: TicketFacts) -> None:
        self._request, self._facts = request, facts
        now = datetime.now(UTC)
        self._begun = [rows.begin(number, each, now=now) for number, each in enumerate(read.findings, start=1)]
        self._at_once = asyncio.Semaphore(MAX_AT_ONCE)
        self._closed = threading.Event()
        self.threads = app.current().service.threads

    def close(self) -> None:
        self._closed.set()

    def candidates(self, found: Sequence[TriageRow]) -> search.Candidates | None:
        """Return the transfers that the text may be about if no identifier leads to a single one."""
        if any(row.intent_id or row.outcome is TriageOutcome.POSSIBLE for row in found):
            return None
        return search.candidates(self._request, self._facts)

    async def __aiter__(self) -> AsyncGenerator[TriageRow]:
        whole = {row.number: asyncio.create_task(self._in_turn(row)) for row in self._begun if not row.is_shortened}
        others, found = list(whole.values()), list[TriageRow]()
        tasks = [whole.get(row.number) or asyncio.create_task(self._in_turn(row, others)) for row in self._begun]
        try:
            for each in tasks:
                # Unshielded, canceling the page would cancel this task first, and free its slot for the next lookup.
                found.append(rows.once(await asyncio.shield(each), found))
                yield found[-1]
        finally:
            self.close()
            for each in tasks:
                each.cancel()

    def all_rows(self) -> list[TriageRow]:
        """Look up all identifiers and wait for their rows, at most until the deadline of the page."""
        whole = [row for row in self._begun if not row.is_shortened]
        answers = self.threads.together(*(partial(self._answer, row) for row in whole))
        known = {
            row.number: rows.failed(row, answer) if isinstance(answer, ServiceError) else answer
            for row, answer in zip(whole, answers, strict=True)
        }
        others, found = list(known.values()), list[TriageRow]()
        for row in self._begun:
            found.append(rows.once(known.get(row.number) or self._answer(row, others), found))
        return found

    async def _in_turn(self, row: TriageRow, others: Sequence[asyncio.Task[TriageRow]] = ()) -> TriageRow:
        """Return the row, which is looked up after these others."""
        if others:
            await asyncio.wait(others)
        async with self._at_once:
            return await app.current().executor.run(partial(self._answer, row, [each.result() for each in others]))

    def _answer(self, row: TriageRow, known: Sequence[TriageRow] = ()) -> TriageRow:
        """Return the row as looked up, also on errors. `known`: the rows of full IDs, for one of a shortened ID."""
        if found := rows.in_ticket(row, known):
            return found
        row = replace(row, at=datetime.now(UTC))
        try:
            with request_context.page_deadline(), request_context.collecting("stale") as used:
                found = self._looked_up(row, known)
                old = failures.old(used.stale, now=datetime.now(UTC)) if used.stale else None
            return replace(found, notes=(*found.notes, old.sentence)) if old else found
        except ServiceError as error:
            return rows.failed(row, error)
        except Exception as error:
            reference = request_context.reference()
            # Without the error's message, which may contain the pasted text.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("Unhandled %s, request ID %s\n%s", type(error).__name__, reference, where)
            return rows.internal_error(row, reference=reference)

    def ask[T](self, call: operations.ServiceCall[T]) -> T:
        self._check_open()
        return app.current().service.ask(call)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise OutOfTime

    def _looked_up(self, row: TriageRow, known: Sequence[TriageRow]) -> TriageRow:
        if row.is_shortened:
            self._check_open()
            wanted = replace(self._facts, pasted=ParsedText((row.finding,)))
            return rows.in_mirror(row, search.candidates(self._request, wanted) or search.Candidates(), others=known)
        if unasked := rows.unasked(row):
            return unasked
        kind, value = row.finding.kind, row.finding.value
        found = lookup.in_turn(
            self,
            lambda: lookup.as_any(KEYS_OF_KIND[kind], value),
            lambda: lookup.as_any(KEYS_AFTER_A_MISS.get(kind, ()), value),
        )
        if found.error:
            return rows.failed(row, found.error, found=found)
        if not found.hits:
            return self._missed(row, found)
        if len(found.hits) == 1:
            return rows.one(row, found, self._read(found.hits[0]))
        judged = [self._read(hit) for hit in rows.to_look_at(found.hits, now=row.at)[:MAX_JUDGED]]
        judged.sort(key=lambda each: rows.rank(each.transfer))
        return rows.several(row, found, judged[: rows.MAX_LISTED])

    def _missed(self, row: TriageRow, found: LookupResult) -> TriageRow:
        """Return the row of an identifier without transfers, which may be a token, or an address that others paid."""
        kind, value = row.finding.kind, row.finding.value
        if kind is Kind.ADDRESS:
            self._check_open()  # loading names calls the service, too
            using = app.current().catalog
            if tokens := lookup.tokens_at(self, [chain.id for chain in using.chains()], value):
                return rows.token(row, tokens, using=using)
        paid = mirror.that_paid(self._request, value) if kind in ADDRESSES else None
        if paid and paid.lists:
            return rows.paid(row, [(each.heading, each.number) for each in paid.lists])
        return rows.unknown(row, found)

    def _read(self, hit: Hit) -> Reading:
        """Read a transfer, its receipt and balances. One that was never executed has no receipt, which is no error."""
        receipt, failure = None, None
        try:
            receipt = self.ask(operations.get_intent_receipt(hit.intent.intent_id))
        except NotFound:
            pass
        except ServiceError as error:
            failure = error
        self._check_open()
        return Reading(hit, reading.of(hit.intent, receipt, failure, wait=reading.PATIENCE), failure)


@dataclass(frozen=True)
class TicketRows:
    """`problem`: why there are no rows. `wait`: seconds until a retry can succeed, 0 if that isn't the problem.
    `candidates`: what the text may be about if no row has a single transfer.
    """

    rows: Sequence[TriageRow] = ()
    candidates: search.Candidates | None = None
    notes: tuple[str, ...] = ()
    problem: str = ""
    wait: int = 0


def rows_of(written: str, request: HttpRequest, *, most: int = MOST) -> TicketRows:
    """Look up at most this many identifiers of a text, and wait for all. Not for a thread with an event loop."""
    ticket = read(written)
    facts = search.facts_of(written, ParsedText(ticket.findings))
    if ticket.problem:
        return TicketRows(problem=ticket.problem, candidates=search.candidates(request, facts))
    if len(ticket.findings) > most:
        note = MORE.format(most=most, found=len(ticket.findings))
        ticket = replace(ticket, findings=ticket.findings[:most], notes=(*ticket.notes, note))
    if wait := charge(request, ticket):
        return TicketRows(problem=too_many(wait), wait=wait)
    looked_up = TicketLookup(ticket, request, facts)
    found = looked_up.all_rows()
    return TicketRows(found, looked_up.candidates(found), ticket.notes)


# The page


@marks.Marks(body="triage")
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
def view(request: HttpRequest) -> HttpResponseBase:
    if request.method != "POST":
        return form(request)
    received = request.POST.get("q", "")
    ticket = read(received)
    if wait := charge(request, ticket):
        status = HTTPStatus.TOO_MANY_REQUESTS
        return form(request, received=received, problem=too_many(wait), status=status, retry_after=wait)
    facts = search.facts_of(received, ParsedText(ticket.findings))
    if ticket.problem:
        possible = search.candidates(request, facts)
        status = HTTPStatus.OK if possible and possible.count else HTTPStatus.BAD_REQUEST
        told = None if ticket.problem == EMPTY else facts
        return form(request, received=received, problem=ticket.problem, possible=possible, told=told, status=status)
    root = client_ip.root(request)
    # A URL that reproduces the case. A fragment is sent to no server, and is in no log.
    link = f"{root}{reverse('triage')}#ids={','.join(ticket.linked)}" if ticket.linked else ""
    context = {"ticket": ticket, "received": received, "link": link}
    page = render_to_string("triage/triage_results.html", context, request)
    answers = TriageBody(ticket, TicketLookup(ticket, request, facts), page=page, root=root)
    # A buffering proxy would delay all rows until the last one.
    return StreamingHttpResponse(answers, headers={"X-Accel-Buffering": "no"})


def form(
    request: HttpRequest,
    *,
    received: str = "",
    problem: str = "",
    possible: search.Candidates | None = None,
    told: TicketFacts | None = None,
    **response: Any,
) -> HttpResponse:
    context = {
        "received": received,
        "problem": problem,
        "possible": possible,
        "told": told,
        "most": MOST,
        "longest": LONGEST,
    }
    return render(request, "triage/triage.html", context, **response)


class TriageBody:
    """Streamed body of the page. `close` ends it, from any thread."""

    def __init__(self, ticket: Ticket, found: TicketLookup, *, page: str, root: str) -> None:
        self._found = found
        self._head, self._between, self._foot = page.split(PLACE)
        self._root = root
        self._forms = hashes.ShortForms()
        # A sent row can't change, so find the values that look alike before the first row.
        for each in ticket.findings:
            if each.kind is not Kind.SHORTENED:
                self._forms.of(each.value, hashes.short_hash(each.value))

    def close(self) -> None:
        self._found.close()

    async def __aiter__(self) -> AsyncIterator[str]:
        yield self._head
        sent: list[TriageRow] = []
        async with aclosing(aiter(self._found)) as found:
            async for row in found:
                sent.append(row)
                yield self._forms.draw(partial(macros().triage_line, row))
        end = await app.current().executor.run(lambda: self._forms.draw(lambda: self._ended(sent)))
        yield self._between + end + self._foot

    def _ended(self, sent: list[TriageRow]) -> str:
        """Render the rows by owner, each with a reply, what the text may be about, and the summary."""
        possible, at, by_owner = self._found.candidates(sent), datetime.now(UTC), rows.groups(sent)
        groups = [
            (group, [(owner, Reply(about, self._root)) for owner, about in group.replies.items()]) for group in by_owner
        ]
        failed = [row.value for row in sent if row.outcome is TriageOutcome.FAILED]
        case = macros().triage_case(groups, rows.counts(by_owner))
        end = macros().triage_end(rows.total(sent), at, failed, copies(sent, root=self._root, now=at))
        return f"{case}{macros().possible_transfers(possible)}{end}"


def macros() -> Any:
    return cast(Jinja2, engines["jinja2"]).env.get_template("triage/rows.html").module


# Copies of all rows: plain, Markdown and CSV, with the same content


def copies(found: Sequence[TriageRow], *, root: str, now: datetime) -> tuple[tuple[str, str, str], ...]:
    """Return the name, use and text of each form. `root`: scheme and host of the links."""
    heading = f"As of {now:%Y-%m-%d %H:%M:%S} UTC. {rows.total(found)}"
    cells = [rows.cells(row, root=root) for row in found]
    records = [[*cells[0]], *(row.values() for row in cells)]
    return (
        ("Plain text", "for a reply or a note", text.bare(plain(found, heading, root=root))),
        ("Markdown", "for an issue or a wiki", text.bare(markdown(found, heading, root=root))),
        ("CSV", "for a spreadsheet", "".join(text.csv_line(map(text.csv_cell, record)) for record in records)),
    )


def plain(found: Sequence[TriageRow], heading: str, *, root: str) -> str:
    paragraphs = [heading]
    for row in found:
        links = [*(root + link.path for link in row.links), *(each.written for each in row.help if each.url)]
        paragraphs.append("\n   ".join([*rows.lines(row, root=root), *links]))
    return "\n\n".join(paragraphs) + "\n"


def markdown(found: Sequence[TriageRow], heading: str, *, root: str) -> str:
    table = []
    for row in found:
        said = rows.cells(row, root=root)
        said["Details"] = f"{said['Details']} {said['Notes']}".strip()
        # `reverse` has escaped whatever could end the link or the cell in a path.
        links = [f"[{_escaped(link.words)}](<{root}{link.path}>)" for link in row.links]
        links += [f"[{each.words}](<{each.url}>)" for each in row.help if each.url]
        shown = {column: _escaped(words) for column, words in said.items() if column not in NOT_IN_A_TABLE}
        table.append(shown | {"Links": ", ".join(links)})
    head = [f"| {' | '.join(table[0])} |", f"|{' --- |' * len(table[0])}"]
    return "\n".join([_escaped(heading), "", *head, *(f"| {' | '.join(row.values())} |" for row in table)]) + "\n"


def literal(words: str) -> str:
    return MARKDOWN.sub(r"\\\g<0>", words).translate(ENTITIES)


def _escaped(words: str) -> str:
    return literal(rows.one_line(words))
