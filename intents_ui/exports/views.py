"""`/export/…`: lists as files, and the progress of an export.

The first page of the list is read before the response starts, so that errors get an error page or JSON.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from threading import Event
from urllib.parse import parse_qs

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app
from intents_ui.exports import download as exporting
from intents_ui.exports import formats
from intents_ui.exports.download import RUN, Batch, Download, ExportState, ExportStatus, Reader, limited
from intents_ui.exports.formats import FORMATS
from intents_ui.formatting import text, times
from intents_ui.http import client_ip, failures, marks
from intents_ui.http.failures import of_dashboard
from intents_ui.http.marks import is_partial
from intents_ui.lists import attention as attention_list
from intents_ui.lists.attention import AttentionFilters
from intents_ui.search import filters
from intents_ui.search.filters import InvalidParameter
from intents_ui.service import request_context
from intents_ui.service.executor import LimitReason
from intents_ui.settings import ENV
from intents_ui.web.frame import render

RETRY_SECONDS = 30  # another export may have ended by then
MAX_POLLS = 30  # for a download that doesn't start


@marks.Marks(costly="always")
@require_safe
def history(request: HttpRequest, kind: str) -> HttpResponseBase:
    return of_history(request, kind, "history")


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
    return of_history(request, kind, "address", owner=known)


def of_history(request: HttpRequest, kind: str, listed: str, *, owner: str | None = None) -> HttpResponseBase:
    """Return the history as a file, that of an owner or intent address if there is one, or an error."""
    with request_context.page_deadline():
        parsed = filters.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    wanted = parsed.filters.with_(owner=owner) if owner else parsed.filters
    reader = Reader(filters=wanted, root=client_ip.root(request), canceled=Event())
    batches = reader.of_address(owner) if owner else reader.history()
    return file(request, kind, listed, parsed.problems, wanted.query, batches, reader.canceled)


@marks.Marks(costly="always")
@require_safe
def attention(request: HttpRequest, kind: str) -> HttpResponseBase:
    """Export the transfers that need attention, with the filters of their page, or one `group` of them."""
    with request_context.page_deadline():
        parsed = attention_list.read_filters(dict(request.GET.lists()), chains=app.current().catalog.chains())
    group = request.GET.get("group") or None
    query = "&".join(part for part in (parsed.filters.query, filters.encode({"group": group})) if part)
    batches = with_problems(parsed.filters, group, root=client_ip.root(request))
    return file(request, kind, "attention", parsed.problems, query, batches, Event())


def with_problems(wanted: AttentionFilters, group: str | None, *, root: str) -> Iterator[Batch]:
    """Yield the rows of the attention page in its order, and what is missing. Raises ServiceError."""
    with request_context.page_deadline():
        found = attention_list.read_problems().narrowed(wanted)
        groups = [each for section in found.sections.values() for each in section.groups if group in (None, each.key)]
        rows = [row for each in groups for row in each.rows]
    lacks = [f"{attention_list.LISTS[name]} could not be read" for name in found.unread]
    lacks += [f"there are more {attention_list.LISTS[name]} than were read" for name in found.cut]
    yield Batch([formats.row(row.transfer, root=root) for row in rows], "; ".join(lacks))


def file(
    request: HttpRequest,
    kind: str,
    listed: str,
    problems: Mapping[str, str],
    query: str,
    batches: Iterator[Batch],
    canceled: Event,
) -> HttpResponseBase:
    """Return the file of a list with this query, or why there is none. Raises ServiceError.

    `batches` reads the rows, when they are needed, until `canceled` is set.
    """
    if problems:
        words = {"problems": " ".join(problems.values())}
        return failures.page(request, of_dashboard("export with invalid filters", words))
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
        return failures.page(request, of_dashboard(name, limits, retry_after=RETRY_SECONDS))
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
        exporting.stop(run)
        if not is_partial(request):
            return redirect(request.path)
    looks, kind = request.GET.get("looks", ""), request.GET.get("kind")
    polls = int(looks) if looks.isascii() and looks.isdigit() and len(looks) < 6 else 1
    # The first poll comes with the click that starts a download, so a stored status is older.
    known = exporting.status_of(run) if polls else None
    context = {
        "run": run,
        "is_first": polls == 0 or not is_partial(request),
        "looks": polls,
        "is_known": known is not None,
        "status": known or ExportStatus(ExportState.NOT_BEGUN if polls >= MAX_POLLS else ExportState.STARTING),
        "kind": kind if kind in FORMATS else "export",
    }
    return render(request, "exports/progress.html", context, block="progress" if polls else "run")
