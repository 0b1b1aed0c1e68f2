"""Answers about chains, tokens and routes."""

from pydantic import Field

from intents_ui.api.models import ApiModel, ApiToken, one_of
from intents_ui.display.routes.results import Verdict
from intents_ui.display.tokens.chains import Network


class ApiChain(ApiModel):
    """A chain that the service lists."""

    chain_id: int = Field(description="The chain's ID", examples=[8453])
    name: str = Field(description="The chain's name", examples=["Base"])
    url: str = Field(description="Its page", examples=["https://intents.example/chain/8453"])
    network: str = Field(description=one_of(Network), examples=["mainnet"])
    native_symbol: str = Field(description="Symbol of its native token", examples=["ETH"])
    native_decimals: int | None = Field(description="Decimals of its native token", examples=[18])
    bridges: bool | None = Field(description="Whether the service bridges to and from it", examples=[True])
    explorer: str | None = Field(description="URL of its block explorer", examples=["https://basescan.org"])


class ApiChains(ApiModel):
    """All chains that the service lists, in its order."""

    chains: tuple[ApiChain, ...] = Field(description="The chains")
    unreadable: int = Field(description="Chains that could not be read and are missing here", examples=[0])


class ApiListedToken(ApiToken):
    """A token that the service lists."""

    name: str = Field(description="The token's name, as it names itself", examples=["USD Coin"])
    standing: str = Field(description="How far the service vouches for it", examples=["Featured"])
    url: str | None = Field(
        description="Its page, if it has one",
        examples=["https://intents.example/token/8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"],
    )
    usd: str | None = Field(description="Price in US dollars", examples=["0.9998"])


class ApiTokens(ApiModel):
    """Tokens that match, the best first. `next` is the URL of more."""

    tokens: tuple[ApiListedToken, ...] = Field(description="The tokens, at most 100")
    total: int = Field(description="How many match", examples=[412])
    next: str | None = Field(
        description="URL of the next page, null on the last one",
        examples=["https://intents.example/api/v1/tokens?q=USDC&after=100"],
    )
    failed_chains: tuple[int, ...] = Field(description="Chains whose tokens could not be loaded", examples=[[]])


class ApiRouteChain(ApiModel):
    """Tokens of a chain with a route. `all` is the URL that lists all of them, if some are missing here."""

    chain_id: int = Field(description="The chain's ID", examples=[42161])
    chain: str = Field(description="The chain's name", examples=["Arbitrum One"])
    count: int = Field(description="How many tokens have a route", examples=[31])
    tokens: tuple[ApiToken, ...] = Field(description="The first of them")
    all: str | None = Field(
        description="URL that lists all of them, null if they are all here",
        examples=[None, "https://intents.example/api/v1/routes?from=8453&token=USDC&to=42161"],
    )


class ApiRouteCheck(ApiModel):
    """What one operation of the service says of a route."""

    operation: str = Field(description="Name of the operation", examples=["GetExactInputRoutes"])
    purpose: str = Field(description="What it is for", examples=["to spend an exact amount"])
    verdict: str = Field(description=one_of(Verdict), examples=["listed"])


class ApiRoutes(ApiModel):
    """Routes from a token, those to one, or whether there is one between two. A listed route isn't guaranteed."""

    headline: str = Field(description="The answer in a sentence", examples=["31 tokens on 4 chains reachable"])
    explanation: str = Field(description="What it can't mean", examples=["Request a quote to confirm a route."])
    chains: tuple[ApiRouteChain, ...] = Field(description="Tokens by chain. Empty for a route between two tokens")
    checks: tuple[ApiRouteCheck, ...] = Field(description="For a route between two tokens")
    unreadable: int = Field(description="Tokens that could not be read and are missing here", examples=[0])
