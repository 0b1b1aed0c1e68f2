"""Triage rows as blocks of a Slack message.

Slack formats only our own words and links. All other text is plain, so that no name can mention, link or format.
"""

from collections.abc import Sequence
from typing import Any

from intents_ui.display.triage import export
from intents_ui.display.triage.rows import TriageRow

LONGEST = 3000  # characters of one block
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Slack has no escapes for these in the text of a link.
FORMATS = str.maketrans("", "", "*_~`|")

type Block = dict[str, Any]


def blocks(rows: Sequence[TriageRow], *, root: str) -> list[Block]:
    """`root`: scheme and host of the links."""
    return [block for row in rows for block in _of_row(row, root=root)]


def plain(words: str) -> Block:
    """Return a block in which Slack formats nothing."""
    return {"type": "section", "text": {"type": "plain_text", "text": words[:LONGEST], "emoji": False}}


def escaped(words: str) -> str:
    """Escape the characters that start a link, a mention or an entity."""
    return words.translate(ENTITIES)


def _of_row(row: TriageRow, *, root: str) -> list[Block]:
    said = plain("\n".join(export.lines(row, root=root)))
    links = [_link(root + link.path, link.words) for link in row.links]
    links += [_link(each.url, each.words) for each in row.help if each.url]
    if not links:
        return [said]
    # Slack links nothing else in verbatim text.
    written = {"type": "mrkdwn", "text": " · ".join(links), "verbatim": True}
    return [said, {"type": "section", "text": written}]


def _link(url: str, words: str) -> str:
    return f"<{escaped(url)}|{escaped(words.translate(FORMATS))}>"
