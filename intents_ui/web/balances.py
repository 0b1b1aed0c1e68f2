"""`/intent/<id>/balances`: balances of a transfer's intent addresses, loaded by its page after it has rendered."""

from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import failures
from intents_ui.http.marks import is_partial
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.transfers import balances as held
from intents_ui.transfers.transfer import UNCHECKED, Transfer
from intents_ui.web import reading
from intents_ui.web.frame import render
from intents_ui.web.links import canonical_url


@require_safe
@canonical_url
def view(request: HttpRequest, intent_id: str) -> HttpResponse:
    try:
        context, failure = looked_up(intent_id), None
    except ServiceError as error:
        if not is_partial(request):
            raise
        context, failure = unread(intent_id, error), error
    return render(request, "transfers/balances.html", context, block="balances", error=failure)


def looked_up(intent_id: str) -> dict[str, object]:
    """Wait for the lookup, however slow. Raises any ServiceError."""
    found = app.current().service.ask(operations.get_intent(intent_id))
    names = app.current().catalog
    names.learn((found.origin_chain_id, found.destination_chain_id))
    transfer = Transfer.of(found, None, now=datetime.now(UTC), names=names)
    balances = reading.look_up_balances(transfer)
    names.learn(group.chain_id or None for group in (balances or UNCHECKED).groups)
    return context(transfer.at(transfer.now, balances or UNCHECKED), is_listed=balances is not None)


def unread(intent_id: str, error: ServiceError) -> dict[str, object]:
    """Return the context of the part with a failure, which doesn't affect the page around it."""
    said = f"Couldn't load balances: {failures.words(error).title}."
    empty = {"intent_id": intent_id, "checked_at": None, "balances": held.AddressBalances()}
    return empty | {"said": said, "failed": error}


def context(transfer: Transfer, *, is_listed: bool = True) -> dict[str, object]:
    """Return the context of the balances part, for a lookup that succeeded."""
    found = held.of(transfer, is_listed=is_listed)
    return {
        "intent_id": transfer.intent.intent_id,
        "names": transfer.names,
        "checked_at": transfer.balances.checked_at,
        "balances": found,
        "said": held.heard(found),
        "failed": None,
    }
