"""The service's USD price of one whole token."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from intents_ui.formatting import amounts
from intents_ui.service.models import ChainInfo
from intents_ui.service.results import Price


@dataclass(frozen=True)
class PriceText:
    """A price. `shown` is for pages, `full` has every digit. `at`: when it was read, None if unknown."""

    shown: str
    full: str = ""
    at: datetime | None = None
    is_price: bool = False

    @property
    def is_testnet(self) -> bool:
        return self.shown == TESTNET


SMALLEST = Decimal("1e-12")  # that is written out
# An unknown price isn't a price of 0.
NONE = "no price"
UNKNOWN = "not known"
# The service prices testnet tokens like their mainnet namesakes, but they have no value.
TESTNET = "no value (testnet)"


def told(price: Price | None, *, chain: ChainInfo | None) -> PriceText:
    """Return the price in words; None: the price request failed."""
    if chain and chain.is_testnet:
        return PriceText(TESTNET)
    if price is None:
        return PriceText(UNKNOWN)
    if price.usd is None:
        return PriceText(NONE, at=price.at)
    shown = f"<${SMALLEST:f}" if 0 < price.usd < SMALLEST else amounts.fee(price.usd)
    return PriceText(shown, amounts.usd_full(price.usd), price.at, is_price=True)
