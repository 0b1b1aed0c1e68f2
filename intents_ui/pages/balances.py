"""`/intent/<id>/balances`: what a transfer's addresses hold, which its page asks for as soon as it stands itself."""

from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from cachetools import TTLCache, cached
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import wiring
from intents_ui.display import balances as held
from intents_ui.display import criteria, failures
from intents_ui.display.facts import Facts
from intents_ui.display.names import chains_of
from intents_ui.service.balances import entry_of
from intents_ui.service.errors import ServiceError
from intents_ui.service.wire import Intent, IntentHistory

LOOKS_HELD = 200
SHARED_SECONDS = 15


@dataclass(frozen=True)
class Look:
    """`entry` None: the intent was not found in its owner's history; `checked_at` None: that could not be asked for."""

    intent: Intent
    entry: IntentHistory | None
    checked_at: datetime | None


@require_safe
@vary_on_headers("HX-Request-Type")
def balances(request: HttpRequest, intent_id: str) -> HttpResponse:
    known = canonical(intent_id)
    if known != intent_id:
        return redirect("balances", known, permanent=True)
    if request.headers.get("HX-Request-Type") != "partial":
        return render(request, "balances.html", told(look(known)))
    try:
        return render(request, "parts/balances.html", told(look(known)))
    except ServiceError as error:
        return untold(request, known, error)


def untold(request: HttpRequest, intent_id: str, error: ServiceError) -> HttpResponse:
    """The page around it stands: the failure is this part's alone."""
    context = {"intent_id": intent_id, "checked_at": None, "balances": held.Balances(), "story": None, "failed": error}
    said = f"What the addresses hold cannot be shown: {failures.words(error).title}."
    response = render(request, "parts/balances.html", context | {"said": said}, status=failures.status(error))
    if seconds := failures.retry_after(error):
        response["Retry-After"] = str(seconds)
    return response


def canonical(written: str) -> str:
    """The one way to write this id. Raises Http404 for what cannot be one, so that nothing is asked."""
    asked = criteria.read({"intent": written})
    if asked.problems or not asked.given:
        raise Http404(next((field.problem for field in asked.fields if field.problem), "This is not an intent's id."))
    return str(asked.given["by_intent_id"])


@cached(TTLCache(maxsize=LOOKS_HELD, ttl=SHARED_SECONDS), lock=Lock())
def look(intent_id: str) -> Look:
    """Shared by all who look at the same intent."""
    service = wiring.service()
    intent = service.get_intent(intent_id)
    owner, created_at = Facts.of(intent, None).owner, intent.created_at
    if owner is None or created_at is None:
        return Look(intent, None, None)
    entry = entry_of(service, intent.intent_id, owner=owner, created_at=created_at)
    return Look(intent, entry, datetime.now(UTC))


def told(found: Look) -> dict[str, object]:
    intent, entry, names = found.intent, found.entry, wiring.catalog()
    receipt = entry.receipt if entry else None
    names.learn((intent.origin_chain_id, intent.destination_chain_id, *chains_of([entry] if entry else [])))
    found_there = held.of_entry(entry, Facts.of(intent, receipt), using=names)
    story = held.changed_story(intent, entry, now=datetime.now(UTC), using=names) if entry else None
    return {
        "intent_id": intent.intent_id,
        "names": names,
        "checked_at": found.checked_at,
        "balances": found_there,
        "story": story,
        "said": held.heard(found_there, story),
        "failed": None,
    }
