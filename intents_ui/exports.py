"""Exports of lists as files: read page by page, one page in memory at a time, and cancelable by the client.

A row has every value of a transfer under its name, exact, for programs and spreadsheets. Missing values are None, never
0 or a dash. Text is as received, times are UTC. Amounts are text, with base units and decimals in separate columns.
Without decimals there is no amount.

Each file is valid however the export ended, and says at its end whether it is complete and why it ended, unless the
client disconnected. In that case no further page is requested. The first page is read before the response starts, so
that errors get an error page or JSON.

The progress of a run is in the shared cache, for the page that shows it. A run's ID can't be guessed, and grants access
to its progress and to its end. All of this is best effort: an outage of the cache stops no export.
"""

import json
import logging
import re
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app
from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.formatting import failures as error_messages
from intents_ui.http import client_ip, failures, marks
from intents_ui.lists import attention as attention_list
from intents_ui.ops import lifecycle
from intents_ui.search import filters
from intents_ui.search.filters import Filters, InvalidParameter, Parsed
from intents_ui.service import lookup, operations, request_context, results
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import NotFound, ServiceError, TooBusy, Unreachable
from intents_ui.service.executor import LimitReason
from intents_ui.service.models import End, HistoryAnswer, Intent, IntentTransaction, Page
from intents_ui.settings import ENV
from intents_ui.tokens import names, token_amounts
from intents_ui.transfers import summary
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.frame import render

PAGE_SIZE = 100
PAGE_SIZE_WITH_BALANCES = 50  # smaller, because the service queries chains for each intent of a page
FEWEST_PAGES = 100  # read at most, and one more for each ten rows of the limit, because pages may be shorter
MAX_FOUND = 100  # intents of one intent address, which usually has one
PAUSE_SECONDS = 2.0
LONGEST_PAUSE = 10.0  # longest wait of an export when it is rate limited
PROGRESS_SECONDS = 600
# An export reports each page. One without reports never got its client, or its process died.
SILENT_SECONDS = 60.0
RETRY_SECONDS = 30  # another export may have ended by then
MAX_POLLS = 30  # for a download that doesn't start
LARGEST_NUMBER = 2**53 - 1  # as a number in JSON. Many parsers would round larger ones, which are strings
RUN = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)

# Why an export ended.
COMPLETE = ""
STOPPED = "canceled by user"
OWNERS_ONLY = "the service reports recoverable balances for owner addresses only"
TIES = "the service paged by creation time, and may have skipped transfers created at the same time"
CAPPED = "the service may have returned only the newest transfers"
LIMIT_ERRORS = {
    End.CIRCLES: "the service repeated a page",
    End.LOST: "the service reported more results, but its cursor could not be read",
    End.EMPTY_PAGE: "the service reported more results, but returned an empty page",
}

log = logging.getLogger(__name__)


# Columns

type Value = str | int | bool | None
type ExportRow = dict[str, Value]
type Column = tuple[str, Callable[[Transfer], Value]]

SEPARATOR = "; "


def row_of(transfer: Transfer, *, root: str) -> ExportRow:
    """Return the columns of a transfer by name, in their order. `root` is the absolute URL of the dashboard."""
    url = f"{root}{reverse('intent', args=[transfer.intent.intent_id])}"
    return {name: value(transfer) for name, value in TRANSFER_COLUMNS} | {"url": url}


def _chain(money: token_amounts.Money) -> str | None:
    chain = money.names.chain(money.chain_id)
    return chain.name if chain and chain.name else names.WELL_KNOWN.get(money.chain_id or 0)


def _amount(money: token_amounts.Money) -> str | None:
    value, decimals = money.value, money.token.decimals
    return None if value is None or decimals is None else amounts.plain(value, decimals=decimals)


MONEY_COLUMNS: tuple[tuple[str, Callable[[token_amounts.Money], Value]], ...] = (
    ("chain_id", lambda money: money.chain_id),
    ("chain", _chain),
    ("token", lambda money: money.token_address),
    ("symbol", lambda money: money.symbol),
    ("warnings", lambda money: SEPARATOR.join(text.bare(mark.word) for mark in money.token.marks) or None),
    ("decimals", lambda money: money.token.decimals),
    ("base_units", lambda money: None if money.value is None else str(money.value)),
    ("amount", _amount),
)


def _money(prefix: str, money: str) -> Iterator[Column]:
    """Return the columns of an amount of a transfer, by its name there."""

    def column(value: Callable[[token_amounts.Money], Value]) -> Callable[[Transfer], Value]:
        return lambda transfer: value(getattr(transfer, money))

    return ((f"{prefix}_{name}", column(value)) for name, value in MONEY_COLUMNS)


def _time(name: str) -> Column:
    return name, lambda transfer: times.iso(getattr(transfer, name)) or None


def _hash(transaction: IntentTransaction | None) -> str | None:
    """Return the transaction's hash. A placeholder identifies no transaction."""
    txn_hash = transaction.txn_hash if transaction else None
    return None if hashes.is_placeholder(txn_hash) else txn_hash


def _balances(transfer: Transfer) -> str | None:
    """Return `79.71 USDC on Base; …`, in base units if decimals are unknown, each with the token's warning."""
    held = []
    for group in transfer.balances.groups:
        for money in (transfer.balance_of(token, inside=group) for token in group.tokens):
            if money.value:
                amount = _amount(money) or f"{money.value} base units of"
                warning = text.bare(token_amounts.warning_words(money.token.marks))
                token = f"{money.symbol or money.token_address or 'a token'}{f' ({warning})' if warning else ''}"
                held.append(f"{amount} {token} on {_chain(money) or f'chain {money.chain_id}'}")
    return SEPARATOR.join(held) or None


# Destination values come from the receipt or from an exact output.
TRANSFER_COLUMNS: tuple[Column, ...] = (
    ("intent_id", lambda transfer: transfer.intent.intent_id),
    ("status", lambda transfer: transfer.status),
    ("headline", lambda transfer: text.bare(summary.of(transfer).headline)),
    ("location", lambda transfer: text.bare(summary.of(transfer).location)),
    ("location_amount", lambda transfer: text.bare(summary.of(transfer).amount) or None),
    ("next_step", lambda transfer: text.bare(summary.of(transfer).next_step)),
    ("certainty", lambda transfer: summary.of(transfer).certainty.value),
    ("attention", lambda transfer: summary.of(transfer).attention.value),
    ("cause", lambda transfer: summary.of(transfer).cause.value or None),
    ("outcome", lambda transfer: None if transfer.is_unread else transfer.outcome.value),
    ("created_at", lambda transfer: times.iso(transfer.quoted_at) or None),
    _time("updated_at"),
    _time("started_at"),
    _time("finished_at"),
    _time("expires_at"),
    ("owner", lambda transfer: transfer.owner),
    ("recipient", lambda transfer: transfer.recipient),
    *_money("origin", "sent"),
    ("origin_note", lambda transfer: summary.of(transfer).sent.note or None),
    *_money("destination", "received"),
    ("providers", lambda transfer: SEPARATOR.join(transfer.providers) or None),
    ("trade_type", lambda transfer: transfer.summary.trade_type or transfer.request.trade_type),
    ("deposit_hash", lambda transfer: _hash(transfer.deposit)),
    ("origin_hash", lambda transfer: _hash(transfer.origin)),
    ("destination_hash", lambda transfer: _hash(transfer.destination)),
    ("refund_hash", lambda transfer: _hash(transfer.refund)),
    *_money("refund", "refunded"),
    ("reason", lambda transfer: transfer.failure_reason),
    ("memo", lambda transfer: transfer.summary.memo),
    ("has_balance", lambda transfer: transfer.has_balance),
    ("balances", _balances),
)
COLUMNS = (*(name for name, _ in TRANSFER_COLUMNS), "url")


# File formats


@dataclass(frozen=True)
class Format:
    """A file format: how a file begins and ends, its rows, and what is between them.

    `head` is what a document says of its list, `why` the reason if the file is incomplete.
    """

    content_type: str
    begin: Callable[[Mapping[str, object]], str]
    row: Callable[[ExportRow], str]
    end: Callable[[int, str], str]  # of the number of rows, and why
    between: str = ""


def _csv_end(rows: int, why: str) -> str:
    counted = f"{rows} {'row' if rows == 1 else 'rows'}"  # for programs, without separators
    return text.csv_line([f"# truncated after {counted}: {why}" if why else f"# complete: {counted}"])


# CSV (RFC 4180) has no byte order mark, which many programs would read as part of the first column's name. JSON is one
# document. The others have a line for each transfer, and a last one with the end.
FORMATS: Mapping[str, Format] = {
    "csv": Format(
        "text/csv; charset=utf-8",
        lambda head: text.csv_line(COLUMNS),
        lambda row: text.csv_line(map(_cell, row.values())),
        _csv_end,
    ),
    "json": Format(
        "application/json; charset=utf-8",
        lambda head: f'{_json(head)[:-1]}, "intents": [\n',
        lambda row: _json(_exact(row)),
        lambda rows, why: f'\n], "end": {_json(_end_fields(rows, why))}}}\n',
        between=",\n",
    ),
    "ndjson": Format(
        "application/x-ndjson; charset=utf-8",
        lambda head: "",
        lambda row: f"{_json(_exact(row))}\n",
        lambda rows, why: f"{_json({'end': _end_fields(rows, why)})}\n",
    ),
}


def _cell(value: Value) -> str:
    return text.csv_cell("" if value is None else _json(value) if isinstance(value, bool) else str(value))


def _exact(row: ExportRow) -> ExportRow:
    return {name: str(each) if isinstance(each, int) and each > LARGEST_NUMBER else each for name, each in row.items()}


def _end_fields(rows: int, why: str) -> ExportRow:
    return {"state": "truncated" if why else "complete", "why": why or None, "rows": rows}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# Reading a list


class Batch(NamedTuple):
    """A page's rows. `why` is None if the list continues, "" if it is complete, or else what is missing."""

    rows: Sequence[ExportRow]
    why: str | None = None


@dataclass(eq=False, kw_only=True)
class Reader:
    """Reads one list, from any thread, but not concurrently. Its iterators raise ServiceError.

    `canceled` is set when the client disconnects. `root` is the absolute URL of the dashboard.
    """

    filters: Filters
    root: str
    canceled: threading.Event
    service: ServiceClient = field(default_factory=lambda: app.current().service.uncached())
    pages_read: int = 0
    unreadable: int = 0
    is_by_time: bool = False

    def of_address(self, address: str) -> Iterator[Batch]:
        """Yield the rows of an owner's history, or those of an intent address if there is no such owner."""
        pages = self.history()
        first = next(pages)
        yield first if first.rows or first.why != COMPLETE else self._found(address)
        yield from pages

    def history(self) -> Iterator[Batch]:
        size = PAGE_SIZE_WITH_BALANCES if self.filters.request["include_balances"] else PAGE_SIZE
        unreadable = 0
        for entries, end in lookup.walk(self._ask, replace(self.filters, size=size).first):
            if end is None and not entries and self.unreadable == unreadable:
                end = End.CIRCLES  # regardless of the cursors, which would never end
            unreadable = self.unreadable
            with request_context.page_deadline():
                rows = self._rows(reading.of_entries(entries))
            yield Batch(rows, None if end is None else LIMIT_ERRORS.get(end) or self._missing())
            if end:
                return

    def _missing(self) -> str:
        """Return what could not be read or may be missing, or COMPLETE."""
        if self.unreadable:
            return f"{text.counted(self.unreadable, 'entry', 'entries')} could not be read"
        return TIES if self.is_by_time else COMPLETE

    def _ask(self, page: Page) -> HistoryAnswer:
        """Request a page. Retry transient errors once, but not for the first one, which can get an error page."""
        try:
            answer = self._history(page)
        except (Unreachable, TooBusy) as error:
            pause = error.retry_after if isinstance(error, TooBusy) else PAUSE_SECONDS
            if not self.pages_read or pause > LONGEST_PAUSE or self.canceled.wait(pause):
                raise
            answer = self._history(page)
        self.pages_read += 1
        self.unreadable += answer.unreadable_entries
        self.is_by_time |= answer.following is not None and answer.following.column == "createdAt"
        return answer

    def _history(self, page: Page) -> HistoryAnswer:
        with request_context.page_deadline():
            return self.service.ask(operations.get_intent_history(page=page, **self.filters.request))

    def _found(self, address: str) -> Batch:
        """Return the filtered intents of an address that isn't an owner's. Of an owner's, none passed the filters."""
        with request_context.page_deadline():
            found = lookup.in_turn(self.service, lambda: lookup.as_any(results.ADDRESS, address))
            for _, error in found.failed:
                raise error
            if any(reason.key == results.OWNER for hit in found.hits for reason in hit.reasons):
                return Batch((), COMPLETE)
            if found.hits and self.filters.recoverable:
                return Batch((), OWNERS_ONLY)
            # Searches return the newest first.
            intents = [hit.intent for hit in found.hits if _passes(hit.intent, self.filters)]
            intents = (intents if self.filters.is_newest_first else intents[::-1])[:MAX_FOUND]
            calls = (partial(self.service.ask, operations.get_intent_receipt(each.intent_id)) for each in intents)
            receipts = self.service.threads.together(*calls)
            for receipt in receipts:
                if isinstance(receipt, ServiceError) and not isinstance(receipt, NotFound):
                    raise receipt
            rows = self._rows(reading.of_answers(intents, receipts))
        return Batch(rows, CAPPED if found.may_be_capped or found.count > MAX_FOUND else COMPLETE)

    def _rows(self, transfers: Sequence[Transfer]) -> list[ExportRow]:
        return [row_of(each, root=self.root) for each in transfers]


def _passes(intent: Intent, filters: Filters) -> bool:
    """Apply the list's filters to search results, because the service filters only an owner's intents."""
    created = intent.created_at.timestamp() if intent.created_at else None
    return (
        (not filters.status or intent.status in filters.status)
        and filters.project in (None, intent.project_id)
        and filters.origin in (None, intent.origin_chain_id)
        and filters.destination in (None, intent.destination_chain_id)
        and (filters.since is None or (created is not None and created >= filters.since))
        and (filters.until is None or (created is not None and int(created) <= filters.until))
    )


def with_problems(parsed: Parsed[attention_list.AttentionFilters], group: str | None, *, root: str) -> Iterator[Batch]:
    """Yield the rows of the attention page in its order, and what is missing. Raises ServiceError."""
    with request_context.page_deadline():
        found = attention_list.read_problems().narrowed(parsed.filters)
        groups = [each for section in found.sections.values() for each in section.groups if group in (None, each.key)]
        rows = [row_of(row, root=root) for each in groups for row in each.rows]
    lacks = [f"{attention_list.LISTS[name]} could not be read" for name in found.unread]
    lacks += [f"there are more {attention_list.LISTS[name]} than were read" for name in found.cut]
    yield Batch(rows, "; ".join(lacks))


def limited(pages: Iterator[Batch], *, most: int) -> Iterator[Batch]:
    """Yield pages up to the limits on rows and pages. The last one says which limit was reached."""
    room, pages_at_most = most, max(FEWEST_PAGES, most // 10)
    for number, batch in enumerate(pages, 1):
        if len(batch.rows) > room:
            yield Batch(batch.rows[:room], f"limit of {most:,} rows per export")
            return
        if batch.why is None and number == pages_at_most:
            yield Batch(batch.rows, f"limit of {pages_at_most:,} pages per export")
            return
        room -= len(batch.rows)
        yield batch


# Progress


class ExportState(Enum):
    STARTING = Tone.PROGRESS, "Starting"  # no progress reported yet
    RUNNING = Tone.PROGRESS, "{rows} so far"
    STOPPING = Tone.PROGRESS, "Stopping after {rows}"  # requested by the user, not yet in effect
    COMPLETE = Tone.GOOD, "Complete: {rows}"
    TRUNCATED = Tone.ATTENTION, "Incomplete: stopped after {rows} ({why})"
    STOPPED = Tone.ATTENTION, "Stopped after {rows}"
    LEFT = Tone.ATTENTION, "Canceled by the browser after {rows}"
    NOT_BEGUN = Tone.ATTENTION, "Not started"  # no progress for so long that polling stopped


@dataclass(frozen=True)
class ExportStatus:
    """State of an export. `why`: the reason it's incomplete."""

    state: ExportState
    rows: int = 0
    why: str = ""

    @property
    def tone(self) -> Tone:
        return self.state.value[0]

    @property
    def is_over(self) -> bool:
        return self.tone is not Tone.PROGRESS

    @property
    def sentence(self) -> str:
        _, words = self.state.value
        return str(words).format(rows=text.counted(self.rows, "row"), why=self.why)


def report(run: str, status: ExportStatus) -> None:
    stored = (status.state.name, status.rows, status.why, time.time())
    app.current().redis_guard.call(lambda: cache.set(f"export:{run}", stored, PROGRESS_SECONDS))


def status_of(run: str) -> ExportStatus | None:
    """Return the status of a run, or None if it hasn't begun, ended long ago, or another version reported it."""
    stored: Any = app.current().redis_guard.call(lambda: cache.get(f"export:{run}"))
    try:
        state, rows, why, at = stored
        found = ExportStatus(ExportState[state], int(rows), str(why))
        is_silent = time.time() - float(at) > SILENT_SECONDS
    except (KeyError, TypeError, ValueError):
        return None
    if found.is_over:
        return found
    if is_silent:
        return replace(found, state=ExportState.LEFT)
    return replace(found, state=ExportState.STOPPING) if is_stopped(run) else found


def stop(run: str) -> None:
    app.current().redis_guard.call(lambda: cache.set(f"export-stop:{run}", 1, PROGRESS_SECONDS))


def is_stopped(run: str) -> bool:
    return app.current().redis_guard.call(lambda: cache.get(f"export-stop:{run}")) is not None


# The file


@dataclass(eq=False, kw_only=True)
class Download:
    """A running export, as an async iterator of the file's bytes. It has a slot, which its client took.

    `head` is what a document says of its list. `canceled` is set when the client disconnects.
    """

    batches: Iterator[Batch]
    form: Format
    head: Mapping[str, object]
    canceled: threading.Event
    run: str | None
    rows: int = 0
    has_ended: bool = False
    first: bytes = b""

    def __post_init__(self) -> None:
        # Once, also if the client has left before the response is sent, which is then dropped without being closed.
        self._free_slot = weakref.finalize(self, app.current().exports.give_back, request_context.client())

    def begin(self) -> None:
        """Read the first page in the caller's thread. Raises ServiceError while an error response is still possible."""
        if self.run:  # a repeated download of the same link resets it
            app.current().redis_guard.call(lambda: cache.delete(f"export-stop:{self.run}"))
            report(self.run, ExportStatus(ExportState.RUNNING))
        try:
            self.first = self.form.begin(self.head).encode() + self._written(next(self.batches))
        except BaseException:
            self._report(ExportState.TRUNCATED, "could not start")
            self._free_slot()
            raise

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.first
        while not self.has_ended:
            yield await app.current().executor.run(self._next)

    def close(self) -> None:
        """End the export. Django calls this when the response is over, for whatever reason."""
        self.canceled.set()
        self._free_slot()
        self._report(ExportState.LEFT)

    def _next(self) -> bytes:
        try:
            if lifecycle.is_stopping():
                return self._written(Batch((), "dashboard restart"))
            if self.run and is_stopped(self.run):
                return self._written(Batch((), STOPPED))
            return self._written(next(self.batches))
        except ServiceError as error:
            title = error_messages.words(error).title
            why = f"{title[0].lower()}{title[1:]}"
            why += f", request ID {error.request_id}" if error.request_id else ""
        except Exception:
            request_id = request_context.reference()
            log.exception("Unhandled exception in an export, request ID %s", request_id)
            why = f"internal error, request ID {request_id}"
        return self._written(Batch((), why))

    def _written(self, batch: Batch) -> bytes:
        between = self.form.between
        written = between * bool(self.rows and batch.rows) + between.join(map(self.form.row, batch.rows))
        self.rows += len(batch.rows)
        if batch.why is None:
            self._report(ExportState.RUNNING)
            return written.encode()
        incomplete = ExportState.STOPPED if batch.why == STOPPED else ExportState.TRUNCATED
        self._report(incomplete if batch.why else ExportState.COMPLETE, batch.why)
        return f"{written}{self.form.end(self.rows, batch.why)}".encode()

    def _report(self, state: ExportState, why: str = "") -> None:
        # The first end counts. A page that arrives while the client disconnects may still report that it runs, which
        # then is silent, and so over, too.
        if self.has_ended:
            return
        if self.run:
            report(self.run, ExportStatus(state, self.rows, why))
        if state is not ExportState.RUNNING:
            self.has_ended = True
            log.info("Export of %s ended with %d rows: %s", self.head["list"], self.rows, why or state.name.lower())


# Views


@marks.Marks(costly="always")
@require_safe
def history(request: HttpRequest, kind: str, *, owner: str | None = None) -> HttpResponseBase:
    """Return the history as a file, that of an owner or intent address if there is one, or an error."""
    with request_context.page_deadline():
        parsed = filters.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    wanted = parsed.filters.with_(owner=owner) if owner else parsed.filters
    reader = Reader(filters=wanted, root=client_ip.root(request), canceled=threading.Event())
    batches = reader.of_address(owner) if owner else reader.history()
    listed = "address" if owner else "history"
    return file(request, kind, listed, parsed.problems, wanted.query, batches, reader.canceled)


@marks.Marks(costly="always")
@require_safe
def address(request: HttpRequest, address: str, kind: str) -> HttpResponseBase:
    """Export an owner's history, or the transfers of an intent address."""
    try:
        known = filters.address(address)
    except InvalidParameter as problem:
        return failures.page(request, failures.of_dashboard("export of an invalid address", {"why": str(problem)}))
    if known != address:
        return redirect(reverse("export-address", args=[known, kind], query=request.GET), permanent=True)
    return history(request, kind, owner=known)


@marks.Marks(costly="always")
@require_safe
def attention(request: HttpRequest, kind: str) -> HttpResponseBase:
    """Export the transfers that need attention, with the filters of their page, or one `group` of them."""
    with request_context.page_deadline():
        parsed = attention_list.read_filters(dict(request.GET.lists()), chains=app.current().catalog.chains())
    group = request.GET.get("group") or None
    query = "&".join(part for part in (parsed.filters.query, filters.encode({"group": group})) if part)
    batches = with_problems(parsed, group, root=client_ip.root(request))
    return file(request, kind, "attention", parsed.problems, query, batches, threading.Event())


def file(
    request: HttpRequest,
    kind: str,
    listed: str,
    problems: Mapping[str, str],
    query: str,
    batches: Iterator[Batch],
    canceled: threading.Event,
) -> HttpResponseBase:
    """Return the file of a list with this query, or why there is none. Raises ServiceError.

    `batches` reads the rows, when they are needed, until `canceled` is set.
    """
    if problems:
        words = {"problems": " ".join(problems.values())}
        return failures.page(request, failures.of_dashboard("export with invalid filters", words))
    now, form = datetime.now(UTC), FORMATS[kind]
    headers = {
        "Content-Disposition": f'attachment; filename="intents-{listed}-{now:%Y-%m-%dT%H%MZ}.{kind}"',
        "Content-Type": form.content_type,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Accel-Buffering": "no",
    }
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    exports = app.current().exports
    if limit_reason := exports.take(request_context.client()):
        name = "second export" if limit_reason is LimitReason.SHARE else "too many exports"
        limits = {"most": text.counted(exports.most, "concurrent export"), "wait": RETRY_SECONDS}
        return failures.page(request, failures.of_dashboard(name, limits, retry_after=RETRY_SECONDS))
    run = request.GET.get("run", "")
    download = Download(
        batches=limited(batches, most=ENV.intents_max_export_rows),
        form=form,
        head={"exported_at": times.iso(now), "list": listed, "filters": parse_qs(query)},
        canceled=canceled,
        run=run if RUN.fullmatch(run) else None,
    )
    download.begin()
    return StreamingHttpResponse(download, headers=headers)


@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, run: str) -> HttpResponse:
    """Show the progress of an export. POST stops it. Only the page that started the export has the run's ID."""
    if not RUN.fullmatch(run):
        raise Http404("Export not found.")
    if request.method == "POST":
        stop(run)
        if not marks.is_partial(request):
            return redirect(request.path)
    looks, kind = request.GET.get("looks", ""), request.GET.get("kind")
    polls = int(looks) if looks.isascii() and looks.isdigit() and len(looks) < 6 else 1
    # The first poll comes with the click that starts a download, so a stored status is older.
    known = status_of(run) if polls else None
    context = {
        "run": run,
        "is_first": polls == 0 or not marks.is_partial(request),
        "looks": polls,
        "is_known": known is not None,
        "status": known or ExportStatus(ExportState.NOT_BEGUN if polls >= MAX_POLLS else ExportState.STARTING),
        "kind": kind if kind in FORMATS else "export",
    }
    return render(request, "exports/progress.html", context, block="progress" if polls else "run")
