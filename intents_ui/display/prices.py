"""The service's USD price of one whole token."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from intents_ui.display import amounts
from intents_ui.service.prices import Price
from intents_ui.service.wire import ChainInfo

SIGNIFICANT = 4  # digits of a price below one dollar
SMALLEST = Decimal("1e-12")


@dataclass(frozen=True)
class Told:
    """`shown` is for the page, `full` has every digit. `at`: as of when, None where nobody says."""

    shown: str
    full: str = ""
    at: datetime | None = None
    is_price: bool = False

    @property
    def is_testnet(self) -> bool:
        return self.shown == TESTNET


# Nobody knows what it is worth: that is not nothing.
NONE = "no price"
UNKNOWN = "not known"
# The service prices a testnet's tokens like their namesakes, which is what they are not worth.
TESTNET = "no value (testnet)"


def told(price: Price | None, *, chain: ChainInfo | None) -> Told:
    """Return the price in words; None: the price request failed."""
    if chain and chain.is_testnet:
        return Told(TESTNET)
    if price is None:
        return Told(UNKNOWN)
    if price.usd is None:
        return Told(NONE, at=price.at)
    return Told(per_token(price.usd), amounts.usd_full(price.usd), price.at, is_price=True)


def per_token(usd: Decimal) -> str:
    """`$3,100.00`, `$1.0003`, `$0.9998`, `$0.00001234`: cents, and below $1,000 more digits where they say more."""
    sign, value = ("-" if usd < 0 else ""), usd.copy_abs()
    if 0 < value < SMALLEST:
        return f"{sign}<${SMALLEST:f}"
    if value >= 1000 or not value:
        return f"{sign}${value:,.2f}"
    places = SIGNIFICANT if value >= 1 else SIGNIFICANT - 1 - value.adjusted()
    whole, _, digits = f"{value:,.{places}f}".partition(".")
    return f"{sign}${whole}.{digits.rstrip('0').ljust(2, '0')}"
