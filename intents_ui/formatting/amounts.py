"""Amounts as text, never through a float. Pages show them rounded, half up, with every digit on hover."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce

from intents_ui.formatting import text
from intents_ui.formatting.text import UNKNOWN, Figure

BASE_UNITS = "base units"
# uint256 has 78 digits, so with more than 77 decimals no amount could reach one token.
MAX_DECIMALS = 77
SIGNIFICANT = 6
# What is less than a millionth of a token.
DUST = "<0.000001"
CENT = Decimal("0.01")
SMALLEST_PERCENT = Decimal("0.0001")
TENTHS = 1000  # of a percent, in a whole
EN_DASH = "\u2013"
# Figures have at most 80 digits and exponents within ±90, so no sum of a list needs more.
EXACT = Context(prec=1000, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount. `short` is for pages, `full` is exact and ungrouped for copying, `base_units` is the value
    received.

    `warning` describes what is suspicious about the token's name. Sentences include it. Next to the token's tags, use
    `figure`.
    """

    short: str
    full: str
    base_units: str
    unit: str = ""
    exact: bool = True
    warning: str = ""

    def __str__(self) -> str:
        return self._with_warning(self.figure)

    @property
    def figure(self) -> str:
        return f"{self.short} {self.unit}".rstrip()

    @property
    def in_words(self) -> Figure:
        """Return the amount for a sentence."""
        return Figure(str(self), self.in_full)

    @property
    def without_warning(self) -> Figure:
        return replace(self, warning="").in_words

    @property
    def in_full(self) -> str:
        """Return every digit: `4,994.422345 USDC`."""
        number = self.short if self.exact else f"{Decimal(self.full):,f}"
        return self._with_warning(f"{number} {self.unit}".rstrip())

    def _with_warning(self, written: str) -> str:
        return f"{written} ({self.warning})" if self.warning else written


def amount(value: int | None, *, decimals: int | None, symbol: str | None = None) -> Amount:
    """Return an amount of base units, which it stays in without usable `decimals`. `symbol` is untrusted."""
    unit = text.symbol(symbol).shown if symbol else ""
    if value is None:
        return Amount(UNKNOWN, "", "", unit)
    if decimals is None or not 0 <= decimals <= MAX_DECIMALS:
        return Amount(f"{value:,}", str(value), str(value), f"{BASE_UNITS} of {unit}" if unit else BASE_UNITS)
    full = plain(value, decimals=decimals)
    if 0 < value * 10**6 < 10**decimals:
        return Amount(DUST, full, str(value), unit, exact=False)
    short = rounded(value, decimals=decimals)
    return Amount(short, full, str(value), unit, exact=Decimal(short.replace(",", "")) == Decimal(full))


def plain(value: int, *, decimals: int) -> str:
    """Return every digit, ungrouped: `1247.912345`, `0.000000000000000001`, `5`."""
    whole, rest = divmod(abs(value), 10**decimals)
    fraction = str(rest).zfill(decimals).rstrip("0") if rest else ""
    return f"{'-' if value < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"


def rounded(value: int, *, decimals: int) -> str:
    """Return `1,247.91`, `0.50` or `0.0804`: six significant digits, half up, and at least two decimals. It is never
    0 for another value.
    """
    units = abs(value)
    before_point = len(str(units)) - decimals if units else 0
    least = min(2, decimals)
    kept = max(SIGNIFICANT - before_point, least if before_point > 0 else 0)
    if kept < decimals:
        dropped = 10 ** (decimals - kept)
        units, decimals = (2 * units + dropped) // (2 * dropped), kept
    whole, rest = divmod(units, 10**decimals)
    fraction = str(rest).zfill(decimals).rstrip("0") if rest else ""
    fraction = fraction.ljust(least if units else 0, "0")
    return f"{'-' if value < 0 else ''}{whole:,}{'.' if fraction else ''}{fraction}"


def usd(value: Decimal | None) -> str:
    """Return `$5,000.12`, `<$0.01` or `—`: cents, half up."""
    if value is None:
        return UNKNOWN
    sign, near = "-" if value < 0 else "", EXACT.quantize(value.copy_abs(), CENT)
    return f"{sign}<$0.01" if value and not near else f"{sign}${near:,f}"


def fee(value: Decimal | None) -> Figure:
    """Return `$5.52742` or `$0.0312346`: rounded like amounts of tokens, because a fee is often less than a cent."""
    if value is None:
        return Figure(UNKNOWN, UNKNOWN)
    decimals = max(0, -int(value.as_tuple().exponent))
    whole, _, digits = rounded(int(value.copy_abs().scaleb(decimals, EXACT)), decimals=decimals).partition(".")
    return Figure(f"{'-' if value < 0 else ''}${whole}.{digits.ljust(2, '0')}", usd_full(value))


def usd_full(value: Decimal | None) -> str:
    """Return every digit received, without an exponent: `$0.0000000000000031`."""
    if value is None:
        return UNKNOWN
    sign = "-" if value < 0 else ""
    whole, _, digits = f"{value.copy_abs():f}".partition(".")
    return f"{sign}${whole}.{digits.ljust(2, '0')}"


def total(values: Iterable[Decimal]) -> Decimal:
    """Return the exact sum. Default Decimal arithmetic would round it to 28 digits."""
    return reduce(EXACT.add, values, Decimal(0))


def percent(value: Decimal | None) -> str:
    """Format a value that is already in percent (priceImpact): `-0.31` is `-0.31%`."""
    return UNKNOWN if value is None else f"{points(value)}%"


def points(value: Decimal) -> str:
    """Return the same without the sign."""
    if 0 < abs(value) < SMALLEST_PERCENT:
        return f"{'-' if value < 0 else ''}<{SMALLEST_PERCENT}"
    return number(Decimal(f"{value:.4f}"))


def fraction(value: Decimal | None) -> str:
    """Format a fraction of one (slippageTolerance, maxSlippage) as percent: `0.005` is `0.5%`."""
    return UNKNOWN if value is None else percent(value.scaleb(2, EXACT))


def number(value: Decimal | int) -> str:
    """Format any number, grouped, without an exponent or trailing zeros."""
    digits = f"{value:,f}" if isinstance(value, Decimal) else f"{value:,}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits


# Shares, of which only all is 100%, and only nothing is 0%


def share(part: int, whole: int) -> str:
    """Return `98.0%`. `whole` is at least 1."""
    if part in (0, whole):
        return "100%" if part else "0%"
    return _tenths(min(max((2 * TENTHS * part + whole) // (2 * whole), 1), TENTHS - 1)) + "%"


def shares_between(low: float, high: float) -> str:
    """Return `97.1 to 98.7%` with an en dash, for two shares from 0 to 1. It is rounded outward."""
    return f"{_tenths(math.floor(low * TENTHS))}{EN_DASH}{_tenths(math.ceil(high * TENTHS))}%"


def of_hundred(share: float) -> str:
    """Return `2 of 100`, `1 of 500` or `almost none` for a share from 0 to 1."""
    if share >= 0.01:
        return f"{round(100 * share)} of 100"
    return f"1 of {round(1 / share, -2):,.0f}" if share >= 1e-4 else "almost none"


def _tenths(count: int) -> str:
    return f"{count // 10}.{count % 10}" if count not in (0, TENTHS) else str(count // 10)
