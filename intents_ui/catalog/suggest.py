"""`/suggest`: statuses, chains, route providers and tokens that match the text in the search box, for search.js."""

from collections.abc import Iterable, Sequence

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.catalog import token_list
from intents_ui.catalog.token_list import TokenFilters, TokenRow
from intents_ui.search.facts import chains_by_name
from intents_ui.service.models import ChainInfo, IntentStatus, TokenInfo
from intents_ui.tokens import names
from intents_ui.tokens.names import Names, Provider
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import StatusLabel
from intents_ui.web import links

SHORTEST, LONGEST = 2, 40  # characters, as in search.js
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
    chains = matching_chains(words, known)
    wanted = words.casefold()
    are_all = len(wanted) >= 4 and any(each.startswith(wanted) for each in ALL_PROVIDERS)
    known_providers = map(names.provider, names.KNOWN_PROVIDERS)
    bridges = [each for each in known_providers if are_all or each.label.casefold().startswith(wanted)]
    labels = [(word, label) for word, label in statuses.INTENTS.items() if label.word.casefold().startswith(wanted)]
    named = [*(of_status(*each) for each in labels), *(of_chain(*each) for each in chains), *map(of_provider, bridges)]
    most = max(MAX_SUGGESTIONS - len(named), 0)
    tokens = matching_tokens(words, listed.entries, most=most, using=catalog)
    found = [*named, *filter(None, map(of_token, tokens))]
    return JsonResponse({"found": found}, headers={"Cache-Control": CACHED})


def of_status(status: IntentStatus, label: StatusLabel) -> dict[str, str]:
    return {
        "name": label.word,
        "note": "Transfers with this status",
        "url": reverse("history", query={"status": status}),
    }


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


def matching_chains(words: str, known: Iterable[ChainInfo]) -> list[tuple[int, str]]:
    """Return the IDs and names of the best matches, in the service's order. A chain ID must be complete."""
    wanted = words.casefold()
    known = list(known)
    usual = chains_by_name(known).get(wanted)
    found = [
        (number, name)
        for number, name in names.by_id(known).items()
        if _matches(wanted, name, str(number)) or (usual and usual.id == number)
    ]
    return sorted(found, key=lambda chain: not chain[1].casefold().startswith(wanted))[:MAX_CHAINS]


def matching_tokens(words: str, listed: Sequence[TokenInfo], *, most: int, using: Names) -> tuple[TokenRow, ...]:
    """Return the best matches. Each word is part of the symbol, the name or the chain's name."""
    on = {chain_id: names.of_chain(chain_id, using=using) for chain_id in {t.chain_id for t in listed}}
    found = [
        token
        for token in listed
        if _matches(words.casefold(), f"{token.symbol or ''} {token.name or ''} {on[token.chain_id]}", token.address)
    ]
    best = token_list.wanted(found, TokenFilters(words=words), chains=tuple(on))[:most]
    return token_list.rows(best, using=using)


def _matches(words: str, text: str, identifier: str) -> bool:
    within = text.casefold()
    return words == identifier.casefold() or all(word in within for word in words.split())
