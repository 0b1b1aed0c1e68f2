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
    """Wait for the lookup, however slow. Its failure doesn't affect the page around the part."""
    names, failed = app.current().catalog, None
    checked_at, found = None, held.AddressBalances()
    try:
        intent = app.current().service.ask(operations.get_intent(intent_id))
        names.learn((intent.origin_chain_id, intent.destination_chain_id))
        transfer = Transfer(intent, None, now=datetime.now(UTC), names=names)
        looked_up = reading.look_up_balances(transfer)
        balances = looked_up or UNCHECKED
        names.learn(group.chain_id or None for group in balances.groups)
        checked_at = balances.checked_at
        found = held.of(transfer.at(transfer.now, balances), is_listed=looked_up is not None)
    except ServiceError as error:
        if not is_partial(request):
            raise
        failed = error
    said = f"Couldn't load balances: {failures.words(failed).title}." if failed else held.heard(found)
    context = {"intent_id": intent_id, "names": names, "checked_at": checked_at, "balances": found}
    context |= {"said": said, "failed": failed}
    return render(request, "transfers/balances.html", context, block="balances", error=failed)
