"""Where what was found is shown, and the one address that an intent's page has."""

import re
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from intents_ui.display import pasted
from intents_ui.display.pasted import Kind
from intents_ui.service.lookup import Hit

# Ids that are no hash: any word, as the service's own documents show them. Dots alone are a place in a path.
PLAIN_ID = re.compile(r"(?!\.+\Z)[A-Za-z0-9_.:-]{1,200}", re.ASCII)


def intent_url(hit: Hit) -> str:
    """Its page, which says by which of its transactions it was found."""
    url = reverse("intent", args=[hit.intent.intent_id])
    return f"{url}?{urlencode({'tx': hit.transaction_hash})}" if hit.transaction_hash else url


def canonical(intent_id: str) -> str:
    """The one way to write this id: `0x` and lower case for a hash, other kinds of ids as they are.

    Raises Http404 for what cannot be an intent's id, so that nothing is asked.
    """
    read = pasted.read(intent_id)
    found = next((each.value for each in read.lookups if each.kind in (Kind.HASH, Kind.INTENT)), None)
    if found is None and not (PLAIN_ID.fullmatch(intent_id) and not read.refusal):
        raise Http404(read.refusal or "This is not an intent's id.")
    return found or intent_id


def elsewhere(request: HttpRequest, intent_id: str, *, page: str) -> HttpResponse | None:
    """A redirect to where this intent's page is, if the address is not the one way to write it."""
    known = canonical(intent_id)
    return None if known == intent_id else moved_to(request, known, page=page)


def moved_to(request: HttpRequest, intent_id: str, *, page: str) -> HttpResponse:
    query = request.META["QUERY_STRING"]
    return redirect(reverse(page, args=[intent_id]) + (f"?{query}" if query else ""), permanent=True)
