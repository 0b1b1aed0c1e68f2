"""Checks of a deployment: whether its service, Redis and database answer, and how
the service differs from its contract.

    manage.py doctor [--quick] [--url https://intents.example]

Each check yields findings: what was found, what it means, and what to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"  # differs from the contract, and the dashboard copes with it
    WARNING = "warning"  # pages show less, or show it later
    PROBLEM = "problem"  # pages fail, or can't be trusted


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: what was found, what it means, and what to do."""

    level: Level
    found: str
    means: str = ""
    to_do: str = ""

    def __str__(self) -> str:
        """Return its lines for a terminal, without control characters of the service's texts."""
        texts = ("".join(letter if letter.isprintable() else "\ufffd" for letter in each) for each in self.texts)
        return "\n".join(f"{self.level if place == 0 else '':8} {text}" for place, text in enumerate(texts))

    @property
    def texts(self) -> Sequence[str]:
        return [each for each in (self.found, self.means, self.to_do) if each]


def ok(found: str) -> Finding:
    return Finding(Level.OK, found)


def note(found: str, means: str = "Pages read them all the same.", to_do: str = "") -> Finding:
    return Finding(Level.NOTE, found, means, to_do)


def warning(found: str, means: str = "", to_do: str = "") -> Finding:
    return Finding(Level.WARNING, found, means, to_do)


def problem(found: str, means: str = "", to_do: str = "") -> Finding:
    return Finding(Level.PROBLEM, found, means, to_do)
