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
    counted = Counter(row.outcome for row in rows)
    answered = len(rows) - counted.pop(TriageOutcome.FAILED, 0)
    counts = ", ".join(f"{counted[each]} {each.value[counted[each] > 1]}" for each in TriageOutcome if counted[each])
    if answered == len(rows):
        start = f"All {len(rows)} identifiers" if len(rows) > 1 else "1 identifier"
        return f"{start} resolved: {counts}."
    why = ", ".join(dict.fromkeys(row.headline for row in rows if row.outcome is TriageOutcome.FAILED))
    if not answered:
        start = f"0 of {len(rows)} identifiers" if len(rows) > 1 else "Identifier not"
        return f"{start} resolved: {why}."
    return f"{answered} of {len(rows)} identifiers resolved: {counts}. The others failed: {why}."


def cells(row: TriageRow, *, root: str) -> dict[str, str]:
    """Return what a row says, by column."""
    help_without_link = [each.words for each in row.help if not each.url]
    return {
        "Row": str(row.number),
        "Identifier": row.value,
        "Type": row.what,
        "Status": row.status.word,
        "Outcome": row.transfer.outcome.value if row.transfer and not row.transfer.is_unread else "",
        "Summary": row.headline,
        "Details": " ".join(line if line.endswith((".", ":")) else f"{line}." for line in row.details),
        "Where the funds are": f"{row.where} Address: {row.address}" if row.address else row.where,
        "Next step": " ".join(filter(None, (row.next, row.turn, *help_without_link))),
        "Notes": " ".join(row.notes),
        "Links": " ".join(
            [*(root + link.path for link in row.links), *(each.address for each in row.help if each.url)]
        ),
        "As of": times.iso(row.at.replace(microsecond=0)),
    }


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
    cell = {column: _line(words) for column, words in cells(row, root=root).items()}
    status, summary = cell["Status"], cell["Summary"]
    labeled = {label: cell[label] for label in ("Where the funds are", "Next step")} | {"Note": cell["Notes"]}
    said = [
        f"{cell['Row']}. {cell['Identifier']} ({cell['Type']})",
        status if status == summary else f"{status}: {summary}",
        cell["Details"],
        *(f"{label}: {words}" for label, words in labeled.items() if words),
    ]
    return [line for line in said if line]


def markdown(rows: Sequence[TriageRow], *, root: str, now: datetime) -> str:
    """Return a table in which untrusted text is escaped."""
    table = [_row_of_table(row, root=root) for row in rows]
    columns = [*table[0]]
    head = [_escaped(_heading(rows, now=now)), "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    return "\n".join([*head, *(f"| {' | '.join(row.values())} |" for row in table)]) + "\n"


def _row_of_table(row: TriageRow, *, root: str) -> dict[str, str]:
    said = cells(row, root=root)
    said["Details"] = f"{said['Details']} {said['Notes']}".strip()
    # `reverse` has escaped whatever could end the link or the cell in a path.
    links = [f"[{_escaped(link.words)}](<{root}{link.path}>)" for link in row.links]
    links += [f"[{each.words}](<{each.url}>)" for each in row.help if each.url]
    shown = {column: _escaped(words) for column, words in said.items() if column not in NOT_IN_A_TABLE}
    return shown | {"Links": ", ".join(links)}


def literal(words: str) -> str:
    """Escape text for Markdown."""
    return MARKDOWN.sub(r"\\\g<0>", words).translate(ENTITIES)


def _escaped(words: str) -> str:
    return literal(_line(words))


def _line(words: str) -> str:
    return " ".join(words.split())


def comma_separated(rows: Sequence[TriageRow], *, root: str) -> str:
    table = [cells(row, root=root) for row in rows]
    records = [[*table[0]], *(row.values() for row in table)]
    return "".join(text.csv_line(map(text.csv_cell, record)) for record in records)
