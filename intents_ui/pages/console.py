"""`/console`: every operation of the service, called by hand."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import operators, visitors, wiring
from intents_ui.display import console as words
from intents_ui.operators import Level, Refusal
from intents_ui.service.attempt import Attempt
from intents_ui.service.members import Member, members, written
from intents_ui.service.requests import OPERATIONS, Operation

LONGEST = 64 * 1024  # bytes of a request
FOREIGN = Refusal(HTTPStatus.FORBIDDEN, "This came from another site, so it was not sent. Send it from here.")
TOO_LONG = Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A request may have at most 64 KB, so it was not sent.")


@dataclass(frozen=True)
class Typed:
    """A request as it came with the form: member by member, or as JSON to be sent exactly so."""

    fields: dict[str, str]
    text: str
    is_asked: bool
    is_confirmed: bool

    @classmethod
    def read(cls, operation: Operation, sent: QueryDict, *, method: str) -> "Typed":
        fields = {each.name: str(sent[each.name]) for each in members(operation.model) if each.name in sent}
        # A browser sends every line break of a form as two characters.
        text = str(sent.get("json", "")).replace("\r\n", "\n")
        if sent.get("ask") != "json":
            text = written(operation.model, fields, names=wiring.config().names)
        return cls(fields, text, is_asked="ask" in sent and method != "HEAD", is_confirmed="confirmed" in sent)


@require_safe
def console(request: HttpRequest) -> HttpResponse:
    refuse_off()
    return render(request, "console.html", {"operations": offered(), "about": words.ABOUT})


@require_http_methods(["GET", "HEAD", "POST"])
def operation(request: HttpRequest, operation: str) -> HttpResponse:
    refuse_off()
    found = OPERATIONS.get(operation)
    if found is None:
        raise Http404("The service has no such operation.")
    if found.is_write and operators.level() is not Level.WRITE:
        raise Http404("This dashboard calls only operations that change nothing.")
    return write(request, found) if found.is_write else read(request, found)


def refuse_off() -> None:
    if not operators.may_read():
        raise Http404("This dashboard lets nobody call operations by hand.")


def offered() -> list[Operation]:
    writes = operators.level() is Level.WRITE
    return [operation for operation in OPERATIONS.values() if writes or not operation.is_write]


def read(request: HttpRequest, operation: Operation) -> HttpResponse:
    """What is asked by GET can be passed on as a link; what is posted stands in no address and no log."""
    sent = request.POST if request.method == "POST" else request.GET
    typed = Typed.read(operation, sent, method=str(request.method))
    if not typed.is_asked:
        return page(request, operation, typed)
    refused = refusal(request, typed) or operators.refusal_to_read(request)
    if refused:
        return page(request, operation, typed, refused=refused)
    return page(request, operation, typed, attempt=call(operation, typed.text))


@operators.guarded
def write(request: HttpRequest, operation: Operation) -> HttpResponse:
    typed = Typed.read(operation, request.POST, method=str(request.method))
    if request.method != "POST" or not typed.is_asked:
        return page(request, operation, typed)
    if not typed.is_confirmed:
        return page(request, operation, typed, is_to_confirm=True)
    refused = refusal(request, typed) or operators.refusal(request)
    if refused:
        return page(request, operation, typed, refused=refused, is_to_confirm=True)
    response = page(request, operation, typed, attempt=call(operation, typed.text))
    operators.remember(request, response)
    return response


def refusal(request: HttpRequest, typed: Typed) -> Refusal | None:
    if request.method == "POST" and not visitors.is_ours(request):
        return FOREIGN
    return TOO_LONG if len(typed.text.encode()) > LONGEST else None


def call(operation: Operation, text: str) -> Attempt:
    return wiring.service().attempt(operation.name, text, group=operation.group)


def page(
    request: HttpRequest,
    operation: Operation,
    typed: Typed,
    *,
    attempt: Attempt | None = None,
    refused: Refusal | None = None,
    is_to_confirm: bool = False,
) -> HttpResponse:
    context: dict[str, Any] = {
        "operation": operation,
        "operations": offered(),
        "about": words.ABOUT,
        "members": shown(operation),
        "typed": typed,
        "attempt": attempt,
        "refused": refused,
        "is_to_confirm": is_to_confirm,
        "asked": operators.asked(request),
    }
    response = render(request, "console_operation.html", context, status=refused.status if refused else HTTPStatus.OK)
    response["Cache-Control"] = "no-store"
    if refused and refused.wait:
        response["Retry-After"] = str(refused.wait)
    return response


def shown(operation: Operation) -> tuple[Member, ...]:
    return members(operation.model)
