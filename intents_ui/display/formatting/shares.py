"""Percentages. Only all of a whole is 100%, and only nothing of it is 0%."""

import math

DECIMALS = 1000  # tenths of a percent
EN_DASH = "\u2013"


def percent(part: int, whole: int) -> str:
    """Return `98.0%`. `whole` is at least 1."""
    if part in (0, whole):
        return "100%" if part else "0%"
    return _written(min(max((2 * DECIMALS * part + whole) // (2 * whole), 1), DECIMALS - 1)) + "%"


def interval(low: float, high: float) -> str:
    """Return `97.1 to 98.7%` with an en dash, for two shares from 0 to 1. It is rounded outward."""
    return f"{_written(math.floor(low * DECIMALS))}{EN_DASH}{_written(math.ceil(high * DECIMALS))}%"


def of_hundred(share: float) -> str:
    """Return `2 of 100`, `1 of 500` or `none` for a share from 0 to 1."""
    if share >= 0.01:
        return f"{round(100 * share)} of 100"
    return f"1 of {round(1 / share, -2):,.0f}" if share >= 1e-4 else "almost none"


def _written(tenths: int) -> str:
    return f"{tenths // 10}.{tenths % 10}" if tenths not in (0, DECIMALS) else str(tenths // 10)
