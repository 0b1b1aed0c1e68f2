"""`/demo`: the emulator's scenarios. `/demo/new`: a form that creates a transfer and opens its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from intents_ui import app
from intents_ui.console import operations as words
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


class TokenOption(NamedTuple):
    """A token in a menu. `value` is submitted: `8453:0x8335…`."""

    value: str
    label: str
    token: TokenInfo


@dataclass(frozen=True)
class DemoForm:
    """The submitted or initial values of the form, with the problem of each field that has one."""

    values: Mapping[str, str]
    problems: Mapping[str, str]


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
    menus = token_menus()
    options = {option.value: option for menu in menus.values() for option in menu}
    if request.method != "POST":
        origin, destination, *_ = [key for key, each in options.items() if each.token.symbol == STABLECOIN] + ["", ""]
        values = {"from": origin, "to": destination, "amount": AMOUNT, "scenario": ""}
        return page(request, DemoForm(values, {}), menus)
    values = {name: request.POST.get(name, "") for name in ("from", "to", "amount", "scenario")}
    form = DemoForm(values, problems_of(values, options))
    if form.problems:
        return page(request, form, menus, status=HTTPStatus.BAD_REQUEST)
    if refused := operator_auth.refusal(request):
        return page(request, form, menus, refused=refused.sentence, status=refused.status, retry_after=refused.wait)
    try:
        response = redirect("intent", start(form, options))
    except ServiceError as error:
        return page(request, form, menus, refused=reason_of(error), error=error)
    operator_auth.remember(request, response)
    return response


def page(
    request: HttpRequest,
    form: DemoForm,
    menus: Mapping[str, list[TokenOption]],
    *,
    refused: str = "",
    status: int = HTTPStatus.OK,
    retry_after: int | None = None,
    error: ServiceError | None = None,
) -> HttpResponse:
    context = {
        "form": form,
        "menus": menus,
        "scenarios": words.SCENARIOS,
        "refused": refused,
        "operator": operator_auth.asked(request),
    }
    return render(request, "demo/create.html", context, status=status, retry_after=retry_after, error=error)


def token_menus() -> dict[str, list[TokenOption]]:
    """Return the featured tokens by the name of their chain."""
    catalog = app.current().catalog
    chains = names.by_id(catalog.listed_chains().entries)
    menus: dict[str, list[TokenOption]] = {name: [] for name in chains.values()}
    for token in catalog.listed_featured(chains).entries:
        chain = chains[token.chain_id]
        label = f"{text.symbol(token.symbol).shown} on {chain}"
        menus[chain].append(TokenOption(f"{token.chain_id}:{token.address}", label, token))
    return {chain: menu for chain, menu in menus.items() if menu}


def problems_of(values: Mapping[str, str], options: Mapping[str, TokenOption]) -> dict[str, str]:
    origin, problems = options.get(values["from"]), {}
    if origin is None:
        problems["from"] = "Choose the token to send."
    if values["to"] not in options:
        problems["to"] = "Choose the token to receive."
    elif values["from"] == values["to"]:
        problems["to"] = "Choose another token or chain than the one to send."
    amounts = facts.readings(values["amount"].strip())
    if len(amounts) > 1:
        problems["amount"] = f"Which amount: {' or '.join(f'{each:f}' for each in amounts)}?"
    elif not amounts or not amounts[0]:
        problems["amount"] = f"Enter an amount, such as {AMOUNT} or 0.5."
    elif origin and base_units(amounts[0], origin.token).remainder_near(1, EXACT):
        problems["amount"] = f"{text.symbol(origin.token.symbol).shown} has {origin.token.decimals} decimal places."
    if values["scenario"] not in dict(words.SCENARIOS):
        problems["scenario"] = "Choose one of these scenarios."
    return problems


def base_units(amount: Decimal, token: TokenInfo) -> Decimal:
    return amount.scaleb(token.decimals or 0, EXACT)


def start(form: DemoForm, options: Mapping[str, TokenOption]) -> str:
    """Quote, accept and execute a transfer, and return its intent ID. Raises ServiceError."""
    origin, destination = options[form.values["from"]].token, options[form.values["to"]].token
    (amount,) = facts.readings(form.values["amount"].strip())
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
    quoted = words.quoted(send("QuoteIntent", request))
    accepted = words.changed(send("CommitIntent", {"intent": quoted}))
    return words.changed(send("ExecuteIntent", {"intentId": accepted, "scenario": form.values["scenario"]}))


def send(operation: str, values: Mapping[str, str]) -> Attempt:
    """Send a request and return its response, with an intent. Raises ServiceError."""
    service = app.current().service
    request = written((*OPERATIONS[operation].members, words.SCENARIO), values, names=service.config.names)
    attempt = service.attempt(operation, request, kind=Kind.WRITE)
    if not words.changed(attempt):
        raise attempt.error or Unreadable(reason=Reason.OTHER_INTENT)
    return attempt


def reason_of(error: ServiceError) -> str:
    """Return why the service created no transfer: `No quote: price impact 87.20%.`"""
    if error.code is not None and (error.cause or error.message):
        return f"The service refused this transfer: {text.name(error.cause or error.message).shown}."
    message = failures.words(error)
    return f"{message.title}. {message.todo}"
