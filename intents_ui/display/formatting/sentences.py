"""Sentences that know their parts, so that no finished text is searched for times or for our own words.

Names come from the service, and may look like either.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Protocol


class Name(str):
    """A text that isn't ours, such as a chain's name."""


class Figure(Name):
    """A rounded amount of a token. `exact` has every digit."""

    exact: str

    def __new__(cls, shown: str, exact: str) -> "Figure":
        made = str.__new__(cls, shown)
        made.exact = exact
        return made


class Sentence(str):
    """A text made of `parts`: our words, `Name`, `Figure` and `times.Time`."""

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
    return Sentence(*[values[part] if is_name else part for part, is_name in parsed(template)])


def parts_of(words: str) -> tuple[str, ...]:
    return words.parts if type(words) is Sentence else (words,)


def capitalized(words: str) -> Sentence:
    """Return the words with a capital first letter."""
    first, *others = parts_of(words)
    return Sentence(first if isinstance(first, Name) else first[:1].upper() + first[1:], *others)


def joined(between: str, words: Iterable[str]) -> Sentence:
    return Sentence(*[part for each in words for part in (between, each)][1:])


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return Sentence(joined(", ", words[:-1]), " and ", words[-1]) if len(words) > 1 else words[0]


def exact(words: str) -> str:
    """Return the words with every digit of their amounts."""
    return "".join(part.exact if isinstance(part, Figure) else part for part in parts_of(words))


@cache
def parsed(template: str) -> tuple[tuple[str, bool], ...]:
    """Return the literal texts, and the names of the placeholders."""
    return tuple(
        (part, is_name)
        for words, name, _, _ in Formatter().parse(template)
        for part, is_name in ((words, False), (name, True))
        if part
    )
