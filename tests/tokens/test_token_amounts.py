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


DIFFERENT = {
    SIX: [money(USDC, **{stated: each}) for stated in ("described", "came") for each in (0, 8, 18)]
    + [money(USDC, described=SIX, came=8)],
    EIGHTEEN: [money(NATIVE, described=each) for each in (0, 6, 8)] + [money(ALIAS, described=6)],
}


@pytest.mark.parametrize("decimals", DIFFERENT)
def test_where_sources_disagree_the_list_counts_and_the_amount_says_so(decimals: int) -> None:
    for shown in DIFFERENT[decimals]:
        right = Money(UNITS, ARBITRUM, shown.token_address, own_decimals=decimals, names=LISTED).amount
        assert shown.token.decimals == decimals
        assert shown.amount.full == right.full
        assert shown.amount.warning.startswith(f"{token_amounts.DECIMALS}, 100,000,000 base units: 0x")
        assert [mark.word for mark in shown.token.marks] == [token_amounts.DECIMALS]
        assert "100,000,000 base units" in shown.token.marks[0].reason


def test_where_sources_agree_there_is_no_warning_of_decimals() -> None:
    alike = (money(USDC), money(USDC, described=SIX, came=SIX), money(NATIVE, described=EIGHTEEN))
    for shown in (*alike, money("0x" + "5a" * 20, described=8)):
        assert token_amounts.DECIMALS not in [mark.word for mark in shown.token.marks]


def test_a_token_without_an_amount_has_the_warning_without_a_number() -> None:
    (mark,) = money(USDC, described=8, value=None).token.marks
    assert mark.units == ""
    assert mark.reason == ("The service states 6 and 8 decimals for this token. Amounts are shown with 6.")


def test_decimals_of_an_asked_deposit_in_another_token_do_not_count() -> None:
    asked = {"chainId": ARBITRUM, "tokenAddress": "0x" + "5a" * 20, "decimals": 18, "amount": "1"}
    transfer = builders.at(builders.intent(deposit_transaction=asked), builders.receipt(), names=LISTED)
    assert transfer.requested.token.marks == ()
