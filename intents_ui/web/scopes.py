"""Names and addresses of what figures are of: all transfers, or those of a chain, a provider, a token or a route."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404
from django.urls import reverse

from intents_ui import app
from intents_ui.formatting import hashes, text
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.names import Provider
from intents_ui.tokens.token_amounts import Identity, TokenIcon

MAX_CHARACTERS = 500  # of a value in a query string
LONGEST_CHAIN = 19  # digits
UNKNOWN = "-"  # in a URL, for a provider or a chain without a name
PLAIN = re.compile(r"(?!\.{1,2}$|-$)[\w .;:+~-]{1,200}", re.ASCII)  # what a URL can have between two slashes


@dataclass(frozen=True)
class ScopeChain:
    """A chain. `chain_id` is None if the service reported none."""

    chain_id: int | None
    name: str
    coin: TokenIcon


@dataclass(frozen=True)
class NamedScope:
    """A scope with its names. `chains` are the origin and the destination of a route, or the chain of another scope.

    `path`: its page, None if no URL can name it.
    """

    scope: ScopeName
    providers: tuple[Provider, ...]
    chains: tuple[ScopeChain, ...]
    token: Identity | None
    path: str | None

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
        between = ", " if self.scope.level is Level.ROUTE else " on "
        return between.join(filter(None, (self.who, self.where))) or "All transfers"


def named(found: Iterable[ScopeName]) -> list[NamedScope]:
    """Name scopes. The names of all chains, and of the tokens of those that have tokens, are loaded together."""
    scopes = list(found)
    learn(each.origin_chain for each in scopes if each.token)
    return list(map(_named, scopes))


def _named(scope: ScopeName) -> NamedScope:
    used = tuple(map(names.provider, filter(None, scope.providers.split(";"))))
    if scope.level is Level.ROUTE and not used:
        used = (Provider("", "Unknown provider"),)
    token = identity(scope.origin_chain, scope.token) if scope.token else None
    chains = scope.route[1:] if scope.level is Level.ROUTE else filter(None, (scope.origin_chain,))
    return NamedScope(scope, used, tuple(map(_chain, chains)), token, path(scope))


def _chain(written: str) -> ScopeChain:
    number, catalog = number_of(written), app.current().catalog
    info = catalog.chain(number)
    name = names.chain(number, info=info, unknown="Unknown chain")
    return ScopeChain(number, name, token_amounts.chain_icon(number, name, info))


def identity(chain: str, address: str) -> Identity:
    return token_amounts.identity(number_of(chain), address, using=app.current().catalog)


def learn(chains: Iterable[str]) -> None:
    """Load the names of these chains and of their tokens."""
    app.current().catalog.learn(number for each in chains if (number := number_of(each)) is not None)


def number_of(written: str) -> int | None:
    """Return the ID of a chain, or None if the service reported none."""
    return int(written) if written.isascii() and written.isdigit() and len(written) <= LONGEST_CHAIN else None


def parts(scope: ScopeName) -> dict[str, Sequence[str]]:
    """Return what names a scope in URLs: the parts of a path, and values of a query string joined by `/`."""
    match scope.level:
        case Level.ROUTE:
            return {"route": [part or UNKNOWN for part in scope.route]}
        case Level.TOKEN:
            return {"token": [scope.origin_chain, scope.token]}
        case _:
            found = {"provider": [scope.providers], "chain": [scope.origin_chain]}
            return {name: value for name, value in found.items() if any(value)}


def query(scope: ScopeName) -> dict[str, str]:
    """Return what a query string names a scope by."""
    return {name: "/".join(value) for name, value in parts(scope).items()}


def path(scope: ScopeName) -> str | None:
    """Return the URL of a scope's page, or None if it can't have one."""
    if scope == EVERYTHING:
        return reverse("insight")
    page, named_by = next(iter(parts(scope).items()), ("", []))
    is_plain = all(part == UNKNOWN or PLAIN.fullmatch(part) for part in named_by)
    return reverse(f"insight-{page}", args=named_by) if page and is_plain and UNKNOWN not in scope else None


def of(level: str, *named_by: str) -> ScopeName:
    """Return the scope that the path of a URL names. Raises Http404 if it can't name one."""
    match level, named_by:
        case Level.ROUTE, (_, _, _):
            scope = ScopeName(Level.ROUTE, *("" if part == UNKNOWN else part for part in named_by))
        case Level.TOKEN, (chain, *address):
            scope = scope_of_token(chain, "/".join(address))
        case Level.PROVIDER, (name,):
            scope = ScopeName(Level.PROVIDER, name)
        case Level.CHAIN, (chain,):
            scope = ScopeName(Level.CHAIN, "", chain)
        case _:
            raise Http404("A route has three parts.")
    if path(scope) is None:
        raise Http404("This is neither a route, a provider, a chain nor a token.")
    return scope


def read(given: Mapping[str, str]) -> ScopeName:
    """Return the scope that a query string names, by default all. Raises Http404 if it can't name one."""
    names = {name: given.get(name, "") for name in ("route", "token", "provider", "chain")}
    if any(len(each) > MAX_CHARACTERS for each in names.values()):
        raise Http404("This is too long.")
    for name in ("route", "token"):
        if names[name]:
            return of(name, *names[name].split("/"))
    if names["provider"]:
        level = Level.PROVIDER_ON_CHAIN if names["chain"] else Level.PROVIDER
        return ScopeName(level, names["provider"], names["chain"])
    return ScopeName(Level.CHAIN, "", names["chain"]) if names["chain"] else EVERYTHING
