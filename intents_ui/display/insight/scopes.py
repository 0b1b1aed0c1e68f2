"""Names of what figures are of: all transfers, or those of a chain, a provider, a token or a route."""

from dataclasses import dataclass

from intents_ui.display.formatting import hashes, text
from intents_ui.display.tokens import icons, names, providers, token_amounts
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.providers import Provider
from intents_ui.display.tokens.token_amounts import Identity

LONGEST_CHAIN = 19  # digits


@dataclass(frozen=True)
class ScopeChain:
    """A chain. `chain_id` is None if the service reported none."""

    chain_id: int | None
    name: str
    coin: TokenIcon


@dataclass(frozen=True)
class NamedScope:
    """What figures are of. `chains` are the origin and the destination of a route, or the one of a chain or a token."""

    level: str
    providers: tuple[Provider, ...]
    chains: tuple[ScopeChain, ...]
    token: Identity | None = None

    @property
    def who(self) -> str:
        """Return the names of the providers, or "" for all."""
        return " and ".join(each.label for each in self.providers)

    @property
    def where(self) -> str:
        """Return `Base → Arbitrum`, `Base` for a chain or for a route on it, `USDC on Base`, "" for all."""
        if self.token:
            is_unknown = self.token.symbol == text.UNKNOWN
            called = hashes.short_address(self.token.address) if is_unknown else self.token.symbol
            return f"{called} on {self.token.chain}"
        return " → ".join(dict.fromkeys(each.name for each in self.chains))

    @property
    def title(self) -> str:
        """Return `Relay, Base → Arbitrum`, `Relay`, `Relay on Base`, `Base`, `USDC on Base` or `All transfers`."""
        between = " on " if self.level == "provider" else ", "
        return between.join(filter(None, (self.who, self.where))) or "All transfers"


def named(level: str, all_providers: str, chains: tuple[str, ...], *, using: Names, token: str = "") -> NamedScope:
    """Name a scope. Several providers have `;` between them. An empty chain is an unknown one.

    `token` is the address of a token on the one chain.
    """
    used = tuple(map(providers.of, filter(None, all_providers.split(";"))))
    if level == "route" and not used:
        used = (providers.Provider("", "Unknown provider"),)
    identity = token_amounts.identity(number_of(chains[0]), token, using=using) if token else None
    return NamedScope(level, used, tuple(_chain(each, using) for each in chains), identity)


def chain_ids(chains: tuple[str, ...]) -> list[int]:
    """Return the IDs of chains, to load their names."""
    return [number for each in chains if (number := number_of(each)) is not None]


def _chain(written: str, using: Names) -> ScopeChain:
    number = number_of(written)
    info = using.chain(number)
    name = names.chain(number, info=info, unknown="Unknown chain")
    return ScopeChain(number, name, icons.of_chain(number or 0, name, logo_uri=info.logo_uri if info else None))


def number_of(written: str) -> int | None:
    """Return the ID of a chain, or None if the service reported none."""
    return int(written) if written.isascii() and written.isdigit() and len(written) <= LONGEST_CHAIN else None
