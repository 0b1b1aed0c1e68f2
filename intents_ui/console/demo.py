"""`/demo`: the emulator's scenarios. `/demo/new`: a form that creates a transfer and opens its page."""

from collections.abc import Mapping
from decimal import Decimal
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app
from intents_ui.console import views as console
from intents_ui.formatting import failures, text
from intents_ui.formatting.amounts import EXACT
from intents_ui.http import marks, operator_auth
from intents_ui.search import facts
from intents_ui.service.console import OPERATIONS, Attempt, written
from intents_ui.service.errors import Reason, ServiceError, Unreadable
from intents_ui.service.models import TokenInfo
from intents_ui.service.operations import Kind
from intents_ui.settings import ENV
from intents_ui.tokens import names
from intents_ui.web.frame import render

OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"  # of all transfers that the form creates
STABLECOIN = "USDC"  # selected at first
AMOUNT = "25"
FIELDS = ("from", "to", "amount", "scenario")


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    emulator = app.current().emulator
    if emulator is None:
        raise Http404
    return render(request, "demo/demo.html", {"scenarios": emulator.scenarios()})


@marks.Marks(body="console")
@require_http_methods(["GET", "HEAD", "POST"])
@operator_auth.operator_form
def create(request: HttpRequest) -> HttpResponse:
    if ENV.console != "write":
        raise Http404("This dashboard permits read operations only.")
    tokens = featured_tokens()
    if request.method != "POST":
        origin, destination, *_ = [key for key, each in tokens.items() if each.symbol == STABLECOIN] + ["", ""]
        return page(request, {"from": origin, "to": destination, "amount": AMOUNT, "scenario": ""}, tokens)
    values = {name: request.POST.get(name, "") for name in FIELDS}
    if problems := problems_of(values, tokens):
        return page(request, values, tokens, problems=problems, status=HTTPStatus.BAD_REQUEST)
    if refused := operator_auth.refusal(request):
        return page(request, values, tokens, refused.sentence, status=refused.status, retry_after=refused.wait)
    try:
        response = redirect("intent", start(values, tokens))
    except ServiceError as error:
        return page(request, values, tokens, reason_of(error), error=error)
    operator_auth.remember(request, response)
    return response


def page(
    request: HttpRequest,
    values: Mapping[str, str],
    tokens: Mapping[str, TokenInfo],
    refused: str = "",
    *,
    problems: Mapping[str, str] = {},
    **response: Any,
) -> HttpResponse:
    """Render the form. `refused` is why the transfer wasn't created, `problems` are by field."""
    chains = names.by_id(app.current().catalog.chains())
    menus: dict[str, list[tuple[str, str]]] = {name: [] for name in chains.values()}
    for value, token in tokens.items():
        chain = chains[token.chain_id]
        menus[chain].append((value, f"{text.symbol(token.symbol).shown} on {chain}"))
    context = {
        "form": SimpleNamespace(values=values, problems=problems),
        "menus": {chain: menu for chain, menu in menus.items() if menu},
        "scenarios": console.SCENARIOS.items(),
        "refused": refused,
        "operator": operator_auth.TokenPrompt(request),
    }
    return render(request, "demo/create.html", context, **response)


def featured_tokens() -> dict[str, TokenInfo]:
    """Return the featured tokens by what a menu submits, `8453:0x8335…`, in the order of their chains."""
    catalog = app.current().catalog
    chains = [chain.id for chain in catalog.listed_chains().entries]
    tokens = sorted(catalog.listed_featured(chains).entries, key=lambda token: chains.index(token.chain_id))
    return {f"{token.chain_id}:{token.address}": token for token in tokens}


def problems_of(values: Mapping[str, str], tokens: Mapping[str, TokenInfo]) -> dict[str, str]:
    origin, problems = tokens.get(values["from"]), {}
    if origin is None:
        problems["from"] = "Choose the token to send."
    if values["to"] not in tokens:
        problems["to"] = "Choose the token to receive."
    elif values["from"] == values["to"]:
        problems["to"] = "Choose another token or chain than the one to send."
    amounts = facts.readings(values["amount"].strip())
    if len(amounts) > 1:
        problems["amount"] = f"Which amount: {' or '.join(f'{each:f}' for each in amounts)}?"
    elif not amounts or not amounts[0]:
        problems["amount"] = f"Enter an amount, such as {AMOUNT} or 0.5."
    elif origin and base_units(amounts[0], origin).remainder_near(1, EXACT):
        problems["amount"] = f"{text.symbol(origin.symbol).shown} has {origin.decimals} decimal places."
    if values["scenario"] not in console.SCENARIOS:
        problems["scenario"] = "Choose one of these scenarios."
    return problems


def base_units(amount: Decimal, token: TokenInfo) -> Decimal:
    return amount.scaleb(token.decimals or 0, EXACT)


def start(values: Mapping[str, str], tokens: Mapping[str, TokenInfo]) -> str:
    """Quote, accept and execute a transfer, and return its intent ID. Raises ServiceError."""
    origin, destination = tokens[values["from"]], tokens[values["to"]]
    (amount,) = facts.readings(values["amount"].strip())
    request = {
        "ownerAddress": OWNER,
        "originChainId": str(origin.chain_id),
        "originTokenAddress": origin.address,
        "originTokenAmount": f"{base_units(amount, origin):.0f}",
        "destinationChainId": str(destination.chain_id),
        "destinationTokenAddress": destination.address,
        "destinationToAddress": OWNER,
        "tradeType": "EXACT_INPUT",
    }
    quoted = console.quoted(send("QuoteIntent", request))
    accepted = console.changed(send("CommitIntent", {"intent": quoted}))
    return console.changed(send("ExecuteIntent", {"intentId": accepted, "scenario": values["scenario"]}))


def send(operation: str, values: Mapping[str, str]) -> Attempt:
    """Send a request and return its response, with an intent. Raises ServiceError."""
    service = app.current().service
    request = written((*OPERATIONS[operation].members, console.SCENARIO), values, names=service.config.names)
    attempt = service.attempt(operation, request, kind=Kind.WRITE)
    if not console.changed(attempt):
        raise attempt.error or Unreadable(reason=Reason.OTHER_INTENT)
    return attempt


def reason_of(error: ServiceError) -> str:
    """Return why the service created no transfer: `No quote: price impact 87.20%.`"""
    if error.code is not None and (error.cause or error.message):
        return f"The service refused this transfer: {text.name(error.cause or error.message).shown}."
    message = failures.words(error)
    return f"{message.title}. {message.todo}"
