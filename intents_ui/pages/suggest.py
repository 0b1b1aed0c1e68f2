"""`/suggest`: chains, route providers and tokens that match the text in the search box, as JSON for palette.js."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.display.catalog import token_list
from intents_ui.display.catalog.token_list import TokenRow
from intents_ui.display.tokens import providers
from intents_ui.display.tokens.providers import Provider
from intents_ui.web import links

SHORTEST, LONGEST = 2, 40  # characters, as in palette.js
CACHED = "private, max-age=60"


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    words = " ".join(request.GET.get("q", "").split())
    if not SHORTEST <= len(words) <= LONGEST:
        raise BadRequest
    catalog = app.current().catalog
    known = catalog.listed_chains().entries
    listed = catalog.listed_featured([chain.id for chain in known])
    chains = token_list.matching_chains(words, known)
    wanted = words.casefold()
    bridges = [each for each in map(providers.of, providers.KNOWN) if each.label.casefold().startswith(wanted)]
    most = token_list.MOST_SUGGESTIONS - len(chains) - len(bridges)
    tokens = token_list.matching_tokens(words, listed.entries, most=most, using=catalog)
    named = [*(of_chain(*chain) for chain in chains), *map(of_provider, bridges)]
    found = [*named, *filter(None, map(of_token, tokens))]
    return JsonResponse({"found": found}, headers={"Cache-Control": CACHED})


def of_chain(chain_id: int, name: str) -> dict[str, str]:
    return {"name": name, "note": f"Chain {chain_id}", "url": reverse("chain", args=[chain_id])}


def of_provider(provider: Provider) -> dict[str, str]:
    return {"name": provider.label, "note": "Route provider", "url": reverse("provider", args=[provider.word])}


def of_token(row: TokenRow) -> dict[str, str] | None:
    """Return a suggestion, None if the token has no page. Without warnings: a featured token has none."""
    path = links.token_path(row.token)
    if path is None:
        return None
    return {
        "name": row.token.symbol,
        "note": f"{row.token.name} on {row.token.chain}",
        "url": path,
    }
