"""Sentences that know their parts, so that no finished text is searched for times or for our own words.

Names come from the service, and may look like either.
"""

from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import Protocol


class Name(str):
    """A text that isn't ours, such as a chain's name or an amount of a token."""

    __slots__ = ()


class Sentence(str):
    """A text made of `parts`: our words, `Name`, and `times.Time`."""

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> "Sentence":
        made = str.__new__(cls, "".join(parts))
        flat: list[str] = []
        for part in parts:
            flat += parts_of(part)
        made.parts = tuple(flat)
        return made


class Values(Protocol):
    """Values of placeholders by name."""

    def __getitem__(self, name: str, /) -> str: ...


def fill(template: str, values: Values | Mapping[str, str]) -> str:
    """Return a sentence from a template with `{placeholders}`, or a template without any."""
    if "{" not in template:
        return template
    return Sentence(*[values[part] if is_name else part for part, is_name in _parsed(template)])


def parts_of(words: str) -> tuple[str, ...]:
    return words.parts if type(words) is Sentence else (words,)


def capitalized(words: str) -> Sentence:
    """Return the words with a capital first letter."""
    first, *others = parts_of(words)
    return Sentence(first[:1].upper() + first[1:], *others)


@cache
def _parsed(template: str) -> tuple[tuple[str, bool], ...]:
    """Return the literal texts, and the names of the placeholders."""
    return tuple(
        (part, is_name)
        for words, name, _, _ in Formatter().parse(template)
        for part, is_name in ((words, False), (name, True))
        if part
    )
