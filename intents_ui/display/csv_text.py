"""Cells and lines of a CSV file (RFC 4180) that a spreadsheet reads as text, whatever strangers wrote into them."""

import csv
import io
from collections.abc import Iterable

from intents_ui.display.text import bare, visible

# What makes a spreadsheet take a cell for a formula; the full-width forms do in Japanese ones. Those that are blank or
# NUL are dropped by some programs, and the next character is then the first.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001


def cell(text: str) -> str:
    """The text without our direction marks, hidden characters made visible, and `'` in front of a would-be formula."""
    shown = visible(bare(text), lines=True)
    return f"'{shown}" if text.startswith(FORMULA) or shown.startswith(FORMULA) else shown


def line(cells: Iterable[str]) -> str:
    """One record with its line break; a cell is quoted where it has to be. Cells are given as `cell` makes them."""
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue()
