"""`/export/…`: lists as files, and the progress of an export.

The first page of the list is read before the response starts, so that errors get an error page or JSON.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from threading import Event
from urllib.parse import parse_qs

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app
from intents_ui.exports import formats, progress
from intents_ui.exports.download import Batch, Download, Reader, limited
from intents_ui.exports.formats import FORMATS, About
from intents_ui.exports.progress import ExportState, ExportStatus
from intents_ui.formatting import text
from intents_ui.http import client_ip, failures, marks
from intents_ui.http.failures import of_dashboard
from intents_ui.http.marks import is_partial
from intents_ui.lists import attention as attention_list
from intents_ui.lists.attention import AttentionFilters
from intents_ui.search import filters
from intents_ui.search.filters import InvalidParameter
from intents_ui.service import request_context
from intents_ui.service.client import UncachedClient
from intents_ui.service.executor import LimitReason
from intents_ui.settings import ENV
from intents_ui.web.frame import render

HISTORY, ATTENTION, ADDRESS = "history", "attention", "address"
RETRY_SECONDS = 30  # another export may have ended by then
MAX_POLLS = 30  # for a download that doesn't start


@marks.Marks(costly="always")
@require_safe
def history(request: HttpRequest, kind: str) -> HttpResponseBase:
    return of_list(request, kind, HISTORY)


@marks.Marks(costly="always")
@require_safe
def attention(request: HttpRequest, kind: str) -> HttpResponseBase:
    """Export the transfers that need attention, with the filters of their page, or one `group` of them."""
    with request_context.page_deadline():
        parsed = attention_list.read_filters(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return invalid_filters(request, parsed.problems.values())
    group = request.GET.get("group") or None
    written = parse_qs(parsed.filters.query) | ({"group": [group]} if group else {})
    link = links(request)
    return file(request, kind, ATTENTION, written, lambda _: with_problems(parsed.filters, group, link=link))


@marks.Marks(costly="always")
@require_safe
def address(request: HttpRequest, address: str, kind: str) -> HttpResponseBase:
    """Export an owner's history, or the transfers of an intent address."""
    try:
        known = filters.address(address)
    except InvalidParameter as problem:
        return failures.page(request, of_dashboard("export of an invalid address", {"why": str(problem)}))
    if known != address:
        return redirect(reverse("export-address", args=[known, kind], query=request.GET), permanent=True)
    return of_list(request, kind, ADDRESS, owner=known)


def of_list(request: HttpRequest, kind: str, listed: str, *, owner: str | None = None) -> HttpResponseBase:
    """Return the history as a file, that of an owner or intent address if there is one, or an error."""
    with request_context.page_deadline():
        parsed = filters.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return invalid_filters(request, parsed.problems.values())
    wanted = parsed.filters.with_(owner=owner) if owner else parsed.filters
    link = links(request)

    def batches(canceled: Event) -> Iterator[Batch]:
        uncached = UncachedClient(app.current().service)
        pages = Reader(service=uncached, filters=wanted, link=link, canceled=canceled)
        return limited(pages.of_address(owner) if owner else pages.history(), most=ENV.intents_max_export_rows)

    return file(request, kind, listed, parse_qs(wanted.query), batches)


def with_problems(wanted: AttentionFilters, group: str | None, *, link: Callable[[str], str]) -> Iterator[Batch]:
    """Yield the rows of the attention page in its order, and what is missing. Raises ServiceError."""
    with request_context.page_deadline():
        found = app.current().attention.read_problems().narrowed(wanted)
        groups = [each for section in found.sections.values() for each in section.groups if group in (None, each.key)]
        rows = [row for each in groups for row in each.rows]
    lacks = [f"{attention_list.LISTS[name]} could not be read" for name in found.unread]
    lacks += [f"there are more {attention_list.LISTS[name]} than were read" for name in found.cut]
    exported = [formats.row(row.transfer, url=link(row.transfer.intent.intent_id)) for row in rows]
    yield from limited(iter([Batch(exported, "; ".join(lacks))]), most=ENV.intents_max_export_rows)


def file(
    request: HttpRequest,
    kind: str,
    listed: str,
    written: Mapping[str, list[str]],
    batches: Callable[[Event], Iterator[Batch]],
) -> HttpResponseBase:
    """Return the file. `written`: the filters. `batches`: the rows, until the event is set. Raises ServiceError."""
    now = datetime.now(UTC)
    headers = {
        "Content-Disposition": f'attachment; filename="intents-{listed}-{now:%Y-%m-%dT%H%MZ}.{kind}"',
        "Content-Type": FORMATS[kind].content_type,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Accel-Buffering": "no",
    }
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    if limit_reason := app.current().exports.take(request_context.client()):
        return no_slot(request, limit_reason)
    canceled, run = Event(), request.GET.get("run", "")
    download = Download(
        batches=batches(canceled),
        form=FORMATS[kind],
        about=About(listed, written, now),
        canceled=canceled,
        run=run if progress.is_run(run) else None,
    )
    download.begin()
    return StreamingHttpResponse(download, headers=headers)


def links(request: HttpRequest) -> Callable[[str], str]:
    """Return a function from intent IDs to absolute URLs."""
    root = client_ip.root(request)
    return lambda intent_id: f"{root}{reverse('intent', args=[intent_id])}"


def no_slot(request: HttpRequest, limit_reason: LimitReason) -> HttpResponse:
    name = "second export" if limit_reason is LimitReason.SHARE else "too many exports"
    words = {"most": text.counted(app.current().exports.most, "concurrent export"), "wait": RETRY_SECONDS}
    return failures.page(request, of_dashboard(name, words, retry_after=RETRY_SECONDS))


def invalid_filters(request: HttpRequest, problems: Iterable[str]) -> HttpResponse:
    return failures.page(request, of_dashboard("export with invalid filters", {"problems": " ".join(problems)}))


@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, run: str) -> HttpResponse:
    """Show the progress of an export. POST stops it. Only the page that started the export has the run's ID."""
    if not progress.is_run(run):
        raise Http404("Export not found.")
    if request.method == "POST":
        progress.stop(run)
        if not is_partial(request):
            return redirect(request.path)
    looks, kind = request.GET.get("looks", ""), request.GET.get("kind")
    polls = int(looks) if looks.isascii() and looks.isdigit() and len(looks) < 6 else 1
    # The first poll comes with the click that starts a download, so a stored status is older.
    known = progress.status(run) if polls else None
    context = {
        "run": run,
        "is_first": polls == 0 or not is_partial(request),
        "looks": polls,
        "status": known or ExportStatus(ExportState.NOT_BEGUN if polls >= MAX_POLLS else ExportState.STARTING),
        "kind": kind if kind in FORMATS else "export",
    }
    return render(request, "exports/progress.html", context, block="progress" if polls else "run")
