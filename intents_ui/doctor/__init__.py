"""Checks of a deployment: whether its service, Redis and database answer, and how they differ from what is expected.

    manage.py doctor [--quick] [--url https://intents.example]

Each check yields findings, whose texts are in findings.toml.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from intents_ui import tables

TEXTS: Final = tables.read(__package__, "findings.toml")


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: what was found, what it means, and what to do."""

    level: Level
    found: str
    means: str = ""
    to_do: str = ""

    def __str__(self) -> str:
        """Return its lines for a terminal, without control characters of the service's texts."""
        lines = [
            "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
            for text in (self.found, self.means, self.to_do)
            if text
        ]
        return f"{self.level:8} " + f"\n{'':9}".join(lines)


def finding(name: str, **values: object) -> Finding:
    """Return a finding with these values in the gaps of its texts."""
    texts = {part: text.format(**values) for part, text in TEXTS[name].items()}
    return Finding(Level(texts.pop("level")), **texts)
