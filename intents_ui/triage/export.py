"""Triage results as text to copy: plain, Markdown and CSV, with the same content as the rows."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from intents_ui.formatting import text, times
from intents_ui.formatting.text import bare
from intents_ui.triage.rows import TriageOutcome, TriageRow

# Markup, mentions, HTML and links, wherever it is pasted.
MARKDOWN = re.compile(r"[\\`*_{}\[\]#~|!$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Singular and plural.
WORDS = {
    TriageOutcome.FOUND: ("found", "found"),
    TriageOutcome.TOKEN: ("token", "tokens"),
    TriageOutcome.NOTHING: ("not an identifier", "not identifiers"),
    TriageOutcome.UNKNOWN: ("not found", "not found"),
    TriageOutcome.UNCLEAR: ("to check", "to check"),
    TriageOutcome.POSSIBLE: ("possible match", "with possible matches"),
}
COLUMNS = (
    "Row",
    "Identifier",
    "Type",
    "Status",
    "Outcome",
    "Summary",
    "Details",
    "Where the funds are",
    "Next step",
    "Notes",
    "Links",
    "As of",
)
NOT_IN_A_TABLE = ("Outcome", "Notes", "As of")


def copies(rows: Sequence[TriageRow], *, root: str, now: datetime) -> tuple[tuple[str, str, str], ...]:
    """Return the name, use and text of each form. `root`: scheme and host of the links."""
    return (
        ("Plain text", "for a reply or a note", bare(plain(rows, root=root, now=now))),
        ("Markdown", "for an issue or a wiki", bare(markdown(rows, root=root, now=now))),
        ("CSV", "for a spreadsheet", comma_separated(rows, root=root)),
    )


def total(rows: Sequence[TriageRow]) -> str:
    """Return `All 50 identifiers resolved: 48 found, 2 not found.`"""
    failed = [row for row in rows if row.outcome is TriageOutcome.FAILED]
    answered = len(rows) - len(failed)
    if not failed:
        start = f"All {len(rows)} identifiers" if len(rows) > 1 else "1 identifier"
        return f"{start} resolved: {_counts(rows)}."
    why = ", ".join(dict.fromkeys(row.headline for row in failed))
    if not answered:
        start = f"0 of {len(rows)} identifiers" if len(rows) > 1 else "Identifier not"
        return f"{start} resolved: {why}."
    return f"{answered} of {len(rows)} identifiers resolved: {_counts(rows)}. The others failed: {why}."


def _counts(rows: Sequence[TriageRow]) -> str:
    counted = Counter(row.outcome for row in rows)
    return ", ".join(f"{counted[each]} {words[counted[each] > 1]}" for each, words in WORDS.items() if counted[each])


def cells(row: TriageRow, *, root: str) -> tuple[str, ...]:
    """Return the values of a row, in the order of COLUMNS."""
    return (
        str(row.number),
        row.value,
        row.what,
        row.status.word,
        row.transfer.outcome.value if row.transfer and not row.transfer.is_unread else "",
        row.headline,
        " ".join(line if line.endswith((".", ":")) else f"{line}." for line in row.details),
        f"{row.where} Address: {row.address}" if row.address else row.where,
        " ".join(filter(None, (row.next, row.turn, *(each.words for each in row.help if not each.url)))),
        " ".join(row.notes),
        " ".join([*(root + link.path for link in row.links), *(each.address for each in row.help if each.url)]),
        times.iso(row.at.replace(microsecond=0)),
    )


def plain(rows: Sequence[TriageRow], *, root: str, now: datetime) -> str:
    paragraphs = [_heading(rows, now=now)]
    for row in rows:
        links = [*(root + link.path for link in row.links), *(each.written for each in row.help if each.url)]
        paragraphs.append("\n   ".join([*lines(row, root=root), *links]))
    return "\n\n".join(paragraphs) + "\n"


def _heading(rows: Sequence[TriageRow], *, now: datetime) -> str:
    return f"As of {now:%Y-%m-%d %H:%M:%S} UTC. {total(rows)}"


def lines(row: TriageRow, *, root: str) -> list[str]:
    """Return what a row says, without its links."""
    number, value, what, status, _, happened, details, where, todo, notes, _, _ = map(_line, cells(row, root=root))
    labeled = {"Where the funds are": where, "Next step": todo, "Note": notes}
    said = [
        f"{number}. {value} ({what})",
        status if status == happened else f"{status}: {happened}",
        details,
        *(f"{label}: {words}" for label, words in labeled.items() if words),
    ]
    return [line for line in said if line]


def markdown(rows: Sequence[TriageRow], *, root: str, now: datetime) -> str:
    """Return a table in which untrusted text is escaped."""
    shown = [column for column in COLUMNS if column not in NOT_IN_A_TABLE]
    lines = [_escaped(_heading(rows, now=now)), "", f"| {' | '.join(shown)} |", f"|{' --- |' * len(shown)}"]
    for row in rows:
        number, value, what, status, _, happened, details, where, todo, notes, _, _ = cells(row, root=root)
        said = [number, value, what, status, happened, f"{details} {notes}".strip(), where, todo]
        # `reverse` has escaped whatever could end the link or the cell in a path.
        links = [f"[{_escaped(link.words)}](<{root}{link.path}>)" for link in row.links]
        links += [f"[{each.words}](<{each.url}>)" for each in row.help if each.url]
        lines.append(f"| {' | '.join([*map(_escaped, said), ', '.join(links)])} |")
    return "\n".join(lines) + "\n"


def literal(words: str) -> str:
    """Escape text for Markdown."""
    return MARKDOWN.sub(r"\\\g<0>", words).translate(ENTITIES)


def _escaped(words: str) -> str:
    return literal(_line(words))


def _line(words: str) -> str:
    return " ".join(words.split())


def comma_separated(rows: Sequence[TriageRow], *, root: str) -> str:
    return "".join(
        text.csv_line(map(text.csv_cell, cells)) for cells in (COLUMNS, *(cells(row, root=root) for row in rows))
    )
