"""`/export/…`: a list as a file, and how far the file has come.

The first page of the service is read before the answer begins, so that what cannot begin is a page that says why, or
JSON that does.
"""

from collections.abc import Callable, Container, Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Event
from urllib.parse import parse_qs

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import lifecycle, situations, visitors, wiring
from intents_ui.display import filters, hashes, near_misses, solana
from intents_ui.display.filters import Asked, Filters
from intents_ui.display.recoverable import Sort
from intents_ui.display.standing import Standing, State
from intents_ui.exports import progress
from intents_ui.exports.download import Download
from intents_ui.exports.formats import FORMATS, About
from intents_ui.exports.reading import Batch, Reader
from intents_ui.service import origin
from intents_ui.settings import ENV

HISTORY, RECOVERABLE, ADDRESS = "history", "recoverable", "address"
RETRY_SECONDS = 30  # after which another export may have ended
MOST_LOOKS = 30  # at a download that does not begin


@require_safe
def history(request: HttpRequest, kind: str) -> HttpResponseBase:
    return export(request, kind, HISTORY, asked(request))


@require_safe
def recoverable(request: HttpRequest, kind: str) -> HttpResponseBase:
    """By creation or id, as the service sorts: the work list's own order is of what one page has read."""
    return export(request, kind, RECOVERABLE, asked(request, unless_sorted=tuple(Sort)), recoverable=True)


@require_safe
def address(request: HttpRequest, address: str, kind: str) -> HttpResponseBase:
    """An owner's whole history; of an intent address its intents."""
    known = address if solana.is_address(address) else hashes.canonical_address(address)
    if known is None:
        return refused(request, "This is no address", [near_misses.of_address(address)])
    if known != address:
        query = request.META["QUERY_STRING"]
        url = reverse("export-address", args=[known, kind])
        return redirect(f"{url}?{query}" if query else url, permanent=True)
    return export(request, kind, ADDRESS, asked(request), owner=known)


def asked(request: HttpRequest, *, unless_sorted: Container[str] = ()) -> Asked:
    """`unless_sorted`: the orders that are left aside."""
    query = dict(request.GET.lists())
    if request.GET.get("sort") in unless_sorted:
        del query["sort"]
    with wiring.page():
        return filters.read(query, chains=wiring.catalog().chains())


def export(request: HttpRequest, kind: str, listed: str, asked: Asked, **fixed: object) -> HttpResponseBase:
    """`fixed`: the filters that make this list what it is."""
    if asked.problems:
        return refused(request, "This list cannot be asked for", list(asked.problems.values()))
    now, wanted = datetime.now(UTC), asked.filters.with_(**fixed)
    headers = {
        "Content-Disposition": f'attachment; filename="intents-{listed}-{now:%Y-%m-%dT%H%MZ}.{kind}"',
        "Content-Type": FORMATS[kind].content_type,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Accel-Buffering": "no",
    }
    if request.method == "HEAD":
        return HttpResponse(headers=headers)
    download = begun(request, kind, About(listed, parse_qs(wanted.query), now), wanted)
    return StreamingHttpResponse(download, headers=headers) if download else refused_a_place(request)


def begun(request: HttpRequest, kind: str, about: About, wanted: Filters) -> Download | None:
    """The download with its first page; None when as many as may are under way."""
    over = Event()
    reader = Reader(wiring.unkept(), situations, wanted, link=links(request), page=wiring.page, over=over)
    download = Download(
        batches(reader, about.listed, wanted),
        FORMATS[kind],
        about,
        among=wiring.exports(),
        over=over,
        run=run_of(request),
        is_ending=lifecycle.is_stopping,
    )
    if not wiring.exports().take_place(download, origin.visitor()):
        return None
    download.begin()
    return download


def batches(reader: Reader, listed: str, wanted: Filters) -> Iterator[Batch]:
    most = ENV.intents_export_rows
    if listed == ADDRESS and wanted.owner:
        return reader.of_address(wanted.owner, most=most)
    return reader.history(most=most)


def links(request: HttpRequest) -> Callable[[str], str]:
    """An intent's address as somebody outside of the dashboard can open it."""
    root = visitors.root(request)
    return lambda intent_id: f"{root}{reverse('intent', args=[intent_id])}"


def run_of(request: HttpRequest) -> str | None:
    run = request.GET.get("run", "")
    return run if progress.is_run(run) else None


def refused_a_place(request: HttpRequest) -> HttpResponse:
    if not wiring.exports().has_share(origin.visitor()):
        return busy(request)
    response = refused(
        request,
        "Your address has as many exports in progress as it may",
        [
            "One address may have a quarter of the exports that this dashboard makes at a time."
            " Wait until yours has finished, then try again."
        ],
        status=HTTPStatus.TOO_MANY_REQUESTS,
    )
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def busy(request: HttpRequest) -> HttpResponse:
    most = wiring.exports().most
    response = refused(
        request,
        "As many exports run as may",
        [f"This dashboard makes {most} {'export' if most == 1 else 'exports'} at a time. Try again in half a minute."],
        status=HTTPStatus.SERVICE_UNAVAILABLE,
    )
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def refused(
    request: HttpRequest, title: str, sentences: list[str], *, status: HTTPStatus = HTTPStatus.BAD_REQUEST
) -> HttpResponse:
    """A page, or JSON for whoever asked for JSON."""
    if request.path.endswith((".json", ".ndjson")):
        response: HttpResponse = JsonResponse({"error": title, "what": " ".join(sentences)}, status=status)
    else:
        response = render(request, "export.html", {"title": title, "sentences": sentences}, status=status)
    response["Cache-Control"] = "no-store"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request-Type")
def run(request: HttpRequest, run: str) -> HttpResponse:
    """How far an export has come; POST stops it. Whoever knows the run's id has it from the page that began it."""
    if not progress.is_run(run):
        raise Http404("No export has such an id.")
    if request.method == "POST":
        if not visitors.is_ours(request):
            return refused(
                request,
                "This did not come from this dashboard",
                ["An export is stopped from the page that it was begun on."],
                status=HTTPStatus.FORBIDDEN,
            )
        progress.stop(run)
    is_partial = request.headers.get("HX-Request-Type") == "partial"
    if request.method == "POST" and not is_partial:
        return redirect(request.path)
    number, kind = looks(request), request.GET.get("kind")
    context = {"run": run, "is_partial": is_partial, "is_first": number == 0 or not is_partial, "looks": number}
    context |= {"standing": looked_at(run, looks=number), "kind": kind if kind in FORMATS else "export"}
    return render(request, template(number, is_partial=is_partial), context)


def template(looks: int, *, is_partial: bool) -> str:
    if not is_partial:
        return "export_progress.html"
    return "parts/export_progress.html" if looks else "parts/export_run.html"


def looked_at(run: str, *, looks: int) -> Standing:
    """With the click that begins a download comes the first look, and what is known then may be of an earlier one."""
    known = progress.standing(run) if looks else None
    return known or Standing(State.NOT_BEGUN if looks >= MOST_LOOKS else State.STARTING)


def looks(request: HttpRequest) -> int:
    """How often the page has asked for this before."""
    written = request.GET.get("looks", "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 6 else 1
