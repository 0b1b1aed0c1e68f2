"""`/intent/<id>/balances`: what a transfer's addresses hold, which its page asks for as soon as it stands itself."""

from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from intents_ui import wiring
from intents_ui.display import balances as held
from intents_ui.display import criteria, failures
from intents_ui.display.facts import Facts
from intents_ui.display.names import chains_of
from intents_ui.looks import Look, look
from intents_ui.service.errors import ServiceError


@require_safe
@vary_on_headers("HX-Request-Type")
def balances(request: HttpRequest, intent_id: str) -> HttpResponse:
    known = canonical(intent_id)
    if known != intent_id:
        return redirect("balances", known, permanent=True)
    if request.headers.get("HX-Request-Type") != "partial":
        return render(request, "balances.html", told(look(known)) | {"is_part": False})
    try:
        return render(request, "parts/balances.html", told(look(known)) | {"is_part": True})
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
