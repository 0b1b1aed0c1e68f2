"""CSV cells and lines (RFC 4180) that spreadsheets never interpret as formulas."""

import csv
import io
from collections.abc import Iterable

from intents_ui.display.formatting.text import bare, visible

# Characters that start a formula in spreadsheets, full-width forms in Japanese ones. Some programs drop blank ones and
# NUL, so that the next character comes first.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001


def cell(text: str) -> str:
    """Return the text with hidden characters made visible, without our direction marks, and with `'` before a
    formula.
    """
    shown = visible(bare(text), lines=True)
    starts = (text, shown, shown.lstrip())  # spreadsheets skip blanks before a formula
    return f"'{shown}" if any(each.startswith(FORMULA) for each in starts) else shown


def line(cells: Iterable[str]) -> str:
    """Return a record with its line break. Quotes cells where needed. Cells must come from `cell`."""
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue()
