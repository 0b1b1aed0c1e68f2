"""`/suggest`: statuses, chains, route providers and tokens that match the text in the search box, for palette.js."""

from collections.abc import Iterator, Sequence

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.catalog import tokens
from intents_ui.search.facts import chains_by_name
from intents_ui.service.models import ChainInfo, TokenInfo
from intents_ui.tokens import names
from intents_ui.transfers import statuses
from intents_ui.web import links

SHORTEST, LONGEST = 2, 40  # characters, as in palette.js
CACHED = "private, max-age=60"
ALL_PROVIDERS = ("providers", "route providers", "bridges")  # these, from four letters on, find every provider
MAX_SUGGESTIONS = 8
MAX_CHAINS = 3


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    words = " ".join(request.GET.get("q", "").split())
    if not SHORTEST <= len(words) <= LONGEST:
        raise BadRequest
    catalog = app.current().catalog
    known = catalog.listed_chains().entries
    listed = catalog.listed_featured([chain.id for chain in known])
    named = list(matching_names(words.casefold(), known))
    found = [*named, *matching_tokens(words, listed.entries, most=max(MAX_SUGGESTIONS - len(named), 0))]
    shown = [{"name": name, "note": note, "url": url} for name, note, url in found]
    return JsonResponse({"found": shown}, headers={"Cache-Control": CACHED})


def matching_names(wanted: str, known: Sequence[ChainInfo]) -> Iterator[tuple[str, str, str]]:
    """Yield name, note and URL of the statuses, chains and providers that match."""
    for status, label in statuses.INTENTS.items():
        if label.word.casefold().startswith(wanted):
            yield label.word, "Transfers with this status", reverse("history", query={"status": status})
    for chain_id, name in matching_chains(wanted, known):
        yield name, f"Chain {chain_id}", reverse("chain", args=[chain_id])
    are_all = len(wanted) >= 4 and any(each.startswith(wanted) for each in ALL_PROVIDERS)
    for provider in map(names.provider, names.KNOWN_PROVIDERS):
        if are_all or provider.label.casefold().startswith(wanted):
            yield provider.label, "Route provider", reverse("provider", args=[provider.word])


def matching_chains(wanted: str, known: Sequence[ChainInfo]) -> list[tuple[int, str]]:
    """Return the IDs and names of the best matches, in the service's order. A chain ID must be complete."""
    usual = chains_by_name(known).get(wanted)
    found = [
        (number, name)
        for number, name in names.by_id(known).items()
        if _matches(wanted, name, str(number)) or (usual and usual.id == number)
    ]
    return sorted(found, key=lambda chain: not chain[1].casefold().startswith(wanted))[:MAX_CHAINS]


def matching_tokens(words: str, listed: Sequence[TokenInfo], *, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield the best matches that have a page. Each word is part of the symbol, the name or the chain's name."""
    catalog = app.current().catalog
    on = {chain_id: names.of_chain(chain_id, using=catalog) for chain_id in {t.chain_id for t in listed}}
    found = [
        token
        for token in listed
        if _matches(words.casefold(), f"{token.symbol or ''} {token.name or ''} {on[token.chain_id]}", token.address)
    ]
    best = tokens.ordered(found, tokens.TokenFilters(words=words), chains=tuple(on))[:most]
    for token in (tokens.shown_token(each, using=catalog) for each in best):
        if path := links.token_path(token):
            yield token.symbol, f"{token.name} on {token.chain}", path


def _matches(words: str, text: str, identifier: str) -> bool:
    within = text.casefold()
    return words == identifier.casefold() or all(word in within for word in words.split())
