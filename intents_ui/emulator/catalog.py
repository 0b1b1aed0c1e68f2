"""Chains, tokens and route providers, the routes between tokens, and the operations that list them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from intents_ui.emulator import documents
from intents_ui.emulator.documents import Document, stamp
from intents_ui.emulator.errors import Ask, Refusal
from intents_ui.emulator.names import stranger

LARGEST_LIMIT: Final = 1000
NATIVE: Final = "0x" + "0" * 40
NATIVE_ALIAS: Final = "0x" + "e" * 40
PRICE_SCALE: Final = 1_000_000

# Synthetic tokens for long lists, with names that resemble common searches.
_NAMES: Final = documents.table("synthetic_tokens.json")
# The lengths share no factor with each other or with usual numbers of chains, so every chain gets a mix.
_FIRST: Final[list[str]] = _NAMES["first"]
_SECOND: Final[list[tuple[str, str]]] = _NAMES["second"]
_DECIMALS: Final = (18, 6, 8)
_LETTERS: Final = 4
# Chains of each route provider (null: all), its fee in basis points, and the seconds and context of its bridge.
PROVIDERS: Final[dict[str, dict[str, Any]]] = documents.table("providers.json")
# Chains on which any token can be swapped. On others, only featured tokens can.
_SWAPPING: Final = {1, 8453, 42161, 10, 137, 43114, 56, 100}


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `price` is in millionths of a USD, 0 if unknown. `listing` is featured, listed, external or none."""

    chain_id: int
    address: str
    checksummed: str
    name: str = ""
    symbol: str = ""
    decimals: int | None = 18
    listing: str = "listed"
    feature_index: int = 999
    price: int = 0

    @property
    def scale(self) -> int:
        return int(10 ** (self.decimals or 0))

    @property
    def native(self) -> bool:
        return self.address == NATIVE

    def as_metadata(self) -> Document:
        """Return the token as TokenMetadata."""
        return {
            "chainId": self.chain_id,
            "tokenAddress": self.address,
            "name": self.name,
            "symbol": self.symbol,
            **({} if self.decimals is None else {"decimals": self.decimals}),
            "logoUri": f"https://logos.service.example/{self.chain_id}/{self.address}.webp",
        }

    def as_info(self) -> Document:
        """Return the token as TokenInfo."""
        metadata = {"address" if key == "tokenAddress" else key: each for key, each in self.as_metadata().items()}
        return {
            **metadata,
            "featured": self.listing == "featured",
            "featureIndex": self.feature_index,
            **({"supportsBridging": True} if self.price else {}),
        }


class Catalogue:
    """Lists of chains and tokens, and the operations that read them.

    `tokens` is the minimum number of listed tokens, filled up with synthetic ones, which no transfer uses. Lists may
    change while other threads read them (`change_chain`, `change_token`).
    """

    def __init__(self, tokens: int = 0) -> None:
        self.chains: dict[int, dict[str, Any]] = {chain["id"]: chain for chain in documents.table("chains.json")}
        self.listed = tuple(self.chains)
        self.tokens = list(TOKENS)
        missing = max(0, tokens - len(list(self.on_chains(self.listed))))
        self.tokens += [_filler(number, self.listed[number % len(self.listed)]) for number in range(missing)]
        self._by_address = {(token.chain_id, token.address): token for token in self.tokens}

    def change_chain(self, chain_id: int, *, listed: bool = True, **changes: Any) -> None:
        """Add a chain, change its fields (keys of `data/chains.json`), or unlist it."""
        explorer = {"name": "Explorer", "url": f"https://explorer.example/{chain_id}"}
        added = self.chains[1] | {"id": chain_id, "name": f"Chain {chain_id}", "blockExplorer": explorer}
        known = self.chains.get(chain_id, added)
        self.chains = self.chains | {chain_id: known | changes}
        if not listed:
            self.listed = tuple(each for each in self.listed if each != chain_id)
        elif chain_id not in self.listed:
            self.listed = (*self.listed, chain_id)

    def change_token(self, chain_id: int, address: str, **changes: Any) -> None:
        """Change the fields of a token (those of `Token`). `listing="none"` unlists it."""
        known = self.token(chain_id, address) or self._by_address[chain_id, address]
        changed = replace(known, **changes)
        self.tokens = [changed if token is known else token for token in self.tokens]
        self._by_address = self._by_address | {(chain_id, changed.address): changed}

    def token(self, chain_id: int, address: str) -> Token | None:
        """Return a token by address, in any letter case and either form of the native address."""
        return self._by_address.get((chain_id, canonical(address))) or self._by_address.get((chain_id, address))

    def on_chains(self, chain_ids: Iterable[int]) -> Iterator[Token]:
        """Yield the listed tokens of these chains."""
        wanted = set(chain_ids) & set(self.listed)
        return (token for token in self.tokens if token.chain_id in wanted and token.listing != "none")

    def chains_of(self, provider: str) -> list[int]:
        """Return the listed chains of a route provider, or none for an unknown provider."""
        served = PROVIDERS.get(provider, {"chains": ()})["chains"]
        return [chain_id for chain_id in self.listed if served is None or chain_id in served]

    def connected(self, one: Token, other: Token) -> bool:
        """Return whether there is a route between two tokens."""
        if (one.chain_id, one.address) == (other.chain_id, other.address):
            return False
        is_test, is_other_test = (self.chains[token.chain_id]["isTestnet"] for token in (one, other))
        return is_test == is_other_test and _routable(one) and _routable(other)

    def get_chains(self, ask: Ask) -> Document:
        provider = ask.body.get("routeProvider")
        chain_ids = self.chains_of(provider.upper()) if provider else self.listed
        return {"chains": [chain_info(self.chains[chain_id]) for chain_id in chain_ids]}

    def get_token_list(self, ask: Ask) -> Document:
        """Return featured tokens, or all of them for a search. `limit` applies per chain."""
        body = ask.body
        query, address = body.get("searchQuery", "").strip().lower(), body.get("tokenAddress")
        is_search = bool(query or address)
        wanted = {"listed": "includeAllListed", "external": "includeExternal"}
        listings = {"featured", *(each for each, field in wanted.items() if is_search or body.get(field))}
        excluded = {canonical(each) for each in body.get("excludeTokens", [])}
        found = [
            token
            for token in self.on_chains(body["chainIds"])
            if token.listing in listings
            and token.address not in excluded
            and (not address or token.address == canonical(address.strip()))
            and (not query or _rank(token, query) is not None)
        ]
        found.sort(key=lambda token: (_rank(token, query) or 0, *_sort_key(token)))
        return {"tokens": [token.as_info() for token in _limited_per_chain(found, body.get("limit", 0))]}

    def get_exact_input_routes(self, ask: Ask) -> Document:
        return {"tokens": [token.as_info() for token in self._reachable(ask, "origin", "destination")]}

    def get_exact_output_routes(self, ask: Ask) -> Document:
        """Return the tokens to pay with: those that `ownerAddress` holds, or the featured ones without an owner."""
        found = self._reachable(ask, "destination", "origin")
        if owner := ask.body.get("ownerAddress"):
            found = [token for token in found if _holds(owner, token)]
        elif "originTokenAddress" not in ask.body:
            found = [token for token in found if token.listing == "featured"]
        return {"tokens": [token.as_info() for token in found]}

    def _reachable(self, ask: Ask, side: str, other: str) -> list[Token]:
        """Return the tokens on the other side of a route from or to the requested token."""
        if "routes-stub" in ask.faults:
            return []
        token = self.requested_token(ask.body, side)
        chain_id = self._requested_chain(ask.body, f"{other}ChainId")
        address = ask.body.get(f"{other}TokenAddress")
        found = [
            each
            for each in self.on_chains(self.listed if chain_id is None else [chain_id])
            if each.listing != "external"
            and (not address or each.address == canonical(address))
            and token
            and self.connected(token, each)
        ]
        return sorted(found, key=_sort_key)

    def get_token_prices(self, ask: Ask) -> Document:
        """Return prices. `priceUsd` is null for a token without a price."""
        return {"tokenPrices": [self._price(asked, ask.now) for asked in ask.body["tokens"][:LARGEST_LIMIT]]}

    def _price(self, asked: Document, now: int) -> Document:
        chain_id, address = asked["chainId"], asked["tokenAddress"]
        token = self.token(chain_id, address)
        named = {"chainId": chain_id, "tokenAddress": canonical(address)}
        if token:
            named["tokenSymbol"] = token.symbol
        return {
            "token": named,
            "priceUsd": token.price / PRICE_SCALE if token and token.price else None,
            "updatedAt": stamp(now // 60_000_000 * 60_000_000),
        }

    def _requested_chain(self, body: Document, field: str) -> int | None:
        chain_id: int | None = body.get(field)
        if chain_id is not None and chain_id not in self.listed:
            raise Refusal("UnsupportedNetwork", f"{field} {chain_id}")
        return chain_id

    def requested_token(self, body: Document, side: str) -> Token | None:
        """Return a token by its chain and address, or None if it is unknown."""
        self._requested_chain(body, f"{side}ChainId")
        return self.token(body[f"{side}ChainId"], body[f"{side}TokenAddress"])


def canonical(address: str) -> str:
    """Return the address in lower case, with the zero address for the native token."""
    lowered = address.lower()
    return NATIVE if lowered == NATIVE_ALIAS else lowered


def chain_info(chain: dict[str, Any]) -> dict[str, Any]:
    """Return a chain as ChainInfo, with the keys of both of its forms."""
    currency, explorer = chain["nativeCurrency"], chain["blockExplorer"]
    return {
        "id": chain["id"],
        "name": chain["name"],
        "nativeCurrency": currency,
        "tokenName": currency["name"],
        "tokenSymbol": currency["symbol"],
        "tokenDecimals": currency["decimals"],
        "isTestnet": chain["isTestnet"],
        "supportsBridging": chain["supportsBridging"],
        "logoUri": f"https://logos.service.example/chains/{chain['id']}.webp",
        "blockExplorer": explorer,
        "blockExplorerUrl": explorer["url"],
    }


def _routable(token: Token) -> bool:
    return token.price > 0 and (token.listing == "featured" or token.chain_id in _SWAPPING)


def _token(row: dict[str, Any]) -> Token:
    hexadecimal = row["address"].startswith("0x")
    return Token(
        chain_id=row["chainId"],
        address=row["address"].lower() if hexadecimal else row["address"],
        checksummed=row["address"],
        name=row["name"],
        symbol=row["symbol"],
        decimals=row["decimals"],
        listing=row["list"],
        feature_index=row["featureIndex"],
        price=int((row["priceUsd"] or 0) * PRICE_SCALE),
    )


TOKENS: Final = tuple(map(_token, documents.table("tokens.json")))
NATIVES: Final = {token.chain_id: token for token in TOKENS if token.native}
# By symbol and by address, of which the symbol's first one counts.
_KNOWN: Final = {(token.chain_id, key): token for token in reversed(TOKENS) for key in (token.symbol, token.address)}


def known(chain_id: int, name: str) -> Token:
    """Return a token of the table by its symbol or address. Changes of an emulator's lists don't affect it."""
    return _KNOWN.get((chain_id, name)) or _KNOWN[chain_id, canonical(name)]


def wraps(one: Token, other: Token) -> bool:
    """Return whether one of two tokens of a chain is its native token, and the other one that wrapped."""
    native = NATIVES.get(one.chain_id)
    return native is not None and {one.symbol, other.symbol} == {native.symbol, f"W{native.symbol}"}


def _filler(number: int, chain_id: int) -> Token:
    """Return one synthetic token.

    Three in four are listed, the rest are on external lists. From the 2450th on, names are numbered.
    """
    first, (second, letters) = _FIRST[number % len(_FIRST)], _SECOND[number % len(_SECOND)]
    series = number // (len(_FIRST) * len(_SECOND))
    later = f" {series + 1}" if series else ""
    address = stranger(f"filler {number}")
    return Token(
        chain_id=chain_id,
        address=address,
        checksummed=address,
        name=f"{first} {second}{later}",
        symbol=f"{first[:_LETTERS].upper()}{letters}{later.strip()}",
        decimals=_DECIMALS[number % len(_DECIMALS)],
        listing="listed" if number % 4 else "external",
        price=PRICE_SCALE * (number % 50 + 1) // 10,
    )


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


def _limited_per_chain(tokens: Iterable[Token], limit: int) -> Iterator[Token]:
    counts: Counter[int] = Counter()
    for token in tokens:
        counts[token.chain_id] += 1
        if counts[token.chain_id] <= (min(limit, LARGEST_LIMIT) if limit > 0 else LARGEST_LIMIT):
            yield token


def _holds(owner: str, token: Token) -> bool:
    """Return whether an owner holds a token: a third of all tokens, always the same ones."""
    seen = stranger(f"{owner.lower()} {token.chain_id} {token.address}")
    return int(seen[-2:], 16) % 3 == 0
