"""`/console`: call the service's operations directly.

Reads also accept GET, so that a call can be shared as a link. Posted values appear in no URL and no log. Writes are
posted, shown with their consequences, and sent after a confirmation.

The form of a request has examples from the newest transfers. The next call is of the same operation, or of the next
one. It sends back values from the response verbatim.
"""

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app, tables
from intents_ui.console.commit import CommitOutcome, outcome_of
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import client_ip, limits, marks, operator_auth
from intents_ui.http.failures import Rejected, of_dashboard
from intents_ui.search import identifiers
from intents_ui.service import decode, operations, request_context
from intents_ui.service.console import OPERATIONS, Attempt, Member, Operation, typed, written
from intents_ui.service.errors import KNOWN, Overloaded, Refused, ServiceError, Unreachable, Unreadable
from intents_ui.service.executor import LimitReason
from intents_ui.service.fields import CHAIN_ID_LIMIT, read_intent_id
from intents_ui.service.models import Intent, IntentReceipt, IntentStatus, Page
from intents_ui.settings import ENV
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Names, chains_of
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
MAX_DIGITS = 78  # of a 256-bit integer
TIME_TO_READ = timedelta(seconds=30)  # skips quotes that expire before the user can send the request

SCENARIOS: Mapping[str, str] = tables.read(__package__, "scenarios.toml")
# A field that only the emulator's ExecuteIntent supports.
SCENARIO = Member("scenario", "string", "Scenario to simulate (demo only).")
# Optional fields that a form starts with. Forms that commit or execute start empty.
BEGUN_WITH: Mapping[str, tuple[str, ...]] = {
    "SearchIntents": ("byIntentId",),
    "GetIntentHistory": ("page.pageSize",),
    "QuoteIntent": ("destinationToAddress", "originTokenAmount", "destinationTokenAmount", "tradeType"),
}
MAYBE_DONE = "No response doesn't mean the request failed. Check the intent before retrying."
SOMEWHERE = "https://intent-service.example"  # hides the address of a real service
# By operation: the response field that the next request sends back, and its request field.
CARRIED = {"GetIntentHistory": ("nextPage", "page"), "WaitIntentReceipt": ("receiptStates", "lastReceiptStates")}
# What an operator does next with the changed intent: an operation, or to watch it at the end.
NEXT = {"QuoteIntent": "CommitIntent", "CommitIntent": "ExecuteIntent", "ExecuteIntent": "watch"}
EDITED = operator_auth.Refusal(
    HTTPStatus.CONFLICT,
    "The request differs from the one you confirmed and wasn't sent. Check it, then send it again.",
)
TOO_LONG = operator_auth.Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request exceeds 64 KB and wasn't sent.")
WAITING = {
    LimitReason.SHARE: operator_auth.Refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Your previous WaitIntentReceipt request is still waiting. Try again when it returns.",
        wait=10,
    ),
    LimitReason.FULL: operator_auth.Refusal(
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
    return (*known, SCENARIO) if operation.name == "ExecuteIntent" and ENV.embedded else known


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
    if operation.kind is not operations.Kind.WAIT:
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
    if intent_id := changed(attempt):
        app.current().hub.poll_now(intent_id)
    response = page(request, operation, asked, attempt=attempt)
    operator_auth.remember(request, response)
    return response


def refusal(request: HttpRequest, asked: ConsoleRequest) -> operator_auth.Refusal | None:
    if len(asked.text.encode()) > LONGEST:
        return TOO_LONG
    wait = app.current().rate_limiter.charge(request, limits.SEARCH)
    return operator_auth.too_many(wait) if wait else None


def call(operation: Operation, text: str) -> Attempt:
    """Send the request. The service may hold it for longer than a page may take."""

    def attempt() -> Attempt:
        with request_context.within(operations.POLICIES[operation.kind].total + 1):
            return app.current().service.attempt(operation.name, text, kind=operation.kind)

    return request_context.without_deadline(attempt)


def page(
    request: HttpRequest,
    operation: Operation,
    asked: ConsoleRequest,
    *,
    attempt: Attempt | None = None,
    refused: operator_auth.Refusal | None = None,
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
        found = Intent.model_validate(app.current().service.config.names.read(decode.read(quoted(attempt))))
    except ValueError:
        return None
    with request_context.page_deadline():
        names = app.current().catalog
        names.learn((found.origin_chain_id, found.destination_chain_id))
        return summary.of(Transfer(found, None, now=datetime.now(UTC), names=names))


# The form


def form(operation: Operation, asked: ConsoleRequest) -> dict[str, Any]:
    known, names = members_of(operation), app.current().service.config.names
    examples = app.current().recent_reads.get("examples", load_examples, max_age=EXAMPLES_SECONDS)
    values = asked.values
    if not (values or asked.is_asked or operation.name in ("CommitIntent", "ExecuteIntent")):
        begun = BEGUN_WITH.get(operation.name, ())
        values = {each.name: examples.get(each.name, "") for each in known if each.is_required or each.name in begun}
    # With the operator's brand. Fields of an object inside the request are together, the request's own have no group.
    labeled = [(member, member.under(names)) for member in known]
    grouped = groupby(labeled, key=lambda each: each[1].partition(".")[0] if "." in each[1] else "")
    return {
        "groups": [(name, list(inside)) for name, inside in grouped],
        "values": values,
        "examples": {"intentId": examples.get("committed", "")} if operation.name == "ExecuteIntent" else examples,
        "meanings": meanings(values),
        "scenarios": SCENARIOS.items(),
        "quoted": examples.get("quoted", "") if operation.name == "CommitIntent" else "",
        "json": asked.text if asked.is_asked else written(known, values, names=names),
    }


def meanings(values: Mapping[str, str]) -> dict[str, str]:
    """Return `8453: Base`, `0x8335…: USDC on Base` and `40000000: 40 USDC` by field, where known.

    Each repeats its value, so that it stays true when the user edits the field.
    """
    sides = {side: _whole(values.get(f"{side}ChainId")) for side in ("origin", "destination")}
    chain_ids = [each for each in sides.values() if each and each < CHAIN_ID_LIMIT]
    catalog, found = app.current().catalog, dict[str, str]()
    if not chain_ids:
        return found
    with request_context.page_deadline():
        catalog.learn(chain_ids)
        for side, chain_id in sides.items():
            address, info = values.get(f"{side}TokenAddress", "").strip(), catalog.chain(chain_id)
            if info is None:
                continue
            chain, key = names.chain(chain_id, info=info), token_amounts.key(address) if address else None
            money = token_amounts.Money(_whole(values.get(f"{side}TokenAmount")), chain_id, key, names=catalog)
            found[f"{side}ChainId"] = f"{chain_id}: {chain}"
            if address and money.called:
                found[f"{side}TokenAddress"] = f"{text.visible(address)}: {money.called} on {chain}"
            if address and money.value is not None and money.token.decimals is not None:
                found[f"{side}TokenAmount"] = f"{money.value}: {money.amount.in_full}"
    return found


def _whole(written: str | None) -> int | None:
    digits = (written or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS else None


def _hash(receipt: IntentReceipt) -> str:
    sent = (receipt.deposit_transaction, receipt.origin_transaction, receipt.destination_transaction)
    return next((each.txn_hash or "" for each in sent if each and not hashes.is_placeholder(each.txn_hash)), "")


def _values_of(receipt: IntentReceipt, using: Names) -> dict[str, object]:
    """Return an example of each field, empty where the transfer has none."""
    summary, created = receipt.summary, receipt.created_at
    if summary is None:
        return {}
    owner, chain, token = summary.owner_address, summary.origin_chain_id, summary.origin_token_address or ""
    known, is_output = using.token(chain, token), summary.trade_type == "EXACT_OUTPUT"
    legs = (receipt.deposit_transaction, receipt.origin_transaction, receipt.destination_transaction)
    return summary.model_dump(exclude={"origin_token_metadata", "destination_token_metadata"}) | {
        **dict.fromkeys(("intentId", "byIntentId"), receipt.intent_id),
        **dict.fromkeys(("byTransactionHash", "byDepositTransactionHash"), _hash(receipt)),
        **dict.fromkeys(("byOwnerAddress", "byQueryString"), owner),
        **dict.fromkeys(("tokenAddress", "excludeTokens"), token),
        "chainIds": chain,
        "byProjectId": receipt.project_id,
        "byStatus": receipt.status,
        "byStatuses": f"{IntentStatus.FAILED}, {IntentStatus.REFUNDED}",
        "fromTime": int((created - timedelta(hours=1)).timestamp()) if created else "",
        "toTime": int(created.timestamp()) if created else "",
        "lastReceiptStates": ", ".join(each.status for each in legs if each and each.status),
        "page.pageSize": 5,  # entries include full receipts
        "page.sort": '[{"column":"createdAt","order":"DESC"}]',
        "limit": 10,
        "byOriginIntentAddress": summary.origin_intent_address,
        "byDestinationIntentAddress": summary.destination_intent_address,
        "destinationToAddress": summary.destination_to_address or owner,
        "destinationTokenAmount" if not is_output else "originTokenAmount": None,
        "routeProvider": next((each for each in summary.route_providers if each), ""),
        "searchQuery": known.symbol if known else "",
        "tokens": f'[{{"chainId":{chain},"tokenAddress":"{token}"}}]' if chain and token.isalnum() else "",
    }


def load_examples() -> dict[str, str]:
    """Return values of the newest succeeded transfer by field, else of the newest, or none if they can't be loaded.

    `quoted`, `committed`: IDs of the newest unexpired intents with these statuses.
    """
    try:
        with request_context.page_deadline(), request_context.within(PATIENCE_SECONDS):
            entries = app.current().service.ask(operations.get_intent_history(page=Page.first(size=LOOKED_AT))).intents
            names = app.current().catalog
            names.learn(chains_of(entries))
    except ServiceError:
        return {}
    limit = datetime.now(UTC) + TIME_TO_READ
    waiting = {each.status: each.intent_id for each in reversed(entries) if each.expires_at and each.expires_at > limit}
    receipts = [entry.receipt for entry in entries if entry.receipt and entry.receipt.summary]
    succeeded = [each for each in receipts if each.status == IntentStatus.SUCCEEDED and _hash(each)]
    values = _values_of((succeeded or receipts)[0], names) if receipts else {}
    values |= {"quoted": waiting.get(IntentStatus.QUOTED), "committed": waiting.get(IntentStatus.COMMITTED)}
    return {name: str(value) for name, value in values.items() if value not in (None, "")}


# The result


def answer(request: HttpRequest, operation: Operation, attempt: Attempt) -> SimpleNamespace:
    how = app.current().service.config
    # Only operators know the address of a real service.
    root = client_ip.root(request) if ENV.embedded else SOMEWHERE
    url = f"{root.rstrip('/')}/rpc/{how.service_name}/{operation.name}"
    indented, following, intent_id = text.indented(attempt.text[:RAW_SHOWN]), again(attempt), changed(attempt)
    lists = [each for each in received(attempt).values() if each.startswith("[")]
    status = "No response" if attempt.status is None else str(attempt.status)
    if attempt.status and attempt.status in HTTPStatus:
        status += f" {HTTPStatus(attempt.status).phrase}"
    return SimpleNamespace(
        attempt=attempt,
        error=attempt.error,
        status=status,
        **outcome(attempt, is_write=operation.is_write),
        seconds=time_taken(attempt.seconds),
        size=text.counted(attempt.size, "byte"),
        indented=indented[:INDENTED_SHOWN],
        is_whole=len(attempt.text) <= RAW_SHOWN and len(indented) <= INDENTED_SHOWN,
        raw=attempt.text[:RAW_SHOWN],
        left_out=len(attempt.text) - RAW_SHOWN,
        is_copied=len(attempt.text) <= COPIED,
        curl=curl(url, attempt.sent, has_key=how.access_key is not None),
        link=None if operation.is_write else link(operation, attempt.sent),
        found_nothing=bool(lists) and all(not each.strip("[] \t\r\n") for each in lists),
        next=NEXT[operation.name] if intent_id else "",
        intent_id=intent_id,
        next_link=link(operation, following) if following else None,
    )


def link(operation: Operation, text: str) -> str | None:
    """Return a link that repeats the request, or None if it would be too long."""
    url = reverse("console-operation", args=[operation.name], query={"ask": "json", "json": text})
    return url if len(url) <= LONGEST_LINK else None


def outcome(attempt: Attempt, *, is_write: bool) -> dict[str, Any]:
    """Return the result of a call. `warning`: a write may have succeeded although its response doesn't say so."""
    error, is_refused = attempt.error, isinstance(attempt.error, Refused)
    if error is None:
        return {"tone": "good", "icon": "check", "warning": ""}
    known = KNOWN.get(error.code) if error.code is not None else None
    message = failures.words(error)
    match error:
        case ServiceError(code=int(code)) if known:
            meaning = failures.MEANINGS[code]
        case Overloaded():
            meaning = "Too many concurrent requests. The request wasn't sent. Try again in a few seconds."
        case Unreadable():
            meaning = f"Invalid response: it is {error.reason}."
        case Unreachable(status=None):
            meaning = f"No response: {error.reason}."
        case Unreachable():
            meaning = "The service or its proxy failed."
        case _:
            meaning = message.what if error.code is None else "Undocumented error code."
    return {
        "tone": "attention" if is_refused else "bad",
        "icon": "triangle-alert" if is_refused else "circle-x",
        "title": "Rejected" if is_refused and not isinstance(error, Overloaded) else message.title,
        "meaning": meaning,
        "name": known[0] if known else error.name or "",
        "warning": MAYBE_DONE if is_write and outcome_of(error) is CommitOutcome.UNKNOWN else "",
    }


def time_taken(seconds: float) -> str:
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def curl(url: str, body: str, *, has_key: bool) -> str:
    """Return the call as a shell command, or "" if it contains control characters."""
    if any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in body):
        return ""
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    lines += ["-H 'X-Access-Key: …'"] if has_key else []
    lines += [f"--data-raw {shlex.quote(body)}"]
    return " \\\n  ".join(lines)


# What follows


def quoted(attempt: Attempt) -> str:
    """Return the JSON text of the intent that was just quoted, or "" if none was."""
    return received(attempt).get("intent", "") if attempt.operation == "QuoteIntent" else ""


def changed(attempt: Attempt) -> str:
    """Return the ID of the intent that was quoted or changed, or "" if none was or it has no page here."""
    if attempt.operation not in NEXT:
        return ""
    members = _members(quoted(attempt)) if attempt.operation == "QuoteIntent" else received(attempt)
    try:
        return read_intent_id(decode.read(members["intentId"]))
    except (KeyError, ValueError):
        return ""


def again(attempt: Attempt) -> str:
    """Return the request for the next page or the next change, or "" if there is none."""
    if attempt.operation not in CARRIED:
        return ""
    member, asked_as = CARRIED[attempt.operation]
    came = received(attempt)
    carried = came.get(member, "null")
    if carried == "null" or came.get("done") == "true" or _members(carried).get("more") == "false":
        return ""
    request = {**_members(attempt.sent), asked_as: carried}
    return decode.write({name: decode.Verbatim(text) for name, text in request.items()}).decode()


def received(attempt: Attempt) -> Mapping[str, str]:
    """Return the JSON text of each field of a response without an error."""
    return _members(attempt.text) if attempt.error is None else {}


def _members(text: str) -> Mapping[str, str]:
    """Return the fields of a JSON object, or none for other text: masking can break a response's JSON."""
    try:
        return decode.members(text) if isinstance(decode.read(text), dict) else {}
    except ValueError:
        return {}
