"""Names and addresses of what figures are of."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404
from django.urls import reverse

from intents_ui import wiring
from intents_ui.display.insight import scopes
from intents_ui.display.insight.scopes import NamedScope
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token

MOST_CHARACTERS = 500  # of a value in a query string
UNKNOWN = "-"  # in a URL, for a provider or a chain without a name
PLAIN = re.compile(r"(?!\.{1,2}$|-$)[\w .;:+~-]{1,200}", re.ASCII)  # what a URL can have between two slashes


@dataclass(frozen=True)
class LinkedScope:
    """A scope with its name. `path`: its page, None if no URL can name it."""

    scope: ScopeName
    named: NamedScope
    path: str | None


def linked(found: Iterable[ScopeName]) -> list[LinkedScope]:
    """Name scopes. The names of their chains are loaded together."""
    found = list(found)
    catalog = wiring.catalog()
    catalog.learn(number for each in found for number in scopes.chain_ids(_chains(each)))
    return [
        LinkedScope(
            each, scopes.named(each.level, each.providers, _chains(each), using=catalog, token=each.token), path(each)
        )
        for each in found
    ]


def path(scope: ScopeName) -> str | None:
    """Return the URL of a scope's page, or None if it can't have one."""
    match scope.level:
        case Level.SERVICE:
            return reverse("insight")
        case Level.PROVIDER:
            parts = [scope.providers]
        case Level.CHAIN:
            parts = [scope.origin_chain]
        case Level.TOKEN:
            parts = [scope.origin_chain, scope.token]
        case Level.ROUTE:
            parts = [part or UNKNOWN for part in scope.route]
    plain = all(part == UNKNOWN or PLAIN.fullmatch(part) for part in parts)
    is_unclear = UNKNOWN in scope
    return reverse(f"insight-{scope.level}", args=parts) if plain and all(parts) and not is_unclear else None


def route(providers: str, origin: str, destination: str) -> ScopeName:
    """Return the route that a URL names. Raises Http404 if it can't name one."""
    parts = ["" if part == UNKNOWN else part for part in (providers, origin, destination)]
    return checked(ScopeName(Level.ROUTE, *parts))


def checked(scope: ScopeName) -> ScopeName:
    """Return a scope that a URL names. Raises Http404 if it can't name this one."""
    if path(scope) is None:
        raise Http404("This is neither a route, a provider, a chain nor a token.")
    return scope


def read(given: Mapping[str, str]) -> ScopeName:
    """Return the scope that a query string names, by default all. Raises Http404 if it can't name one."""
    names = {name: given.get(name, "") for name in ("route", "token", "provider", "chain")}
    if any(len(each) > MOST_CHARACTERS for each in names.values()):
        raise Http404("This is too long.")
    if names["route"]:
        parts = names["route"].split("/")
        if len(parts) != len(RouteKey._fields):
            raise Http404("A route has three parts.")
        return route(*parts)
    if names["token"]:
        chain, _, address = names["token"].partition("/")
        return checked(scope_of_token(chain, address))
    if names["provider"]:
        return ScopeName(Level.PROVIDER, names["provider"], names["chain"])
    return ScopeName(Level.CHAIN, "", names["chain"]) if names["chain"] else EVERYTHING


def query(scope: ScopeName) -> dict[str, str]:
    """Return what a query string names a scope by."""
    match scope.level:
        case Level.ROUTE:
            return {"route": "/".join(part or UNKNOWN for part in scope.route)}
        case Level.TOKEN:
            return {"token": f"{scope.origin_chain}/{scope.token}"}
        case _:
            found = {"provider": scope.providers, "chain": scope.origin_chain}
            return {name: value for name, value in found.items() if value}


def list_path(scope: ScopeName, **given: object) -> str:
    """Return the URL of the list of a scope's transfers."""
    return f"{reverse('insight-transfers')}?{urlencode(query(scope) | given)}"


def _chains(scope: ScopeName) -> tuple[str, ...]:
    if scope == EVERYTHING or (scope.level is Level.PROVIDER and not scope.origin_chain):
        return ()
    return scope.route[1:] if scope.level is Level.ROUTE else (scope.origin_chain,)
