"""Route queries as parsed and written, and their results in words."""

from collections.abc import Sequence
from typing import Any

import pytest

from intents_ui.catalog import routes
from intents_ui.catalog.routes import RouteDirection, RouteQuery
from intents_ui.search.filters import Parsed
from intents_ui.service.errors import ServiceError, Unreachable
from intents_ui.service.models import ChainInfo, TokenInfo, TokensAnswer
from intents_ui.transfers.statuses import Tone
from tests.transfers.builders import named

NATIVE = "0x" + "0" * 40
ALIAS = "0x" + "Ee" * 20
ONE, OTHER, THIRD = ("0x" + digit * 40 for digit in "123")


def token(chain_id: int, address: str, symbol: str, *, featured: bool = True) -> TokenInfo:
    return TokenInfo(chain_id=chain_id, address=address, symbol=symbol, name=f"{symbol} token", featured=featured)


class Lists:
    """Two chains and a testnet. Two featured tokens of the second chain have the same symbol."""

    known = (
        ChainInfo(id=1, name="Alpha", is_testnet=False),
        ChainInfo(id=2, name="Beta", is_testnet=False),
        ChainInfo(id=3, name="Beta test", is_testnet=True),
    )
    listed = (
        token(1, NATIVE, "ETH"),
        token(1, ONE, "USDC"),
        token(1, OTHER, "ARB", featured=False),
        token(2, NATIVE, "ETH"),
        token(2, ONE, "USDC"),
        token(2, OTHER, "usdc"),
        token(2, THIRD, "0x12"),
        token(3, NATIVE, "ETH"),
    )

    def chains(self) -> Sequence[ChainInfo]:
        return self.known

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return next((chain for chain in self.known if chain.id == chain_id), None)

    def tokens(self, chain_id: int | None) -> Sequence[TokenInfo]:
        return [each for each in self.listed if each.chain_id == chain_id]

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return next((each for each in self.tokens(chain_id) if each.address == address), None)

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return self.token(chain_id, address) is not None

    derived = None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return tuple(each for each in self.listed if each.featured and chain_id in (None, each.chain_id))


LISTS = Lists()


def read(using: Lists = LISTS, **written: str) -> Parsed[RouteQuery]:
    return routes.read({name.rstrip("_"): [value] for name, value in written.items()}, using=using)


FROM = RouteQuery(1, NATIVE)
TO = RouteQuery(destination=2, wanted=ONE)
BOTH = RouteQuery(1, NATIVE, 2, ONE)


@pytest.mark.parametrize(
    ("written", "question", "kind"),
    named(
        ("nothing", {}, RouteQuery(), RouteDirection.NOTHING),
        ("origin", {"from_": "1", "token": "eth"}, FROM, RouteDirection.RECEIVE),
        ("destination, with blanks", {"to": " BETA ", "for": f" {ONE[2:]} "}, TO, RouteDirection.PAY),
        ("both", {"from_": "1", "token": ALIAS, "to": "2", "for": ONE.upper()}, BOTH, RouteDirection.ONE),
        (
            "the same",
            {"from_": "1", "token": "ETH", "to": "1", "for": ALIAS},
            RouteQuery(1, NATIVE, 1, NATIVE),
            RouteDirection.SAME,
        ),
    ),
)
def test_a_route_query_has_one_canonical_form(
    written: dict[str, str], question: RouteQuery, kind: RouteDirection
) -> None:
    asked = read(**written)
    assert asked.problems == {}
    assert (asked.filters, asked.filters.kind) == (question, kind)
    again = {name: [value] for name, value in (pair.split("=") for pair in question.query.split("&") if pair)}
    assert routes.read(again, using=LISTS).filters == question


SEVERAL = "Several featured tokens on Beta have the symbol USDC. Select one."
NOT_FEATURED = "ARB is listed but not featured on Alpha. Enter its address."
NO_SYMBOL = "No token on Alpha has the symbol XYZ. Enter a token address or a featured token's symbol."


@pytest.mark.parametrize(
    ("side", "name", "symbol", "said", "meant"),
    [
        ({"to": "2"}, "for", "USDC", SEVERAL, [ONE, OTHER]),
        ({"from_": "1"}, "token", "ARB", NOT_FEATURED, [OTHER]),
        ({"from_": "1"}, "token", "XYZ", NO_SYMBOL, []),
    ],
    ids=["two of a name", "not featured", "unknown"],
)
def test_a_symbol_that_is_not_one_token_is_explained(
    side: dict[str, str], name: str, symbol: str, said: str, meant: list[str]
) -> None:
    asked = read(**side, **{name: symbol})
    assert asked.problems == {name: said}
    assert [token.address for token, _ in routes.side(name, asked, using=LISTS).choices] == meant


def test_a_selected_token_carries_over_to_its_counterpart_on_another_chain() -> None:
    options = routes.options(LISTS.tokens(2), "ETH")
    assert [(value, is_chosen) for value, _, is_chosen in options] == [
        ("ETH", True),
        (ONE, False),
        (OTHER, False),
        (THIRD, False),
    ]
    for value, _, _ in options:
        assert read(to="2", **{"for": value}).problems == {}


def answer(*named: tuple[int, str], broken: int = 0) -> TokensAnswer:
    entries: list[Any] = [{"chainId": chain_id, "address": address} for chain_id, address in named]
    return TokensAnswer.model_validate({"tokens": [*entries, *["?"] * broken]})


HIT, BACK, MISS = answer((2, ONE)), answer((1, ALIAS)), answer((2, OTHER))
NONE, BROKEN, LOST = answer(), answer(broken=1), Unreachable()
WAY = "from ETH on Alpha to USDC on Beta"


@pytest.mark.parametrize(
    ("received", "paid", "headline", "tone"),
    [
        (HIT, BACK, f"Yes: a route {WAY}", Tone.GOOD),
        (NONE, NONE, f"No listed route {WAY}", Tone.NEUTRAL),
        (HIT, NONE, f"Yes, to spend an exact amount: a route {WAY}", Tone.GOOD),
        (NONE, BACK, f"Yes, to receive an exact amount: a route {WAY}", Tone.GOOD),
        (HIT, LOST, f"Yes: a route {WAY}", Tone.GOOD),
        (MISS, NONE, f"Possibly: the service listed other tokens for a route {WAY}", Tone.ATTENTION),
        (BROKEN, NONE, f"Unknown: couldn't check for a route {WAY}", Tone.ATTENTION),
    ],
)
def test_two_responses_make_one_sentence(
    received: TokensAnswer | ServiceError, paid: TokensAnswer | ServiceError, headline: str, tone: Tone
) -> None:
    one = routes.checked(BOTH, received, paid, using=LISTS)
    assert one.headline.startswith(headline)
    assert one.tone is tone


def test_groups_follow_the_order_of_chains_and_list_each_token_once() -> None:
    named = answer((9, ONE), (2, ONE), (1, OTHER), (2, NATIVE), (2, ALIAS), (2, ONE.upper().replace("0X", "0x")))
    groups = routes.grouped(FROM, named, using=LISTS).groups
    assert [(group.chain, group.count, group.is_known) for group in groups] == [
        ("Alpha", 1, True),
        ("Beta", 2, True),
        ("Chain 9", 1, False),
    ]
    assert [token.address for token in groups[1].tokens] == [ONE, NATIVE]
    assert FROM.with_other(2, ONE) == BOTH
