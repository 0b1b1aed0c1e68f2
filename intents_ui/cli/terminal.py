"""Text for terminals. All of it passes through `printable`, because symbols and reasons are text of strangers."""

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TextIO

from intents_ui.cli.answers import Transfer
from intents_ui.cli.client import Problem
from intents_ui.display.formatting.text import bare, visible

GAP: Final = "  "
CLEAR_LINE: Final = "\r\x1b[K"
COLUMNS: Final = ("Status", "Sent", "Received", "Created", "Intent ID")
SECOND_DEPOSIT: Final = "Do not deposit again for this transfer."


def printable(line: str) -> str:
    """Return a line without control characters and bidi controls. They become visible, as `⟨U+001B⟩`."""
    return visible(bare(line))


def show(lines: Iterable[str], to: TextIO | None = None) -> None:
    for line in lines:
        print(printable(line), file=to or sys.stdout)


def show_json(found: object) -> None:
    """Print JSON in ASCII, in which every control character is escaped."""
    print(json.dumps(found, indent=2))


def show_problem(problem: Problem) -> None:
    reference = f"Request ID: {problem.request_id}" if problem.request_id else ""
    clear_progress()
    show((each for each in (f"intents-ui: {problem.detail}", problem.todo, reference) if each), to=sys.stderr)


def progress(line: str) -> None:
    """Replace the line of progress, if there is a terminal for it."""
    if sys.stderr.isatty():
        print(f"{CLEAR_LINE}{printable(line)}", end="", file=sys.stderr, flush=True)


def clear_progress() -> None:
    progress("")


def card(transfer: Transfer) -> Iterator[str]:
    """Yield what happened, where the funds are and what to do next."""
    yield transfer.state
    facts = (
        ("Where the funds are", transfer.location),
        ("Next step", transfer.next_step),
        ("Important", SECOND_DEPOSIT if transfer.warn_second_deposit else None),
        ("Certainty", transfer.certainty),
        ("Known incident", transfer.incident),
        ("Sent", transfer.sent),
        ("Received", transfer.received),
        ("Refunded", transfer.refunded),
        ("Created", transfer.created_at),
        ("Last updated", transfer.as_of),
        ("Intent ID", transfer.intent_id),
        ("Page", transfer.url),
    )
    yield from record([(label, value) for label, value in facts if value])


def transfers(found: Sequence[Transfer]) -> Iterator[str]:
    rows = [(each.state, each.sent, each.received, each.created_at or "", each.intent_id) for each in found]
    return table(COLUMNS, rows, width=shutil.get_terminal_size().columns)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, width: int) -> Iterator[str]:
    """Yield a table, or a record for each row if the table is wider than the terminal."""
    lines = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(width_of, cells)) for cells in zip(*lines, strict=True)]
    if sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        for line in lines:
            yield GAP.join(padded(cell, to) for cell, to in zip(line, widths, strict=True)).rstrip()
        return
    for number, row in enumerate(rows):
        if number:
            yield ""
        yield from record(list(zip(head, row, strict=True)))


def record(fields: Sequence[tuple[str, str]]) -> Iterator[str]:
    to = max(width_of(label) for label, _ in fields)
    for label, value in fields:
        yield f"{padded(label, to)}{GAP}{value}"


def padded(cell: str, to: int) -> str:
    return cell + " " * (to - width_of(cell))


def width_of(cell: str) -> int:
    """Return how many columns of a terminal a text takes: two for wide characters, none for combining marks."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in cell
    )
