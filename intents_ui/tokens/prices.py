"""The service's USD price of one whole token."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from intents_ui.formatting import amounts
from intents_ui.service.models import ChainInfo
from intents_ui.service.results import Price

SIGNIFICANT = 4  # digits of a price below one dollar
SMALLEST = Decimal("1e-12")


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
    return PriceText(per_token(price.usd), amounts.usd_full(price.usd), price.at, is_price=True)


def per_token(usd: Decimal) -> str:
    """Return `$3,100.00`, `$1.0003`, `$0.9998` or `$0.00001234`: cents, and more digits below $1,000 if they matter."""
    sign, value = ("-" if usd < 0 else ""), usd.copy_abs()
    if 0 < value < SMALLEST:
        return f"{sign}<${SMALLEST:f}"
    if value >= 1000 or not value:
        return f"{sign}${value:,.2f}"
    places = SIGNIFICANT if value >= 1 else SIGNIFICANT - 1 - value.adjusted()
    whole, _, digits = f"{value:,.{places}f}".partition(".")
    return f"{sign}${whole}.{digits.rstrip('0').ljust(2, '0')}"
