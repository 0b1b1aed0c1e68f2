"""Cells and lines of a CSV file (RFC 4180) that a spreadsheet reads as text, whatever strangers wrote into them."""

import csv
import io
from collections.abc import Iterable

# What makes a spreadsheet take a cell for a formula; the full-width forms do in Japanese ones. Those that are blank or
# NUL are dropped by some programs, and the next character is then the first.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001


def cell(text: str) -> str:
    """The text, with `'` in front of what would be a formula: a spreadsheet shows it as it was written."""
    return f"'{text}" if text.startswith(FORMULA) else text


def line(cells: Iterable[str]) -> str:
    """One record with its line break; a cell is quoted where it has to be. Cells are given as `cell` makes them."""
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue()
