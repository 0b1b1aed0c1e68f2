"""`/console`: call the service's operations directly.

Reads also accept GET, so that a call can be shared as a link. Posted values appear in no URL and no log. Writes are
posted, shown with their consequences, and sent after a confirmation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app
from intents_ui.console import operations as words
from intents_ui.console.operations import Examples, examples_of
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import client_ip, limits, marks, operator_auth
from intents_ui.http.failures import Rejected, of_dashboard
from intents_ui.http.operator_auth import Refusal
from intents_ui.search import identifiers
from intents_ui.service import decode, operations, request_context
from intents_ui.service.console import OPERATIONS, Attempt, Member, Operation, typed, written
from intents_ui.service.errors import ServiceError
from intents_ui.service.executor import LimitReason
from intents_ui.service.models import Intent, Page
from intents_ui.service.operations import POLICIES, Kind
from intents_ui.service.request_context import within
from intents_ui.settings import ENV
from intents_ui.tokens.names import chains_of
from intents_ui.transfers import summary
from intents_ui.transfers.transfer import Transfer
from intents_ui.web.frame import render

LONGEST = 64 * 1024  # bytes of a request
LONGEST_LINK = 1800  # characters of a URL that can be shared
RAW_SHOWN = 100_000  # characters of an answer as received
INDENTED_SHOWN = 400_000  # with their indentation
COPIED = 20_000  # characters; the page contains copyable text twice
LOOKED_AT = 40  # newest intents, for examples
EXAMPLES_SECONDS = 15.0  # after which they are read again
PATIENCE_SECONDS = 2.5  # for which a form waits for its examples

EDITED = Refusal(
    HTTPStatus.CONFLICT,
    "The request differs from the one you confirmed and wasn't sent. Check it, then send it again.",
)
TOO_LONG = Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request exceeds 64 KB and wasn't sent.")
WAITING = {
    LimitReason.SHARE: Refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Your previous WaitIntentReceipt request is still waiting. Try again when it returns.",
        wait=10,
    ),
    LimitReason.FULL: Refusal(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Too many WaitIntentReceipt requests are waiting. Try again when one of them returns.",
        wait=10,
    ),
}
KINDS_OF_FIELDS = {"Address": identifiers.ADDRESSES, "Hash": identifiers.HASHES}


@dataclass(frozen=True)
class ConsoleRequest:
    """A submitted request: field by field, or as JSON that is sent verbatim. `confirmed`: signature of a shown text."""

    values: dict[str, str]
    text: str
    is_json: bool = False
    is_asked: bool = False
    confirmed: str = ""

    @classmethod
    def read(cls, operation: Operation, sent: QueryDict) -> "ConsoleRequest":
        known, names = members_of(operation), app.current().service.config.names
        # Browsers submit line breaks as CRLF.
        came = {str(name): str(sent[name]).replace("\r\n", "\n") for name in sent}
        is_json = came.get("ask") == "json"
        if is_json:
            text = came.get("json", "")
            values = typed(known, text, names=names)
        else:
            values = {each.name: without_context(each.name, came[each.name]) for each in known if each.name in came}
            text = written(known, values, names=names)
        return cls(values, text, is_json, is_asked="ask" in came, confirmed=came.get("confirmed", ""))


def without_context(name: str, value: str) -> str:
    """Return the address or hash alone if it was pasted with something around it, such as `eth:0x12…`."""
    kinds = next((kinds for ending, kinds in KINDS_OF_FIELDS.items() if name.endswith(ending)), None)
    is_plain = hashes.any_address(value.strip()) or hashes.canonical_hash(value.strip())
    return value if kinds is None or is_plain else identifiers.only(value, kinds) or value


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    refuse_off(request)
    return render(request, "console/console.html", {"operations": offered()})


@marks.Marks(body="console")
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
def operation(request: HttpRequest, operation: str) -> HttpResponse:
    refuse_off(request)
    found = OPERATIONS.get(operation)
    if found is None:
        raise Http404("Unknown operation.")
    if not found.is_write:
        return read(request, found)
    if ENV.console != "write":
        raise Http404("This dashboard permits read operations only.")
    return write(request, found)


def refuse_off(request: HttpRequest) -> None:
    if ENV.console == "off":
        raise Http404("The console is turned off on this dashboard.")
    if not operator_auth.may_read_console(request):
        raise Rejected(of_dashboard("support only", takes_token=operator_auth.has_token()))


def offered() -> list[Operation]:
    return [operation for operation in OPERATIONS.values() if ENV.console == "write" or not operation.is_write]


def members_of(operation: Operation) -> tuple[Member, ...]:
    known = operation.members
    return (*known, words.SCENARIO) if operation.name == "ExecuteIntent" and ENV.embedded else known


def read(request: HttpRequest, operation: Operation) -> HttpResponse:
    if request.method == "GET" and "" in request.GET.values():
        # Without the empty fields that forms submit.
        filled = [(name, value) for name, values in request.GET.lists() for value in values if value]
        return redirect(f"{request.path}?{urlencode(filled)}" if filled else request.path)
    asked = ConsoleRequest.read(operation, request.POST if request.method == "POST" else request.GET)
    if not asked.is_asked or request.method == "HEAD":
        return page(request, operation, asked)
    if refused := refusal(request, asked):
        return page(request, operation, asked, refused=refused)
    if operation.kind is not Kind.WAIT:
        return page(request, operation, asked, attempt=call(operation, asked.text))
    polls, client = app.current().long_polls, client_ip.of(request)
    if limit_reason := polls.take(client):
        return page(request, operation, asked, refused=WAITING[limit_reason])
    try:
        return page(request, operation, asked, attempt=call(operation, asked.text))
    finally:
        polls.give_back(client)


@operator_auth.operator_form
def write(request: HttpRequest, operation: Operation) -> HttpResponse:
    asked = ConsoleRequest.read(operation, request.POST if request.method == "POST" else request.GET)
    if request.method != "POST" or not asked.is_asked:
        return page(request, operation, asked)
    if refused := refusal(request, asked):
        return page(request, operation, asked, refused=refused)
    if not asked.confirmed:
        return page(request, operation, asked, is_to_confirm=True)
    confirmed = operator_auth.read_confirmed(asked.confirmed, operation.name)
    refused = operator_auth.refusal(request) if confirmed and confirmed.is_of(asked.text) else EDITED
    if refused:
        return page(request, operation, asked, refused=refused, is_to_confirm=True)
    attempt = call(operation, asked.text)
    operator_auth.record(request, operation.name)
    if changed := words.changed(attempt):
        app.current().hub.poll_now(changed)
    response = page(request, operation, asked, attempt=attempt)
    operator_auth.remember(request, response)
    return response


def refusal(request: HttpRequest, asked: ConsoleRequest) -> Refusal | None:
    if len(asked.text.encode()) > LONGEST:
        return TOO_LONG
    wait = app.current().rate_limiter.charge(request, limits.SEARCH)
    return operator_auth.too_many(wait) if wait else None


def call(operation: Operation, text: str) -> Attempt:
    """Send the request. The service may hold it for longer than a page may take."""

    def attempt() -> Attempt:
        with within(POLICIES[operation.kind].total + 1):
            return app.current().service.attempt(operation.name, text, kind=operation.kind)

    return request_context.without_deadline(attempt)


def page(
    request: HttpRequest,
    operation: Operation,
    asked: ConsoleRequest,
    *,
    attempt: Attempt | None = None,
    refused: Refusal | None = None,
    is_to_confirm: bool = False,
) -> HttpResponse:
    context = form(operation, asked) | {
        "operation": operation,
        "operations": offered(),
        "asked": asked,
        "has_scenarios": ENV.embedded,
        "refused": refused,
        "operator": operator_auth.TokenPrompt(request),
        "confirmed": operator_auth.sign(asked.text, operation.name) if is_to_confirm else None,
        "consequence": operation.consequence if is_to_confirm else None,
        "offer": offer(attempt) if attempt else None,
        "answer": answer(request, operation, attempt) if attempt else None,
    }
    status, wait = HTTPStatus.OK, None  # also for a response that is an error
    if refused:
        status, wait = refused.status, refused.wait
    elif attempt and attempt.error and attempt.status is None:
        status, wait = failures.status(attempt.error), failures.retry_after(attempt.error)
    return render(request, "console/operation.html", context, status=status, retry_after=wait)


def offer(attempt: Attempt) -> summary.Summary | None:
    """Return the summary of the returned quote, or None if there is none or it can't be parsed."""
    try:
        found = Intent.model_validate(app.current().service.config.names.read(decode.read(words.quoted(attempt))))
    except ValueError:
        return None
    with request_context.page_deadline():
        names = app.current().catalog
        names.learn((found.origin_chain_id, found.destination_chain_id))
        return summary.of(Transfer(found, None, now=datetime.now(UTC), names=names))


def form(operation: Operation, asked: ConsoleRequest) -> dict[str, Any]:
    known, names = members_of(operation), app.current().service.config.names
    tried = app.current().recent_reads.get("examples", load_examples, max_age=EXAMPLES_SECONDS)
    values = asked.values or ({} if asked.is_asked else tried.to_begin_with(operation.name, known))
    return {
        "groups": words.groups(known, names=names),
        "values": values,
        "examples": tried.of(operation.name),
        "meanings": meanings_of(values),
        "scenarios": words.SCENARIOS,
        "quoted": tried.quoted if operation.name == "CommitIntent" else "",
        "json": asked.text if asked.is_asked else written(known, values, names=names),
    }


def meanings_of(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names of the chains and tokens in the fields, and the amounts in units of their tokens."""
    if not (chain_ids := words.chain_ids(values)):
        return {}
    with request_context.page_deadline():
        names = app.current().catalog
        names.learn(chain_ids)
        return dict(words.meanings(values, using=names))


def load_examples() -> Examples:
    """Return example values from recent transfers, or none if they can't be loaded."""
    try:
        with request_context.page_deadline(), within(PATIENCE_SECONDS):
            entries = app.current().service.ask(operations.get_intent_history(page=Page.first(size=LOOKED_AT))).intents
            names = app.current().catalog
            names.learn(chains_of(entries))
            return examples_of(entries, using=names, now=datetime.now(UTC))
    except ServiceError:
        return Examples()


def answer(request: HttpRequest, operation: Operation, attempt: Attempt) -> SimpleNamespace:
    """Return what the page shows of a response."""
    how = app.current().service.config
    # Only operators know the address of a real service.
    root = client_ip.root(request) if ENV.embedded else words.SOMEWHERE
    url = f"{root.rstrip('/')}/rpc/{how.service_name}/{operation.name}"
    indented, again, changed = text.indented(attempt.text[:RAW_SHOWN]), words.again(attempt), words.changed(attempt)
    return SimpleNamespace(
        attempt=attempt,
        error=attempt.error,
        status=words.phrase(attempt.status),
        **words.outcome(attempt, is_write=operation.is_write),
        seconds=words.time_taken(attempt.seconds),
        size=text.counted(attempt.size, "byte"),
        indented=indented[:INDENTED_SHOWN],
        is_whole=len(attempt.text) <= RAW_SHOWN and len(indented) <= INDENTED_SHOWN,
        raw=attempt.text[:RAW_SHOWN],
        left_out=len(attempt.text) - RAW_SHOWN,
        is_copied=len(attempt.text) <= COPIED,
        curl=words.curl(url, attempt.sent, has_key=how.access_key is not None),
        link=None if operation.is_write else link(operation, attempt.sent),
        found_nothing=words.found_nothing(attempt),
        next=words.NEXT[operation.name] if changed else "",
        intent_id=changed,
        next_link=link(operation, again) if again else None,
    )


def link(operation: Operation, text: str) -> str | None:
    """Return a link that repeats the request, or None if it would be too long."""
    url = reverse("console-operation", args=[operation.name], query={"ask": "json", "json": text})
    return url if len(url) <= LONGEST_LINK else None
