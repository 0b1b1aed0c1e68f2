"""Operations about what the service supports: chains, tokens, routes."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Field, Query, Schema

from intents_ui import app
from intents_ui.api import models
from intents_ui.api.models import optional
from intents_ui.api.transfers import invalid
from intents_ui.catalog import chains, routes, tokens
from intents_ui.catalog.routes import RouteDirection, listed_routes, one_route
from intents_ui.catalog.tokens import TokenRow
from intents_ui.http import client_ip, cursors, failures
from intents_ui.service.results import Price
from intents_ui.web import links

LARGEST_PLACE: Final = 10**6
TWO_SIDES: Final = "Set the chain and the token of at least one side: `from` and `token`, or `to` and `for`."
SAME: Final = "It is the same token as `token`."


def list_chains(request: HttpRequest) -> HttpResponse:
    """List the supported chains."""
    listed, root = app.current().catalog.listed_chains(), client_ip.root(request)
    shown = [_chain(chains.of(each), root=root) for each in listed.entries]
    return models.ApiChains(chains=shown, unreadable=listed.unreadable).response()


def _chain(chain: chains.Chain, *, root: str) -> models.ApiChain:
    url = f"{root}{reverse('chain', args=[chain.id])}"
    return models.ApiChain.of(chain, chain_id=chain.id, url=url, explorer=chain.explorer_link)


class TokenListFilters(Schema):
    """Filters of the token list, as in the URLs of its pages."""

    q: str | None = optional("Symbol, name or address", "USDC")
    chain: list[str] | None = optional("IDs or names of chains. None: all", ["8453"])
    show: str | None = optional("`featured`, `listed` or `external`", "listed")
    limit: str | None = optional("Tokens of each chain, 1 to 1000", "25")
    without: list[str] | None = optional("Addresses to leave out", [models.ADDRESS])
    after: int = Field(0, ge=0, le=LARGEST_PLACE, description="Tokens to skip, from `next`", examples=[100])


def list_tokens(request: HttpRequest, given: Query[TokenListFilters]) -> HttpResponse:
    """List the tokens of the service, or search them."""
    parsed = tokens.read(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return invalid(request, parsed)
    found, rows, known = tokens.batch(parsed.filters, after=given.after)
    end, root = given.after + len(rows), client_ip.root(request)
    following = "&".join(part for part in (parsed.filters.query, f"after={end}") if part)
    return models.ApiTokens(
        tokens=[_token(row, price=known.get(row.where), root=root) for row in rows],
        total=len(found.tokens),
        next=f"{root}{cursors.address(request.path, query=following)}" if end < len(found.tokens) else None,
        failed_chains=list(found.found.failed),
    ).response()


def _token(row: TokenRow, *, price: Price | None, root: str) -> models.ApiListedToken:
    chain = app.current().catalog.chain(row.token.chain_id)
    path = links.token_path(row.token)
    is_priced = price is not None and price.usd is not None and not (chain and chain.is_testnet)
    return models.ApiListedToken.of(
        row.token,
        warnings=row.token.marks,
        standing=row.standing,
        url=f"{root}{path}" if path else None,
        usd=f"{price.usd:f}" if price and is_priced else None,
    )


class RouteFilters(Schema):
    """The two sides of a route, as in the URLs of its page. A token needs the chain that it is on."""

    origin: str | None = optional("ID or name of the origin chain", "8453", alias="from")
    token: str | None = optional("Address of the origin token, or a featured token's symbol", "USDC")
    destination: str | None = optional("ID or name of the destination chain", "42161", alias="to")
    for_token: str | None = optional(
        "Address of the destination token, or a featured token's symbol", "USDC", alias="for"
    )
    owner: str | None = optional("Only from tokens that this address holds", models.ADDRESS)


def list_routes(request: HttpRequest, given: Query[RouteFilters]) -> HttpResponse:
    """List the routes from a token, those to one, or check the one between two."""
    parsed = routes.read(dict(request.GET.lists()))
    if parsed.problems:
        return invalid(request, parsed)
    question, path = parsed.filters, f"{client_ip.root(request)}{request.path}"
    match question.kind:
        case RouteDirection.NOTHING | RouteDirection.CHAIN:
            return failures.invalid_fields(request, {"token": TWO_SIDES})
        case RouteDirection.SAME:
            return failures.invalid_fields(request, {"for": SAME})
        case RouteDirection.ONE:
            found = one_route(question)
        case _:
            found = listed_routes(question.with_(show="all" if question.restriction else None))
    shown = [
        models.ApiRouteChain.of(
            each, all=cursors.address(path, query=found.question.with_other(each.chain_id).query) if each.more else None
        )
        for each in found.groups
    ]
    return models.ApiRoutes.of(found, chains=shown).response()
