"""GetTokenList, GetChains, GetTokenPrices and both route operations."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from intents_ui.emulator import errors
from intents_ui.emulator.catalog import PRICE_SCALE, Catalogue, Token, canonical, chain_info
from intents_ui.emulator.documents import Document, stamp
from intents_ui.emulator.errors import Refusal
from intents_ui.emulator.lookups import Ask
from intents_ui.emulator.names import stranger

LARGEST_LIMIT: Final = 1000


class Market:
    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def get_chains(self, ask: Ask) -> Document:
        provider = errors.text(ask.body, "routeProvider")
        chain_ids = self.catalogue.chains_of(provider.upper()) if provider else self.catalogue.listed
        return {"chains": [chain_info(self.catalogue.chains[chain_id]) for chain_id in chain_ids]}

    def get_token_list(self, ask: Ask) -> Document:
        """Return featured tokens, or all of them for a search. `limit` applies per chain."""
        body = ask.body
        chain_ids = errors.required(errors.wholes(body, "chainIds") or None, "chainIds")
        query = (errors.text(body, "searchQuery") or "").strip().lower()
        address = errors.text(body, "tokenAddress")
        listings = {"featured"}
        if errors.flag(body, "includeAllListed"):
            listings |= {"listed"}
        if errors.flag(body, "includeExternal"):
            listings |= {"external"}
        if query or address:
            listings = {"featured", "listed", "external"}
        excluded = {canonical(each) for each in errors.words(body, "excludeTokens") or []}
        found = [
            token
            for token in self.catalogue.on_chains(chain_ids)
            if token.listing in listings
            and token.address not in excluded
            and (not address or token.address == canonical(address.strip()))
            and (not query or _rank(token, query) is not None)
        ]
        found.sort(key=lambda token: (_rank(token, query) or 0, *_sort_key(token)))
        return {"tokens": [token.as_info() for token in _limited_per_chain(found, errors.whole(body, "limit"))]}

    def get_exact_input_routes(self, ask: Ask) -> Document:
        if "routes-stub" in ask.faults:
            return {"tokens": []}
        origin = self._token(ask.body, "origin")
        destination_chain = self._chain(ask.body, "destinationChainId")
        wanted = errors.text(ask.body, "destinationTokenAddress")
        candidates = self._candidates(destination_chain, wanted)
        found = [token for token in candidates if origin and self.catalogue.connected(origin, token)]
        return {"tokens": [token.as_info() for token in found]}

    def get_exact_output_routes(self, ask: Ask) -> Document:
        """Return the tokens to pay with: those that `ownerAddress` holds, or the featured ones without an owner."""
        if "routes-stub" in ask.faults:
            return {"tokens": []}
        destination = self._token(ask.body, "destination")
        origin_chain = self._chain(ask.body, "originChainId")
        wanted = errors.text(ask.body, "originTokenAddress")
        owner = errors.text(ask.body, "ownerAddress")
        candidates = self._candidates(origin_chain, wanted)
        found = [token for token in candidates if destination and self.catalogue.connected(token, destination)]
        if owner:
            found = [token for token in found if _holds(owner, token)]
        elif not wanted:
            found = [token for token in found if token.listing == "featured"]
        return {"tokens": [token.as_info() for token in found]}

    def get_token_prices(self, ask: Ask) -> Document:
        """Return prices. `priceUsd` is null for a token without a price."""
        errors.required(ask.body.get("tokens"), "tokens")
        return {
            "tokenPrices": [self._price(asked, ask.now) for asked in errors.objects(ask.body, "tokens")[:LARGEST_LIMIT]]
        }

    def _price(self, asked: Document, now: int) -> Document:
        chain_id = errors.required(errors.whole(asked, "chainId"), "tokens.chainId")
        address = errors.required(errors.text(asked, "tokenAddress"), "tokens.tokenAddress")
        token = self.catalogue.token(chain_id, address)
        named = {"chainId": chain_id, "tokenAddress": canonical(address)}
        if token:
            named["tokenSymbol"] = token.symbol
        return {
            "token": named,
            "priceUsd": token.price / PRICE_SCALE if token and token.price else None,
            "updatedAt": stamp(now // 60_000_000 * 60_000_000),
        }

    def _chain(self, body: Document, field: str) -> int | None:
        chain_id = errors.whole(body, field)
        if chain_id is not None and chain_id not in self.catalogue.listed:
            raise Refusal("UnsupportedNetwork", f"{field} {chain_id}")
        return chain_id

    def _token(self, body: Document, side: str) -> Token | None:
        chain_id = errors.required(self._chain(body, f"{side}ChainId"), f"{side}ChainId")
        field = f"{side}TokenAddress"
        return self.catalogue.token(chain_id, errors.required(errors.text(body, field), field))

    def _candidates(self, chain_id: int | None, address: str | None) -> list[Token]:
        chain_ids = self.catalogue.listed if chain_id is None else [chain_id]
        found = [token for token in self.catalogue.on_chains(chain_ids) if token.listing != "external"]
        if address:
            found = [token for token in found if token.address == canonical(address)]
        return sorted(found, key=_sort_key)


def _sort_key(token: Token) -> tuple[bool, int, str]:
    return token.listing != "featured", token.feature_index, token.name.lower()


def _rank(token: Token, query: str) -> int | None:
    """Return a token's rank for a search, 0 for the best, or None for no match."""
    symbol = token.symbol.lower()
    if token.address == canonical(query):
        return 0
    if symbol == query:
        return 1
    if symbol.startswith(query) or token.name.lower().startswith(query):
        return 2
    if query in symbol:
        return 3
    return 4 if query in token.name.lower() or query in token.address else None


def _limited_per_chain(tokens: Iterable[Token], limit: int | None) -> list[Token]:
    most = min(limit, LARGEST_LIMIT) if limit and limit > 0 else LARGEST_LIMIT
    limited: list[Token] = []
    counts: defaultdict[int, int] = defaultdict(int)
    for token in tokens:
        counts[token.chain_id] += 1
        if counts[token.chain_id] <= most:
            limited.append(token)
    return limited


def _holds(owner: str, token: Token) -> bool:
    """Return whether an owner holds a token: a third of all tokens, always the same ones."""
    seen = stranger(f"{owner.lower()} {token.chain_id} {token.address}")
    return int(seen[-2:], 16) % 3 == 0
