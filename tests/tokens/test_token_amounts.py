"""Decimals: the token list counts, and a contradiction is visible wherever the amount is."""

import pytest

from intents_ui.service.models import ChainInfo, NativeCurrency, TokenInfo, TokenMetadata
from intents_ui.tokens import token_amounts
from intents_ui.tokens.token_amounts import Money
from tests.transfers import builders
from tests.transfers.builders import ARBITRUM, USDC

NATIVE, ALIAS = "0x" + "0" * 40, "0x" + "e" * 40
UNITS = 100_000_000
SIX, EIGHTEEN = 6, 18


class Listed(builders.Catalogue):
    """Arbitrum with USDC on its token list, and a native token."""

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return ChainInfo(id=ARBITRUM, name="Arbitrum", native_currency=NativeCurrency(symbol="ETH", decimals=EIGHTEEN))

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return TokenInfo(chain_id=ARBITRUM, address=USDC, symbol="USDC", decimals=SIX) if address == USDC else None


LISTED = Listed()


def money(address: str, *, described: int | None = None, came: int | None = None, value: int | None = UNITS) -> Money:
    """Return an amount with the decimals of its description and those that came with it."""
    symbol = "USDC" if address == USDC else "ETH"
    stated = TokenMetadata(chain_id=ARBITRUM, token_address=address, symbol=symbol, decimals=described)
    return Money(value, ARBITRUM, address, stated, came, names=LISTED)


DIFFERENT = [
    *(pytest.param(money(USDC, described=each), SIX, id=f"USDC described with {each}") for each in (0, 8, 18)),
    *(pytest.param(money(USDC, came=each), SIX, id=f"USDC that came with {each}") for each in (0, 8, 18)),
    *(pytest.param(money(NATIVE, described=each), EIGHTEEN, id=f"ETH described with {each}") for each in (0, 6, 8)),
    pytest.param(money(ALIAS, described=6), EIGHTEEN, id="ETH at its other address"),
    pytest.param(money(USDC, described=SIX, came=8), SIX, id="one of two"),
]


@pytest.mark.parametrize(("money", "decimals"), DIFFERENT)
def test_where_sources_disagree_the_list_counts_and_the_amount_says_so(money: Money, decimals: int) -> None:
    right = Money(UNITS, ARBITRUM, money.token_address, own_decimals=decimals, names=LISTED).amount
    amount = money.amount
    assert money.token.decimals == decimals
    assert amount.full == right.full
    assert amount.warning.startswith(f"{token_amounts.DECIMALS}, 100,000,000 base units: 0x")
    assert [mark.word for mark in money.token.marks] == [token_amounts.DECIMALS]
    assert "100,000,000 base units" in money.token.marks[0].reason


@pytest.mark.parametrize(
    "money",
    [
        pytest.param(money(USDC), id="only the list"),
        pytest.param(money(USDC, described=SIX, came=SIX), id="all the same"),
        pytest.param(money(NATIVE, described=EIGHTEEN), id="native"),
        pytest.param(money("0x" + "5a" * 20, described=8), id="no list"),
    ],
)
def test_where_sources_agree_there_is_no_warning_of_decimals(money: Money) -> None:
    assert token_amounts.DECIMALS not in [mark.word for mark in money.token.marks]


def test_a_token_without_an_amount_has_the_warning_without_a_number() -> None:
    (mark,) = money(USDC, described=8, value=None).token.marks
    assert mark.units == ""
    assert mark.reason == ("The service states 6 and 8 decimals for this token. Amounts are shown with 6.")


def test_decimals_of_an_asked_deposit_in_another_token_do_not_count() -> None:
    asked = {"chainId": ARBITRUM, "tokenAddress": "0x" + "5a" * 20, "decimals": 18, "amount": "1"}
    transfer = builders.at(builders.intent(deposit_transaction=asked), builders.receipt(), names=LISTED)
    assert transfer.requested.token.marks == ()
