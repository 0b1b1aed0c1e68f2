"""Chains and tokens that match the text in the search box."""

from collections.abc import Iterable, Sequence

from intents_ui.display.catalog import token_list
from intents_ui.display.catalog.token_filters import TokenFilters
from intents_ui.display.catalog.token_list import TokenRow
from intents_ui.display.tokens import names
from intents_ui.service.models import ChainInfo, TokenInfo

MOST = 8
MOST_CHAINS = 3


def chains(words: str, known: Iterable[ChainInfo]) -> list[tuple[int, str]]:
    """Return the IDs and names of the best matches, in the service's order. A chain ID must be complete."""
    wanted = words.casefold()
    found = [(number, name) for number, name in names.by_id(known).items() if _matches(wanted, name, str(number))]
    return sorted(found, key=lambda chain: not chain[1].casefold().startswith(wanted))[:MOST_CHAINS]


def tokens(words: str, listed: Sequence[TokenInfo], *, most: int, using: names.Names) -> tuple[TokenRow, ...]:
    """Return the best matches. Each word is part of the symbol, the name or the chain's name."""
    on = {chain_id: names.of_chain(chain_id, using=using) for chain_id in {t.chain_id for t in listed}}
    found = [
        token
        for token in listed
        if _matches(words.casefold(), f"{token.symbol or ''} {token.name or ''} {on[token.chain_id]}", token.address)
    ]
    best = token_list.wanted(found, TokenFilters(words=words), chains=tuple(on))[:most]
    return token_list.rows(best, using=token_list.Given(using, best))


def _matches(words: str, text: str, identifier: str) -> bool:
    within = text.casefold()
    return words == identifier.casefold() or all(word in within for word in words.split())
