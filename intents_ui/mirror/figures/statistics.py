"""Shares with their uncertainty."""

import math
from dataclasses import dataclass

LEAST = 20  # ended transfers for a percentage
Z = 1.959963984540054  # of a 95% interval


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, from 0 to 1, with its 95% Wilson interval."""

    part: int
    whole: int
    value: float
    low: float
    high: float


def share(part: int, whole: int) -> Share | None:
    """Return a part of a whole, or None if the whole is too small for a percentage."""
    if whole < LEAST:
        return None
    value = part / whole
    spread = Z * math.sqrt(value * (1 - value) / whole + Z * Z / (4 * whole * whole))
    middle, scale = value + Z * Z / (2 * whole), 1 + Z * Z / whole
    low = 0.0 if part == 0 else (middle - spread) / scale
    high = 1.0 if part == whole else (middle + spread) / scale
    return Share(part, whole, value, low, high)
