"""`/intent/<id>/balances`: balances of a transfer's intent addresses, loaded by its page after it has rendered."""

from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.display import failures
from intents_ui.display.lists import balances as held
from intents_ui.display.search import form
from intents_ui.display.transfers.situation import Situation
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.web.frame import failed, is_partial
from intents_ui.web.transfers import balance_cache


@require_safe
def view(request: HttpRequest, intent_id: str) -> HttpResponse:
    known = canonical(intent_id)
    if known != intent_id:
        return redirect("balances", known, permanent=True)
    if not is_partial(request):
        return render(request, "transfers/balances.html", looked_up(known) | {"is_part": False})
    try:
        return render(request, "transfers/balances_fragment.html", looked_up(known) | {"is_part": True})
    except ServiceError as error:
        return unread(request, known, error)


def looked_up(intent_id: str) -> dict[str, object]:
    """Wait for the lookup, however slow. Raises any ServiceError."""
    found = app.current().service.ask(operations.get_intent(intent_id))
    names = app.current().catalog
    names.learn((found.origin_chain_id, found.destination_chain_id))
    situation = Situation.of(found, None, now=datetime.now(UTC), names=names)
    lookup = balance_cache.look_up(situation.facts)
    names.learn(chain for group in lookup.balances.groups for chain in (group.chain_id,) if chain)
    return context(situation.at(situation.now, lookup.balances), is_listed=lookup.is_listed)


def unread(request: HttpRequest, intent_id: str, error: ServiceError) -> HttpResponse:
    """Return the part with the failure, which doesn't affect the page around it."""
    empty = {"intent_id": intent_id, "checked_at": None, "balances": held.AddressBalances(), "failed": error}
    context = empty | {"said": f"Couldn't load balances: {failures.words(error).title}."}
    return failed(render(request, "transfers/balances_fragment.html", context), error)


def canonical(written: str) -> str:
    """Return the canonical spelling of an Intent ID. Raises Http404 for anything else, without a service call."""
    parsed = form.read({"intent": written})
    if parsed.problems or not parsed.given:
        raise Http404(next((field.problem for field in parsed.fields if field.problem), "This isn't an Intent ID."))
    return str(parsed.given["by_intent_id"])


def context(situation: Situation, *, is_listed: bool = True) -> dict[str, object]:
    """Return the context of the balances part, for a lookup that succeeded."""
    found = held.of(situation, is_listed=is_listed)
    return {
        "intent_id": situation.intent.intent_id,
        "names": situation.names,
        "checked_at": situation.balances.checked_at,
        "balances": found,
        "said": held.heard(found),
        "failed": None,
    }
