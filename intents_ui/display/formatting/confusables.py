"""Confusable characters in names (UTS #39)."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from confusable_homoglyphs.utils import load

from intents_ui.display.formatting import text

# Punctuation around a symbol.
AROUND = "$.,:;'\"`"
JOINERS = frozenset("\u200c\u200d")
# Characters with several ASCII lookalikes.
ALIKE = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "m": "rn"})
CACHED = 4096


def _ascii_lookalikes() -> Iterator[tuple[str, str]]:
    """Return the letters that look like ASCII, apart from accents, with the ASCII characters.

    The package's own table has all lookalikes and the names of all characters, which takes 17 times the memory.
    """
    for letter, alike in load("confusables.json").items():
        plain = [bare for each in alike if (bare := _without_accents(each["c"])).isascii()]
        if plain and len(letter) == 1 and not letter.isascii():
            yield letter, plain[0]


def _without_accents(characters: str) -> str:
    return "".join(each for each in characters if unicodedata.category(each) not in text.MARKS)


HOMOGLYPHS = dict(_ascii_lookalikes())


@lru_cache(CACHED)
def readings(name: str) -> frozenset[str]:
    """Return the readings of a name. Two names that share one look the same as written, lowercase or uppercase."""
    return frozenset(filter(None, map(_skeleton, (name, name.casefold(), name.upper()))))


def hidden(name: str) -> Iterator[str]:
    """Return the invisible characters, each once, without joiners that belong to the letters or emoji around them."""
    around = zip(" " + name, name, name[1:] + " ", strict=False)
    found = (at for before, at, after in around if text.is_hidden(at) and not _joins(before, at, after))
    yield from dict.fromkeys(found)


def _skeleton(name: str) -> str:
    return "".join(map(_plain, unicodedata.normalize("NFKD", name))).strip(AROUND).translate(ALIKE)


@lru_cache(CACHED)
def _plain(character: str) -> str:
    """Return the text as it looks: without accents, with ASCII instead of its lookalikes."""
    if text.is_hidden(character) or character.isspace() or unicodedata.category(character) in text.MARKS:
        return ""
    if character.isascii():
        return character
    return HOMOGLYPHS.get(character, character)


def _joins(before: str, character: str, after: str) -> bool:
    is_joined = character in JOINERS and not (before.isascii() or after.isascii())
    return is_joined or text.styles_emoji(before, character)
