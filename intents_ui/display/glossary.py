"""Glossary, from glossary.json: all terms are in `/help`, and each page has tooltips for the terms it uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from intents_ui import tables


@dataclass(frozen=True)
class Word:
    """`word` as in a sentence, and its `anchor` in the help page."""

    word: str
    meaning: str

    @property
    def anchor(self) -> str:
        return self.word.replace(" ", "-")

    @property
    def heading(self) -> str:
        return self.word[:1].upper() + self.word[1:]


GLOSSARY: Mapping[str, Word] = MappingProxyType(
    {word: Word(word, meaning) for word, meaning in tables.read(__package__, "glossary.json").items()}
)
_USED = re.compile(r'interestfor="term-([a-z-]+)"')


def used_in(page: str) -> tuple[Word, ...]:
    """Return the glossary terms that a rendered page has tooltips for, each once."""
    anchors = set(_USED.findall(page))
    return tuple(each for each in GLOSSARY.values() if each.anchor in anchors)
