"""Where what was found is shown."""

from urllib.parse import urlencode

from django.urls import reverse

from intents_ui.service.lookup import Hit


def intent_url(hit: Hit) -> str:
    """Its page, which says by which of its transactions it was found."""
    url = reverse("intent", args=[hit.intent.intent_id])
    return f"{url}?{urlencode({'tx': hit.transaction_hash})}" if hit.transaction_hash else url
